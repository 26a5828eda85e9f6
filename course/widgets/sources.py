"""The library's own source, beside the page that explains it."""

import inspect
from typing import Any

from bertlab.viz import Rendered


def show_source(thing: Any, *, folded: bool = False) -> Rendered:
    """The source of a function or class of the library, with colours in a notebook.

    The text comes from the imported file, so it is the code that runs. folded: show only its name
    and length until they are clicked, for code that is fast rather than clear.
    """
    from IPython.display import Code

    source = inspect.getsource(thing)
    font = "font-family:var(--jp-code-font-family,monospace);font-size:13px;line-height:1.4"
    shown = f'<div style="{font}">{Code(source, language="python")._repr_html_()}</div>'
    if folded:
        name = f"<code>{thing.__qualname__}</code>, {len(source.splitlines())} lines"
        shown = f"<details><summary>{name}</summary>{shown}</details>"
    return Rendered(shown, source)
