"""Pictures for the lectures: one function per kind, each with alt text.

Colours are matplotlib's `viridis` for amounts and blue, orange, ... of Okabe and Ito for kinds:
both are colour-blind safe.
"""

import base64
import html
import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, cast

from bertlab._files import write_atomically

if TYPE_CHECKING:  # matplotlib is imported when the first picture is drawn
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH = 96
LONG = 25  # characters; a longer label of an axis may need two lines
SHARPNESS = 2  # pixels per dot, for screens with a high resolution
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
# Ink, grid and paper on a light page -> on a dark one. All other colours are amounts or kinds, and
# the same on both: what is written on one of them is neither pure black nor pure white.
ON_DARK = {"#000000": "#e8eaed", "#1c2127": "#e8eaed", "#e3e6ea": "#3a424b", "#ffffff": "#121212"}
WRITTEN_ON_LIGHT, WRITTEN_ON_DARK = "#111111", "#fefefe"
# The book and JupyterLab name their themes so; paper is light.
SWITCH = (
    '@media screen{:is([data-theme="dark"],[data-jp-theme-light="false"]) '
    "img[style*=--on-dark]{content:var(--on-dark)}}"
)
MARKERS = ("o", "s", "^", "D", "v", "P")  # colour must not be the only difference


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure together with its description; a notebook shows both.

    figure: change it before it is shown, if you like; alt: what it shows, in words.
    """

    figure: "Figure"
    alt: str

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise ValueError("Picture: alt must say in words what the picture shows; it is empty")

    @cached_property
    def png(self) -> bytes:
        """The picture at its first use; later changes to the figure have no effect."""
        from matplotlib.text import Text

        if any(text.get_wrap() for text in self.figure.findobj(Text)):
            self.figure.draw_without_rendering()  # the layout has room only for what has its lines
        # Without `Software`, the bytes depend on matplotlib's version only through the drawing.
        return self._drawn(facecolor="white", metadata={"Software": None})

    @cached_property
    def on_dark(self) -> bytes:
        """The same for a dark page, also as PNG: ink is light, and the page shows through."""
        _ = self.png  # drawn first: an axis makes its ticks then, and with its usual ink
        with ink_for_dark(self.figure):
            return self._drawn(transparent=True)

    def _drawn(self, **options: Any) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, dpi=DOTS_PER_INCH * SHARPNESS, **options)
        return buffer.getvalue()

    def _repr_html_(self) -> str:
        width = int.from_bytes(self.png[16:20], "big") // SHARPNESS  # from the PNG's own header
        light, dark = map(as_address, (self.png, self.on_dark))
        return (
            f'<img alt="{html.escape(self.alt)}" width="{width}" src="{light}" style="max-width:'
            f'100%;height:auto;border-radius:6px;--on-dark:url({dark})"><style>{SWITCH}</style>'
        )

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"[Picture: {self.alt}]"

    def save(self, path: str | os.PathLike) -> Path:
        """Write the picture as a PNG file; returns the path."""
        return write_atomically(path, self.png)


def as_address(png: bytes) -> str:
    """A picture as an address that contains it, in less than half of PNG's bytes, with no loss."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.open(io.BytesIO(png)).save(buffer, "webp", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


@contextmanager
def ink_for_dark(figure: "Figure") -> Iterator[None]:
    """Within it, what a figure draws in a colour of `ON_DARK` has the other one, at its place."""
    from matplotlib.colors import is_color_like, to_hex, to_rgba

    undo: list[tuple[Callable, Any]] = [(figure.set_layout_engine, figure.get_layout_engine())]
    figure.set_layout_engine("none")
    for artist in figure.findobj():
        for name in ("color", "edgecolor", "facecolor", "markeredgecolor"):
            colour: Any = getattr(artist, f"get_{name}", lambda: None)()
            if not is_color_like(colour):
                continue
            ink, alpha = ON_DARK.get(to_hex(colour)), to_rgba(colour)[3]
            if ink and alpha:
                change = getattr(artist, f"set_{name}")
                undo.append((change, colour))
                change(to_rgba(ink, alpha))
    try:
        yield
    finally:
        for change, colour in reversed(undo):
            change(colour)


