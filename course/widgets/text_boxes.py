"""One or several text boxes, and Python's answer below.

Only the boxes are widgets: whenever one changes, a function of yours runs again and its result
replaces the last answer. The first answer is plain HTML, so that it is also visible without a
kernel.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bertlab.viz import Frame, Rendered
from course.live.tours import live_box

NO_BOX = "Run this cell in Jupyter to type a text of your own."
NO_KERNEL = "Run this cell in Jupyter to type a text of your own, or open the line below."


@dataclass(frozen=True, repr=False)
class TextBox:
    """One box per text, and the answer below them; `text_box` makes a single box."""

    show: Callable[..., Rendered | Frame]  # of the texts
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    on_enter: bool = False
    rows: int = 1
    refusal: str = "No answer."
    live: tuple[str, ...] = ()  # stations of `course.live` that can answer without a kernel

    def answer(self, *texts: str) -> Rendered | Frame:
        """The result of `show` for the texts, or the message of its ValueError."""
        try:
            return self.show(*map(sendable, texts))
        except ValueError as error:
            words = sendable(str(error))
            return Rendered(f"<p><strong>{self.refusal}</strong> {html.escape(words)}</p>", words)

    def __repr__(self) -> str:
        return repr(self.answer(*self.texts))

    def _ipython_display_(self) -> None:
        from IPython.display import display
        from ipywidgets import Layout, Text, Textarea

        kind, more = (Text, {}) if self.rows == 1 else (Textarea, {"rows": self.rows})
        boxes = [
            kind(
                sendable(text),
                description=label,
                continuous_update=not self.on_enter,
                style={"description_width": "initial"},
                layout=Layout(width="auto"),
                **more,
            )
            for text, label in zip(self.texts, self.labels, strict=True)
        ]
        # The answer to an empty text says itself what to type.
        words = NO_KERNEL if self.live else NO_BOX
        show_below(boxes, self.answer, words if any(self.texts) else "")
        if self.live:
            display(Rendered(live_box(self.live, sendable(self.texts[0])), ""))


def show_below(boxes: list, answer: Callable[..., Any], words: str) -> None:
    """Show widgets, and `answer(*values)` below them, again whenever a value changes.

    words: shown instead of the widgets where these are not possible: in an export, or on GitHub.
    """
    from IPython.display import display

    instead = {"text/plain": words, "text/html": f"<p><em>{words}</em></p>" if words else ""}
    for box in boxes:
        display({**box._repr_mimebundle_(), **instead}, raw=True)
        instead = dict.fromkeys(instead, "")
    shown = display(answer(*(box.value for box in boxes)), display_id=True)
    for box in boxes:
        box.observe(lambda _: shown.update(answer(*(box.value for box in boxes))), names="value")


def text_box(
    show: Callable[[str], Rendered], text: str, *, label: str = "Type here", on_enter: bool = False
) -> TextBox:
    """A text box, and below it `show(text)`, drawn again whenever the text changes.

    show: takes the text and returns the output, for example a `table`; if it raises ValueError,
    the error's message is shown; text: the initial text; label: before the box; on_enter: run only
    when Enter is pressed, for a `show` that takes longer than a tenth of a second.

    Raises ValueError if `show` cannot be called, or `text` is not a string.
    """
    if not callable(show):
        raise ValueError(f"text_box: show must be a function of a text; got {show!r}")
    if not isinstance(text, str):
        raise ValueError(f"text_box: text must be a string; got {type(text).__name__}")
    return TextBox(show, (text,), (label,), on_enter)


def sendable(text: str) -> str:
    """The text without lone surrogates, which cannot be sent to a browser."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
