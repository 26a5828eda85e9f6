"""Grades as a CSV file: nbgrader's own columns, or those that a learning system imports."""

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.api import Assignment, Student

from bertlab._files import write_atomically
from course import ROOT
from course.gradebook import records, worksheets
from course.gradebook.late_policy import LatePolicy
from course.gradebook.spreadsheets import FORMULA
from course.gradebook.totals import Grades, Total, totals
from course.settings import Course, CourseError, named

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)
MOODLE = ("Email address", "ID number", "First name", "Last name")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
BRIGHTSPACE = ("OrgDefinedId", "Username", "End-of-Line Indicator")


def main(arguments: Sequence[str]) -> int:
    """Write the grades to a CSV file."""
    parser = argparse.ArgumentParser(prog="python -m course export", description=main.__doc__)
    parser.add_argument("name", metavar="NAME|all", nargs="?", default="all", help="an assignment")
    parser.add_argument("--format", choices=WRITERS, default="nbgrader")
    parser.add_argument("--to", type=Path, help="the file (default: grades-FORMAT.csv here)")
    parser.add_argument(
        "--sheet", type=Path, metavar="CSV", help="Moodle's grading worksheet, to be filled in"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    course, to = Course(asked.root), asked.to or Path(f"grades-{asked.format}.csv")
    names = None if asked.name == "all" else course.chosen(asked.name)
    with closing(course.gradebook()) as book:
        for note in export(course, book, asked.format, to, names, asked.sheet):
            print(note)
    print(f"Grades in {to}")
    return 0


def export(
    course: Course,
    book: "Gradebook",
    format: str,
    to: Path,
    assignments: Sequence[str] | None = None,
    sheet: Path | None = None,
) -> list[str]:
    """Write the grades of some assignments, or all, to the file `to`.

    nbgrader: one row per student and assignment. moodle, canvas, brightspace: one row per student,
    one column per assignment; an empty score, of who handed in nothing or is not graded, leaves the
    score there as it is. sheet: Moodle's grading worksheet, which is filled in. Returns lines: who
    waits, who is late, who is not graded, whom the learning system cannot recognise.
    """
    wanted = [one for one in book.assignments if assignments is None or one.name in assignments]
    for name in sorted({*(assignments or ())} - {one.name for one in wanted}):
        raise records.not_released(name)
    grades = [_grades(course, book, assignment) for assignment in wanted]
    notes = [note for one in grades for note in _notes(one)]
    if sheet:
        if format != "moodle" or len(grades) != 1:
            raise CourseError(
                "--sheet fills in Moodle's worksheet of one assignment: give its name, as in "
                "python -m course export ex01_bpe --format moodle --sheet worksheet.csv"
            )
        rows, more = worksheets.fill(sheet, book.students, grades[0])
    else:
        rows = [[_harmless(cell) for cell in row] for row in WRITERS[format](book, grades)]
        more = _strangers(book.students, grades, format)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    try:
        write_atomically(to, text.getvalue())
    except OSError as error:
        raise CourseError(f"{to} cannot be written: {error.strerror}") from error
    return notes + more


def _harmless(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would treat as a formula.

    >>> _harmless("=HYPERLINK(1)"), _harmless(-1.5), _harmless("Ada")
    ("'=HYPERLINK(1)", -1.5, 'Ada')
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _grades(course: Course, book: "Gradebook", assignment: Assignment) -> Grades:
    name = assignment.name
    records.charge_all(book, name, LatePolicy(config=course.config))
    graded = totals(book, name)
    failed = [row.student for row in records.graded(book, name).values() if row.failure]
    missing = dict.fromkeys([*failed, *(set(course.students(name)) - graded.keys())])
    return Grades(assignment, graded | missing)


def _notes(grades: Grades) -> list[str]:
    """Who has no score, who waits for a person, and whom lateness cost how much."""
    now = {who: grades.totals[who] for who in sorted(grades.totals)}
    ungraded = [who for who, total in now.items() if total is None]
    waiting = [who for who, total in now.items() if total and total.waiting]
    late = [f"{who} -{total.penalty:.4g}" for who, total in now.items() if total and total.penalty]
    waits = "wait for a person; their scores lack those points"
    lines = {
        f"no score for {named(ungraded)}: not graded yet": ungraded,
        f"{len(waiting)} {waits}: {named(waiting)}": waiting,
        f"{len(late)} late, and the points that it cost: {named(late)}": late,
    }
    return [f"{grades.assignment.name}: {line}" for line, who in lines.items() if who]


def _strangers(students: Sequence[Student], grades: Sequence[Grades], format: str) -> list[str]:
    """A line about those with a hand-in whom no list has, so that only their id is known."""
    handed_in = {who for one in grades for who in one.totals}
    strange = [
        one.id
        for one in students
        if one.id in handed_in
        and not any((one.first_name, one.last_name, one.email, one.lms_user_id))
    ]
    if not strange or format not in NEEDS:
        return []
    return [
        f"{len(strange)} without {NEEDS[format]} in a list, so {format.capitalize()} may not find "
        f"them: {named(strange)}; import a list with them: python -m course students LIST.csv"
    ]


def _nbgrader(book: "Gradebook", grades: Sequence[Grades]) -> Iterable[Sequence]:
    yield NBGRADER
    for one in grades:
        assignment, nothing = one.assignment, Total(0.0, 0.0, False)
        submissions = {s.student_id: s for s in book.assignment_submissions(assignment.name)}
        for student in book.students:
            submission = submissions.get(student.id)
            start = (assignment.name, assignment.duedate, submission and submission.timestamp)
            names = (student.id, student.last_name, student.first_name, student.email)
            total = one.totals.get(student.id, nothing)
            scores = (total.points, total.penalty) if total else ("", "")
            score = one.score(student.id) if student.id in one.totals else 0.0
            yield (*start, *names, *scores, score, assignment.max_score)


def _moodle(book: "Gradebook", grades: Sequence[Grades]) -> Iterable[Sequence]:
    """Moodle's import lets you assign the columns; these are the names of its own export."""
    yield (*MOODLE, *(one.assignment.name for one in grades))
    for student in book.students:
        number = "" if student.id == student.email else student.id
        names = (student.email, number, student.first_name, student.last_name)
        yield (*names, *(one.score(student.id) for one in grades))


def _canvas(book: "Gradebook", grades: Sequence[Grades]) -> Iterable[Sequence]:
    """Canvas needs its five columns in this order, then a row with the points possible.

    It finds a student by "ID", its own number (`lms_user_id` in the gradebook), otherwise by the
    SIS numbers. An assignment's name must be Canvas's, or Canvas creates a new one.
    """
    yield (*CANVAS, *(one.assignment.name for one in grades))
    yield ("Points Possible", "", "", "", "", *(one.assignment.max_score for one in grades))
    for student in book.students:
        name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
        names = (name, student.lms_user_id, student.id, student.id, "")
        yield (*names, *(one.score(student.id) for one in grades))


def _brightspace(book: "Gradebook", grades: Sequence[Grades]) -> Iterable[Sequence]:
    """As Brightspace exports: `#` before an id, and as the last cell of a row.

    Source: D2L, "Importing grades" (community.d2l.com/brightspace/kb/articles/3538).
    """
    first, second, last = BRIGHTSPACE
    yield (first, second, *(f"{one.assignment.name} Points Grade" for one in grades), last)
    for student in book.students:
        user = f"#{student.lms_user_id}" if student.lms_user_id else ""
        yield (f"#{student.id}", user, *(one.score(student.id) for one in grades), "#")


WRITERS: dict[str, Callable[["Gradebook", Sequence[Grades]], Iterable[Sequence]]] = {
    "nbgrader": _nbgrader,
    "moodle": _moodle,
    "canvas": _canvas,
    "brightspace": _brightspace,
}
NEEDS = {
    "moodle": "an e-mail address or ID number",
    "canvas": "a Canvas number or SIS number",
    "brightspace": "an OrgDefinedId",
}
