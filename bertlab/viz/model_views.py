"""BertViz's model view, drawn without internet: every head of every layer, small, at once."""

from collections.abc import Sequence

from torch import Tensor

from bertlab.interpretability.traces import TranslationTrace
from bertlab.viz.attention_input import check_layers, check_tokens
from bertlab.viz.bertviz_input import (
    check_lines_of_a_head,
    check_size,
    check_translation,
    choose,
    self_or_cross_views,
    translation_views,
)
from bertlab.viz.bertviz_pages import View, bertviz_page, pack_probabilities, views_menu
from bertlab.viz.frames import Frame

LEAST_COLUMNS = 8  # thumbnails of a model with two heads would fill the screen
TALLEST_THUMBNAIL = 240  # pixels; a longer text is drawn closer together


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
    """All heads as thumbnails, a row a layer and a column a head; a click opens one.

    layers, heads: those that go into the page, otherwise all; of long texts only some fit.
    The other arguments are those of `head_view`, and it raises the same.

    Source: Vig (2019), "A Multiscale Visualization of Attention in the Transformer Model",
    with BertViz 1.4.1.
    """
    tokens = check_tokens("model_view", tokens)
    others = tokens if key_tokens is None else check_tokens("model_view", key_tokens, "key_tokens")
    all_layers = check_layers("model_view", attentions, tokens, others)
    views = self_or_cross_views("model_view", tokens, key_tokens, sentence_b_start)
    return _page("model_view", [all_layers], views, layers, heads, alt)


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
    start token; the rest as in `model_view`, and it raises the same.
    """
    parts = check_translation("translation_model_view", traced, source_tokens, target_tokens)
    views = translation_views(list(source_tokens), list(target_tokens))
    return _page("translation_model_view", parts, views, layers, heads, alt)


def _page(
    caller: str,
    parts: list[list[Tensor]],
    views: list[View],
    layers: Sequence[int] | None,
    heads: Sequence[int] | None,
    alt: str | None,
) -> Frame:
    """parts: one list of layers for each kind of attention that a view may show."""
    n_layers, n_heads = len(parts[0]), parts[0][0].shape[0]
    shown_layers = choose(caller, "layers", layers, n_layers)
    shown_heads = choose(caller, "heads", heads, n_heads)
    parts = [[part[layer][shown_heads] for layer in shown_layers] for part in parts]
    check_size(caller, parts, "layers=[0], heads=[0] is the smallest choice")
    check_lines_of_a_head(caller, parts)
    columns = max(len(shown_heads), LEAST_COLUMNS)
    longest = max(len(view[side]) for view in views for side in ("left_text", "right_text"))
    row = min(longest * 84 / columns, TALLEST_THUMBNAIL) + 10  # as model_view.js has it
    tokens = " ".join(views[0]["left_text"])
    return bertviz_page(
        "model_view",
        {
            "attention": views,
            "parts": [{"attn": pack_probabilities(part)} for part in parts],
            "include_layers": shown_layers,
            "include_heads": shown_heads,
            "columns": columns,
            "thumbnail_height": TALLEST_THUMBNAIL,
        },
        controls=views_menu(views),
        hint="Click a thumbnail to see it large, once more to close it; there, point at a token to "
        "see its lines alone. With keys: Tab, arrows, Enter.",
        title="Model view",
        alt=alt
        or (
            f"Thumbnails of {len(shown_layers)} layers (rows) with {len(shown_heads)} heads "
            f"(columns) each: lines join query tokens on the left to key tokens on the right; the "
            f"stronger the line, the higher the probability. For the tokens: {tokens}"
        ),
        height=round(max(len(shown_layers) * row + 40, longest * 18 + 60)) + 80,
    )
