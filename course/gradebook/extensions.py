"""More time for one student, also before anything of theirs is graded.

nbgrader keeps an extension only with a submission, which would count as handed in; so we keep it in
a table of ours until there is one.
"""

from datetime import timedelta

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from sqlalchemy import Column, Integer, MetaData, String, Table, delete, insert, select
from sqlalchemy.orm import Session

EXTENSIONS = Table(
    "bertlab_extensions",
    MetaData(),
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("days", Integer, nullable=False),
)


def grant(gradebook: Gradebook, assignment: str, student: str, days: int) -> bool:
    """Give a student this many days instead of those given before, without a commit.

    Returns whether something of theirs is graded; otherwise the days are kept until then.
    """
    EXTENSIONS.create(gradebook.engine, checkfirst=True)
    db, theirs = gradebook.db, {"assignment": assignment, "student": student}
    db.execute(delete(EXTENSIONS).filter_by(**theirs))
    submission = submission_of(db, assignment, student)
    if submission is not None:
        submission.extension = timedelta(days=days) if days else None
    elif days:
        db.execute(insert(EXTENSIONS).values(**theirs, days=days))
    return submission is not None


def apply(db: Session, assignment: str) -> None:
    """Give kept extensions to the submissions that exist by now, without a commit."""
    query = (
        select(SubmittedAssignment, EXTENSIONS.c.days)
        .join(Assignment)
        .join(EXTENSIONS, EXTENSIONS.c.student == SubmittedAssignment.student_id)
        .where(Assignment.name == assignment, EXTENSIONS.c.assignment == assignment)
    )
    for submission, days in db.execute(query).all():
        submission.extension = timedelta(days=days)
        theirs = {"assignment": assignment, "student": submission.student_id}
        db.execute(delete(EXTENSIONS).filter_by(**theirs))


def submission_of(db: Session, assignment: str, student: str) -> SubmittedAssignment | None:
    """nbgrader's entry of a hand-in, if something of theirs was graded."""
    query = (
        select(SubmittedAssignment)
        .join(Assignment)
        .where(Assignment.name == assignment, SubmittedAssignment.student_id == student)
    )
    return db.execute(query).scalar_one_or_none()
