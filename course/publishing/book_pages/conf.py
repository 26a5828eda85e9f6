"""Sphinx's settings for the book and the slides, called with the executed lectures."""

import importlib.metadata
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from course.publishing import reference

project = "How do I really understand BERT?"
author = ""  # else the pages say that it is not set
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_revealjs"]
suppress_warnings = ["config.cache"]  # a function among the settings: nothing is cached anyway

# The lectures come with their outputs, and no widget may ask a network for its scripts.
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js = {}
SEEN = ("text/html", "image/png", "image/jpeg", "text/plain")  # on a slide, the first that is there
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    *(("revealjs", kind, turn) for turn, kind in enumerate(SEEN)),
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# The reference: short names in signatures, and a line for each argument if there are many.
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # PyTorch's are long, and no part of the course
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True  # a default as it is written; a function has no other name
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries = False
smartquotes = False

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
html_css_files = ["book.css"]
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses to a file
html_theme_options = {
    "home_page_in_toc": True,
    "navigation_with_keys": False,  # the arrows turn the pages of our flipbooks
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
    "hash": True,
    "slideNumber": "c/t",
    "transition": "none",
    "controlsBackArrows": "visible",
}

# MathJax lies in an installed package; of its 24 MB a page of ours can ask for these 2.
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = "sphinx-mathjax-offline"
MATHJAX_PARTS = ["tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions"]


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    """Put the parts of MathJax beside the pages."""
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
    """A link to a file that is no page of the book becomes words: where the course keeps it."""
    for link in list(page.findall(addnodes.pending_xref)):
        target = PurePosixPath(link["reftarget"])
        if link["reftype"] != "myst" or link.get("refdomain") == "doc":
            continue
        if target.suffix == ".ipynb" and len(target.parts) == 1:  # a lecture that is left out
            link.replace_self(link[0].children)
        # What names no folder may be a heading or another page: Sphinx tells if it is neither.
        elif len(target.parts) > 1:
            path = PurePosixPath(*(part for part in target.parts if part != ".."))
            words = nodes.Text(f" ({path} in the course's folder)")
            link.replace_self([*link[0].children, words])


def read_docstring(
    _app: Sphinx, _what: str, name: str, obj: Any, _options: Any, lines: list
) -> None:
    """Docstrings of the library are plain text; autodoc wants its own marks."""
    package = name if hasattr(obj, "__path__") else ".".join(name.split(".")[:2])
    lines[:] = reference.as_rst("\n".join(lines), package).split("\n")


def skip_strangers(_app: Sphinx, _what: str, _name: str, obj: Any, *_rest: Any) -> bool | None:
    """Leave out what a base class of another library brings, and the fields of tuples."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    strange = not str(getattr(function, "__module__", "")).startswith(reference.HOUSES)
    return True if strange else None  # None: as autodoc thinks


def tidy_signature(
    _app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """A default that is made again each time is `...`: Sphinx cannot read what Python calls it."""
    return (signature.replace("<factory>", "..."), returns) if signature else None


def keep_own_types(_app: Sphinx, page: nodes.document) -> None:
    """A type of another library has no page here, and to look for each of them takes seconds."""
    for link in list(page.findall(addnodes.pending_xref)):
        if link["reftype"] == "class" and not link["reftarget"].startswith(reference.HOUSES):
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Sphinx calls this once, before it reads the pages."""
    app.connect("build-finished", copy_mathjax)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-signature", tidy_signature)
    app.connect("autodoc-skip-member", skip_strangers)
    app.connect("doctree-read", keep_own_types)
    app.connect("doctree-read", say_where_files_are)
