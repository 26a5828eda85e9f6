"""Worked numbers of lecture 10, found again without the page: numpy, SciPy and `transformers`.

`states` checks besides that the page really says the number, so neither can change alone. What
trained heads do is measured here with Hugging Face's BERT on the same weights, not with ours.
"""

import math

import numpy as np
import pytest
import torch
from scipy.stats import entropy, kendalltau
from transformers import AutoTokenizer, BertForPreTraining

from bertlab.model.pretrained import BERTLAB_MINI, BERTLAB_MINI_PLANTED
from bertlab.training.metrics import read_metrics

LECTURE = "10_attention_heads"
TEXT = "the king gave his daughter a white horse ."


@pytest.fixture(scope="module")
def reference():
    """The trained model and its tokenizer, as Hugging Face reads them."""
    return read(BERTLAB_MINI)


def read(folder):
    model = BertForPreTraining.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    return model, AutoTokenizer.from_pretrained(folder)


def run(reference, text):
    model, tokenizer = reference
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    return tokenizer.convert_ids_to_tokens(inputs.input_ids[0].tolist()), output


def test_patterns_by_hand():
    attention = np.array([[0.0, 1.0, 0.0], [0.5, 0.2, 0.3], [0.0, 0.9, 0.1]])
    assert np.diag(attention, -1).mean() == pytest.approx(0.70)
    assert np.diag(attention, 1).mean() == pytest.approx(0.65)
    assert np.diag(attention).mean() == pytest.approx(0.10)
    assert attention[:, 1].mean() == pytest.approx(0.70)
    assert (attention[0, 1] + attention[1, 0]) / 2 == 0.75  # the first two are one word


def test_entropy_and_distance_by_hand():
    assert entropy([0.5, 0.5]) == pytest.approx(0.693, abs=5e-4)
    assert entropy([0.0, 1.0]) == 0
    assert 0.5 * abs(1 - 0) + 0.5 * abs(1 - 1) == 0.5


def test_a_lead_of_nine_is_a_factor_of_8103(states):
    assert math.floor(math.exp(9)) == 8_103
    states("$e^9$ is 8,103")


def test_the_first_layer_of_the_planted_model_is_a_window_of_five(states):
    tokens, output = run(read(BERTLAB_MINI_PLANTED), TEXT)
    first = output.attentions[0][0].numpy()  # [H, L, L]
    for head, offset in enumerate((-1, 1, -2, 2)):
        profile = [np.diag(first[head], other).mean() for other in range(-4, 5)]
        assert np.argmax(profile) - 4 == offset, (head, tokens)
        assert max(profile) > 0.7
    states("a window of five words")


def test_heads_that_nobody_planted_appear_and_are_there_in_the_weights(reference, states):
    rows = read_metrics(BERTLAB_MINI / "emergence.jsonl")
    start, end = (np.array(rows[n]["offsets"]) for n in (0, -1))  # [layers, H, 9]
    assert [rows[0]["step"], rows[-1]["step"]] == [0, 30_000]
    assert start.max() < 0.06
    tokens, output = run(reference, TEXT)
    for layer, head, offset in ((0, 1, 1), (1, 0, -1), (1, 1, -2)):
        told = end[layer, head]
        assert told.argmax() - 4 == offset
        measured = np.diag(output.attentions[layer][0, head].numpy(), offset).mean()
        assert measured == pytest.approx(told.max(), abs=0.15), (layer, head, tokens)
    states("**not there at the start**", "**there in a second seed**", "at the end it is 0.38")
    assert round(rows[-1]["positions"][0], 2) == 0.38
    states("ask the untrained model the same question", "nobody told it to; gradients did")


def test_two_heads_send_white_to_the_words_beside_it(reference):
    tokens, output = run(reference, TEXT)
    for layer, head, neighbour in ((0, 1, "horse"), (1, 0, "a")):
        row = output.attentions[layer][0, head, tokens.index("white")]
        assert tokens[int(row.argmax())] == neighbour
        assert row.max() > 0.98


def test_representatives_decides_about_house_and_nothing_else_does(reference, states):
    model, tokenizer = reference
    text = "the members of the [MASK] of representatives were there ."
    tokens, output = run(reference, text)
    place, word = tokens.index("[MASK]"), tokenizer.convert_tokens_to_ids("house")
    log_p = output.prediction_logits[0, place].log_softmax(dim=-1)[word]
    assert round(100 * log_p.exp().item()) == 81
    last = output.attentions[-1][0].mean(dim=0)[place]
    assert {tokens[n] for n in last.topk(2).indices} == {"the"}
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(tokens)])
    falls = []
    for number in range(len(tokens)):
        erased = ids.clone()
        erased[0, number] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model(erased).prediction_logits[0, place]
        falls.append((log_p - logits.log_softmax(dim=-1)[word]).item())
    assert tokens[int(np.argmax(falls))] == "representatives"
    assert 4.9 < max(falls) < 5.2
    assert math.exp(log_p - max(falls)) < 0.01
    assert sorted(falls)[-2] < 0.06
    states("from 81 % to below 1 %", "loses five nats")


def test_even_attention_is_what_zero_queries_give():
    scores = np.zeros((1, 4)) @ np.random.default_rng(0).normal(size=(4, 7))
    assert np.allclose(np.exp(scores) / np.exp(scores).sum(), 1 / 7)


def test_what_a_head_weighs(reference, states):
    attention = reference[0].bert.encoder.layer[0].attention
    parts = (attention.self.query, attention.self.key, attention.self.value)
    rows = sum(part.weight[:64].numel() + part.bias[:64].numel() for part in parts)
    a_head = rows + attention.output.dense.weight[:, :64].numel()
    assert a_head == 65_728
    own = sum(parameter.numel() for parameter in reference[0].parameters())
    assert own == 5_479_746
    assert 1 - 16 * a_head / own == pytest.approx(4 / 5, abs=0.02)
    states("65,728 parameters a head", "four fifths of the parameters are elsewhere")


def test_kendalls_tau_of_three(states):
    assert kendalltau([1, 2, 3], [1, 3, 2]).statistic == pytest.approx(1 / 3)
    assert kendalltau([1, 2, 3], [3, 2, 1]).statistic == pytest.approx(-1)


def test_rollout_by_hand():
    lower = 0.5 * np.array([[0, 1], [1, 0]]) + 0.5 * np.eye(2)
    upper = 0.5 * np.array([[1, 0], [0.4, 0.6]]) + 0.5 * np.eye(2)
    assert upper.tolist() == [[1, 0], [0.2, 0.8]]
    assert np.allclose(upper @ lower, 0.5)


def test_chance_in_long_and_short_texts(states):
    assert 0.25 / (1 / 20) == 5
    states("five times as much as chance", "$1/20 = 5$ %")


def test_the_closing_words_are_those_of_the_primer(states):
    states(
        "BERTology has clearly come a long way, but it is fair to say we still have more questions "
        "than answers about how BERT works.",
        "8, pp. 842–866",
    )
