"""The reader's turn: a blank with an instant check, sliders over a function just written.

A question with choices needs no code: it is a Markdown cell with one fold per choice, so that it
also works in an exported page.
"""

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

from bertlab.viz import Frame, Rendered
from course.widgets.text_boxes import TextBox, show_below

NO_SLIDERS = "Run this cell in Jupyter to move the sliders yourself."


def blank(label: str, answer: str | float, *, within: float = 0.1) -> TextBox:
    """A blank to fill in; the text is compared with the answer when Enter is pressed.

    label: before the blank; answer: best an expression, so that the cell does not reveal the
    answer. A text must be equal except for case and spaces at its ends, a number up to the share
    `within` of it. Below the blank is the answer in a fold, also in an exported page.

    Raises ValueError if the answer is neither text nor a finite number, or `within` is below 0.
    """
    number = isinstance(answer, Real) and not isinstance(answer, bool)
    if not isinstance(answer, str) and not (number and math.isfinite(answer)):
        raise ValueError(f"blank: answer must be a text or a finite number; got {answer!r}")
    if within < 0:
        raise ValueError(f"blank: within must be at least 0; got {within!r}")
    verdict = _of_text if isinstance(answer, str) else partial(_of_number, within=within)
    show = partial(_answered, answer=answer, verdict=verdict)
    return TextBox(show, ("",), (label,), on_enter=True)


def _answered(typed: str, answer: Any, verdict: Callable) -> Rendered:
    said = (
        verdict(typed.strip(), answer)
        if typed.strip()
        else "In Jupyter, type your answer and press Enter."
    )
    folded = f"<details><summary>The answer</summary><p>{html.escape(_shown(answer))}</p></details>"
    return Rendered(f'<p role="status">{html.escape(said)}</p>{folded}', said)


def _shown(answer: str | float) -> str:
    if isinstance(answer, str):
        return answer
    return f"{answer:.3g}" if abs(answer) < 1_000 else f"{answer:,.0f}"


def _of_text(typed: str, answer: str) -> str:
    if typed.casefold() == answer.strip().casefold():
        return f"✓ {answer} is right."
    return f"✗ Not {typed}. Try again, or unfold the answer."


def _of_number(typed: str, answer: float, within: float) -> str:
    try:
        guess = float(typed.removesuffix("%").replace(",", ""))
    except ValueError:
        raise ValueError(f"a number is asked for, such as 12 or 0.5; got {typed}") from None
    if math.isclose(guess, answer, rel_tol=within, abs_tol=1e-9):
        return f"✓ You said {guess:g}; it is {_shown(answer)}."
    side = "high" if guess > answer else "low"
    return f"✗ {guess:g} is too {side}. Try again, or unfold the answer."


@dataclass(frozen=True, repr=False)
class Sliders:
    """Sliders, and below them a function's result for their values; made by `sliders`."""

    show: Callable[..., Rendered | Frame]
    ranges: Mapping[str, tuple[float, float, float]]  # name -> lowest, highest, first

    def answer(self, *values: float) -> Rendered | Frame:
        """The function's result for the values."""
        return self.show(**dict(zip(self.ranges, values, strict=True)))

    def __repr__(self) -> str:
        return repr(self.answer(*(start for _, _, start in self.ranges.values())))

    def _ipython_display_(self) -> None:
        from ipywidgets import FloatSlider, IntSlider, Layout

        boxes = []
        for name, (low, high, start) in self.ranges.items():
            whole = all(isinstance(value, int) for value in (low, high, start))
            kind, step, digits = (
                (IntSlider, 1, "d") if whole else (FloatSlider, (high - low) / 50, ".3g")
            )
            layout = Layout(width="auto")
            options = {"min": low, "max": high, "step": step, "readout_format": digits}
            name = name.replace("_", " ")
            boxes.append(kind(start, description=name, layout=layout, **options))
        show_below(boxes, self.answer, NO_SLIDERS)


def sliders(show: Callable[..., Rendered | Frame], **ranges: tuple[float, float, float]) -> Sliders:
    """Sliders over the reader's own function, like those of `ipywidgets.interact`.

    show: takes the names of `ranges` and returns the output, a picture or a table; ranges:
    `name=(lowest, highest, first)`, integers or floats. Unlike with `interact`, the first picture
    is also in an exported page.

    Raises ValueError if there is no range, or one is not lowest <= first <= highest.
    """
    if not ranges:
        raise ValueError("sliders: at least one range is needed, such as n=(1, 10, 5)")
    for name, given in ranges.items():
        if len(given) != 3 or not given[0] <= given[2] <= given[1] or given[0] == given[1]:
            raise ValueError(
                f"sliders: {name} must be (lowest, highest, first), with the first between the "
                f"others; got {given}"
            )
    return Sliders(show, ranges)
