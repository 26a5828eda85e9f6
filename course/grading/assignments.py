"""An assignment as it is graded: the instructor's notebook, and what students were given."""

from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode


class Assignment(NamedTuple):
    """name: such as "ex04_attention"; source: with solutions and hidden tests; release: without."""

    name: str
    source: NotebookNode
    release: NotebookNode


def load_assignment(root: Path, name: str) -> Assignment:
    """Read `solutions/NAME/NAME.ipynb` and `exercises/NAME/NAME.ipynb` below root.

    Raises FileNotFoundError if one is missing, and ValueError if the release is not the source's.
    """
    pages = []
    for room, advice in (
        ("solutions", "which assignments there are: python -m course status"),
        ("exercises", f"make it: python -m course release {name}"),
    ):
        path = root / room / name / f"{name}.ipynb"
        if not path.is_file():
            raise FileNotFoundError(f"there is no {path.relative_to(root)}; {advice}")
        pages.append(nbformat.read(path, as_version=4))
    assignment = Assignment(name, *pages)
    ids = [[grade_id(cell) for cell in page.cells] for page in pages]
    if ids[0] != ids[1]:
        raise ValueError(
            f"exercises/{name} is not the release of solutions/{name}: their cells differ; "
            f"make it again: python -m course release {name}"
        )
    return assignment


def as_handed_in(source: str) -> str:
    """A cell of the instructor's as a student would have it: no marks, no hidden tests.

    >>> as_handed_in("a = 1\\n### BEGIN SOLUTION\\nb = 2\\n### END SOLUTION")
    'a = 1\\nb = 2'
    """
    visible = source.split("### BEGIN HIDDEN TESTS")[0].rstrip()
    return "\n".join(line for line in visible.splitlines() if " SOLUTION" not in line)


def grade_id(cell: NotebookNode) -> str | None:
    """nbgrader's name of a cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")
