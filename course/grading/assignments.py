"""An assignment for grading: the instructor's notebook, and the students' version."""

from collections import Counter
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

    Raises FileNotFoundError if one is missing, and ValueError if the release does not match.
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
    """An instructor's cell in the students' form: no marks, no hidden tests.

    >>> as_handed_in("a = 1\\n### BEGIN SOLUTION\\nb = 2\\n### END SOLUTION")
    'a = 1\\nb = 2'
    """
    visible = source.split("### BEGIN HIDDEN TESTS")[0].rstrip()
    return "\n".join(line for line in visible.splitlines() if " SOLUTION" not in line)


def task_names(source: NotebookNode) -> dict[str, str]:
    """The name of each cell of the assignment: the headings above it, and its kind.

    If a heading has two of a kind, their ids as well. source: the instructor's notebook, because
    students may add headings.
    """
    names: dict[str, str] = {}
    path: list[tuple[int, str]] = []  # of headings: level and text
    for cell in source.cells:
        heading, _, title = cell.source.partition("\n")[0].partition(" ")
        kind = _kind(cell)
        is_heading = cell.cell_type == "markdown" and heading and not heading.strip("#")
        if is_heading and kind == "text":
            level = len(heading)
            path = [*(above for above in path if above[0] < level), (level, title.strip())]
        titles = [title for level, title in path if level > 1] or [title for _, title in path]
        names[str(grade_id(cell))] = " · ".join([*titles, kind])
    times = Counter(names.values())
    return {id: f"{name} · {id}" if times[name] > 1 else name for id, name in names.items()}


def _kind(cell: NotebookNode) -> str:
    marks = cell.metadata.get("nbgrader", {})
    if marks.get("solution"):
        return "your code" if cell.cell_type == "code" else "written answer"
    if marks.get("grade"):
        return "hidden test" if "### BEGIN HIDDEN TESTS" in cell.source else "visible test"
    return "given code" if cell.cell_type == "code" else "text"


def grade_id(cell: NotebookNode) -> str | None:
    """nbgrader's id of a cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")
