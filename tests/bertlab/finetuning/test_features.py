"""Which vectors a head reads, by hand."""

import pytest
import torch

from bertlab.finetuning.heads import feature_size, layer_features
from bertlab.model import Bert, BertConfig
from tests.bertlab.refusals import rejected

# Embeddings and five layers of one token each: powers of two, so that a sum shows its terms.
STATES = tuple(torch.tensor([[[2.0**layer, 0.0]]]) for layer in range(6))


FEATURES = {
    **{"last": [32, 0], "sum last four": [4 + 8 + 16 + 32, 0], 0: [1, 0], 1: [2, 0], 5: [32, 0]},
    "concat last four": [4, 0, 8, 0, 16, 0, 32, 0],
    "mean of all": [(2 + 4 + 8 + 16 + 32) / 5, 0],
}


@pytest.mark.parametrize(("how", "expected"), FEATURES.items())
def test_features_are_the_layers_they_name_and_have_the_size_that_is_announced(how, expected):
    features = layer_features(STATES, how)
    torch.testing.assert_close(features, torch.tensor([[expected]]).float())
    assert features.shape[-1] == feature_size(BertConfig(30, 2, 5, 1, 8), how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("first", "features must be one of 'last', .*; got 'first'"),
        ("sum last four", "at least four layers; got 3; take"),
        ("concat last four", "at least four layers; got 3; take"),
        (4, "from 0, the embeddings, to 3, the last one; got 4"),
        (-1, "got -1"),
    ],
)
def test_features_that_a_model_does_not_have_are_rejected(how, message):
    rejected(message, layer_features, STATES[:4], how)
    rejected(message, feature_size, BertConfig(30, 8, 3, 2, 8), how)


def test_what_is_not_the_hidden_states_says_how_to_get_them():
    model, ids = Bert(BertConfig(30, 8, 2, 2, 8, max_length=8)), torch.tensor([[1, 2, 3]])
    plain, full = model(ids), model(ids, output_hidden_states=True, output_attentions=True)
    for wrong in (plain.hidden_states, (), plain, full, plain.last_hidden_state, (None, None), 3):
        for how in ("last", 0):
            message = rf"got {type(wrong).__name__}; .*output_hidden_states=True"
            rejected(message, layer_features, wrong, how)
