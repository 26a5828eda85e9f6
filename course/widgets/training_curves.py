"""The course of a training: loss and accuracy by step, as a picture or live in a notebook."""

import sys
from collections.abc import Mapping, Sequence
from math import log
from time import monotonic
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from bertlab.training.runs import Row
from bertlab.viz.pictures import COLOURS, MARKERS, Picture, finish, plain_text

if TYPE_CHECKING:  # matplotlib is imported when the first picture is drawn
    from matplotlib.axes import Axes

TASKS = {"masked words": "mlm_accuracy", "next sentences": "nsp_accuracy"}
LINES = ("-", "--")  # one per task
SECONDS = 2.0  # least time between two live pictures
SHARE = 0.05  # of the training time that live pictures may take


def training_curves(
    runs: Sequence[Row] | Mapping[str, Sequence[Row]],
    *,
    vocab_size: int | None = None,
    best_loss: float | None = None,
    steps: int | None = None,
    title: str = "Pre-training",
) -> Picture:
    """Left: the loss of masked words in nats; right: correct predictions in percent.

    runs: the rows of a training's metrics, or several: {"mini": rows, "tiny": rows}. Lines are
    means over neighbouring steps of training, dots are held-out text; behind the line of a single
    run is the loss of each step.

    vocab_size: draws ln V, the loss of uniform guesses, where a training starts; best_loss: draws
    the lowest possible loss, if it is known; steps: the end of the axis, by default the last row.

    Raises ValueError if a run has no rows.
    """
    from matplotlib.figure import Figure

    runs = dict(runs) if isinstance(runs, Mapping) else {"": runs}
    empty = [name for name, rows in runs.items() if not rows]
    if empty or not runs:
        names = f" in {empty[0]!r}" if any(empty) else ""
        raise ValueError(f"training_curves: runs must hold rows of metrics; got none{names}")
    left, right = Figure(figsize=(9.4, 3.7), layout="constrained").subplots(1, 2)
    for number, (name, rows) in enumerate(runs.items()):
        _draw_loss(left, name, rows, number, alone=len(runs) == 1)
        _draw_accuracies(right, rows, number, alone=len(runs) == 1)
    _explain(left, right, alone=len(runs) == 1)
    if vocab_size is not None:
        start = f"guessing, ln {vocab_size:,} = {log(vocab_size):.2f}"
        left.axhline(log(vocab_size), color="#555555", linestyle="--", linewidth=1, label=start)
    if best_loss is not None:
        best = f"best possible, {best_loss:.2f}"
        left.axhline(best_loss, color="black", linestyle=":", linewidth=1.5, label=best)
    left.set_ylim(bottom=0)
    right.set_ylim(0, 100)
    last = max(row["step"] for rows in runs.values() for row in rows)
    alt = " ".join([f"{title}, loss and accuracy.", *map(_in_words, runs, runs.values())])
    for ax, words, unit in (
        (left, title, "loss of masked words (nats)"),
        (right, "", "guessed right (%)"),
    ):
        ax.set_xlim(0, max(1, last if steps is None else steps))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.get_major_locator().set_params(integer=True, nbins=6)
        ax.grid(axis="y", color="#e3e6ea", linewidth=0.8)
        ax.legend(framealpha=0.85, edgecolor="none", fontsize=8)
        picture = finish(ax, "step", unit, words, alt)
    return picture


class LiveCurves:
    """A picture in a notebook that is updated during training; made by `live_curves`."""

    def __init__(self, steps: int, vocab_size: int | None, best_loss: float | None) -> None:
        self.rows: list[Row] = []
        self._steps = steps
        self._options: dict[str, Any] = {
            "steps": steps,
            "vocab_size": vocab_size,
            "best_loss": best_loss,
        }
        self._display = None
        self._due = 0.0  # when the next picture may be drawn

    def update(self, row: Row) -> None:
        """Add a row of the metrics; draws if it is time, and at the last step."""
        self.rows.append(row)
        if in_notebook() and (monotonic() >= self._due or row["step"] >= self._steps):
            self.draw()

    def draw(self) -> None:
        """Show the current picture: a new output the first time, later in the same place."""
        from IPython.display import display

        started = monotonic()
        if self._display is None:
            self._display = display(self.picture(), display_id=True)
        else:
            self._display.update(self.picture())
        now = monotonic()
        self._due = now + max(SECONDS, (now - started) / SHARE)

    def picture(self) -> Picture:
        """The rows so far, drawn by `training_curves`."""
        return training_curves(self.rows, **self._options)


