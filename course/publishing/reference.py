"""The library's reference: pages for the book from docstrings, and links to them in lectures.

Sphinx's autodoc reads the docstrings when the book is made. Here are the pages for autodoc, one per
room of the library, of the lectures' models, one for their experiments and one for lecture 13's
BERT; `as_rst`, which converts our plain docstrings for autodoc; and `with_links`, which links a
lecture's cell to the library's code that it shows.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import nbformat

import bertlab
import course.models

HOUSES = ("bertlab.", "course.")  # packages whose docstrings are read
CONTENTS = """Reference
=========

Every public function and class of the library, with its docstring: a page for each of its rooms,
for the lectures' models, for their experiments, and for the BERT of the last one.

.. toctree::
   :maxdepth: 1

{pages}

.. automodule:: bertlab
   :no-members:
"""
ROOM = """{title}
{line}

.. automodule:: {title}
   :ignore-module-all:
   :exclude-members: {hidden}
{offers}{hidden_ones}{modules}"""
MODULE = """
{name}
{line}

.. automodule:: {name}
"""
# A function with the name of a module beside it: the address belongs to the module.
HIDDEN = """
.. autofunction:: {room}::{name}
   :no-index:
"""


def write_pages(folder: Path) -> None:
    """Write the sources of the reference: `bertlab.rst`, its contents, and a page for each room."""
    models = [f"course.models.{part.name}" for part in pkgutil.iter_modules(course.models.__path__)]
    others = ["course.experiments", "course.own_bert"]
    names = [*(f"bertlab.{room}" for room in rooms()), *models, *others]
    contents = CONTENTS.format(pages="\n".join(f"   {name}" for name in names))
    for name, text in {"bertlab": contents, **{name: room_page(name) for name in names}}.items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")


def rooms() -> list[str]:
    """The library's packages, in the reading order of its docstring.

    >>> rooms()[:2]
    ['tokenizers', 'model']
    """
    found = [part.name for part in pkgutil.iter_modules(bertlab.__path__) if part.ispkg]
    return sorted(found, key=lambda room: bertlab.__doc__.index(f"`bertlab.{room}`"))


def room_page(name: str) -> str:
    """A room's page: its docstring, its imports, then each of its modules."""
    room = importlib.import_module(name)
    folders = getattr(room, "__path__", [])  # none, if it is a single module
    public = [m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_")]
    hidden = [m for m in public if getattr(getattr(room, m, None), "__module__", "") == name]
    modules = [f"{name}.{module}" for module in public]
    return ROOM.format(
        title=name,
        line="=" * len(name),
        offers=offers(room),
        hidden=", ".join(hidden),
        hidden_ones="".join(HIDDEN.format(room=name, name=function) for function in hidden),
        modules="".join(MODULE.format(name=module, line="-" * len(module)) for module in modules),
    )


def offers(room: object) -> str:
    """The names that a room exports, each with a link to its description."""
    objects = [getattr(room, name) for name in getattr(room, "__all__", ())]
    links = [f":py:obj:`{o.__name__} <{o.__module__}.{o.__name__}>`" for o in objects]
    return f"\nTo import from here: {', '.join(links)}.\n" if links else ""


def as_rst(text: str, package: str) -> str:
    r"""Convert a docstring of ours for Sphinx: only backticks, lists and doctests are markup in it.

    A name in backticks becomes a link if the reference has it, a file a link to its module in
    `package`, and everything else code.

    >>> as_rst("W_q: *not* bold; `x`s, `1 + 1`", "bertlab.model")
    'W\\_q: \\*not\\* bold; \\ :py:obj:`x`\\ s, \\ ``1 + 1``\\ '
    """
    blocks = re.split(r"\n\s*\n", text.rstrip())
    return "\n\n".join(block_as_rst(block, package) for block in blocks)


def block_as_rst(block: str, package: str) -> str:
    """The text between two empty lines: a doctest, a drawing, a list, or a paragraph.

    A drawing is indented as a whole. If only continuation lines are indented, each other line
    begins an entry of a list.

    >>> print(block_as_rst("a: one\\n    and more\\nb: two", "bertlab.model"))
    - a: one
      and more
    - b: two
    """
    if block.lstrip().startswith(">>>"):
        return block
    if re.fullmatch(r"(?: +.*\n?)+", block):
        return f"::\n\n{block}"
    if re.search(r"^ ", block, re.M) and not re.match(r"- |\d+\. ", block):
        block = re.sub(r"^(?! )", "- ", re.sub(r"^ +", "  ", block, flags=re.M), flags=re.M)
    return escaped(block, package)


def escaped(block: str, package: str) -> str:
    """A paragraph or a list, with plain words and code in backticks."""
    parts = block.split("`")
    if len(parts) % 2 == 0:
        raise ValueError(f"a backtick has no partner in the docstring: {block.strip()!r}")
    parts[::2] = [re.sub(r"([\\*_|])", r"\\\1", words) for words in parts[::2]]
    parts[1::2] = [as_code(code, package) for code in parts[1::2]]
    return "".join(parts)


def as_code(code: str, package: str) -> str:
    """The text between two backticks; escaped spaces separate it from adjacent letters."""
    if re.fullmatch(r"[\w/]+\.py", code):
        stem = code.removesuffix(".py").replace("/", ".")
        module = stem if stem.startswith(HOUSES) else f"{package}.{stem}"
        return rf"\ :py:obj:`{code} <{module}>`\ "
    return rf"\ :py:obj:`{code}`\ " if re.fullmatch(r"\w+(\.\w+)*", code) else rf"\ ``{code}``\ "


def with_links(page: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Add a line with links after each cell that shows the library's code."""
    cells = []
    for cell in page.cells:
        cells.append(cell)
        names = shown_by(cell)
        if names:
            links = ", ".join(f"[`{name}`](#{name})" for name in names)
            house = "library" if names[0].startswith("bertlab.") else "course"
            text = f"In the {house}: {links}"
            cells.append(nbformat.v4.new_markdown_cell(text, id=f"{cell.id[:50]}-library"))
    page.cells = cells
    return page


def shown_by(cell: nbformat.NotebookNode) -> list[str]:
    """The dotted names of the library's code that a cell shows."""
    names = cell.metadata.get("bertlab", {}).get("library", [])
    return [names] if isinstance(names, str) else list(names)
