"""BertViz's head view, drawn without internet: lines from each token to those it attends to."""

from collections.abc import Sequence

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.attention_input import check_layers, check_tokens
from bertlab.viz.bertviz_input import (
    check_size,
    check_translation,
    choose,
    seen_first,
    self_or_cross_views,
    translation_views,
)
from bertlab.viz.bertviz_pages import (
    View,
    bertviz_page,
    menu,
    pack_probabilities,
    views_menu,
)
from bertlab.viz.frames import Frame

MOST_LINES = 200_000  # drawn at once; more make a browser wait for seconds at every click
ROW = 22.5  # pixels of a token


def head_view(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    layers: Sequence[int] | None = None,
    sentence_b_start: int | None = None,
    key_tokens: Sequence[str] | None = None,
    alt: str | None = None,
) -> Frame:
    """Lines from every query token to the tokens it attends to, for the heads that you choose.

    attentions: one tensor a layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    layer: the layer shown first (from 0); heads: the heads shown first, otherwise all;
    layers: those that go into the page, otherwise all; of long texts only some fit;
    sentence_b_start: where the second sentence starts, to choose among A→A, A→B, B→A, B→B;
    key_tokens: L' strings, if the keys are of another text than the queries (cross-attention,
    [H, L, L']); alt: the view in words, otherwise a sentence is made.

    Raises ValueError if the tensors, the tokens and the indices do not fit each other or are too
    many for one page, and ModuleNotFoundError if a script it needs is not installed.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    tokens = check_tokens("head_view", tokens)
    others = tokens if key_tokens is None else check_tokens("head_view", key_tokens, "key_tokens")
    all_layers = check_layers("head_view", attentions, tokens, others)
    views = self_or_cross_views("head_view", tokens, key_tokens, sentence_b_start)
    return _page("head_view", [all_layers], views, layer, heads, layers, alt)


def translation_head_view(
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    layers: Sequence[int] | None = None,
    alt: str | None = None,
) -> Frame:
    """The head view of an encoder-decoder: cross-attention first, encoder and decoder to choose.

    traced: from `trace_translation`; source_tokens: L strings; target_tokens: T strings, with the
    start token; the rest as in `head_view`, and it raises the same.
    """
    parts = check_translation("translation_head_view", traced, source_tokens, target_tokens)
    views = translation_views(list(source_tokens), list(target_tokens))
    return _page("translation_head_view", parts, views, layer, heads, layers, alt)


def _page(
    caller: str,
    parts: list[list[Tensor]],
    views: list[View],
    layer: int | None,
    heads: Sequence[int] | None,
    layers: Sequence[int] | None,
    alt: str | None,
) -> Frame:
    """parts: one list of layers for each kind of attention that a view may show."""
    n_layers, n_heads = len(parts[0]), parts[0][0].shape[0]
    shown = choose(caller, "layers", layers, n_layers)
    layer = seen_first(caller, "layer", layer, shown, n_layers)
    first = choose(caller, "heads", heads, n_heads)
    parts = [[part[number] for number in shown] for part in parts]
    check_size(caller, parts, "layers=[0] puts one layer into the page")
    largest = max(part[0][0].numel() for part in parts)
    if len(first) * largest > MOST_LINES:
        fits = MOST_LINES // largest
        raise ValueError(
            f"{caller}: {len(first)} heads of this text have {len(first) * largest:,} lines; at "
            f"most {MOST_LINES:,} are drawn at once; "
            + (f"choose up to {fits}, such as heads=[0]" if fits else "shorten the text")
        )
    tokens = views[0]["left_text"]
    numbers = "".join(f"<span>{head}</span>" for head in range(n_heads))
    selected = "all heads" if heads is None else "head " + ", ".join(map(str, first))
    longest = max(len(view[side]) for view in views for side in ("left_text", "right_text"))
    return bertviz_page(
        "head_view",
        {
            "attention": views,
            "parts": [{"attn": pack_probabilities(part)} for part in parts],
            "layer": layer,
            "heads": first,
            "include_layers": shown,
            "most_heads": MOST_LINES // largest,
        },
        controls=menu("layer", "Layer") + views_menu(views),
        hint="Heads: click a square to switch one, double-click to see it alone. Point at a token "
        "to see its lines alone. With keys: Tab, arrows, Enter, Shift+Enter. "
        '<span id="too-many" role="status"></span>',
        above=f'<div class="head-numbers" aria-hidden="true">{numbers}</div>',
        title="Head view",
        alt=alt
        or (
            f"Lines join each query token on the left to the tokens on the right that it attends "
            f"to; the stronger the line, the higher the probability. Layer {layer} of "
            f"{n_layers}, {selected} of {n_heads}, for the tokens: {' '.join(tokens)}"
        ),
        height=round(ROW * longest) + 150,
    )
