"""How late a hand-in is and what that costs: computed when it is shown, so it is never stale."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from course.gradebook.late_policy import LatePolicy

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment

    from course.gradebook.totals import Total


class Late(NamedTuple):
    """A hand-in after its due time; times are in UTC without a zone.

    due: with the student's extension; grace: in minutes; points: before the penalty; penalty: None
    within the grace period.
    """

    handed_in: datetime
    due: datetime
    grace: float
    points: float
    penalty: float | None

    @property
    def by(self) -> str:
        """How late it is."""
        return duration((self.handed_in - self.due).total_seconds())

    def __str__(self) -> str:
        """What both the student and the instructor read, without the student's name."""
        cost = "nothing is deducted"
        if self.penalty:
            cost = f"{points(self.penalty)} of {points(self.points)} points are deducted"
        return (
            f"handed in {self.handed_in:%Y-%m-%d %H:%M} UTC, {self.by} after the due time "
            f"({self.due:%Y-%m-%d %H:%M} UTC, {self.grace:g} minutes' grace): {cost}"
        )


def late(submission: "SubmittedAssignment", points: float, policy: LatePolicy) -> Late | None:
    """A submission's lateness; None if it is in time, or has no time or no due date."""
    # An extension without a due date is an error inside nbgrader.
    due = submission.duedate if submission.assignment.duedate else None
    seconds = submission.total_seconds_late if due else 0
    if not due or seconds <= 0:
        return None
    penalty = policy.late_submission_penalty(submission.student_id, points, seconds)
    penalty = None if penalty is None else min(max(penalty, 0.0), points)
    return Late(submission.timestamp, due, policy.grace_minutes, points, penalty)


def late_ones(
    gradebook: "Gradebook", assignment: str, totals: Mapping[str, "Total"], policy: LatePolicy
) -> dict[str, Late]:
    """The late ones among the students of `totals`, sorted."""
    found = {
        one.student_id: late(one, totals[one.student_id].points, policy)
        for one in gradebook.assignment_submissions(assignment)
        if one.student_id in totals
    }
    return {who: one for who, one in sorted(found.items()) if one}


def points(number: float) -> str:
    """A number of points as people write it.

    >>> points(25.0), points(0.123)
    ('25', '0.12')
    """
    return f"{round(number, 2):g}"


def duration(seconds: float) -> str:
    """The two largest units of a time.

    >>> [duration(60 * minutes) for minutes in (0.5, 10, 125, 2100, 2885)]
    ['1 min', '10 min', '2 h 5 min', '1 day 11 h', '2 days 0 h']
    """
    minutes = max(1, int(seconds // 60))
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} day{'s' * (days > 1)} {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