def live_curves(
    steps: int, *, vocab_size: int | None = None, best_loss: float | None = None
) -> LiveCurves:
    """Curves for watching a training: `pretrain(..., watch=live_curves(config.steps).update)`.

    They are redrawn at most every two seconds, and take at most 5 % of the time. Outside a notebook
    nothing is shown; the rows are kept, and `picture()` draws them.

    steps: of the whole training; vocab_size, best_loss: as in `training_curves`.
    """
    return LiveCurves(steps, vocab_size, best_loss)


def in_notebook() -> bool:
    """Whether a notebook's kernel, which can show pictures, runs this program."""
    ipython = sys.modules.get("IPython")  # a kernel has always imported it
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def smooth(values: Tensor) -> Tensor:
    """Each value's mean with its neighbours on both sides, fewer at the ends; [N].

    Ten on each side, or a sixtieth of all if that is more; a twelfth of short rows. Values that are
    not finite are not in the means and leave a gap.

    >>> smooth(torch.tensor([0.0, 3.0] * 6))[:4].tolist()
    [1.5, 1.0, 2.0, 1.0]
    """
    half = max(min(10, len(values) // 12), len(values) // 60)
    known = values.isfinite()
    sums, counts = (
        torch.cat([torch.zeros(1, dtype=torch.float64), part.double().cumsum(0)])
        for part in (values.where(known, 0), known)
    )
    here = torch.arange(len(values))
    start, end = (here - half).clamp(min=0), (here + half + 1).clamp(max=len(values))
    means = (sums[end] - sums[start]) / (counts[end] - counts[start])
    return means.where(known, torch.nan)


def _draw_loss(ax: "Axes", name: str, rows: Sequence[Row], number: int, *, alone: bool) -> None:
    colour = COLOURS[number % len(COLOURS)]
    steps, loss = _column(rows, "train", "mlm_loss")
    if alone:
        ax.plot(steps, loss, color=colour, alpha=0.3, linewidth=0.7)
    ax.plot(steps, smooth(loss), color=colour, label="training" if alone else plain_text(name))
    held_out = _column(rows, "held-out", "mlm_loss")
    _draw_dots(ax, *held_out, MARKERS[number % len(MARKERS)], COLOURS[5] if alone else colour)


def _draw_accuracies(ax: "Axes", rows: Sequence[Row], number: int, *, alone: bool) -> None:
    for kind, key in enumerate(TASKS.values()):
        colour = COLOURS[(2 * kind if alone else number) % len(COLOURS)]
        steps, share = _column(rows, "train", key)
        ax.plot(steps, 100 * smooth(share), LINES[kind], color=colour)
        steps, share = _column(rows, "held-out", key)
        _draw_dots(ax, steps, 100 * share, MARKERS[(kind if alone else number) % 6], colour)


def _draw_dots(ax: "Axes", steps: Tensor, values: Tensor, marker: str, colour: str) -> None:
    """Held-out text; dots on the edge of the picture are not clipped."""
    if len(steps):  # matplotlib reserves room for unclipped artists, infinite room for empty ones
        style: dict[str, Any] = {"markeredgecolor": "white", "zorder": 3, "clip_on": False}
        ax.plot(steps, values, linestyle="", marker=marker, color=colour, **style)


def _explain(left: "Axes", right: "Axes", *, alone: bool) -> None:
    """A legend of dots and dashes, once for all runs."""
    dots = COLOURS[5] if alone else "#555555"
    left.plot([], [], linestyle="", marker="o", color=dots, label="held-out text")
    for kind, task in enumerate(TASKS):
        colour = COLOURS[2 * kind] if alone else "#555555"
        marker = MARKERS[kind] if alone else ""
        right.plot([], [], LINES[kind], marker=marker, color=colour, label=task)


def _column(rows: Sequence[Row], kind: str, name: str) -> tuple[Tensor, Tensor]:
    """Steps and values of the rows of a kind, [N] each."""
    found = [(row["step"], row[name]) for row in rows if row["kind"] == kind and name in row]
    steps, values = zip(*found, strict=True) if found else ((), ())
    return torch.tensor(steps), torch.tensor(values, dtype=torch.float64)


def _in_words(name: str, rows: Sequence[Row]) -> str:
    """A run as alt text: the first and the current loss."""
    parts = []
    for kind, text, seen in (
        ("train", "Training text", smooth),  # lines are means, dots are single values
        ("held-out", "Held-out text", torch.clone),
    ):
        steps, loss = _column(rows, kind, "mlm_loss")
        if len(steps):
            first, last = seen(loss)[[0, -1]].tolist()
            parts.append(
                f"{text}: {first:.2f} nats at step {steps[0]:,}, {last:.2f} at step {steps[-1]:,}."
            )
        for task, key in TASKS.items():
            share = seen(_column(rows, kind, key)[1])
            if len(share):
                parts.append(f"At the end {share[-1]:.1%} of {task} right.")
    return f"{name}: {' '.join(parts)}" if name else " ".join(parts)
