"""What the instructor reads after a grading run, and at any time with `python -m course status`."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bertlab._files import write_atomically
from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.grading.fingerprints import tasks_of
from course.settings import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


class Report(NamedTuple):
    """Lines for the instructor, and how many submissions could not be graded."""

    text: str
    failures: int


def write(
    course: Course, book: "Gradebook", name: str, fresh: Collection[str], students: Sequence[str]
) -> Report:
    """Bring penalties up to date, then say how an assignment stands.

    fresh: who was graded in this run; students: whose hand-ins this run was asked for. The report
    also goes to autograded/report-NAME.txt; all that it says comes from the gradebook, so a run
    that was killed and started again says the same as one that was not.
    """
    _update_times(course, book, name)
    records.charge_all(book, name, LatePolicy(config=course.config))
    rows = records.graded(book, name)
    asked = [rows[student] for student in students if student in rows]
    failed = [row for row in asked if row.failure]
    lines = [
        f"{name}: {len(students)} hand-ins, {len(fresh) - sum(r.student in fresh for r in failed)} "
        f"graded now, {len(students) - len(fresh)} unchanged, {len(failed)} not graded"
    ]
    for row in asked:
        lines += [f"  {row.student}: {note}" for note in row.notes]
    lines += [f"  {row.student}: NOT GRADED: {row.failure}" for row in failed]
    lines.append(f"  {_totals(book, name)}")
    path = course.room("autograded") / f"report-{name}.txt"
    write_atomically(path, "\n".join(lines) + "\n")
    lines.append(f"  Report: {path.relative_to(course.root)}")
    return Report("\n".join(lines), len(failed))


def _update_times(course: Course, book: "Gradebook", name: str) -> None:
    """A hand-in may have come again unchanged, with another time."""
    for submission in book.assignment_submissions(name):
        folder = course.hand_in(name, submission.student_id).parent
        handed_in, _ = records.read_timestamp(folder)
        if folder.is_dir() and submission.timestamp != handed_in:
            submission.timestamp = handed_in
    book.db.commit()


def _totals(book: "Gradebook", name: str) -> str:
    failed = {student for student, row in records.graded(book, name).items() if row.failure}
    submissions = book.assignment_submissions(name)
    graded = [one for one in submissions if one.student_id not in failed]
    if not graded:
        return "No grades yet."
    mean = sum(one.score for one in graded) / len(graded)
    waiting = sum(one.needs_manual_grade for one in graded)
    late = sum((one.late_submission_penalty or 0) > 0 for one in graded)
    return (
        f"Mean {mean:.1f} of {graded[0].max_score:g} points before penalties; "
        f"{late} late; {waiting} wait for a person"
    )


def status(course: Course, book: "Gradebook", names: Sequence[str]) -> str:
    """A line per assignment: handed in, graded, failed, waiting for a person; then who."""
    heads = ("handed in", "graded", "to grade", "not graded", "wait for a person")
    lines = ["".join([f"{'assignment':24}", *(f"{head:>19}" for head in heads)])]
    released = {assignment.name for assignment in book.assignments}
    for name in names:
        students = course.students(name)
        rows = {} if name not in released else records.graded(book, name)
        failed = [who for who in students if who in rows and rows[who].failure]
        now = {task.student: task.fingerprint for task in tasks_of(course, name)}
        graded = [who for who in students if who in rows and rows[who].fingerprint == now[who]]
        open_ = sorted(set(students) - set(failed) - set(graded))
        waiting = _waiting(book, name, graded)
        noted = [who for who in graded if rows[who].notes]
        groups = (students, graded, open_, failed, waiting)
        lines.append(f"{name:24}" + "".join(f"{len(group):19}" for group in groups))
        named = (*groups[2:], noted)
        for head, group in zip((*heads[2:], "with notes"), named, strict=True):
            lines += [f"    {head}: {', '.join(group)}"] if group else []
    return "\n".join(lines)


def _waiting(book: "Gradebook", name: str, students: Sequence[str]) -> list[str]:
    """Whose work has a cell that a person must look at."""
    if not students:
        return []
    submissions = book.assignment_submissions(name)
    waiting = {one.student_id for one in submissions if one.needs_manual_grade}
    return [student for student in students if student in waiting]
