"""Reports for the instructor: after a grading run, and by `python -m course status`.

Whatever costs points is in them, by student. Printed lines are short, so equal ones of many
students are one line; the report's file names everybody.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from bertlab._files import write_atomically
from course.gradebook import records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.lateness import Late, late_ones, points
from course.gradebook.notes import REQUEST, TIME, cells_of_equal
from course.gradebook.totals import Total, totals
from course.grading.fingerprints import tasks_of
from course.settings import Course, named

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

# Printed at most: names in a line, cells in a note, late ones, lines after grading and in `status`,
# lines that only one student has. NOTES: a student's in the report's file.
NAMES, CELLS, LATE, LINES, LINES_OF_STATUS, EACH, NOTES = 10, 4, 30, 40, 15, 5, 60
TO_GRADE, AGAIN, NOTED = "to grade", "points given, then changed or asked for", "see the notes"
Lines = Mapping[str, Sequence[str]]  # a line -> the students whom it is about


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

    The first five are the columns of `status`. late: with those within the grace period;
    to_look_at: what waits for a person.
    """

    handed_in: list[str]
    graded: list[str]
    to_grade: list[str]
    failed: list[str]
    waiting: list[str]
    rows: Mapping[str, records.Graded]
    totals: Mapping[str, Total]
    late: Mapping[str, Late]
    to_look_at: Lines

    def requests(self) -> list[str]:
        """Lines about the requests of those who wait for a person."""
        notes = [(who, note) for who in self.waiting for note in self.rows[who].notes]
        return [f"{who}: {note}" for who, note in notes if note.kind == REQUEST]


def write(
    course: Course, book: "Gradebook", name: str, fresh: Collection[str], students: Sequence[str]
) -> Report:
    """Update penalties, then report the state of an assignment.

    fresh: students graded in this run; students: those requested for this run. The file
    autograded/report-NAME.txt names all students of the gradebook; it is made from the gradebook,
    so it is the same after a run that was killed and restarted.
    """
    rows = records.graded(book, name)
    _update_times(course, book, name, rows)
    records.charge_all(book, name, LatePolicy(config=course.config))
    asked = [rows[student] for student in students if student in rows]
    failed = [row for row in asked if row.failure]
    head = (
        f"{name}: {len(students)} hand-ins, {len(fresh) - sum(r.student in fresh for r in failed)} "
        f"graded now, {len(students) - len(fresh)} unchanged, {len(failed)} not graded"
    )
    sums, late = _sums(course, book, name, rows)
    last = str(figures(book, name, sums) or "No grades yet.")
    everybody = [rows[student] for student in sorted(rows)]
    whole = [f"{row.student}: NOT GRADED: {row.failure}" for row in everybody if row.failure]
    whole += [f"{row.student}: {note}" for row in everybody for note in row.notes[:NOTES]]
    whole += [
        f"{row.student}: {len(row.notes) - NOTES} more notes"
        for row in everybody
        if len(row.notes) > NOTES
    ]
    whole += [f"{who}: late: {one}" for who, one in late.items() if one.penalty is not None]
    seen = to_look_at(book, name, sums)
    whole += [
        f"wait for a person: {', '.join(some)}: {line}"
        for line in seen
        for some in batched(seen[line], NAMES)
    ]
    path = course.room("autograded") / f"report-{name}.txt"
    write_atomically(path, "\n  ".join([head, *whole, last]) + "\n")
    here = {row.student for row in asked}
    waiting = {line: some for line in seen if (some := [w for w in seen[line] if w in here])}
    shown = brief(noted(asked, CELLS), LINES) + late_line(
        {w: late[w] for w in late if w in students}
    )
    shown += [f"wait for a person: {line}" for line in each(waiting, NAMES)]
    shown += [last, f"Report: {path.relative_to(course.root)}"]
    return Report("\n  ".join([head, *shown]), len(failed))


def batched(names: Sequence[str], most: int) -> Iterable[Sequence[str]]:
    """The names in groups of at most `most`, so that no line is endless."""
    return (names[start : start + most] for start in range(0, len(names), most))