def bars(amounts: Mapping[str, float], what: str, *, title: str = "", alt: str = "") -> Picture:
    """One bar per amount, its name below and its value on top.

    what: "amount (unit) by name", which becomes the axis labels; alt: the picture in words, by
    default generated.

    Raises ValueError if there are no amounts, or `what` lacks its "by".
    """
    labels, values = list(amounts), [float(value) for value in amounts.values()]
    if not labels:
        raise ValueError("bars: amounts must hold at least one; got none")
    ylabel, xlabel = axes_of("bars", what)
    plain = [plain_text(label) for label in labels]
    # Lines of at most 28 characters: a longer name would be cut off.
    names = [fill(x, 28, break_on_hyphens=False) if len(x) > 28 else x for x in plain]
    longest = max(len(line) for name in names for line in name.split("\n"))
    long = len(labels) * (longest + 2) > 90  # characters that fit in one row
    deep = 1 + max(name.count("\n") for name in names)
    room = max(0.62, 0.3 * deep if long else 0.095 * longest)  # inches per bar
    ax = new_axes(max(5.0, min(9.0, room * len(labels) + 1.2)), 3.4)
    drawn = ax.bar(range(len(values)), values, color=COLOURS[0], width=0.7)
    ax.bar_label(drawn, [_short(value) for value in values], padding=2, fontsize=9)
    ax.set_xticks(
        range(len(labels)),
        names,
        rotation=35 if long else 0,
        ha="right" if long else "center",
        rotation_mode="anchor" if long else "default",
    )
    ax.margins(y=0.12)
    if all(value == int(value) for value in values):
        locator: Any = ax.yaxis.get_major_locator()
        locator.set_params(integer=True)  # counts are whole numbers
    said = ", ".join(f"{name} {_short(value)}" for name, value in zip(labels, values, strict=True))
    return finish(ax, xlabel, ylabel, title, alt or f"Bars, {what}: {said}.")


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    what: str,
    *,
    title: str = "",
    alt: str = "",
    spread: Mapping[str, Sequence[float]] | None = None,
    logarithmic: bool | Literal["x"] = False,
) -> Picture:
    """One line per series: its name -> its values at each `x`, `nan` for a gap.

    Other arguments as in `bars`. The y axis starts at 0 unless a value is below it; spread: the
    half-width of a band around the line of that name; logarithmic: both axes, or only "x", for
    values above 0 that span several powers of ten.

    Raises ValueError if a series does not have one value for each `x`, there are no values, or a
    spread belongs to no series.
    """
    x = [float(value) for value in x]
    if not x or not series:
        raise ValueError("lines: x and series must each hold something; got none")
    ylabel, xlabel = axes_of("lines", what)
    ax = new_axes(6.2, 3.6)
    spread = dict(spread or {})
    lowest, said = 0.0, []
    for number, (name, values) in enumerate(series.items()):
        y, around = [float(value) for value in values], list(spread.pop(name, [0.0] * len(x)))
        if len(y) != len(x) or len(around) != len(x):
            raise ValueError(
                f"lines: each series must have one value for each of the {len(x)} x, and one "
                f"spread if it has any; {name!r} has {len(y)} and {len(around)}"
            )
        lowest = min(lowest, *y)
        said.append(f"{name} {_course(x, y)}")
        if any(around):
            low, high = zip(*((a - b, a + b) for a, b in zip(y, around, strict=True)), strict=True)
            ax.fill_between(x, low, high, color=COLOURS[number % len(COLOURS)], alpha=0.18, lw=0)
        ax.plot(
            x,
            y,
            label=plain_text(name),
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)] if len(x) <= 40 else "",
            linestyle=("-", "--", ":")[number // len(COLOURS) % 3],
            markersize=5,
        )
    if spread:
        raise ValueError(f"lines: spread must belong to a series; there is no {min(spread)!r}")
    if logarithmic:
        ax.set_xscale("log")
    if logarithmic is True:
        ax.set_yscale("log")
    elif lowest == 0:
        ax.set_ylim(bottom=0)
    if not logarithmic and all(value.is_integer() for value in x):
        ax.locator_params(axis="x", integer=True)  # no step 2.5
    if not logarithmic and max(map(abs, x)) >= 1000:
        ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="y", color="#e3e6ea", linewidth=0.8)
    if len(series) > 1:
        ax.legend(framealpha=0.85, edgecolor="none")  # readable even over a line
    return finish(ax, xlabel, ylabel, title, alt or f"Lines, {what}: {'; '.join(said)}.")


