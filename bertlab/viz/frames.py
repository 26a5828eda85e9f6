"""A page inside the page: HTML with its own style and scripts, which works without a network.

All outputs of a notebook share one document, so two views with an element `id="layer"` would
conflict. A frame is a separate, isolated document (`sandbox`): it and the enclosing page only
exchange messages. It contains everything that it needs, and a content security policy forbids it
to fetch anything.
"""

import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from bertlab._files import write_atomically

# The browser enforces "works offline": nothing may be fetched, only inline parts run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Frame:
    """A complete HTML page, shown by a notebook in an `<iframe>`; made by `frame`.

    page: the HTML, from doctype to end; alt: what it shows, in words; height: pixels until measured
    """

    page: str
    title: str
    alt: str
    height: int

    def _repr_html_(self) -> str:
        # The words are hidden when the frame has sent a message. They stay if it cannot run: in a
        # notebook that is not trusted, or without scripts. In an attribute `<` need not be escaped.
        page = self.page.replace("&", "&amp;").replace('"', "&quot;")
        end = "" if self.title.endswith(("?", "!")) else "."
        around = f"{{{read_asset('kept.js')}\n{read_asset('frames_page.js')}}}"
        return (
            f'<div class="bertlab-frame"><style>\n{read_asset("frames_page.css")}</style>'
            f"{script_tag(around)}"
            f'<p class="bertlab-alt"><em>{html.escape(self.title)}{end}</em> '
            f"{html.escape(self.alt)} (Run this cell, or trust the notebook, to see it.)</p>"
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" width="100%" '
            f'height="{self.height}" srcdoc="{page}"></iframe></div>'
        )

    def __repr__(self) -> str:
        return f"{self.title}. {self.alt}"

    def save(self, path: str | os.PathLike) -> Path:
        """Write the page as one HTML file for any browser, offline; returns the path."""
        return write_atomically(path, self.page)


def frame(
    html_body: str,
    *,
    title: str,
    alt: str,
    css: str = "",
    scripts: Sequence[str] = (),
    height: int = 360,
) -> Frame:
    """Make a frame of `html_body`; its height adapts to the content.

    html_body: markup, not escaped, so escape what a student typed; title: the frame's name for
    screen readers; alt: what the page shows, in words, for everyone who cannot see it run; css
    and scripts: added to the frame's own, in this order; height: pixels until it is measured.

    Raises ValueError if `title` or `alt` is empty.
    """
    for name, value in (("title", title), ("alt", alt)):
        if not value.strip():
            raise ValueError(f"frame: {name} must say in words what the frame shows; it is empty")
    tags = "\n".join(script_tag(source) for source in (read_asset("frame.js"), *scripts))
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>
{read_asset("frame.css")}
{css}
</style>
</head>
<body>
<main>
{html_body}
</main>
{tags}
</body>
</html>
"""
    return Frame(page, title, alt, height)


def read_asset(name: str, package: str = "bertlab.viz") -> str:
    """A style sheet or script in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def script_tag(source: str) -> str:
    """`source` as an inline script; strings that would end it early are escaped."""
    safe = re.sub(r"<(?=/script|!--)", r"\\x3c", source, flags=re.IGNORECASE)
    return f"<script>\n{safe}\n</script>"
