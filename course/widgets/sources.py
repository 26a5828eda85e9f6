"""The library's own source, beside the page that explains it."""

import inspect
from typing import Any

from bertlab.viz import Rendered


def show_source(thing: Any) -> Rendered:
    """The source of a function or class of the library, with colours in a notebook.

    What you read is what runs: the text comes from the imported file.
    """
    from IPython.display import Code

    source = inspect.getsource(thing)
    font = "font-family:var(--jp-code-font-family,monospace);font-size:13px;line-height:1.4"
    return Rendered(
        f'<div style="{font}">{Code(source, language="python")._repr_html_()}</div>', source
    )
