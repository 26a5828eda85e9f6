"""Which tests each hand-in of a student has failed, also the earlier ones, and what they said.

The table `bertlab_attempts` is in the gradebook: a row and its scores are written in one
transaction. nbgrader keeps only the newest hand-in, so how a class changed is nowhere else.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.orm import Session

from course.settings import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

Failures = dict[str, list[str]]  # grade id of a failed test -> name of its error, and the message

ATTEMPTS = Table(
    "bertlab_attempts",
    MetaData(),
    Column("number", Integer, primary_key=True),  # the newest hand-in of a student has the highest
    Column("assignment", String(128)),
    Column("student", String(128)),
    Column("work", String(64)),  # a digest of what the student wrote
    Column("failures", Text),  # JSON
    Index("bertlab_attempts_of", "assignment", "student"),
)


def add(
    db: Session, assignment: str, student: str, work: str, graded_copy: Mapping[str, Any]
) -> None:
    """Record a graded hand-in, uncommitted; the same work graded again replaces its row."""
    ATTEMPTS.create(db.connection(), checkfirst=True)
    row = {"assignment": assignment, "student": student, "work": work}
    db.execute(ATTEMPTS.delete().filter_by(**row))
    db.execute(ATTEMPTS.insert().values(**row, failures=json.dumps(failures(graded_copy))))


def of_class(gradebook: "Gradebook", assignment: str) -> dict[str, list[Failures]]:
    """Student -> the failures of each hand-in, the oldest first."""
    ATTEMPTS.create(gradebook.engine, checkfirst=True)
    rows = ATTEMPTS.select().filter_by(assignment=assignment).order_by(ATTEMPTS.c.number)
    found: dict[str, list[Failures]] = {}
    for row in gradebook.db.execute(rows):
        found.setdefault(row.student, []).append(json.loads(row.failures))
    return found


def of_copy(course: Course, assignment: str, student: str) -> Failures | None:
    """The failures in a student's graded copy; None if there is none that can be read."""
    try:
        return failures(json.loads(course.graded_copy(assignment, student).read_bytes()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def failures(graded_copy: Mapping[str, Any]) -> Failures:
    """The errors in the outputs of a notebook's tests."""
    found = {}
    for cell in graded_copy["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade") and not marks.get("solution"):
            for output in cell.get("outputs", []):
                if output["output_type"] == "error":
                    found[marks["grade_id"]] = [output["ename"], output["evalue"]]
    return found
