"""A new release in the gradebook: which cells change, whose scores that touches, and the change.

nbgrader itself refuses to add or remove graded cells as soon as somebody has scores.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    TaskCell,
)
from sqlalchemy import select

from course.settings import printable

LONGEST = 100  # listed characters of a comment
# A notebook's lists of cells: their tables, and the columns that a release sets.
KINDS: dict[str, tuple[type, tuple[str, ...]]] = {
    "grade_cells": (GradeCell, ("max_score", "cell_type")),
    "task_cells": (TaskCell, ("max_score", "cell_type")),
    "solution_cells": (SolutionCell, ()),
    "source_cells": (SourceCell, ("cell_type", "locked", "source", "checksum")),
}


class Changes(NamedTuple):
    """What a release changes for students who have scores.

    lines: a sentence for each graded cell that changes; lost: a line for each thing that a person
    gave to a cell that goes; renamed: old id -> new id, also of cells without points; students:
    how many have scores.
    """

    lines: list[str]
    lost: list[str]
    renamed: dict[str, str]
    students: int


def changes(book: Gradebook, name: str, fresh: Notebook) -> Changes:
    """Compare a release with the gradebook.

    fresh: the notebook's cells in a gradebook of its own. A cell with the same text under another
    id is renamed, if no other cell could be meant.
    """
    try:
        old = book.find_notebook(name, name)
    except MissingEntry:
        return Changes([], [], {}, 0)
    if not old.submissions:
        return Changes([], [], {}, 0)
    renamed = _renamed(old, fresh)
    before = {renamed.get(cell.name, cell.name): cell for cell in _graded(old)}
    after = {cell.name: cell.max_score for cell in _graded(fresh)}
    lines = [
        f"{cell} is new: {counted(after[cell], 'point')}" for cell in after if cell not in before
    ]
    for cell, there in before.items():
        if cell not in after:
            scores = sum({one.auto_score, one.manual_score} != {None} for one in there.grades)
            lines.append(f"{cell} is removed, with the scores of {counted(scores, 'student')}")
        elif there.max_score != after[cell]:
            lines.append(
                f"{cell} has {counted(after[cell], 'point')} instead of {there.max_score:g}"
            )
    lines += [
        f"{cell} is now called {renamed[cell]}: what a person gave stays, and is shown again"
        for cell in sorted(renamed.keys() & {there.name for there in _graded(old)})
    ]
    return Changes(lines, list(_given(old, fresh, renamed)), renamed, len(old.submissions))


def enter(book: Gradebook, name: str, fresh: Notebook, renamed: Mapping[str, str]) -> None:
    """Put a release into the gradebook, without a commit: cells are added, changed and removed.

    Each student with scores gets a row for each new cell, which waits for the next grading.
    """
    notebook = _notebook(book, name)
    notebook.kernelspec = fresh.kernelspec
    for cells, (kind, columns) in KINDS.items():
        for cell in _going(notebook, fresh, cells, renamed):
            for row in (*getattr(cell, "grades", ()), *getattr(cell, "comments", ())):
                book.db.delete(row)
            book.db.delete(cell)
        there = {renamed.get(cell.name, cell.name): cell for cell in getattr(notebook, cells)}
        for cell in getattr(fresh, cells):
            values = {column: getattr(cell, column) for column in ("name", *columns)}
            if cell.name in there:
                for column, value in values.items():
                    setattr(there[cell.name], column, value)
            else:
                book.db.add(kind(notebook=notebook, **values))
    book.db.flush()
    book.db.refresh(notebook)
    for submission in notebook.submissions:
        for row, marked, rows in (
            (Grade, _graded(notebook), submission.grades),
            (Comment, [*notebook.solution_cells, *notebook.task_cells], submission.comments),
        ):
            known = {one.cell_id for one in rows}
            new = [cell.id for cell in marked if cell.id not in known]
            book.db.add_all(row(cell_id=id, notebook=submission) for id in new)
    book.db.flush()


def counted(number: float, thing: str) -> str:
    """
    >>> counted(1.0, "point"), counted(2, "student")
    ('1 point', '2 students')
    """
    return f"{number:g} {thing}{'' if number == 1 else 's'}"


def _notebook(book: Gradebook, name: str) -> Notebook:
    """The assignment's notebook; added, not committed, if new."""
    assignment = book.db.scalar(select(Assignment).where(Assignment.name == name))
    if assignment is None:
        assignment = Assignment(name=name, course_id=book.course_id)
        book.db.add(assignment)
    for notebook in assignment.notebooks:
        if notebook.name == name:
            return notebook
    notebook = Notebook(name=name, assignment=assignment)
    book.db.add(notebook)
    return notebook


def _graded(notebook: Notebook) -> list[GradeCell | TaskCell]:
    return [*notebook.grade_cells, *notebook.task_cells]


def _renamed(old: Notebook, fresh: Notebook) -> dict[str, str]:
    names = [{cell.name for cell in notebook.source_cells} for notebook in (old, fresh)]
    same: defaultdict[tuple, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, notebook in enumerate((old, fresh)):
        graded = {cell.name for cell in _graded(notebook)}
        for cell in notebook.source_cells:
            if cell.name not in names[1 - side]:
                key = cell.cell_type, cell.locked, cell.source, cell.name in graded
                same[key][side].append(cell.name)
    return {a[0]: b[0] for a, b in same.values() if len(a) == len(b) == 1}


def _going(old: Notebook, fresh: Notebook, cells: str, renamed: Mapping[str, str]) -> Iterator[Any]:
    stay = {cell.name for cell in getattr(fresh, cells)}
    for cell in getattr(old, cells):
        if renamed.get(cell.name, cell.name) not in stay:
            yield cell


def _given(old: Notebook, fresh: Notebook, renamed: Mapping[str, str]) -> Iterator[str]:
    """What a person gave to cells that go: points and comments, with the student."""
    for cells in ("grade_cells", "task_cells", "solution_cells"):
        for cell in _going(old, fresh, cells, renamed):
            for grade in cell.grades:
                if grade.manual_score is not None or grade.extra_credit:
                    yield f"{grade.student.id}: {cell.name}: {grade.score:g} points"
            for comment in cell.comments:
                if comment.manual_comment:
                    text = printable(" ".join(comment.manual_comment.split()))
                    yield f"{comment.student.id}: {cell.name}: the comment {text[:LONGEST]!r}"
