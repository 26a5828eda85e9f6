"""Matrices as colours: attention above all. Row = query, column = key, every row sums to 1."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from bertlab.viz.attention_input import check_heads, check_matrix
from bertlab.viz.pictures import (
    LONG,
    WRITTEN_ON_DARK,
    WRITTEN_ON_LIGHT,
    Picture,
    axes_of,
    finish,
    new_axes,
    new_panels,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUERY = "query token (attends)"
KEY = "key token (is attended to)"
PROBABILITY = "attention probability"
NUMBERS_UP_TO = 14  # columns; beyond, a number would be too small to read


def attention_heatmap(
    attention: Tensor,
    tokens: Sequence[str],
    *,
    key_tokens: Sequence[str] | None = None,
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """One head: how much each token (row) attends to each token (column).

    attention: [L, L], rows sum to 1; tokens: L strings; key_tokens: the columns' tokens, if
    they differ (attention: [L, L']); alt: the picture in words, by default generated.

    Raises ValueError if the matrix holds no probabilities or does not fit the tokens.
    """
    keys = tokens if key_tokens is None else key_tokens
    probabilities = check_matrix("attention_heatmap", attention, tokens, keys)
    if probabilities.dim() != 2:
        raise ValueError(
            f"attention_heatmap: attention must be one head, [L, L]; got {list(attention.shape)}; "
            "choose one, or show them all with attention_heads"
        )
    return heatmap(
        probabilities,
        tokens,
        keys,
        f"{PROBABILITY} by {QUERY} and {KEY}",
        title=title,
        alt=alt or f"{title or 'Attention'}. {describe(probabilities, tokens, keys)}",
        limits=(0.0, 1.0),
    )


def attention_heads(
    attention: Tensor,
    tokens: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    title: str = "",
    alt: str | None = None,
) -> Picture:
    """All heads of one layer side by side, in the same colours.

    attention: [H, L, L] or [1, H, L, L]; names: the title of each head, by default its number;
    the rest as in `attention_heatmap`.
    """
    heads = check_heads("attention_heads", attention, tokens)
    n_heads, length = heads.shape[:2]
    names = [f"head {head}" for head in range(n_heads)] if names is None else names
    if len(names) != n_heads:
        raise ValueError(
            f"attention_heads: names must be one for each of the {n_heads} heads; got {len(names)}"
        )
    columns = min(4, n_heads)
    rows = math.ceil(n_heads / columns)
    labelled = length <= 16
    high = 2.3 * rows + (0.9 if labelled else 0.5)
    grid = new_panels(2.3 * columns + 1.0, high, rows, columns, sharex=True)
    figure = grid[0, 0].figure
    for head, ax in enumerate(grid.flat):
        if head >= n_heads:
            ax.set_axis_off()
            continue
        image = ax.imshow(heads[head].numpy(), cmap="viridis", vmin=0, vmax=1)
        ax.set_title(plain_text(names[head]), fontsize=9, pad=3)
        _ticks(ax, tokens, tokens, size=7 if labelled else 0)
    if n_heads % columns:  # the lowest panel of a column has labels
        for column in range(n_heads % columns, columns):
            grid[-2, column].tick_params(labelbottom=labelled)
    figure.supxlabel(KEY, fontsize=10)
    figure.supylabel(QUERY, fontsize=10)
    if title:
        figure.suptitle(title, fontsize=11, fontweight="bold")
    figure.colorbar(image, ax=grid, label=PROBABILITY, shrink=0.8, pad=0.02)
    if alt is None:
        parts = [
            f"{name[:1].upper()}{name[1:]}: {_peak(head, tokens, tokens)}"
            for name, head in zip(names, heads, strict=True)
        ]
        alt = f"{title or 'Attention'}: heat maps of {n_heads} heads. {'; '.join(parts)}."
    return Picture(cast("Figure", figure), alt)


def heatmap(
    matrix: Tensor,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    what: str,
    *,
    title: str = "",
    alt: str = "",
    limits: tuple[float, float] | None = None,
) -> Picture:
    """Any matrix as colours, with its numbers if they fit.

    matrix: [R, C]; labels: R and C strings; what: "colour (unit) by row and column", or "colour by
    both"; alt: the picture in words, by default its highest and lowest number; limits: lowest and
    highest colour, by default those of the matrix.

    Raises ValueError if matrix and labels do not fit, or a number is infinite or missing.
    """
    values = torch.as_tensor(matrix).detach().float().cpu()
    if list(values.shape) != [len(row_labels), len(column_labels)] or not values.numel():
        raise ValueError(
            f"heatmap: matrix must be [{len(row_labels)}, {len(column_labels)}], one row and one "
            f"column per label; got {list(values.shape)}"
        )
    if not torch.isfinite(values).all():
        raise ValueError("heatmap: matrix must hold finite numbers; got infinity or nan")
    colour_label, places = axes_of("heatmap", what)
    ylabel, _, xlabel = places.rpartition(" and ")
    rows, columns = values.shape
    numbers = max(rows, columns) <= NUMBERS_UP_TO
    cell = 0.45 if numbers else max(0.2, 0.34 - 0.003 * columns)
    ax = new_axes(max(4.2, cell * columns + 2.6), max(2.6, cell * rows + 1.7))
    low, high = limits or (values.min().item(), values.max().item())
    image = ax.imshow(values.numpy(), cmap="viridis", vmin=low, vmax=high)
    _ticks(ax, row_labels, column_labels, size=10 if numbers else 9)
    if numbers:
        _write_numbers(ax, values, low, high)
    colours = ax.figure.colorbar(image, ax=ax, shrink=0.9, pad=0.03)
    colours.set_label(colour_label, wrap=len(colour_label) > LONG)
    if not alt:
        said = []
        for name, place in (("highest", values.argmax()), ("lowest", values.argmin())):
            row, column = divmod(int(place), columns)
            where = f"{row_labels[row]}, {column_labels[column]}"
            said.append(f"{name} {values[row, column]:.3g} ({where})")
        alt = f"A heat map of {rows} by {columns}, {what}: {', '.join(said)}."
    picture = finish(ax, xlabel, ylabel or xlabel, title, alt)
    ax.spines[:].set_visible(False)
    return picture


def describe(probabilities: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> str:
    """An attention matrix in words: its size and the highest probability of each row."""
    size = f"A heat map of {len(query_tokens)} query tokens by {len(key_tokens)} key tokens."
    if len(query_tokens) > NUMBERS_UP_TO:
        return f"{size} Highest: {_peak(probabilities, query_tokens, key_tokens)}."
    best = probabilities.max(dim=-1)
    rows = [
        f"{query} to {key_tokens[index]} ({value:.2f})"
        for query, value, index in zip(
            query_tokens, best.values.tolist(), best.indices.tolist(), strict=True
        )
    ]
    return f"{size} Each token attends most: {', '.join(rows)}."


def _peak(probabilities: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> str:
    row, column = divmod(int(probabilities.argmax()), len(key_tokens))
    value = probabilities[row, column]
    return f"{query_tokens[row]} attends to {key_tokens[column]} with {value:.2f}"


def _ticks(ax: "Axes", rows: Sequence[str], columns: Sequence[str], *, size: int) -> None:
    if not size:
        ax.set_xticks([])
        ax.set_yticks([])
        return
    ax.set_xticks(
        range(len(columns)), [plain_text(token) for token in columns], rotation=90, fontsize=size
    )
    ax.set_yticks(range(len(rows)), [plain_text(token) for token in rows], fontsize=size)
    ax.tick_params(length=0)


def _write_numbers(ax: "Axes", values: Tensor, low: float, high: float) -> None:
    middle = low + 0.6 * (high - low)  # viridis becomes light here
    digits = 0 if values.equal(values.round()) else 2  # a count has no fraction
    for row, numbers in enumerate(values.tolist()):
        for column, value in enumerate(numbers):
            ax.text(
                column,
                row,
                f"{value:z.{digits}f}" if abs(value) < 10 else f"{value:.0f}",
                ha="center",
                va="center",
                fontsize=8,
                color=WRITTEN_ON_LIGHT if value > middle else WRITTEN_ON_DARK,
            )