def noted(rows: Iterable[records.Graded], most: int | None = None) -> Lines:
    """Why some could not be graded, and what was noticed: line -> students.

    What a person must look at comes before the rest. most: named cells of a student's equal notes.
    """
    rows = list(rows)
    pairs = [(row.student, f"NOT GRADED: {row.failure}") for row in rows if row.failure]
    notes = [
        (row.student, note._replace(cell=named(cells, most)))
        for row in rows
        for note, cells in cells_of_equal(row.notes).items()
    ]
    notes.sort(key=lambda pair: not (pair[1].waits or pair[1].kind == REQUEST))
    pairs += [(who, str(note)) for who, note in notes]
    lines: dict[str, list[str]] = {}
    for who, line in pairs:
        lines.setdefault(line, []).append(who)
    return lines


def to_look_at(book: "Gradebook", name: str, students: Collection[str]) -> Lines:
    """The cells that wait for a person, and why: line -> students."""
    query = (
        select(SubmittedAssignment.student_id, BaseCell.name, Grade.auto_score, Grade.manual_score)
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == name, Grade.needs_manual_grade)
        .order_by(BaseCell.name, SubmittedAssignment.student_id)
    )
    lines: dict[str, list[str]] = {}
    for who, cell, tested, given in book.db.execute(query):
        why = AGAIN if given is not None else TO_GRADE if tested is None else NOTED
        if who in students:
            lines.setdefault(f"{cell}, {why}", []).append(who)
    return lines


def each(lines: Lines, most: int | None = None) -> list[str]:
    """The lines, each after its students' names, of which at most some are named.

    >>> each({"its cell was missing": ["ada", "ben", "cy"]}, 2)
    ['ada, ben and 1 more: its cell was missing']
    """
    return [f"{named(students, most)}: {line}" for line, students in lines.items()]


def brief(lines: Lines, most: int) -> list[str]:
    """The most important lines for a console: one student's many notes are counted."""
    alone: Counter[str] = Counter()
    kept: dict[str, Sequence[str]] = {}
    for line, students in lines.items():
        alone[students[0]] += len(students) == 1
        if len(students) > 1 or alone[students[0]] <= EACH:
            kept[line] = students
    shown = each(kept, NAMES)
    shown += [f"{who}: {n - EACH} more notes" for who, n in alone.items() if n > EACH]
    return shown[:most] + ([f"and {len(shown) - most} more lines"] if len(shown) > most else [])


def late_line(late: Mapping[str, Late]) -> list[str]:
    """Who loses points by lateness, how late, and how many; no line if nobody does."""
    told = [f"{who} ({one.by}, -{points(one.penalty)})" for who, one in late.items() if one.penalty]
    return [f"late: {named(told, LATE)}"] if told else []


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
    sums, late = _sums(course, book, name, rows)
    waiting = [who for who in graded if who in sums and sums[who].waiting]
    look = to_look_at(book, name, waiting)
    return Standing(handed_in, graded, to_grade, failed, waiting, rows, sums, late, look)


def _sums(
    course: Course, book: "Gradebook", name: str, rows: Mapping[str, records.Graded]
) -> tuple[dict[str, Total], dict[str, Late]]:
    """Totals without those that could not be graded, with penalties as of now, and who is late."""
    every = totals(book, name)
    sums = {who: every[who] for who in every if not (who in rows and rows[who].failure)}
    late = late_ones(book, name, sums, LatePolicy(config=course.config))
    costs = {who: late[who].penalty or 0.0 for who in late}
    return {who: sums[who]._replace(penalty=costs.get(who, 0.0)) for who in sums}, late


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
        lines += [f"    {line}" for line in _details(now)]
    return "\n".join(lines)


def _details(now: Standing) -> list[str]:
    """Who is in which state, and all that costs points."""
    groups = {"to grade": now.to_grade, "not graded": now.failed}
    lines = [f"{head}: {named(group, LATE)}" for head, group in groups.items() if group]
    lines += [f"wait for a person: {line}" for line in each(now.to_look_at, NAMES)]
    lines += late_line({who: now.late[who] for who in now.graded if who in now.late})
    rows = [now.rows[who] for who in now.graded]
    rows = [r if r.student in now.waiting else r._replace(notes=r.oddities) for r in rows]
    return lines + brief(noted(rows, CELLS), LINES_OF_STATUS)
