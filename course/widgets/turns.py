"""The reader's turn: a blank with an instant check, sliders over a function just written.

A question with choices needs no code: it is a Markdown cell with one fold per choice, so that it
also works in an exported page.
"""

import html
import json
import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from numbers import Real

from bertlab.viz import Frame, Rendered
from bertlab.viz.frames import frame, read_asset
from course.widgets.text_boxes import show_below

NO_SLIDERS = "Run this cell in Jupyter to move the sliders yourself."


def blank(label: str, answer: str | float, *, within: float = 0.1) -> Frame:
    """A blank to fill in, which the page itself compares with the answer: no kernel is needed.

    label: before the blank, with the unit if there is one; answer: best an expression, so that the
    cell does not reveal the answer. A text must be equal except for case and spaces, a number up to
    the share `within` of it; it may be typed with a decimal comma, thousands, %, as a fraction or
    product. What was typed is kept in the browser. Below the blank is the answer in a fold.
    A later lecture asks a blank that was missed again, by its label, which therefore has one blank.

    Raises ValueError if the answer is neither text nor a finite number, or `within` is below 0.
    """
    number = isinstance(answer, Real) and not isinstance(answer, bool)
    if not isinstance(answer, str) and not (number and math.isfinite(answer)):
        raise ValueError(f"blank: answer must be a text or a finite number; got {answer!r}")
    if within < 0:
        raise ValueError(f"blank: within must be at least 0; got {within!r}")
    wanted = answer if isinstance(answer, str) else float(answer)
    secret = json.dumps({"answer": wanted, "shown": _shown(wanted), "within": within})
    facts = {
        "label": label,
        "key": f"blank_{sha256((label + secret).encode()).hexdigest()[:16]}",
        # Not to be read at a glance in the page's source; no more than that.
        "answer": b64encode(secret.encode()).decode(),
    }
    body = (
        f'<div class="blank"><label for="typed">{html.escape(label)}</label>'
        '<input id="typed" autocomplete="off" spellcheck="false" maxlength="200">'
        '<button>Check</button></div><p role="status">Type your answer and press Enter.</p>'
        "<details><summary>The answer</summary><p></p></details>"
    )
    return frame(
        body,
        title=f"Your turn: {label}",
        alt="A blank for your answer, checked at once.",
        css=read_asset("blank.css", "course.widgets"),
        scripts=[
            f"const FACTS = {json.dumps(facts)};",
            read_asset("blank.js", "course.widgets"),
        ],
        height=110,
    )


def _shown(answer: str | float) -> str:
    if isinstance(answer, str):
        return answer
    return f"{answer:.3g}" if abs(answer) < 1_000 else f"{answer:,.0f}"


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
