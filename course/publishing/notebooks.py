"""The normal form of a notebook, so that a diff in git shows only the real change.

A cell tagged `folded` is hidden until a reader opens it; so is one tagged `proof`, which ends with
a line that says how many checks of its section hold. A heading tagged `further` folds the section
below it, which the core path does not need and which says so first.

`make format` (or `python -m course.publishing.notebooks`) rewrites the lectures and the solutions.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat

from bertlab._console import print_on_any_console
from bertlab._files import write_atomically
from course import ROOT

KEPT_IN_CELLS = ("bertlab", "nbgrader", "slideshow", "tags")
FOR_REFERENCE = re.compile("What the papers? say|Further|Sources")
FURTHER = "Further: the core path continues without this section."
GOALS = "**After this lecture you can**"
PROOF = "# Numbers of this section, checked"
FOLDED = {"proof", "folded"}  # tags
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def written_notebooks() -> list[Path]:
    """All handwritten notebooks; `exercises/` is generated."""
    found = [*ROOT.glob("lectures/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb")]
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def normal_form(notebook: nbformat.NotebookNode) -> str:
    """The text to store: no outputs, no execution counts, only meaningful metadata.

    Raises ValueError if a cell has no id or two cells share one: give cells ids by hand.
    """
    ids = [cell.get("id") for cell in notebook.cells]
    for number, id in enumerate(ids):
        if not id or ids.index(id) != number:
            raise ValueError(f"cell {number} needs an id that no other cell has; got {id!r}")
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT_IN_CELLS if key in cell.metadata}
        if "further" in cell.metadata.get("tags", ()):
            cell.metadata["jp-MarkdownHeadingCollapsed"] = True  # JupyterLab's name
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            tags = FOLDED.intersection(cell.metadata.get("tags", ()))
            if tags:
                cell.metadata["jupyter"] = {"source_hidden": True}
            if "proof" in tags:
                cell.source = proof(cell.source)
    kept = {key: notebook.metadata[key] for key in ("bertlab",) if key in notebook.metadata}
    notebook.metadata = {**kept, "kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def core(cells: Sequence[nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
    """The cells of the core path, without sections tagged `further` and the last, for reference."""
    left_out = 0  # the level of the omitted heading above
    for cell in cells:
        heading = re.match(r"(#+) (.*)", cell.source) if cell.cell_type == "markdown" else None
        if heading and (not left_out or len(heading[1]) <= left_out):
            further = "further" in cell.metadata.get("tags", ()) or FOR_REFERENCE.match(heading[2])
            left_out = len(heading[1]) if further else 0
        if not left_out:
            yield cell


def checks(source: str) -> list[ast.AST]:
    """The statements of a cell that check something: `assert`, and functions with such names."""
    return [node for node in ast.walk(ast.parse(source)) if is_check(node)]


def is_check(node: ast.AST) -> bool:
    """Whether it is `assert x`, `torch.testing.assert_close(x, y)` or similar."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return getattr(function, "attr", getattr(function, "id", "")).startswith("assert")
    return isinstance(node, ast.Assert)


def proof(source: str) -> str:
    """A proof cell with its first line, which is visible while it is folded, and its last line.

    Raises ValueError if it checks nothing.
    """
    made = (PROOF, 'print("✓ ')
    lines = [line for line in source.rstrip().split("\n") if not line.startswith(made)]
    number = len(checks("\n".join(lines)))
    if not number:
        raise ValueError(f"a proof cell must check something; got {source!r}")
    said = (
        "1 check of this section holds" if number == 1 else f"{number} checks of this section hold"
    )
    return "\n".join([PROOF, *lines, f'print("✓ {said}")'])


def main() -> int:
    """Rewrite notebooks that are not in normal form; prints each changed file."""
    print_on_any_console()
    for path in written_notebooks():
        text = normal_form(nbformat.read(path, as_version=4))
        if text != path.read_text(encoding="utf-8"):
            write_atomically(path, text)
            print(f"normal form: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
