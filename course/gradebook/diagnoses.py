"""What the class thinks: the mistakes that an assignment's tests have met, counted.

The tests already diagnose: a check's message ends with a sentence after "→". Grading records the
messages of every hand-in (`attempts.py`), `messages.py` reads them, and here they are counted, so
nothing is run again. For each task a hand-in counts once, with the first test that fails: the later
ones fail as a consequence.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from course.answers import answers_of
from course.gradebook import attempts, item_analysis, records
from course.gradebook.item_analysis import task_of
from course.gradebook.messages import HIDDEN, LASTING, MISTAKE, UNKNOWN, Failure, Key, failure
from course.settings import Course, named, printable

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

# Characters of a message's line, its lines, students that are named, groups of a task.
LONGEST, LINES, NAMED, SHOWN = 160, 5, 10, 12


class Group(NamedTuple):
    """The students with the same failure of a task.

    now: those whose newest hand-in has it; had: how many ever had it; again: how many of them have
    handed in again; repaired: how many of them pass the task's tests now. said: a sentence, or the
    call and what it gave, line by line; like: mistakes of the exercise's table that it may be.
    """

    kind: str
    said: tuple[str, ...]
    now: tuple[str, ...]
    had: int
    again: int
    repaired: int
    like: tuple[str, ...]

    def lines(self, students: int) -> list[str]:
        """How many of the class, who, and how it changed over hand-ins."""
        lines = [f"{len(self.now)} of {students}: {self.kind}{' / '.join(self.said)}"]
        if self.now:
            lines.append(named(self.now, NAMED))
        if self.like:
            where = "in the table of mistakes" if self.kind == MISTAKE else "perhaps"
            lines.append(f"{where}: {'; '.join(self.like)}")
        if self.again:
            lines.append(f"{self.repaired} of {self.had} who had it repaired it in a later hand-in")
        return lines


class Thoughts(NamedTuple):
    """The groups of each task, the most frequent first; `unknown`: students without messages."""

    students: int
    tasks: dict[str, list[Group]]
    unknown: tuple[str, ...] = ()

    def lines(self) -> dict[str, list[list[str]]]:
        """For each task that somebody failed, the lines of each group."""
        told = {}
        for task, groups in self.tasks.items():
            told[task] = [group.lines(self.students) for group in groups[:SHOWN]]
            if rest := groups[SHOWN:]:
                most = max(len(group.now) for group in rest)
                more = f"and {len(rest)} other failures, each of at most {most} of {self.students}"
                told[task].append([more])
        return {task: lines for task, lines in told.items() if lines}

    def text(self) -> str:
        """All of it, to print."""
        lines = [f"What the class thinks ({self.students} graded hand-ins)"]
        for task, groups in self.lines().items():
            lines.append(task)
            for head, *more in groups:
                lines += [f"  {head}", *(f"      {line}" for line in more)]
        if self.unknown:
            lines.append(f"Not counted, no messages are kept: {named(self.unknown, NAMED)}")
        return "\n".join(lines)

    def rows(self) -> str:
        """What has no known diagnosis, as rows for the table of mistakes; names nobody."""
        unknown = [
            (task, group)
            for task, groups in self.tasks.items()
            for group in [one for one in groups if one.kind in (UNKNOWN, HIDDEN)][:SHOWN]
        ]
        blocks = [
            f"# {len(group.now)} of {self.students} students\n"
            + "".join(f"#   {line}\n" for line in group.said)
            + (f"# perhaps there already: {'; '.join(group.like)}\n" if group.like else "")
            + f"task: {task}\nmistake: NAME\nchange: WHAT THEY WROTE\ndiagnosis: SENTENCE\n"
            for task, group in unknown
        ]
        return "\n".join(blocks) or "# Every failure has a known diagnosis.\n"


def report(course: Course, gradebook: "Gradebook", assignment: str) -> str:
    """How hard the tasks were, then what the class thinks, to print."""
    try:
        thought = thoughts(course, gradebook, assignment).text()
        points = item_analysis.from_gradebook(gradebook, assignment)
    except ValueError as nothing:
        return f"{nothing}\n"
    lines = [assignment]
    if points.table and points.most:
        lines.append(item_analysis.analyse(points).text())
    if points.left_out:
        lines.append(f"Left out: {named(points.left_out, NAMED, '; ')}")
    return "\n".join([*lines, "", thought, ""])


def rows(course: Course, gradebook: "Gradebook", assignment: str) -> str:
    """Only what has no known diagnosis, as rows for the table of mistakes, to print."""
    try:
        return f"# {assignment}\n{thoughts(course, gradebook, assignment).rows()}"
    except ValueError as nothing:
        return f"# {nothing}\n"


def thoughts(course: Course, gradebook: "Gradebook", assignment: str) -> Thoughts:
    """What all graded hand-ins of an assignment show. Raises ValueError if there is none."""
    graded, kept = records.graded(gradebook, assignment), attempts.of_class(gradebook, assignment)
    hand_ins: dict[str, list[attempts.Failures]] = {}
    unknown = []
    for student in sorted(one.student_id for one in gradebook.assignment_submissions(assignment)):
        row, history = graded.get(student), kept.get(student, [])
        if row and row.failure:
            continue
        if not (history and row and row.fingerprint):  # graded by nbgrader
            copy = attempts.of_copy(course, assignment, student)
            history = [*history, *([] if copy is None or history[-1:] == [copy] else [copy])]
        if history:
            hand_ins[student] = history
        else:
            unknown.append(student)
    if not hand_ins:
        raise ValueError(f"{assignment}: nothing is graded; `python -m course grade {assignment}`")
    cells = item_analysis.cell_order(gradebook, assignment)
    return count(hand_ins, cells, _table(course, assignment))._replace(unknown=tuple(unknown))


def count(
    hand_ins: Mapping[str, Sequence[attempts.Failures]],
    cells: Sequence[str],
    table: Mapping[str, Sequence[tuple[str, str]]],
) -> Thoughts:
    """Group the failures of a class.

    hand_ins: student -> the failures of each, the oldest first; cells: of the assignment, in order;
    table: task -> names and diagnoses of its mistakes.
    """
    places = {cell: place for place, cell in enumerate(cells)}
    met: dict[str, dict[Key, dict[str, Failure]]] = {task_of(cell): {} for cell in cells}
    now: dict[str, dict[str, Failure]] = {}
    again: set[tuple[str, str, Key]] = set()
    for student, history in hand_ins.items():
        *earlier, now[student] = (_by_task(failures, places) for failures in history)
        again |= {(student, task, one[:2]) for tasks in earlier for task, one in tasks.items()}
        for tasks in (*earlier, now[student]):
            for task, one in tasks.items():
                met.setdefault(task, {}).setdefault(one[:2], {})[student] = one
    counted = {}
    for task, groups in met.items():
        made = []
        for key, had in groups.items():
            newest = [s for s in had if task in now[s] and now[s][task][:2] == key]
            later = [s for s in had if (s, task, key) in again]
            passed = sum(task not in now[s] for s in later)
            if newest or key[0] in LASTING:
                made.append(_group(newest, had, len(later), passed, table.get(task, ())))
        counted[task] = sorted(made, key=lambda one: (-len(one.now), -one.had, one.kind, one.said))
    return Thoughts(len(hand_ins), counted)


def _by_task(failures: attempts.Failures, places: Mapping[str, int]) -> dict[str, Failure]:
    """Task -> the failure of its first failed test."""
    found: dict[str, Failure] = {}
    for cell in sorted(failures, key=lambda cell: places.get(cell, len(places))):
        found.setdefault(task_of(cell), failure(cell, *failures[cell]))
    return found


def _group(
    now: Sequence[str],
    had: Mapping[str, Failure],
    again: int,
    repaired: int,
    table: Iterable[tuple[str, str]],
) -> Group:
    kind, _, lines, message = min(had.values(), key=lambda one: (len(str(one.lines)), one.lines))
    said = tuple(map(_bounded, lines[:LINES]))
    if len({one.lines for one in had.values()}) > 1:
        said = (*said, "(and others of this form)")
    where = " ".join(lines) if kind == MISTAKE else message if lines else ""
    like = tuple(name for name, words in table if words and words in where)
    return Group(kind, said, tuple(sorted(now)), len(had), again, repaired, like[:3])


def _bounded(line: str) -> str:
    """A line without control characters and wide gaps, shortened in the middle."""
    line = printable(" ".join(line.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 63]} … {line[-60:]}"


def _table(course: Course, assignment: str) -> dict[str, list[tuple[str, str]]]:
    """Task -> the names and the diagnoses of its known mistakes; empty without a table."""
    table: dict[str, list[tuple[str, str]]] = {}
    try:
        for row in answers_of(assignment, course.root).wrong:
            table.setdefault(row.task, []).append((row.mistake, row.diagnosis))
    except (OSError, ValueError):  # no table, or one that does not fit: `items` need not fail
        return {}
    return table
