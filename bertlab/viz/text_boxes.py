"""A box to type in, and below it what Python answers.

Only the box is a widget: whenever it changes, a function of yours runs again and what it returns
takes the place of the last answer. The first answer is plain HTML, so that it is there without a
kernel, too.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass

from bertlab.viz.text import Rendered

NO_BOX = "Run this cell in Jupyter to type a text of your own."


@dataclass(frozen=True, repr=False)
class TextBox:
    """A box and the answer below it; made by `text_box`."""

    show: Callable[[str], Rendered]
    text: str
    label: str
    on_enter: bool
    rows: int = 1

    def answer(self, text: str) -> Rendered:
        """What `show` says to a text; the words of a ValueError, if it refuses it."""
        try:
            return self.show(sendable(text))
        except ValueError as error:
            words = sendable(str(error))
            return Rendered(f"<p><strong>No answer.</strong> {html.escape(words)}</p>", words)

    def __repr__(self) -> str:
        return repr(self.answer(self.text))

    def _ipython_display_(self) -> None:
        from IPython.display import display
        from ipywidgets import Layout, Text, Textarea

        kind, more = (Text, {}) if self.rows == 1 else (Textarea, {"rows": self.rows})
        box = kind(
            sendable(self.text),
            description=self.label,
            continuous_update=not self.on_enter,
            style={"description_width": "initial"},
            layout=Layout(width="auto"),
            **more,
        )
        # Words in place of the box where no widget can be: in an export, or on GitHub.
        words = {"text/plain": NO_BOX, "text/html": f"<p><em>{NO_BOX}</em></p>"}
        display({**box._repr_mimebundle_(), **words}, raw=True)
        shown = display(self.answer(self.text), display_id=True)
        box.observe(lambda change: shown.update(self.answer(change["new"])), names="value")


def text_box(
    show: Callable[[str], Rendered], text: str, *, label: str = "Type here", on_enter: bool = False
) -> TextBox:
    """A box to type in, and below it `show(text)`, drawn anew whenever the text changes.

    show: takes the text and returns what is to be seen, for example a `table`; if it raises
    ValueError, the words of the error are seen; text: what stands in the box at first; label:
    stands before the box; on_enter: ask only when Enter is pressed, for a `show` that takes longer
    than a tenth of a second.

    Raises ValueError if `show` cannot be called, or `text` is no string.
    """
    if not callable(show):
        raise ValueError(f"text_box: show must be a function of a text; got {show!r}")
    if not isinstance(text, str):
        raise ValueError(f"text_box: text must be a string; got {type(text).__name__}")
    return TextBox(show, text, label, on_enter)


def sendable(text: str) -> str:
    """Text as it can be sent to a browser, which lone halves of a UTF-16 pair cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
