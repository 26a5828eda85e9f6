"""BertViz's head view and model view, drawn without internet.

The head view joins each token by lines to those that it attends to; the model view shows every head
of every layer in this way, small, at once.
"""

from collections.abc import Sequence

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.bertviz_pages import (
    Shown,
    bertviz_page,
    check_lines_of_a_head,
    check_size,
    choose,
    menu,
    of_a_text,
    of_a_translation,
    pack_probabilities,
    seen_first,
    views_menu,
)
from bertlab.viz.frames import Frame

MOST_LINES = 200_000  # drawn at once; more delay a browser by seconds at every click
ROW = 22.5  # pixels per token


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

    attentions: one tensor per layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    layer: the layer shown first (from 0); heads: the heads shown first, by default all; layers:
    those in the page, by default all; of long texts only some fit; sentence_b_start: the start of
    the second sentence, to choose among A→A, A→B, B→A, B→B; key_tokens: L' strings, if the keys
    are of another text than the queries (cross-attention, [H, L, L']); alt: the view in words, by
    default generated.

    Raises ValueError if the tensors, the tokens and the indices do not fit each other or are too
    many for one page, and ModuleNotFoundError if a script it needs is not installed.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    shown = of_a_text("head_view", attentions, tokens, sentence_b_start, key_tokens)
    return _page(shown, layer, heads, layers, alt)


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
    start token; the rest, and the errors, as in `head_view`.
    """
    shown = of_a_translation("translation_head_view", traced, source_tokens, target_tokens)
    return _page(shown, layer, heads, layers, alt)


def _page(
    shown: Shown,
    layer: int | None,
    heads: Sequence[int] | None,
    layers: Sequence[int] | None,
    alt: str | None,
) -> Frame:
    caller, (n_layers, n_heads) = shown.caller, shown.size
    inside = choose(caller, "layers", layers, n_layers)
    layer = seen_first(caller, "layer", layer, inside, n_layers)
    first = choose(caller, "heads", heads, n_heads)
    parts = [[part[number] for number in inside] for part in shown.parts]
    check_size(caller, parts, "layers=[0] puts one layer into the page")
    largest = max(part[0][0].numel() for part in parts)
    if len(first) * largest > MOST_LINES:
        fits = MOST_LINES // largest
        raise ValueError(
            f"{caller}: {len(first)} heads of this text have {len(first) * largest:,} lines; at "
            f"most {MOST_LINES:,} are drawn at once; "
            + (f"choose up to {fits}, such as heads=[0]" if fits else "shorten the text")
        )
    numbers = "".join(f"<span>{head}</span>" for head in range(n_heads))
    selected = "all heads" if heads is None else "head " + ", ".join(map(str, first))
    return bertviz_page(
        "head_view",
        {
            "attention": shown.views,
            "parts": [{"attn": pack_probabilities(part)} for part in parts],
            "layer": layer,
            "heads": first,
            "include_layers": inside,
            "most_heads": MOST_LINES // largest,
        },
        controls=menu("layer", "Layer") + views_menu(shown.views),
        hint="Heads: click a square to switch one, double-click to see it alone. Point at a token "
        "to see its lines alone. With keys: Tab, arrows, Enter, Shift+Enter. "
        '<span id="too-many" role="status"></span>',
        above=f'<div class="head-numbers" aria-hidden="true">{numbers}</div>',
        alt=alt
        or (
            f"Lines join each query token on the left to the tokens on the right that it attends "
            f"to; the stronger the line, the higher the probability. Layer {layer} of "
            f"{n_layers}, {selected} of {n_heads}, for the tokens: {shown.words}"
        ),
        height=round(ROW * shown.longest) + 150,
    )


LEAST_COLUMNS = 8  # otherwise thumbnails of a model with two heads would fill the screen
TALLEST_THUMBNAIL = 240  # pixels; a longer text is compressed


def model_view(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    sentence_b_start: int | None = None,
    key_tokens: Sequence[str] | None = None,
    alt: str | None = None,
) -> Frame:
    """All heads as thumbnails, one row per layer and one column per head; a click opens one.

    layers, heads: those in the page, by default all; of long texts only some fit. The other
    arguments, and the errors, are those of `head_view`.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    shown = of_a_text("model_view", attentions, tokens, sentence_b_start, key_tokens)
    return _model_page(shown, layers, heads, alt)


def translation_model_view(
    traced: TranslationTrace,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    alt: str | None = None,
) -> Frame:
    """The model view of an encoder-decoder: cross-attention first, encoder and decoder to choose.

    traced: from `trace_translation`; source_tokens: L strings; target_tokens: T strings, with the
    start token; the rest, and the errors, as in `model_view`.
    """
    shown = of_a_translation("translation_model_view", traced, source_tokens, target_tokens)
    return _model_page(shown, layers, heads, alt)


def _model_page(
    shown: Shown, layers: Sequence[int] | None, heads: Sequence[int] | None, alt: str | None
) -> Frame:
    caller, (n_layers, n_heads) = shown.caller, shown.size
    shown_layers = choose(caller, "layers", layers, n_layers)
    shown_heads = choose(caller, "heads", heads, n_heads)
    parts = [[part[layer][shown_heads] for layer in shown_layers] for part in shown.parts]
    check_size(caller, parts, "layers=[0], heads=[0] is the smallest choice")
    check_lines_of_a_head(caller, parts)
    columns = max(len(shown_heads), LEAST_COLUMNS)
    row = min(shown.longest * 84 / columns, TALLEST_THUMBNAIL) + 10  # as in model_view.js
    return bertviz_page(
        "model_view",
        {
            "attention": shown.views,
            "parts": [{"attn": pack_probabilities(part)} for part in parts],
            "include_layers": shown_layers,
            "include_heads": shown_heads,
            "columns": columns,
            "thumbnail_height": TALLEST_THUMBNAIL,
        },
        controls=views_menu(shown.views),
        hint="Click a thumbnail to see it large, once more to close it; there, point at a token to "
        "see its lines alone. With keys: Tab, arrows, Enter.",
        alt=alt
        or (
            f"Thumbnails of {len(shown_layers)} layers (rows) with {len(shown_heads)} heads "
            f"(columns) each: lines join query tokens on the left to key tokens on the right; the "
            f"stronger the line, the higher the probability. For the tokens: {shown.words}"
        ),
        height=round(max(len(shown_layers) * row + 40, shown.longest * 18 + 60)) + 80,
    )
