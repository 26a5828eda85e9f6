"""A part of exercise 4 that is graded in a second, its correct notebook, and a row's form."""

import copy
import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import indent
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
LIMITS = Limits(2, 60, memory_mb=400, processes=32, disk_mb=16, output_kb=20, notebook_mb=5)

# A change of the correct notebook; or what is handed in instead, bytes being the file itself.
Change = Callable[[NotebookNode], NotebookNode | bytes | None]


class Hostile(NamedTuple):
    """A malicious submission.

    lost: the tasks that get no points, all others get all. note: a regular expression for a line
    of the report; None: no line is expected. points: of single cells, if a task is lost in part.
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


def named_codes(text: str) -> dict[str, str]:
    """The codes of a text, each below a line with its name: `# name`."""
    return dict(re.findall(r"^# (.+)\n((?:(?!# ).*\n)+)", text, re.MULTILINE))


def rows_of(
    text: str,
    change: Callable[[str], Change],
    lost: tuple[str, ...] = (TARGET,),
    note: str | None = None,
) -> list[Hostile]:
    """A row of each code of a text, whose name may have a note of its own: `# name | note`."""
    rows = []
    for head, code in named_codes(text).items():
        name, _, own = head.partition(" | ")
        rows.append(Hostile(name, change(code), lost, own or note))
    return rows


# Changes of the notebook


def cell_of(page: NotebookNode, id: str) -> NotebookNode:
    return next(cell for cell in page.cells if cell.id == id)


def edited(id: str, edit: Callable[[str], str]) -> Change:
    """Another source of a cell."""
    return lambda page: cell_of(page, id).update(source=edit(cell_of(page, id).source))


def behind(code: str, id: str = TARGET) -> Change:
    """The code at the end of a solution's cell."""
    return edited(id, lambda source: f"{source}\n\n{code}\n")


def instead(code: str, id: str = TARGET) -> Change:
    """The code in place of a cell's."""
    return edited(id, lambda source: code)


def within(code: str) -> Change:
    """The code as the first lines of `row_softmax`, before the right ones."""
    rule = "Turn every row (the last dimension) into probabilities; -inf becomes exactly 0."
    first = f'    """{rule}"""\n'

    def edit(source: str) -> str:
        head, body = source.split(first)
        return f"{head}{first}{indent(code, '    ')}\n{body}"

    return edited(TARGET, edit)


def own_cells(*codes: str, before: str = "task-2") -> Change:
    """Cells of the student's own."""

    def change(page: NotebookNode) -> None:
        place = page.cells.index(cell_of(page, before))
        page.cells[place:place] = map(v4.new_code_cell, codes)

    return change


def written(change: Change = lambda page: None) -> bytes:
    """The file that is handed in: the correct notebook with a change."""
    page = correct()
    made = page if (made := change(page)) is None else made
    if isinstance(made, bytes):
        return made
    return nbformat.writes(made).encode("utf-8", "surrogatepass")
