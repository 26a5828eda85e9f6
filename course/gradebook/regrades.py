"""Regrade requests: a student's own Markdown cells that begin with `regrade:`.

Such a cell is about the graded cell above it. Grading records the request and marks that cell for a
person; the points that the person then gives, changed or not, close the request.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course.gradebook.notes import REQUEST, Note
from course.settings import printable

if TYPE_CHECKING:
    from course.gradebook.results import Result

# Followed by the graded cell in the result of `looks`: a request, a note that waits for a person.
MARK, WAITS = MARKS = ("regrade: ", "waits: ")
WORK, TIME = "work:", "handed in:"
LEAD = "#*_> \t\n"  # Markdown's marks that may surround the word
LONGEST = 200  # listed characters of a request; the notebook has all of them
KEPT = "nothing is new but a regrade request; it counts as handed in "  # and when


def requests(cells: Iterable[NotebookNode]) -> dict[str, str]:
    """Requests by their graded cell: the one above, or otherwise the first.

    >>> from nbformat.v4 import new_markdown_cell as cell
    >>> answer = cell(metadata={"nbgrader": {"grade_id": "explain", "grade": True}})
    >>> requests([answer, cell("**Regrade:** the control is in my last sentence.")])
    {'explain': 'the control is in my last sentence.'}
    """
    cells = list(cells)
    about = next((cell.metadata.nbgrader.grade_id for cell in cells if is_grade(cell)), "")
    asked: dict[str, str] = {}
    for cell in cells:
        if is_grade(cell):
            about = cell.metadata.nbgrader.grade_id
        elif _is_request(cell):
            text = " ".join(cell.source.lstrip(LEAD)[len("regrade:") :].lstrip(LEAD).split())
            asked[about] = f"{asked.get(about, '')} {text}".strip()
    return {name: printable(text[:LONGEST]) for name, text in asked.items()}


def looks(result: "Result") -> dict[str, str]:
    """What a person judged for each graded cell, the student's whole work, and the requests.

    For a graded cell the written answer, or the tests' result; the work is without requests.
    """
    seen, work = {name: repr(score) for name, score in result.scores.items()}, []
    for cell in result.notebook.cells:
        if is_solution(cell) and cell.metadata.nbgrader.grade_id in seen:
            seen[cell.metadata.nbgrader.grade_id] = _digest(cell.source)
        if not cell.metadata.get("nbgrader", {}).get("locked") and not _is_request(cell):
            work.append((cell.cell_type, cell.source, cell.get("attachments")))
    asked = requests(result.notebook.cells)
    waits = {WAITS + note.cell: note.text for note in result.notes if note.waits}
    made = {MARK + name: asked[name] for name in asked}
    return seen | {WORK: _digest(repr(work))} | made | waits


def notes(looks: Mapping[str, str]) -> list[Note]:
    """The requests as notes."""
    marked = {key.removeprefix(MARK): looks[key] for key in looks if key.startswith(MARK)}
    return [Note(text, cell, kind=REQUEST) for cell, text in marked.items()]


def is_all_that_is_new(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a request is the only change since the last grading."""
    return before.get(WORK) == now[WORK] and bool(notes(before) or notes(now))


def _is_request(cell: NotebookNode) -> bool:
    """Whether it is a request in a student's own cell; a cell of the assignment is an answer."""
    own = cell.cell_type == "markdown" and "nbgrader" not in cell.metadata
    return own and cell.source.lstrip(LEAD).lower().startswith("regrade:")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
