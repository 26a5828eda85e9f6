"""BertViz's neuron view, drawn without internet: how a query and a key make a probability."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.interpretability.traces import Trace, TranslationTrace
from bertlab.viz.attention_input import TOLERANCE, is_causal
from bertlab.viz.bertviz_pages import (
    MOST_CHARACTERS,
    Shown,
    bertviz_page,
    check_lines_of_a_head,
    choose,
    menu,
    of_a_text,
    of_a_translation,
    pack,
    pack_probabilities,
    seen_first,
    views_menu,
)
from bertlab.viz.frames import Frame

CHARACTERS = 3  # per element of a query: 18 bits, because products and sums are computed from them
BOX = 26  # pixels per token


class Heads(NamedTuple):
    """One kind of attention: one tensor per layer."""

    attentions: list[Tensor]  # [H, L, L']
    queries: Sequence[Tensor]  # [H, L, d_head]
    keys: Sequence[Tensor]  # [H, L', d_head]


def neuron_view(
    traced: Trace,
    *,
    layer: int | None = None,
    head: int | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    alt: str | None = None,
) -> Frame:
    """One head's computation: query, key, their product element by element, score and softmax.

    Point at a token on the left to see its query with every key; blue is positive, orange
    negative. traced: from `trace`; layer, head: shown first; layers, heads: those in the page, by
    default all; alt: the view in words.

    Raises ValueError if queries, keys and attentions do not fit each other or are too many for
    one page, and ModuleNotFoundError if a script it needs is not installed.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    if not isinstance(traced, Trace):
        raise ValueError(
            f"neuron_view: traced must come from trace(model, tokenizer, text); "
            f"got {type(traced).__name__}"
        )
    shown = of_a_text("neuron_view", traced.attentions, traced.tokens, traced.sentence_b_start)
    vectors = [(traced.queries, traced.keys)]
    return _page(shown, vectors, layer, head, layers, heads, alt)


def translation_neuron_view(
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    layer: int | None = None,
    head: int | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    alt: str | None = None,
) -> Frame:
    """The neuron view of an encoder-decoder: cross-attention first, encoder and decoder to choose.

    traced: from `trace_translation`; source_tokens: L strings; target_tokens: T strings, with the
    start token; the rest, and the errors, as in `neuron_view`.
    """
    shown = of_a_translation("translation_neuron_view", traced, source_tokens, target_tokens)
    kinds = ("cross", "encoder", "decoder")
    vectors = [(traced.queries.get(kind, ()), traced.keys.get(kind, ())) for kind in kinds]
    return _page(shown, vectors, layer, head, layers, heads, alt)


def _page(
    shown: Shown,
    vectors: Sequence[tuple[Sequence[Tensor], Sequence[Tensor]]],
    layer: int | None,
    head: int | None,
    layers: Sequence[int] | None,
    heads: Sequence[int] | None,
    alt: str | None,
) -> Frame:
    """vectors: queries and keys for each kind of attention."""
    caller, (n_layers, n_heads) = shown.caller, shown.size
    shown_layers = choose(caller, "layers", layers, n_layers)
    shown_heads = choose(caller, "heads", heads, n_heads)
    layer = seen_first(caller, "layer", layer, shown_layers, n_layers)
    head = seen_first(caller, "head", head, shown_heads, n_heads)
    parts = [
        Heads(*([kind[n][shown_heads] for n in shown_layers] for kind in _fitting(caller, part)))
        for part in map(Heads, shown.parts, *zip(*vectors, strict=True))
    ]
    _check_size(caller, parts)
    for part in parts:
        _check_softmax(caller, part, shown_layers)
    # If no query sees a later key, BertViz shows no score for later keys either.
    causal = [is_causal(torch.stack(part.attentions)) for part in parts]
    return bertviz_page(
        "neuron_view",
        {
            "attention": [
                view
                | {"bidirectional": not causal[view["part"]] or view["rows"] != view["columns"]}
                for view in shown.views
            ],
            "parts": [_packed(part) for part in parts],
            "include_layers": shown_layers,
            "include_heads": shown_heads,
            "layer": shown_layers.index(layer),
            "head": shown_heads.index(head),
        },
        controls=menu("layer", "Layer")
        + menu("att_head", "Head")
        + views_menu(shown.views)
        + '<button type="button" id="expand"></button>',
        hint="Point at a token on the left, or click it to keep it; then point at a box to read "
        'its number. With keys: Tab, arrows. <span id="reading" role="status"></span>',
        alt=alt
        or (
            f"For the token that you choose: its query, the keys of all tokens, their products "
            f"element by element, the scores, which are the products' sum divided by the square "
            f"root of {parts[0].queries[0].shape[-1]}, and the softmax of the scores. Layer "
            f"{layer} of {n_layers}, head {head} of {n_heads}, for the tokens: {shown.words}"
        ),
        height=BOX * shown.longest + 210,
    )


