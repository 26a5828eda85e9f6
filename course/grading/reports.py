"""Reports for the instructor: after a grading run, and by `python -m course status`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bertlab._files import write_atomically
from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.notes import REQUEST, TIME
from course.gradebook.totals import Total, totals
from course.grading.fingerprints import tasks_of
from course.settings import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


class Report(NamedTuple):
    """Lines for the instructor, and how many submissions could not be graded."""

    text: str
    failures: int


class Figures(NamedTuple):
    """Of an assignment: the mean before penalties, the maximum, how many are late or wait."""

    mean: float
    most: float
    late: int
    waiting: int

    def __str__(self) -> str:
        return (
            f"Mean {self.mean:.1f} of {self.most:g} points before penalties; "
            f"{self.late} late; {self.waiting} wait for a person"
        )


class Standing(NamedTuple):
    """The state of an assignment: students' ids by state, and their rows in the gradebook.

    The first five are the columns of `status`.
    """

    handed_in: list[str]
    graded: list[str]
    to_grade: list[str]
    failed: list[str]
    waiting: list[str]
    rows: Mapping[str, records.Graded]
    totals: Mapping[str, Total]

    def requests(self) -> list[str]:
        """Lines about the requests of those who wait for a person."""
        notes = [(who, note) for who in self.waiting for note in self.rows[who].notes]
        return [f"{who}: {note}" for who, note in notes if note.kind == REQUEST]


def write(
    course: Course, book: "Gradebook", name: str, fresh: Collection[str], students: Sequence[str]
) -> Report:
    """Update penalties, then report the state of an assignment.

    fresh: students graded in this run; students: those requested for this run. The report is also
    written to autograded/report-NAME.txt; it is made from the gradebook, so it is the same after a
    run that was killed and restarted.
    """
    rows = records.graded(book, name)
    _update_times(course, book, name, rows)
    records.charge_all(book, name, LatePolicy(config=course.config))
    asked = [rows[student] for student in students if student in rows]
    failed = [row for row in asked if row.failure]
    lines = [
        f"{name}: {len(students)} hand-ins, {len(fresh) - sum(r.student in fresh for r in failed)} "
        f"graded now, {len(students) - len(fresh)} unchanged, {len(failed)} not graded"
    ]
    lines += [f"  {line}" for line in odd(asked)]
    lines.append(f"  {figures(book, name, _totals(book, name, rows)) or 'No grades yet.'}")
    path = course.room("autograded") / f"report-{name}.txt"
    write_atomically(path, "\n".join(lines) + "\n")
    lines.append(f"  Report: {path.relative_to(course.root)}")
    return Report("\n".join(lines), len(failed))


def odd(rows: Iterable[records.Graded]) -> list[str]:
    """Lines about irregular submissions, then about those that could not be graded."""
    rows = list(rows)
    lines = [f"{row.student}: {note}" for row in rows for note in row.notes]
    return lines + [f"{row.student}: NOT GRADED: {row.failure}" for row in rows if row.failure]


def _update_times(
    course: Course, book: "Gradebook", name: str, rows: Mapping[str, records.Graded]
) -> None:
    """A hand-in may be unchanged but have another time."""
    kept = {
        row.student
        for row in rows.values()
        if row.failure or any(note.kind == TIME for note in row.notes)
    }
    for submission in book.assignment_submissions(name):
        folder = course.hand_in(name, submission.student_id).parent
        handed_in, _ = records.read_timestamp(folder)
        changed = folder.is_dir() and submission.timestamp != handed_in
        if changed and submission.student_id not in kept:
            submission.timestamp = handed_in
    book.db.commit()


def standing(course: Course, book: "Gradebook", name: str) -> Standing:
    """The current state of an assignment."""
    handed_in, rows = course.students(name), records.graded(book, name)
    failed = [who for who in handed_in if who in rows and rows[who].failure]
    now = {task.student: task.fingerprint for task in tasks_of(course, name)}
    graded = [who for who in handed_in if who in rows and rows[who].fingerprint == now[who]]
    to_grade = sorted(set(handed_in) - set(failed) - set(graded))
    totals = _totals(book, name, rows)
    waiting = [who for who in graded if who in totals and totals[who].waiting]
    return Standing(handed_in, graded, to_grade, failed, waiting, rows, totals)


def _totals(book: "Gradebook", name: str, rows: Mapping[str, records.Graded]) -> dict[str, Total]:
    """Totals without those that could not be graded."""
    every = totals(book, name)
    return {who: every[who] for who in every if not (who in rows and rows[who].failure)}


def figures(book: "Gradebook", name: str, graded: Mapping[str, Total]) -> Figures | None:
    """The figures of all graded submissions, if there are any."""
    if not graded:
        return None
    points, penalties, waiting = zip(*graded.values(), strict=True)
    late = sum(penalty > 0 for penalty in penalties)
    most = book.find_assignment(name).max_score
    return Figures(sum(points) / len(points), most, late, sum(waiting))


def status(course: Course, book: "Gradebook", names: Sequence[str]) -> str:
    """One line per assignment: handed in, graded, failed, waiting for a person; then details."""
    heads = ("handed in", "graded", "to grade", "not graded", "wait for a person")
    lines = ["".join([f"{'assignment':24}", *(f"{head:>19}" for head in heads)])]
    for name in names:
        now = standing(course, book, name)
        lines.append(f"{name:24}" + "".join(f"{len(group):19}" for group in now[:5]))
        noted = [who for who in now.graded if now.rows[who].oddities]
        for head, group in zip((*heads[2:], "with notes"), (*now[2:5], noted), strict=True):
            lines += [f"    {head}: {', '.join(group)}"] if group else []
        lines += [f"    {request}" for request in now.requests()]
    return "\n".join(lines)
