"""Every head of every layer, with a slider for each; needs no kernel."""

import html
from collections.abc import Sequence

from torch import Tensor

from bertlab.viz.attention_input import check_layers
from bertlab.viz.frames import Frame, read_asset
from bertlab.viz.heatmaps import KEY, QUERY
from course.widgets.flipbooks import flipbook_grid

LIGHT_FROM = 60  # percent: above this viridis is light and the number on it black


def head_flipbook(
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    *,
    title: str = "What each head attends to",
    alt: str | None = None,
) -> Frame:
    """Heat maps of all heads behind two sliders, layer and head, counted from 0.

    attentions: one tensor per layer, [1, H, L, L] or [H, L, L], rows sum to 1; tokens: L strings;
    alt: the view in words, by default generated.

    Raises ValueError if the tensors and the tokens do not fit each other.
    """
    tokens = list(tokens)
    layers = check_layers("head_flipbook", attentions, tokens)
    n_heads = layers[0].shape[0]
    pages = [[_heat_table(head, tokens) for head in layer] for layer in layers]
    return flipbook_grid(
        pages,
        [f"layer {layer}" for layer in range(len(layers))],
        [f"head {head}" for head in range(n_heads)],
        row_name="Layer",
        column_name="Head",
        title=title,
        alt=alt
        or (
            f"Heat maps of attention, row = query, column = key, for {len(layers)} layers of "
            f"{n_heads} heads and the tokens: {' '.join(tokens)}."
        ),
        css=read_asset("head_flipbook.css", __package__) + _colours(),
    )


def _heat_table(head: Tensor, tokens: list[str]) -> str:
    """One head as a table, [L, L]: in percent, because a cell has room for two digits."""
    escaped = [html.escape(token) for token in tokens]
    names = "".join(f'<th scope="col"><span>{token}</span></th>' for token in escaped)
    rows = []
    for token, probabilities in zip(escaped, head.tolist(), strict=True):
        percents = [round(100 * value) for value in probabilities]
        cells = "".join(f"<td class=v{percent}>{percent}</td>" for percent in percents)
        rows.append(f'<tr><th scope="row">{token}</th>{cells}</tr>')
    return (
        f'<table class="heat"><caption>Percent. Row: {QUERY}. Column: {KEY}.</caption>'
        f"<thead><tr><td></td>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _colours() -> str:
    """A class for each percent, so that a page of many heads is small."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    viridis = colormaps["viridis"]
    return "".join(
        f".heat .v{percent}{{background:{to_hex(viridis(percent / 100))};"
        f"color:{'#000' if percent >= LIGHT_FROM else '#fff'}}}\n"
        for percent in range(101)
    )
