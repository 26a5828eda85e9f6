"""The points of all students in one query; nbgrader's own properties need one per number."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Select, case, func, select

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


class Total(NamedTuple):
    """A submission's points before the penalty, the penalty, and whether a person must look."""

    points: float
    penalty: float
    waiting: bool


class Grades(NamedTuple):
    """Of an assignment: a total for each student with a hand-in, None if that is not graded."""

    assignment: Assignment
    totals: Mapping[str, Total | None]

    def score(self, student: str) -> float | str:
        """Points after the late penalty, as nbgrader computes them; "" if there are none."""
        total = self.totals.get(student)
        return "" if total is None else round(max(0.0, total.points - total.penalty), 4)


def totals(gradebook: "Gradebook", assignment: str) -> dict[str, Total]:
    """Student -> total, for all who have a graded cell in the gradebook."""
    sums = (
        func.sum(Grade.score),
        func.coalesce(func.max(SubmittedNotebook.late_submission_penalty), 0.0),
        func.sum(case((Grade.needs_manual_grade, 1), else_=0)),
    )
    query = grades_of(assignment, *sums).group_by(SubmittedAssignment.student_id)
    rows = gradebook.db.execute(query)
    return {who: Total(points, penalty, waiting > 0) for who, points, penalty, waiting in rows}


def grades_of(assignment: str, *columns: Any) -> Select:
    """The query of an assignment's grades: the student, in order, and these columns."""
    return (
        select(SubmittedAssignment.student_id, *columns)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == assignment)
        .order_by(SubmittedAssignment.student_id)
    )
