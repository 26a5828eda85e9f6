"""Moodle's grading worksheet: one row per person of an assignment, to be filled in and uploaded."""

import re
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Assignment, Student

from course.gradebook import spreadsheets
from course.gradebook.spreadsheets import MOODLE_SHEET, Table, clean
from course.gradebook.totals import Grades
from course.settings import CourseError, named

WHO = ("id", "email", "full_name", "number")


def fill(
    sheet: Path, students: Sequence[Student], grades: Grades
) -> tuple[list[list[str]], list[str]]:
    """Moodle's worksheet with its grades filled in, all other cells as they were, and notes.

    Moodle skips, without a line, a row whose grade is above its maximum, that is locked, or that
    was graded there after the download (moodle/moodle: mod/assign/feedback/offline/locallib.php).
    Raises CourseError if it is another file.
    """
    table = spreadsheets.read(sheet)
    if table.layout != MOODLE_SHEET or not {"number", "grade"} <= table.columns.keys():
        raise CourseError(
            f"{table.path} is not Moodle's grading worksheet, with Identifier and Grade. Its "
            f"columns are: {named(table.header)}."
        )
    owners = [_owner(table, row, students) for row in table.rows]
    alone = {who: owners.index(who) for who in owners if who and owners.count(who) == 1}
    rows, closed = [list(row) for row in table.rows], []
    scores = {who: score for who in grades.totals if (score := grades.score(who)) != ""}
    for who in scores.keys() & alone.keys():
        row = rows[alone[who]]
        row += [""] * (len(table.header) - len(row))
        row[table.columns["grade"]] = str(scores[who])
        closed += [who] if table.value(row, "open").casefold() in ("no", "nein", "non") else []
    lost, nobodys = sorted(scores.keys() - alone.keys()), []
    for row, owner in zip(rows, owners, strict=True):
        nobodys += [table.value(row, "number")] if owner not in alone else []
    lines = {
        f"{len(lost)} have a score, but no row that is certainly theirs: {named(lost)}": lost,
        f"rows that are nobody's here: {named(nobodys)}": lost and nobodys,
        f"Moodle does not let these grades be changed: {named(sorted(closed))}": closed,
    }
    notes = [line for line, concerned in lines.items() if concerned]
    return [table.header, *rows], notes + _other_maximum(table, grades.assignment)


def _owner(table: Table, row: Sequence[str], students: Sequence[Student]) -> str | None:
    """Whose row it is: by id or e-mail address, otherwise by name; None if that is not certain.

    With blind marking a row has only Moodle's number, and the hand-in was collected under it: as
    "4711", "Participant 4711" or "Participant_4711".
    """
    id, email, name, number = (table.value(row, one) for one in WHO)
    if id or email:
        given = {one.casefold() for one in (id, email) if one}
        found = [s for s in students if {s.id.casefold(), (s.email or "").casefold()} & given]
    elif not name:
        given = {_bare(number), *re.findall(r"\d+$", number)}
        found = [student for student in students if _bare(student.id) in given]
    else:
        found = []
    if name and not found:  # without a list, an id is the name that the download has
        possible = [one for one in students if not (email and one.email)]
        found = [one for one in possible if name in (one.id, _full_name(one))]
    return found[0].id if len(found) == 1 else None


def _full_name(student: Student) -> str:
    return clean(f"{student.first_name or ''} {student.last_name or ''}")


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _other_maximum(table: Table, assignment: Assignment) -> list[str]:
    """A line if Moodle's maximum is not ours: it would show 23 of 29 points as 23 of 100."""
    found = {table.value(row, "maximum") for row in table.rows} - {""}
    ours = assignment.max_score
    if all(re.fullmatch(rf"{ours:g}([.,]0+)?", most) for most in found):
        return []
    return [
        f"the worksheet's maximum is {named(sorted(found))}, but {assignment.name} has {ours:g} "
        f"points: set the maximum grade in Moodle to {ours:g}, then download the worksheet again"
    ]
