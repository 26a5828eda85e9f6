"""Grades as a CSV file: nbgrader's own columns, or those of Moodle's or Canvas's import."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Assignment, MissingEntry, Student, SubmittedAssignment

from bertlab._files import write_atomically
from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.settings import Course, CourseError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)
MOODLE = ("Email address", "ID number", "First name", "Last name")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def export(course: Course, book: "Gradebook", format: str, to: Path) -> list[str]:
    """Write all grades to the file `to`; returns lines with what the file cannot express.

    nbgrader: one row per student and assignment. moodle, canvas: one row per student, one column
    per assignment. An empty score: grading failed, or (in Moodle and Canvas) nothing was handed in,
    so that an import does not change the existing score.
    """
    assignments = book.assignments
    policy, notes = LatePolicy(config=course.config), []
    failed = set()
    for assignment in assignments:
        records.charge_all(book, assignment.name, policy)
        notes += _notes(book, assignment)
        for row in records.graded(book, assignment.name).values():
            failed |= {(assignment.name, row.student)} if row.failure else set()
    writer = {"nbgrader": _nbgrader, "moodle": _moodle, "canvas": _canvas}[format]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [_harmless(value) for value in row] for row in writer(book, assignments, failed)
    )
    try:
        write_atomically(to, text.getvalue())
    except OSError as error:
        raise CourseError(f"{to} cannot be written: {error.strerror}") from error
    return notes


def _harmless(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would treat as a formula.

    >>> _harmless("=HYPERLINK(1)"), _harmless(-1.5), _harmless("Ada")
    ("'=HYPERLINK(1)", -1.5, 'Ada')
    """
    dangerous = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    return f"'{value}" if dangerous else value


def _notes(book: "Gradebook", assignment: Assignment) -> list[str]:
    rows = records.graded(book, assignment.name).values()
    failed = [row.student for row in rows if row.failure]
    waiting = [
        one.student_id
        for one in book.assignment_submissions(assignment.name)
        if one.needs_manual_grade and one.student_id not in failed
    ]
    notes = []
    if failed:
        notes.append(f"{assignment.name}: no score for {', '.join(failed)}: not graded yet")
    if waiting:
        notes.append(
            f"{assignment.name}: {len(waiting)} wait for a person; their scores lack those points"
        )
    return notes


def _score(submission: SubmittedAssignment) -> float:
    """Points after the late penalty, as nbgrader computes them."""
    return round(max(0.0, submission.score - submission.late_submission_penalty), 4)


def _submission(
    book: "Gradebook", assignment: Assignment, student: Student
) -> SubmittedAssignment | None:
    try:
        return book.find_submission(assignment.name, student.id)
    except MissingEntry:
        return None


def _nbgrader(
    book: "Gradebook", assignments: Sequence[Assignment], failed: set
) -> Iterable[Sequence]:
    yield NBGRADER
    for assignment in assignments:
        for student in book.students:
            submission = _submission(book, assignment, student)
            start = (assignment.name, assignment.duedate, submission and submission.timestamp)
            names = (student.id, student.last_name, student.first_name, student.email)
            if submission is None:
                scores: tuple = (0.0, 0.0, 0.0)
            elif (assignment.name, student.id) in failed:
                scores = ("", "", "")
            else:
                penalty = submission.late_submission_penalty
                scores = (submission.score, penalty, _score(submission))
            yield (*start, *names, *scores, assignment.max_score)


def _columns(
    book: "Gradebook", assignments: Sequence[Assignment], failed: set, student: Student
) -> list:
    """A student's score in each assignment."""
    submissions = [_submission(book, assignment, student) for assignment in assignments]
    return [
        "" if one is None or (one.name, student.id) in failed else _score(one)
        for one in submissions
    ]


def _moodle(
    book: "Gradebook", assignments: Sequence[Assignment], failed: set
) -> Iterable[Sequence]:
    """Moodle's import lets you assign the columns; these are the names of its own export."""
    yield (*MOODLE, *(assignment.name for assignment in assignments))
    for student in book.students:
        names = (student.email, student.id, student.first_name, student.last_name)
        yield (*names, *_columns(book, assignments, failed, student))


def _canvas(
    book: "Gradebook", assignments: Sequence[Assignment], failed: set
) -> Iterable[Sequence]:
    """Canvas needs its five columns in this order, then a row with the points possible.

    It finds a student by "ID", its own number (`lms_user_id` in the gradebook), otherwise by the
    SIS numbers. An assignment's name must be Canvas's, or Canvas creates a new one.
    """
    yield (*CANVAS, *(assignment.name for assignment in assignments))
    yield ("Points Possible", "", "", "", "", *(one.max_score for one in assignments))
    for student in book.students:
        name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
        names = (name, student.lms_user_id, student.id, student.id, "")
        yield (*names, *_columns(book, assignments, failed, student))
