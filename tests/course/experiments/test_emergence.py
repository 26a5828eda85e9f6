"""What heads attend to during training: planted circuits are found, random starts have none."""

import json
import math

import pytest
import torch

from bertlab.data import documents
from bertlab.interpretability.patterns import attention_to_offset, offset_shares
from bertlab.interpretability.traces import trace
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.model.bert import sinusoidal_positions
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.tokenizers.files import load_tokenizer
from bertlab.training.start import OFFSETS, STARTS, neighbours_start
from course.experiments import emergence
from course.experiments.emergence import clear_heads, head_numbers, some_sentences


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(BERTLAB_MINI)


@pytest.fixture(scope="module")
def texts():
    return some_sentences(documents("python-topics"), 20)


@pytest.fixture(scope="module")
def config(tokenizer):
    return BertConfig.mini(vocab_size=len(tokenizer.vocab))


@pytest.mark.slow
def test_planted_circuits_exist_before_training_and_random_starts_have_none(
    config, tokenizer, texts
):
    models = {name: start(BertForPreTraining(config)) for name, start in STARTS.items()}
    numbers = {name: head_numbers(model, tokenizer, texts) for name, model in models.items()}
    found = {name: clear_heads(own["offsets"]) for name, own in numbers.items()}
    planted = {f"0.{head}": offset for head, offset in enumerate(OFFSETS)}
    assert found == {"plain": {}, "neighbours": planted}


@pytest.mark.slow
def test_a_circuit_planted_anywhere_is_found(config, tokenizer, texts):
    """The lecture's control works for any place: heads of a higher layer, another position."""
    model = neighbours_start(BertForPreTraining(config))
    first, second = (model.bert.layers[layer].attention.query_key_value for layer in (0, 1))
    with torch.no_grad():
        second.weight.copy_(first.weight)
        first.weight[: 2 * config.d_model] = 0  # layer 0 attends uniformly
    found = clear_heads(head_numbers(model, tokenizer, texts)["offsets"], least=0.3)
    assert found == {f"1.{head}": offset for head, offset in enumerate(OFFSETS)}


def test_shares_are_averaged_over_texts(tokenizer):
    model = BertForPreTraining(BertConfig.tiny(vocab_size=len(tokenizer.vocab)))
    traces = [trace(model, tokenizer, text) for text in ("She saw the old king.", "He went away.")]
    shares = offset_shares(traces, 2)
    assert shares.shape == (2, 2, 5)
    each = [attention_to_offset(one.attentions[1][0], -2) for one in traces]
    torch.testing.assert_close(shares[1, 0, 0], torch.stack(each).mean())


def test_the_numbers_are_json(tokenizer):
    model = BertForPreTraining(BertConfig.tiny(vocab_size=len(tokenizer.vocab)))
    found = head_numbers(model, tokenizer, ["She saw the old king."])
    assert json.loads(json.dumps(found)) == found
    assert torch.tensor(found["offsets"]).shape == (2, 2, 2 * emergence.REACH + 1)
    for name in ("cls", "separator", "entropy"):
        assert torch.tensor(found[name]).shape == (2, 2)


def test_sinusoids_have_the_cosines_of_their_formula_and_random_positions_do_not(config):
    bert = Bert(BertConfig.tiny(vocab_size=10, max_length=100))
    with torch.no_grad():
        bert.embeddings.position.weight.copy_(sinusoidal_positions(100, 128))
    speeds = [10_000 ** (-2 * pair / 128) for pair in range(64)]
    expected = [sum(math.cos(speed * far) for speed in speeds) / 64 for far in emergence.DISTANCES]
    assert emergence.position_similarity(bert, 100) == pytest.approx(expected, abs=1e-3)
    alike = emergence.position_similarity(Bert(config), 128)
    assert max(map(abs, alike)) < 5 / math.sqrt(256 * 64)


@pytest.mark.parametrize("positions", [64, 513])
def test_positions_must_reach_the_largest_distance(config, positions):
    with pytest.raises(ValueError, match=f"positions must be from 65 to 512; got {positions}"):
        emergence.position_similarity(Bert(config), positions)


def test_sentences_are_spread_over_the_documents():
    texts = [[f"{'word ' * 9}{n} {m}" for m in range(5)] + ["too short"] for n in range(4)]
    assert some_sentences(texts, 4) == [text[0] for text in texts]
    with pytest.raises(ValueError, match="must hold 21 sentences of 10 to 24 words; they hold 20"):
        some_sentences(texts, 21)
