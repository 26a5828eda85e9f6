"""Which vectors a head reads, by hand."""

import pytest
import torch

from bertlab.finetuning.features import MIXES, feature_size, layer_features
from bertlab.model import Bert, BertConfig

# Embeddings and five layers of one token each: powers of two, so that a sum shows its terms.
STATES = tuple(torch.tensor([[[2.0**layer, 0.0]]]) for layer in range(6))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("last", [32, 0]),
        ("sum last four", [4 + 8 + 16 + 32, 0]),
        ("concat last four", [4, 0, 8, 0, 16, 0, 32, 0]),
        ("mean of all", [(2 + 4 + 8 + 16 + 32) / 5, 0]),
        (0, [1, 0]),
        (1, [2, 0]),
        (5, [32, 0]),
    ],
)
def test_features_are_the_layers_they_name(how, expected):
    torch.testing.assert_close(layer_features(STATES, how), torch.tensor([[expected]]).float())


@pytest.mark.parametrize("how", [*MIXES, 0, 4])
def test_features_have_the_size_that_is_announced(how):
    config = BertConfig(30, 8, 4, 2, 8, max_length=8)
    output = Bert(config)(torch.tensor([[1, 2, 3]]), output_hidden_states=True)
    features = layer_features(output.hidden_states, how)
    assert features.shape == (1, 3, feature_size(config, how))


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
    with pytest.raises(ValueError, match=message):
        layer_features(STATES[:4], how)
    with pytest.raises(ValueError, match=message):
        feature_size(BertConfig(30, 8, 3, 2, 8), how)


def test_what_is_not_the_hidden_states_says_how_to_get_them():
    model, ids = Bert(BertConfig(30, 8, 2, 2, 8, max_length=8)), torch.tensor([[1, 2, 3]])
    plain, full = model(ids), model(ids, output_hidden_states=True, output_attentions=True)
    for wrong in (plain.hidden_states, (), plain, full, plain.last_hidden_state, (None, None), 3):
        for how in ("last", 0):
            kind = type(wrong).__name__
            with pytest.raises(ValueError, match=rf"got {kind}; .*output_hidden_states=True"):
                layer_features(wrong, how)
