"""Flip through pictures that Python has already drawn: a widget that needs no kernel.

Every page is made in Python, by the library, before it is shown. The browser only chooses the
visible page, so a flipbook also works in an exported page, and its first page is visible even
without scripts.
"""

import html
from collections.abc import Sequence
from itertools import chain
from typing import Any

from bertlab.viz.frames import Frame, frame, read_asset


def flipbook(
    pages: Sequence[Any],
    labels: Sequence[str],
    *,
    title: str,
    alt: str = "",
    css: str = "",
    marks: Sequence[int] = (),
    start: int = 0,
) -> Frame:
    """Pages behind one slider, with play and step buttons and the arrow keys.

    pages: markup, or anything that shows itself as HTML (a `Picture`, a `table`); escape what a
    student typed; labels: a caption for each page; title: above the pages; alt: what the pages
    show, in words, by default the captions; css: style for the pages; marks: pages with a tick on
    the slider; start: the first visible page.

    Raises ValueError if there is no page, if pages and labels differ in number, or if there is
    no page `start`.
    """
    pages, labels = list(pages), list(labels)
    if not pages:
        raise ValueError("flipbook: pages must hold at least one page; got none")
    if len(pages) != len(labels):
        raise ValueError(
            f"flipbook: labels must be one for each of the {len(pages)} pages; got {len(labels)}"
        )
    if not 0 <= start < len(pages):
        raise ValueError(
            f"flipbook: start must be the number of a page, 0 to {len(pages) - 1}; got {start}"
        )
    play = "" if len(pages) == 1 else '<button type="button" id="play">Play</button>'
    controls = f"{play}{_slider('step', 'Step', len(pages), marks=marks, start=start)}"
    return _bind(pages, labels, controls, title=title, alt=alt, css=css, start=start)


def flipbook_grid(
    pages: Sequence[Sequence[Any]],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    row_name: str,
    column_name: str,
    title: str,
    alt: str = "",
    css: str = "",
) -> Frame:
    """Pages in rows and columns behind two sliders, such as layers and heads.

    pages: `pages[row][column]`, each as in `flipbook`; row_labels and column_labels: parts of the
    caption; row_name and column_name: names of the sliders. The up and down keys choose the row,
    left and right the column.

    Raises ValueError if there is no page, or if pages and labels differ in number.
    """
    rows = [list(row) for row in pages]
    if not rows or not rows[0]:
        raise ValueError("flipbook_grid: pages must hold at least one row with one page; got none")
    if len(rows) != len(row_labels) or any(len(row) != len(column_labels) for row in rows):
        raise ValueError(
            f"flipbook_grid: pages must be {len(row_labels)} rows of {len(column_labels)} pages, "
            f"as the labels say; got rows of {[len(row) for row in rows]}"
        )
    labels = [f"{row}, {column}" for row in row_labels for column in column_labels]
    controls = _slider("row", row_name, len(rows)) + _slider(
        "column", column_name, len(column_labels)
    )
    return _bind(list(chain(*rows)), labels, controls, title=title, alt=alt, css=css)


def bar(share: float, *, offset: float = 0.0) -> str:
    """A bar for a page: `share` and `offset` are fractions of its width, from 0 to 1.

    >>> bar(0.25)
    '<span class="bar"><span style="width:25.0%;margin-left:0.0%"></span></span>'
    """
    return (
        f'<span class="bar"><span style="width:{100 * share:.1f}%;'
        f'margin-left:{100 * offset:.1f}%"></span></span>'
    )


def flipbook_style() -> str:
    """The style of sliders, captions, pages and bars, for a frame with these."""
    return read_asset("controls.css") + read_asset("flipbook.css", __package__)


def _bind(
    pages: list[Any],
    labels: list[str],
    controls: str,
    *,
    title: str,
    alt: str,
    css: str,
    start: int = 0,
) -> Frame:
    sections = "\n".join(
        f'<section class="page{" shown" if number == start else ""}" '
        f'data-label="{html.escape(label)}">{_markup(page)}</section>'
        for number, (page, label) in enumerate(zip(pages, labels, strict=True))
    )
    body = f"""<h1>{html.escape(title)}</h1>
<div class="controls" role="group" aria-label="{html.escape(title)}: choose a page">{controls}</div>
<p class="caption" aria-live="polite">{html.escape(labels[start])}</p>
<div class="pages">
{sections}
</div>"""
    return frame(
        body,
        title=title,
        alt=alt or f"{len(pages)} pages: {'; '.join(labels)}.",
        css=flipbook_style() + css,
        scripts=[read_asset("flipbook.js", __package__)],
        height=420,
    )


def _slider(id: str, name: str, size: int, *, marks: Sequence[int] = (), start: int = 0) -> str:
    name, end = html.escape(name), size - 1
    first, last = (" disabled" if start == page else "" for page in (0, end))
    alone = first and last
    ticks = "".join(f'<option value="{mark}"></option>' for mark in marks)
    return f"""<div class="axis"><label for="{id}">{name}</label>
<button type="button" class="back" aria-label="{name}: one back"{first}>‹</button>
<input type="range" id="{id}" list="{id}-marks" min="0" max="{end}" value="{start}"{alone}>
<datalist id="{id}-marks">{ticks}</datalist>
<button type="button" class="forward" aria-label="{name}: one forward"{last}>›</button></div>"""


def _markup(page: Any) -> str:
    if isinstance(page, str):
        return page
    if hasattr(page, "_repr_html_"):
        return page._repr_html_()
    raise ValueError(
        "flipbook: a page must be HTML text or show itself as HTML, as a Picture and a table do; "
        f"got {type(page).__name__}"
    )
