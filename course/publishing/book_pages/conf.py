"""Sphinx's settings for the book and the slides, used with the executed lectures."""

import importlib.metadata
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from pygments.formatters import HtmlFormatter
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

from course.publishing import reference
from course.publishing.notebooks import FURTHER

project = "How do I really understand BERT?"
author = ""  # otherwise the pages say that it is not set
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_revealjs"]
suppress_warnings = ["config.cache"]  # a function in the settings: nothing is cached anyway

# The lectures have outputs, and widgets must not load scripts from a network.
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}
SEEN = ("text/html", "image/png", "image/jpeg", "text/plain")  # on a slide, the first available one
nb_mime_priority_overrides = [("revealjs", kind, turn) for turn, kind in enumerate(SEEN)]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# The reference: short names in signatures, one line per argument if there are many.
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # PyTorch's are long, and not part of the course
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True  # defaults as in the source; functions have no other name
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries = False
smartquotes = False

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_context = {
    "default_mode": "auto",  # light or dark as the reader's system
    "favicon_url": (  # in the page; a browser would ask the server for one
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        "%3Crect width='16' height='16' rx='3' fill='%230072b2'/%3E"
        "%3Ctext x='3.5' y='13' font-size='14' fill='white'%3EB%3C/text%3E%3C/svg%3E"
    ),
}
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch pages, which browsers forbid for files
html_theme_options = {
    "home_page_in_toc": True,
    "navigation_with_keys": False,  # our flipbooks use the arrow keys
    "show_navbar_depth": 1,
    "use_download_button": False,
    "use_fullscreen_button": False,
}

revealjs_style_theme = "white"
revealjs_static_path = ["static"]
revealjs_css_files = ["slides.css"]
revealjs_script_files = ["slides.js"]
revealjs_script_plugins = [{"name": "RevealNotes", "src": "revealjs/plugin/notes/notes.js"}]
revealjs_notes_from_comments = True
revealjs_script_conf = {
    "width": 1280,
    "height": 720,
    "margin": 0,
    "center": False,
    "display": "flex",
    "hash": True,
    "slideNumber": "c/t",
    "transition": "none",
    "controlsBackArrows": "visible",
}

# MathJax is in an installed package; of its 24 MB our pages need these 2.
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = "sphinx-mathjax-offline"
MATHJAX_PARTS = ["tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions"]


class LineByLine(HtmlFormatter):
    """Code whose lines are elements, so that book.css can indent what wraps of each.

    A line that begins with blanks says how many.
    """

    def wrap(self, source: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Pygments calls it with 1 and the HTML of each line of code, with 0 for other parts."""
        return super().wrap((code, as_line(text) if code else text) for code, text in source)


def as_line(text: str) -> str:
    """One line of highlighted code as an element; its end is outside.

    >>> as_line('    <b>return</b>')
    '<span class="line" style="--blanks:4">    <b>return</b></span>'
    """
    plain = re.sub(r"<[^>]*>", "", text)
    blanks = len(plain) - len(plain.lstrip(" "))
    style = f' style="--blanks:{blanks}"' if blanks and plain.strip() else ""
    line = text.rstrip("\n")
    return f'<span class="line"{style}>{line}</span>{text[len(line) :]}'


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Copy the parts of MathJax to the pages."""
    if exception is not None:
        return
    installed = importlib.metadata.distribution(MATHJAX).locate_file(f"{MATHJAX}/static/mathjax")
    for part in MATHJAX_PARTS:
        source, target = Path(installed) / part, Path(app.outdir) / "_static/mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def say_where_files_are(_app: Sphinx, page: nodes.document) -> None:
    """Replace a link to a file outside the book by its path in the course's folder."""
    for link in list(page.findall(addnodes.pending_xref)):
        target = PurePosixPath(link["reftarget"])
        if link["reftype"] != "myst" or link.get("refdomain") == "doc":
            continue
        if target.suffix == ".ipynb" and len(target.parts) == 1:  # an omitted lecture
            link.replace_self(link[0].children)
        # Without a folder it may be a heading or another page: Sphinx warns if it is neither.
        elif len(target.parts) > 1:
            path = PurePosixPath(*(part for part in target.parts if part != ".."))
            words = nodes.Text(f" ({path} in the course's folder)")
            link.replace_self([*link[0].children, words])


def keep_percent_signs(_app: Sphinx, page: nodes.document) -> None:
    """Keep a number and its % in one line; code is as it was."""
    for text in list(page.findall(nodes.Text)):
        kept = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
        if kept != text and isinstance(
            text.parent, (nodes.paragraph, nodes.emphasis, nodes.strong)
        ):
            text.parent.replace(text, nodes.Text(kept))


def fold_further_sections(_app: Sphinx, page: nodes.document) -> None:
    """Fold each section that says that the core path continues without it, below its heading."""
    for section in list(page.findall(nodes.section)):
        said = section[1] if len(section) > 1 else section[0]
        if isinstance(said, nodes.paragraph) and said.astext() == FURTHER:
            fold = f'<details class="further"><summary>{FURTHER}</summary>'
            section.replace(said, nodes.raw("", fold, format="html"))
            section.append(nodes.raw("", "</details>", format="html"))


def read_docstring(
    _app: Sphinx, _what: str, name: str, obj: Any, _options: Any, lines: list
) -> None:
    """Docstrings of the library are plain text; autodoc needs its own marks."""
    package = name if hasattr(obj, "__path__") else ".".join(name.split(".")[:2])
    lines[:] = reference.as_rst("\n".join(lines), package).split("\n")


def skip_strangers(_app: Sphinx, _what: str, _name: str, obj: Any, *_rest: Any) -> bool | None:
    """Omit members from base classes of other libraries, and the fields of tuples."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    strange = not str(getattr(function, "__module__", "")).startswith(reference.HOUSES)
    return True if strange else None  # None: autodoc decides


def tidy_signature(
    _app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Show a default that is created at each call as `...`: Sphinx cannot parse Python's name."""
    return (signature.replace("<factory>", "..."), returns) if signature else None


def keep_own_types(_app: Sphinx, page: nodes.document) -> None:
    """Types of other libraries have no page here, and looking for each of them takes seconds."""
    for link in list(page.findall(addnodes.pending_xref)):
        if link["reftype"] == "class" and not link["reftarget"].startswith(reference.HOUSES):
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Sphinx calls this once, before it reads the pages."""
    PygmentsBridge.html_formatter = LineByLine
    app.connect("build-finished", copy_mathjax)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", tidy_signature)
    app.connect("autodoc-skip-member", skip_strangers)
    app.connect("doctree-read", fold_further_sections)
    app.connect("doctree-read", keep_own_types)
    app.connect("doctree-read", keep_percent_signs)
    app.connect("doctree-read", say_where_files_are)
