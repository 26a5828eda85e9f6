"""Exercise 6: what its solutions compute is what the library computes."""

import pytest
import torch

from bertlab import data
from bertlab.data import DataError
from bertlab.model import Bert, BertConfig, BertForPreTraining, count_parameters, load_pretrained
from bertlab.model.layers import layer_norm
from bertlab.parts import plain
from course.feedback import ex06_bert_encoder as weights
from course.feedback.checks import CheckFailed
from course.feedback.ex06_bert_encoder import encode as check_encode

CONFIG = BertConfig.tiny(vocab_size=40, max_length=60)
IDS = torch.arange(40).view(2, 20) * 7 % 40
SEGMENTS = torch.arange(40).view(2, 20) // 10 % 2
MASK = torch.arange(20) < torch.tensor([[20], [13]])


@pytest.fixture(scope="module")
def bert():
    """A 64-bit model without weights of 0 or 1, so that a small difference is an error."""
    model = BertForPreTraining(CONFIG, seed=4).double().eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def under_formal_names(bert):
    embeddings = bert.embeddings
    tables = (part.weight for part in (embeddings.token, embeddings.position, embeddings.segment))
    return weights.EncoderWeights(
        weights.EmbeddingWeights(*tables, embeddings.norm.gamma, embeddings.norm.beta),
        [weights._layer_of(layer) for layer in bert.layers],
    )


def test_the_solutions_norm_is_the_librarys(solution):
    x, gamma, beta = weights.numbers(3, 5, 8, seed=1), torch.rand(8), torch.rand(8)
    with plain():
        assert torch.allclose(solution["layer_norm"](x, gamma, beta), layer_norm(x, gamma, beta))


def test_the_solutions_hidden_states_are_those_of_the_librarys_bert(solution, bert):
    expected = bert.bert(IDS, SEGMENTS, MASK, output_hidden_states=True).hidden_states
    states = solution["encode"](IDS, SEGMENTS, under_formal_names(bert.bert), MASK)
    assert len(states) == len(expected) == 3
    for ours, theirs in zip(states, expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_the_feed_forward_network_that_is_given_is_the_librarys(solution, bert):
    layer = weights._layer_of(bert.bert.layers[0])
    x = weights.numbers(2, 3, CONFIG.d_model, seed=2, dtype=torch.float64)
    ours = solution["feed_forward"](x, layer.W_mlp1, layer.b_mlp1, layer.W_mlp2, layer.b_mlp2)
    assert torch.allclose(ours, bert.bert.layers[0].feed_forward(x), atol=1e-5)


@pytest.mark.parametrize("name", ["tiny", "mini", "small", "medium", "base", "large"])
def test_the_solutions_count_is_the_librarys(solution, name):
    config = getattr(BertConfig, name)()
    assert solution["n_parameters"](config) == count_parameters(config).part("bert")


@pytest.mark.slow
def test_minilm_under_formal_names_computes_what_the_library_does_with_it(solution):
    ids, segments, mask = weights.read(("A pair.", "Its second half."), ("Another one.",))
    model = load_pretrained(data.weights("minilm"), kind=Bert)
    with torch.no_grad():
        expected = model(ids, segments, mask).last_hidden_state
    ours = solution["encode"](ids, segments, weights.published("minilm"), mask)[-1]
    assert torch.allclose(ours, expected, atol=1e-5)


def test_without_the_published_weights_the_check_says_what_to_run(solution, monkeypatch):
    def not_there(name):
        raise DataError("run `python -m bertlab.data fetch core`")

    monkeypatch.setattr("course.feedback.ex06_bert_encoder.published", not_there)
    with pytest.raises(CheckFailed, match="fetch core"):
        check_encode(solution["encode"])


@pytest.mark.slow
def test_the_graders_answer_states_the_numbers_that_the_page_shows(is_told):
    is_told("measure", "28", "32", "21", "17", "14")
    is_told("order", "0.9778", "0.7803")
