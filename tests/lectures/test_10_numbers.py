"""Lecture 10 with Hugging Face's BERT on the same weights. Its other numbers it asserts itself."""

import json
import math

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining

from bertlab.data.published import hub_model
from bertlab.model import BertConfig
from bertlab.model.pretrained import BERTLAB_MINI, BERTLAB_MINI_PLANTED
from bertlab.training.runs import read_metrics
from tests.lectures import sizes

TEXT = "the king gave his daughter a white horse ."


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        looked at BERT-base (12 layers of 12 heads, which they ... on 1,000 segments of Wikipedia
        ... Clark et al. report 94 % and 52 % ... segments of up to 128 tokens, in pairs ... sums
        up more than 150 studies ... 8, pp. 842–866
    """)


def test_numbers_of_sizes_and_shares(states):
    base, large = BertConfig.base(), BertConfig.large()
    states(f"draws all {base.n_layers * base.n_heads} heads ... of our texts as 30 pairs")
    layers, heads = large.n_layers, large.n_heads
    states(f"{layers * heads} for BERT-large ({layers} layers of {heads} heads)")
    states(f"a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")
    states(f"$e^9$ is {math.floor(math.exp(9)):,} ... five times as much as chance")
    states("""
        (0.1, 0.6, 0.3), (0.3, 0.4, 0.3), (0.2, 0.4, 0.4). How ... one word with 100 % in ... $1/20
        = 5$ % ... $1/4 = 25$ %
    """)


def load(folder):
    """A trained model and its tokenizer, as Hugging Face reads them."""
    options = {"attn_implementation": "eager", "dtype": torch.float32}
    model = BertForPreTraining.from_pretrained(folder, **options)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def reference():
    return load(BERTLAB_MINI)


def run(reference, text):
    model, tokenizer = reference
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    return tokenizer.convert_ids_to_tokens(inputs.input_ids[0].tolist()), output


def test_the_first_layer_of_the_planted_model_is_a_window_of_five(states):
    made = json.loads((BERTLAB_MINI_PLANTED / "training.json").read_text(encoding="utf-8"))
    states(f"on the same texts for {made['training']['steps']:,} steps ... a window of five words")
    tokens, output = run(load(BERTLAB_MINI_PLANTED), TEXT)
    first = output.attentions[0][0].numpy()  # [H, L, L]
    for head, offset in enumerate((-1, 1, -2, 2)):
        profile = [np.diag(first[head], other).mean() for other in range(-4, 5)]
        assert np.argmax(profile) - 4 == offset, (head, tokens)
        assert max(profile) > 0.7


def test_heads_appear_without_planting_and_are_in_the_weights(reference, states):
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
    for layer, head, neighbour in ((0, 1, "horse"), (1, 0, "a")):  # beside "white"
        row = output.attentions[layer][0, head, tokens.index("white")]
        assert tokens[int(row.argmax())] == neighbour
        assert row.max() > 0.98


def test_only_representatives_determines_house(reference, states):
    model, tokenizer = reference
    text = "the members of the [MASK] of representatives were there ."
    tokens, output = run(reference, text)
    place, word = tokens.index("[MASK]"), tokenizer.convert_tokens_to_ids("house")
    log_p = output.prediction_logits[0, place].log_softmax(dim=-1)[word]
    last = output.attentions[-1][0].mean(dim=0)[place]
    assert {tokens[n] for n in last.topk(2).indices} == {"the"}
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(tokens)])
    falls = []
    for number in range(len(tokens)):
        erased = ids.clone()
        erased[0, number] = tokenizer.mask_token_id
        logits = model(erased).prediction_logits[0, place]
        falls.append((log_p - logits.log_softmax(dim=-1)[word]).item())
    assert tokens[int(np.argmax(falls))] == "representatives"
    assert 4.9 < max(falls) < 5.2
    assert math.exp(log_p - max(falls)) < 0.01
    assert sorted(falls)[-2] < 0.06
    states(f"from {100 * log_p.exp():.0f} % to below 1 % ... loses five nats")


def test_the_size_of_a_head(reference, states):
    attention = reference[0].bert.encoder.layer[0].attention
    parts = (attention.self.query, attention.self.key, attention.self.value)
    rows = sum(part.weight[:64].numel() + part.bias[:64].numel() for part in parts)
    a_head = rows + attention.output.dense.weight[:, :64].numel()
    assert reference[0].num_parameters() == sizes.encoder(4, 256, 8_000) + sizes.heads(256, 8_000)
    states(f"{a_head:,} parameters per head")
