"""`python -m course release`, `due` and `extend`: students' versions and due dates."""

from collections.abc import Callable, Sequence
from contextlib import closing

from nbgrader.api import MissingEntry

from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.settings import Course, CourseError, said, utc_moment


def release(
    course: Course,
    assignments: Sequence[str],
    exchange: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Make exercises/NAME from solutions/NAME and enter it in the gradebook; 1 if one failed.

    exchange: also put it into nbgrader's exchange, for students on a hub.
    """
    faults = 0
    for name in assignments:
        result = course.nbgrader.generate_assignment(name, force=True, create=True)
        if not result["success"]:
            say(f"{name}: NOT RELEASED: {said(result)}")
            faults += 1
            continue
        with closing(course.gradebook()) as book:
            cells = book.find_notebook(name, name).grade_cells
            points = sum(cell.max_score for cell in cells)
            tests = sum(cell.cell_type == "code" for cell in cells)
        say(
            f"{name}: {points:g} points in {len(cells)} cells, "
            f"{tests} graded by tests, {len(cells) - tests} by a person; "
            f"students get {course.room('release').relative_to(course.root)}/{name}/{name}.ipynb"
        )
        if exchange:
            result = course.nbgrader.release_assignment(name)
            success = result["success"]
            say(f"{name}: {'handed out through the exchange' if success else said(result)}")
            faults += not success
    return int(faults > 0)


def set_due(course: Course, name: str, due: str) -> str:
    """Set when an assignment is due, e.g. "2026-12-01T23:59+01:00", or "none".

    Late penalties are updated at once. Raises CourseError if it is not a time with a zone.
    """
    moment = None
    if due != "none":
        try:
            moment = utc_moment(due)
        except ValueError:
            raise CourseError(
                f"{due}: not a time with its zone; write it as 2026-12-01T23:59+01:00, or none"
            ) from None
    with closing(course.gradebook()) as book:
        if name not in {assignment.name for assignment in book.assignments}:
            raise records.not_released(name)
        book.update_or_create_assignment(name, duedate=moment)
        records.charge_all(book, name, LatePolicy(config=course.config))
    return f"{name}: due {moment:%Y-%m-%d %H:%M} UTC" if moment else f"{name}: no due date"


def extend(course: Course, name: str, student: str, days: int) -> str:
    """Give one student this many more days, instead of those given before; 0 removes them.

    Late penalties are updated at once. Raises CourseError if no hand-in of theirs has been graded.
    """
    with closing(course.gradebook()) as book:
        try:
            book.grant_extension(name, student, days=days)
        except MissingEntry:
            raise CourseError(
                f"{student} has no graded hand-in of {name} yet: collect and grade it, then extend"
            ) from None
        records.charge_all(book, name, LatePolicy(config=course.config))
    return f"{name}: {student} has {days} days more"
