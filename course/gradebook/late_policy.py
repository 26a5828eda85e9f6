"""Late penalties: nothing in the grace period, then a share for every day begun."""

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

DAY = 24 * 60 * 60


class LatePolicy(LateSubmissionPlugin):
    """Points deducted for lateness, set in nbgrader_config.py, e.g. `LatePolicy.grace_minutes`.

    >>> policy = LatePolicy(grace_minutes=15, percent_a_day=10, at_most_percent=50)
    >>> late = (0, 15, 16, 1455, 1456, 99999)  # minutes
    >>> [policy.late_submission_penalty("ada", 80.0, 60 * minutes) for minutes in late]
    [None, None, 8.0, 8.0, 16.0, 40.0]
    """

    grace_minutes = Float(15, min=0, help="Minutes after the due date without a penalty.").tag(
        config=True
    )
    percent_a_day = Float(
        10, min=0, max=100, help="Percent of the score that each day begun after that costs."
    ).tag(config=True)
    at_most_percent = Float(50, min=0, max=100, help="No hand-in loses more than this.").tag(
        config=True
    )

    def late_submission_penalty(
        self,
        student_id: str,  # noqa: ARG002 - nbgrader's signature
        score: float,
        total_seconds_late: float,
    ) -> float | None:
        """Points to deduct; None if it is in time or within the grace period.

        score: points before the penalty; total_seconds_late: after the due date, with the
        student's extension taken into account.
        """
        seconds = total_seconds_late - 60 * self.grace_minutes
        if seconds <= 0:
            return None
        days = math.ceil(seconds / DAY)
        return score * min(days * self.percent_a_day, self.at_most_percent) / 100
