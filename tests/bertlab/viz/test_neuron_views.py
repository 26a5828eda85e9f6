"""BertViz's neuron view without its servers; what it draws is seen in tests/browser."""

import dataclasses
import math

import pytest
import torch

from bertlab.interpretability.traces import Trace, TranslationTrace, trace_translation
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.viz.neuron_views import neuron_view, translation_neuron_view
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import TOKENS, assert_shown, parameters, size, unpacked


def made(n_layers=2, n_heads=3, tokens=TOKENS, d_head=5, causal=False):
    """A trace that no model made."""
    generator = torch.Generator().manual_seed(0)
    size = (n_heads, len(tokens), d_head)
    queries = tuple(3 * torch.randn(size, generator=generator) for _ in range(n_layers))
    keys = tuple(torch.randn(size, generator=generator) for _ in range(n_layers))
    hidden = torch.ones(len(tokens), len(tokens)).triu(1).bool() & causal
    attentions = tuple(
        (q @ k.mT / math.sqrt(d_head)).masked_fill(hidden, -math.inf).softmax(-1)
        for q, k in zip(queries, keys, strict=True)
    )
    ids = torch.arange(len(tokens))
    return Trace(list(tokens), ids, None, attentions, (), queries, keys)


def test_the_view_holds_queries_keys_and_attentions_and_no_token_ends_the_script():
    traced = made()
    inside = parameters(neuron_view(traced, layer=1, head=2))
    part = inside["parts"][0]
    for name, expected in (("queries", traced.queries), ("keys", traced.keys)):
        torch.testing.assert_close(unpacked(part[name]), torch.stack(expected), atol=1e-4, rtol=0)
    assert_shown(inside, 0, torch.stack(traced.attentions))
    assert (inside["layer"], inside["head"]) == (1, 2)
    assert inside["attention"][0]["bidirectional"] is True
    assert "</script><b>" not in neuron_view(made()).page


def test_chosen_layers_and_heads_keep_their_numbers():
    traced = made()
    inside = parameters(neuron_view(traced, layers=[1], heads=[0, 2], head=2))
    assert (inside["include_layers"], inside["include_heads"]) == ([1], [0, 2])
    assert (inside["layer"], inside["head"]) == (0, 1)  # places among the chosen
    expected = traced.keys[1][None, [0, 2]]
    torch.testing.assert_close(unpacked(inside["parts"][0]["keys"]), expected, atol=1e-4, rtol=0)


def test_a_pair_is_seen_sentence_by_sentence_and_a_causal_model_is_recognised():
    inside = parameters(neuron_view(dataclasses.replace(made(), sentence_b_start=1)))
    rows = [view["rows"] for view in inside["attention"]]
    assert rows == [[0, 4], [0, 1], [1, 4], [0, 1], [1, 4]]
    inside = parameters(neuron_view(made(causal=True)))
    assert inside["attention"][0]["bidirectional"] is False


def test_a_long_text_is_rejected_until_layers_or_heads_are_chosen():
    traced = made(n_layers=12, n_heads=12, tokens=["token"] * 64, d_head=64)
    rejected("of 12 layers with 12 heads .* choose up to 6 layers", neuron_view, traced)
    assert size(neuron_view(traced, layers=[0, 5, 11])) < 3_000_000
    long = made(n_layers=1, n_heads=12, tokens=["token"] * 300, d_head=64)
    rejected(r"choose layers and heads, such as layers=\[0\], heads", neuron_view, long)
    assert size(neuron_view(long, heads=[7])) < 3_000_000
    longer = made(n_layers=1, n_heads=1, tokens=["token"] * 400)
    rejected("160,000 lines; .* shorten the text to 316 tokens", neuron_view, longer)


def test_a_translation_shows_cross_encoder_and_decoder():
    sizes = {"vocab_size": 9, "d_model": 8, "n_layers": 2, "n_heads": 2, "d_ff": 8}
    model = Transformer(TransformerConfig(**sizes))
    traced = trace_translation(model, [5, 6, 7], [2, 8])
    tokens = ["le", "chat", "."], ["<s>", "a"]
    inside = parameters(translation_neuron_view(traced, *tokens, layer=1))
    for number, kind in enumerate(("cross", "encoder", "decoder")):
        packed = inside["parts"][inside["attention"][number]["part"]]
        for name, expected in (("queries", traced.queries), ("keys", traced.keys)):
            expected = torch.stack(expected[kind])
            torch.testing.assert_close(unpacked(packed[name]), expected, atol=1e-4, rtol=0)
        assert_shown(inside, number, torch.stack(getattr(traced, kind)))
    assert [view["bidirectional"] for view in inside["attention"]] == [True, True, False]
    without = TranslationTrace(traced.encoder, traced.decoder, traced.cross)
    message = "translation_neuron_view: queries must be one tensor"
    rejected(message, translation_neuron_view, without, *tokens)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"queries": t.queries[:1]}, r"queries must be one tensor per layer, 2; got 1"),
        (lambda t: {"keys": tuple(k[:, :3] for k in t.keys)}, r"= \[3, 4, 5\].*got \[3, 3, 5\]"),
        (lambda t: {"keys": tuple(k[..., :4] for k in t.keys)}, r"keys .*got \[3, 4, 4\]"),
        (lambda t: {"queries": tuple(q[None] for q in t.queries)}, r"got \[1, 3, 4, 5\]"),
        (lambda t: {"keys": tuple(k / 0 for k in t.keys)}, r"keys of layer 0 must be finite"),
        (lambda t: {"keys": t.queries}, r"in layer 0 softmax.* the largest difference is \d"),
        (lambda t: {"tokens": t.tokens[:3]}, r"must end in \[3, 3\]"),
        (lambda t: {"attentions": t.attentions[:1]}, r"queries must be one tensor per layer, 1"),
    ],
)
def test_parts_that_do_not_fit_are_named(change, message):
    traced = made()
    rejected(message, neuron_view, dataclasses.replace(traced, **change(traced)))


def test_bad_choices_and_something_else_than_a_trace_are_named():
    rejected("layer must be from 0 to 1; got 2", neuron_view, made(), layer=2)
    rejected(r"head must be one of heads=\[0\]; got 1", neuron_view, made(), head=1, heads=[0])
    rejected("layers must hold at least one layer", neuron_view, made(), layers=[])
    rejected(r"traced must come from trace\(.*got list", neuron_view, [torch.eye(3)])
