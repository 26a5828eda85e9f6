"""Readable text in a notebook: tables and coloured tokens."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

SHORT = 12  # characters of a cell that is not broken


@dataclass(frozen=True)
class Rendered:
    """HTML in a notebook, plain text everywhere else."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "") -> Rendered:
    """A table with a header; numbers are right-aligned.

    Raises ValueError if a row has more or fewer cells than there are columns.
    """
    rows = [list(row) for row in rows]
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValueError(
                f"table: every row must have {len(columns)} cells, one per column; "
                f"row {number} has {len(row)}"
            )
    sides = [_side(row[number] for row in rows) for number in range(len(columns))]
    head = "".join(
        f'<th scope="col" style="text-align:{side}">{_escaped(column)}</th>'
        for column, side in zip(columns, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}{_unbroken(value)}">{_escaped(_plain(value))}</td>'
            for value, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    shown = [list(columns), *([_plain(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    return Rendered(
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
        "\n".join([caption, *lines] if caption else lines),
    )


def _unbroken(value: Any) -> str:
    """A short cell, such as "4.6 ms" or "512 × 768", stays in one line."""
    return ";white-space:nowrap" if len(_plain(value)) <= SHORT else ""


def _escaped(text: str) -> str:
    """A number and its % stay in one line."""
    return re.sub(r"(?<=\d) (?=%)", "&nbsp;", html.escape(text))


def token_boxes(tokens: Sequence[str], ids: Sequence[int] | None = None) -> Rendered:
    """Tokens as boxes in a row, each with its id below if ids are given.

    Raises ValueError if there is not one id per token.
    """
    if ids is not None and len(ids) != len(tokens):
        raise ValueError(
            f"token_boxes: ids must be one for each of the {len(tokens)} tokens; got {len(ids)}"
        )
    box = (
        "display:inline-block;text-align:center;margin:2px 3px 2px 0;padding:1px 6px;"
        "border-radius:4px;font-family:monospace;color:#111;print-color-adjust:exact;"
    )
    pieces = []
    for number, token in enumerate(tokens):
        # Light blue, light yellow: colour-blind safe.
        colour = "#c6dbef" if number % 2 == 0 else "#fdf0b6"
        below = "" if ids is None else f'<br><small style="color:#444">{ids[number]}</small>'
        pieces.append(f'<span style="{box}background:{colour}">{html.escape(token)}{below}</span>')
    return Rendered(f'<div style="line-height:1.5">{"".join(pieces)}</div>', " | ".join(tokens))


def _side(values: Iterable[Any]) -> str:
    """Columns of numbers, with their header, are right-aligned, columns of words left-aligned."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    return "right" if numbers and all(numbers) else "left"


def _plain(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return str(value)
