"""An assignment for grading: the instructor's notebook, and the students' version."""

import json
import logging
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat
from nbformat import NotebookNode

from course.settings import Course, CourseError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

MARKS = """
no end solution statement found: a line `### END SOLUTION` is missing; add it below the solution
encountered nested begin solution: `### BEGIN SOLUTION` comes twice; put `### END SOLUTION` between
Solution region detected in a non: it has a solution, but is no solution cell; mark it as one
No end hidden tests statement: a line `### END HIDDEN TESTS` is missing; add it below the tests
Encountered nested begin hidden: `### BEGIN HIDDEN TESTS` comes twice; end the first region
Hidden test region detected in a: it has hidden tests, but is no test; mark it as graded
does not have points: it is graded, but has no points; give them in its nbgrader metadata
grade_id: it needs a grade_id of letters, digits, - and _ in its nbgrader metadata
"""
ADVICE = dict(line.split(": ", 1) for line in MARKS.strip().splitlines())  # by nbgrader's words


class Assignment(NamedTuple):
    """name: such as "ex04_attention"; source: with solutions and hidden tests; release: without."""

    name: str
    source: NotebookNode
    release: NotebookNode


def load_assignment(root: Path, name: str) -> Assignment:
    """Read `solutions/NAME/NAME.ipynb` and `exercises/NAME/NAME.ipynb` below root.

    Raises CourseError if one is missing or damaged, or if the release does not match.
    """
    pages = []
    for room, advice in (
        ("solutions", "which assignments there are: python -m course status"),
        ("exercises", f"make it: python -m course release {name}"),
    ):
        path = root / room / name / f"{name}.ipynb"
        if not path.is_file():
            raise CourseError(f"there is no {path.relative_to(root)}; {advice}")
        pages.append(read_page(path, root))
    assignment = Assignment(name, *pages)
    ids = [[grade_id(cell) for cell in page.cells] for page in pages]
    if ids[0] != ids[1]:
        raise CourseError(
            f"exercises/{name} is not the release of solutions/{name}: their cells differ; "
            f"make it again: python -m course release {name}"
        )
    return assignment


def read_page(path: Path, root: Path) -> NotebookNode:
    """A notebook of the course. Raises CourseError, which names the file, if it is damaged.

    A cell's id is its nbgrader id; one without gets a number if it has no id of Jupyter's either.
    """
    where = path.relative_to(root)
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of missing and doubled ids of Jupyter's
            page = nbformat.reads(text, as_version=4)
            nbformat.validate(page)
    except Exception as error:  # whatever a damaged file makes nbformat do
        kind = "is not JSON" if isinstance(error, json.JSONDecodeError) else "is no valid notebook"
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise CourseError(
            f"{where} {kind}: {reason}. Repair it, or take an earlier version of it."
        ) from error
    for number, cell in enumerate(page.cells):
        cell.id = grade_id(cell) or cell.get("id", f"cell-{number}")
    return page


def check_source(page: NotebookNode, where: str) -> None:
    """Raises CourseError, which names the cell and the remedy, if nbgrader cannot release it.

    page: the instructor's notebook; where: its file. Each cell goes alone through nbgrader's steps.
    """
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    times = Counter(filter(None, map(grade_id, page.cells)))
    for name in (name for name in times if times[name] > 1):
        raise CourseError(f"{where}: {times[name]} cells have the id {name}; rename all but one")
    silent = logging.Logger("nbgrader", level=logging.CRITICAL + 1)
    steps = [step(log=silent) for step in (ClearSolutions, ClearHiddenTests)]
    for number, cell in enumerate(page.cells, 1):
        try:
            MetadataValidator().validate_cell(cell)
            for step in steps:
                step.preprocess_cell(nbformat.from_dict(cell), {"language": "python"}, 0)
        except Exception as error:
            words = str(error).splitlines()[0]
            advice = next((ADVICE[key] for key in ADVICE if key in words), words)
            name = grade_id(cell) or "without an id"
            raise CourseError(f"{where}: cell {number} ({name}): {advice}") from error


def check_release(course: Course, book: "Gradebook", name: str) -> Assignment:
    """The assignment, if its source, its release and the gradebook agree on the graded cells.

    Raises CourseError, with the remedy, if they do not: grading would remove scores.
    """
    from nbgrader.api import MissingEntry

    from course.gradebook.records import not_released

    again = f"`python -m course release {name}` says what that changes"
    try:
        known = book.find_notebook(name, name).grade_cells
    except MissingEntry:
        raise not_released(name) from None
    assignment = load_assignment(course.root, name)
    check_source(assignment.source, f"solutions/{name}/{name}.ipynb")
    points = {cell.name: cell.max_score for cell in known}
    for room, page in (("solutions", assignment.source), ("exercises", assignment.release)):
        there = {
            cell.id: float(cell.metadata.nbgrader.points)
            for cell in page.cells
            if cell.metadata.get("nbgrader", {}).get("grade")
        }
        if differ := sorted({one for one, _ in there.items() ^ points.items()}):
            raise CourseError(
                f"{name}: {room}/{name} and the gradebook do not have the same graded cells and "
                f"points: {', '.join(differ)}. Nothing was graded; {again}."
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