def axes_of(function: str, what: str) -> tuple[str, str]:
    """ "loss (nats) by step" -> the labels of the y axis and the x axis."""
    measured, by, places = what.rpartition(" by ")
    if not (measured.strip() and by and places.strip()):
        raise ValueError(
            f"{function}: what must name both axes, as in 'loss (nats) by step'; got {what!r}"
        )
    return measured, places


def new_axes(width: float, height: float) -> "Axes":
    """Axes in a figure of their own, in inches.

    Not made with pyplot, which keeps every figure in memory and shows it a second time.
    """
    return new_panels(width, height, 1, 1)[0, 0]


def new_panels(
    width: float, height: float, rows: int, columns: int, *, sharex: bool = False
) -> "np.ndarray":
    """Axes [rows, columns] in one figure, in inches; a row shares its vertical axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=True)


def finish(ax: "Axes", xlabel: str, ylabel: str, title: str, alt: str) -> Picture:
    """The common end of all pictures: axes with wrapped labels, no box, a title."""
    for name, value in (("xlabel", xlabel), ("ylabel", ylabel), ("alt", alt)):
        if not value.strip():
            raise ValueError(f"{name} must say in words what is shown; it is empty")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(xlabel, wrap=len(xlabel) > LONG)  # at the edges of the figure
    ax.set_ylabel(ylabel, wrap=len(ylabel) > LONG)
    if title:
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=10)
    return Picture(cast("Figure", ax.figure), alt)


def token_bars(
    ax: "Axes",
    name: str,
    tokens: Sequence[str],
    values: Sequence[float],
    labels: Sequence[str],
    colour: str | Sequence[str],
    height: float = 0.8,
) -> None:
    """Horizontal bars, the first token on top, each with its label; `name` is the title."""
    drawn = ax.barh(range(len(tokens)), values, color=colour, height=height)
    ax.bar_label(drawn, labels, padding=2, fontsize=8)
    ax.set_yticks(range(len(tokens)), [plain_text(token) for token in tokens], fontsize=9)
    ax.set_ylim(len(tokens) - 0.4, -0.6)
    ax.set_title(plain_text(name), fontsize=10)


def plain_text(text: str) -> str:
    """A token as plain text: matplotlib would read `$x$` as mathematics."""
    return text.replace("$", r"\$")


def _short(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _course(x: Sequence[float], y: Sequence[float]) -> str:
    """Start and end of a line, and its highest and lowest point if they are between."""
    known = [place for place, value in enumerate(y) if math.isfinite(value)] or [0]
    highest, lowest = (best(known, key=y.__getitem__) for best in (max, min))
    points = [("from", known[0]), ("to", known[-1])]
    for name, place in (("highest", highest), ("lowest", lowest)):
        if y[place] not in (y[known[0]], y[known[-1]]):
            points.append((name, place))
    return ", ".join(f"{name} {_short(y[place])} at {_short(x[place])}" for name, place in points)
