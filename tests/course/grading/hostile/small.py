"""A part of exercise 4 that is graded in a second, its correct notebook, and a row's form."""

import copy
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode, v4

from course.grading.assignments import Assignment, as_handed_in, load_assignment
from course.settings import Limits

ROOT = Path(__file__).parents[4]
NAME = "ex04_attention"
TASKS = ("single-query-attention", "row-softmax", "causal-mask", "padding-mask", "merge-heads")
KEPT = {"title", "imports", "given-weights", "task-2", "explain-question", "explain"} | {
    f"{kind}{task}" for task in TASKS for kind in ("", "test-", "hidden-")
}
TARGET = "row-softmax"  # the task whose cell is changed
LIMITS = Limits(
    call_seconds=2,
    submission_seconds=60,
    memory_mb=400,
    processes=32,
    disk_mb=16,
    output_kb=20,
    notebook_mb=5,
)

Change = Callable[[NotebookNode], NotebookNode | bytes | None]


class Hostile(NamedTuple):
    """A malicious submission.

    change: makes it from the correct notebook; bytes are the file itself. lost: the tasks that
    get no points, all others get all. note: a regular expression for a line of the report;
    None: no line is expected. points: of single cells, if a task is lost in part.
    """

    name: str
    change: Change
    lost: tuple[str, ...] = (TARGET,)
    note: str | None = None
    points: Mapping[str, float] = MappingProxyType({})


@functools.cache
def assignment() -> Assignment:
    """Exercise 4 without its long tasks."""
    whole = load_assignment(ROOT, NAME)
    pages = [copy.deepcopy(page) for page in (whole.source, whole.release)]
    for page in pages:
        page.cells = [cell for cell in page.cells if cell.id in KEPT]
    return Assignment(NAME, *pages)


def correct() -> NotebookNode:
    """As handed in by a student: without solution marks and hidden tests, with a written answer."""
    page = copy.deepcopy(assignment().source)
    for cell in page.cells:
        cell.source = as_handed_in(cell.source)
    return page


def full_points() -> dict[str, float | None]:
    """What the correct notebook gets; a person grades the written answer."""
    return {
        cell.id: None if cell.cell_type == "markdown" else float(cell.metadata.nbgrader.points)
        for cell in assignment().source.cells
        if cell.metadata.nbgrader.grade
    }


def expected_points(row: Hostile) -> dict[str, float | None]:
    """What a hostile notebook must get."""
    lost = {f"{kind}-{task}": 0.0 for task in row.lost for kind in ("test", "hidden")}
    return full_points() | lost | dict(row.points)


# Changes of the notebook


def cell_of(page: NotebookNode, id: str) -> NotebookNode:
    return next(cell for cell in page.cells if cell.id == id)


def behind(code: str, id: str = TARGET) -> Change:
    """The code at the end of a solution's cell."""

    def change(page: NotebookNode) -> NotebookNode:
        cell_of(page, id).source += f"\n\n{code}\n"
        return page

    return change


def instead(code: str, id: str = TARGET) -> Change:
    """The code in place of a cell's."""

    def change(page: NotebookNode) -> NotebookNode:
        cell_of(page, id).source = code
        return page

    return change


def within(code: str) -> Change:
    """The code as the first lines of `row_softmax`, before the right ones."""
    rule = "Turn every row (the last dimension) into probabilities; -inf becomes exactly 0."
    head = f'    """{rule}"""'
    body = "\n".join(f"    {line}" for line in code.splitlines())

    def change(page: NotebookNode) -> NotebookNode:
        cell = cell_of(page, TARGET)
        assert head in cell.source
        cell.source = cell.source.replace(head, f"{head}\n{body}")
        return page

    return change


def own_cells(*codes: str, before: str = "task-2") -> Change:
    """Cells of the student's own."""

    def change(page: NotebookNode) -> NotebookNode:
        place = [cell.id for cell in page.cells].index(before)
        page.cells[place:place] = [v4.new_code_cell(code) for code in codes]
        return page

    return change


def written(made: NotebookNode | bytes) -> bytes:
    """The file that is handed in."""
    return (
        made if isinstance(made, bytes) else nbformat.writes(made).encode("utf-8", "surrogatepass")
    )
