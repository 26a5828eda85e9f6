"""BertViz's model view, drawn without internet: every head of every layer, small, at once."""

from collections.abc import Sequence

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.bertviz_input import (
    Shown,
    check_lines_of_a_head,
    check_size,
    choose,
    of_a_text,
    of_a_translation,
)
from bertlab.viz.bertviz_pages import bertviz_page, pack_probabilities, views_menu
from bertlab.viz.frames import Frame

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
    return _page(shown, layers, heads, alt)


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
    return _page(shown, layers, heads, alt)


def _page(
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