def _fitting(caller: str, part: Heads) -> Heads:
    """The same on the CPU, if queries and keys fit the attentions and each other."""
    n_layers, (H, L, L_keys) = len(part.attentions), part.attentions[0].shape
    checked = []
    for kind, every, length in (("queries", part.queries, L), ("keys", part.keys, L_keys)):
        if len(every) != n_layers:
            raise ValueError(
                f"{caller}: {kind} must be one tensor per layer, {n_layers}; got {len(every)}"
            )
        size = (H, length, part.queries[0].shape[-1])
        for layer, vectors in enumerate(every):
            if tuple(vectors.shape) != size:
                raise ValueError(
                    f"{caller}: {kind} of layer {layer} must be [H, L, d_head] = {list(size)}, as "
                    f"attentions and queries of layer 0 are; got {list(vectors.shape)}"
                )
            if not torch.isfinite(vectors).all():
                raise ValueError(
                    f"{caller}: {kind} of layer {layer} must be finite; got nan or inf"
                )
        checked.append([vectors.detach().float().cpu() for vectors in every])
    return Heads(part.attentions, *checked)


def _check_softmax(caller: str, part: Heads, layers: list[int]) -> None:
    """The scores of queries and keys must give the probabilities."""
    for layer, attention, queries, keys in zip(layers, *part, strict=True):
        scores = queries @ keys.mT / math.sqrt(queries.shape[-1])  # [H, L, L']
        expected = scores.masked_fill(attention == 0, -math.inf).softmax(dim=-1)
        difference = (expected - attention).abs().max()
        if not difference <= TOLERANCE:
            raise ValueError(
                f"{caller}: in layer {layer} softmax(queries @ keys.mT / sqrt(d_head)) must give "
                f"the attentions; the largest difference is {difference:.2g}; are they of one "
                "text and one model, and of evaluation mode?"
            )


def _check_size(caller: str, parts: list[Heads]) -> None:
    check_lines_of_a_head(caller, [part.attentions for part in parts])
    characters = sum(
        2 * attention.numel() + CHARACTERS * (queries.numel() + keys.numel())
        for part in parts
        for attention, queries, keys in zip(*part, strict=True)
    )
    if characters > MOST_CHARACTERS:
        n_layers = len(parts[0].attentions)
        fits = MOST_CHARACTERS * n_layers // characters
        raise ValueError(
            f"{caller}: queries, keys and attentions of {n_layers} layers with "
            f"{len(parts[0].attentions[0])} heads make a page of {characters / 1e6:.1f} MB; at "
            "most 3 MB; "
            + (
                f"choose up to {fits} layers, such as layers=[0], or some heads"
                if fits
                else "choose layers and heads, such as layers=[0], heads=[0]"
            )
        )


def _packed(part: Heads) -> dict[str, dict]:
    largest = max(float(layer.abs().max()) for layer in (*part.queries, *part.keys))
    queries, keys = (
        pack(torch.stack(list(layers)), CHARACTERS, -largest, largest)
        for layers in (part.queries, part.keys)
    )
    return {"attn": pack_probabilities(part.attentions), "queries": queries, "keys": keys}
