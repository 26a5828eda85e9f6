"""A student's progress: which functions of the assignment have passed, and which is next.

A check reports to this module when it begins, fails and passes; nothing here can change a check's
result. What counts is this session: *Restart Kernel and Run All Cells* counts again, as the grader
will. What passed before is shown beside it (`memory.py`).
"""

import html
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dis import get_instructions
from types import CodeType
from typing import NamedTuple

from course.feedback import memory

# Text and shape besides colour, dark green on light green as in the line above it.
BOX = (
    "display:inline-block;vertical-align:middle;width:14px;height:14px;margin-right:3px;"
    "border:1px solid #0b4a24;"
)
FULL, EMPTY = f"{BOX}background:#0b4a24", f"{BOX}background:#ffffff"
HALF = f"{BOX}background:linear-gradient(135deg,#0b4a24 50%,#ffffff 50%)"
BEFORE, CHANGED = "passed before", "changed since it passed"
VALIDATE = (
    "The button Validate runs your saved notebook again from the top, with these same checks. "
    "Grading tries more inputs."
)
SAID = 100  # characters of what a check said, in the table


class Task(NamedTuple):
    """A function that a student writes: its exercise, its name, its task's number."""

    assignment: str
    name: str
    number: int


_declared: dict[tuple[str, str], Task] = {}
# Passed tasks, and the number of tries, in this session; keys are a task's first two fields.
_passed: set[tuple[str, str]] = set()
_tries: Counter[tuple[str, str]] = Counter()
_said: dict[tuple[str, str], str] = {}


def declare(own: Task) -> None:
    """A task of an exercise whose checks are imported."""
    _declared[own[:2]] = own


class Progress(NamedTuple):
    """The functions of an assignment, in the notebook's order, and their states.

    before: of each function that has not passed in this session, what an earlier one says of it;
    said: of each that failed last, what its check said, cut.

    >>> print(Progress((Task("ex00", "count", 1), Task("ex00", "cut", 2)), (True, False), (1, 0)))
    ■□ 1 of 2 functions pass. Next: cut (task 2).
    """

    tasks: tuple[Task, ...]
    passed: tuple[bool, ...]
    tries: tuple[int, ...]
    before: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{''.join('■◩□'[number] for number in self._marks())} {self.sentence()}"

    def __repr__(self) -> str:
        rows = [" · ".join(filter(None, row)) for row in self._rows()]
        return "\n".join([*rows, VALIDATE])

    def _repr_html_(self) -> str:
        """A table in the notebook's colours, light or dark; a task's name leads to it."""
        rows = [[html.escape(entry) for entry in row] for row in self._rows()]
        for task, row in zip(self.tasks, rows[1:], strict=True):
            place = f"{task.assignment}.ipynb#cell-id=task-{task.number}"  # as JupyterLab has it
            row[1], row[2] = f'<a href="{place}">{row[1]}</a>', unbroken(row[2])
        caption = f'<caption style="text-align:left">{html.escape(self.sentence())}</caption>'
        return f"<table>{caption}{lines_of(rows)}</table><p>{VALIDATE}</p>"

    def sentence(self) -> str:
        """How many functions pass, and which one is next."""
        if all(self.passed):
            return (
                "All functions pass. Answer the questions in words; then restart, run all cells, "
                "and hand in."
            )
        marks = self._marks()
        told = f"{sum(self.passed)} of {len(self.tasks)} functions pass"
        if old := marks.count(1):
            told += f", {old} more passed before: run their cells again"
        if 2 not in marks:
            return f"{told}."
        following = self.tasks[marks.index(2)]
        return f"{told}. Next: {following.name} (task {following.number})."

    def bar(self) -> str:
        """A box per function, full or empty, with the sentence; HTML, for a light background."""
        boxes = "".join(
            f'<span title="{html.escape(task.name)}" style="{(FULL, HALF, EMPTY)[mark]}"></span>'
            for task, mark in zip(self.tasks, self._marks(), strict=True)
        )
        said = html.escape(self.sentence())
        return (
            f'<div role="progressbar" aria-valuemin="0" aria-valuemax="{len(self.tasks)}" '
            f'aria-valuenow="{sum(self.passed)}" aria-valuetext="{said}" '
            'aria-label="functions that pass" style="margin-top:6px">'
            f'{boxes} <span style="margin-left:4px">{said}</span></div>'
        )

    def _marks(self) -> list[int]:
        """Of each function 0 if it passes, 1 if it did before, 2 otherwise."""
        before = self.before or ("",) * len(self.tasks)
        pairs = zip(self.passed, before, strict=True)
        return [0 if passed else 1 if was == BEFORE else 2 for passed, was in pairs]

    def _rows(self) -> Iterator[tuple[str, ...]]:
        yield "task", "function", "state", "tries", "what its check said"
        nothing = ("",) * len(self.tasks)
        before, said = self.before or nothing, self.said or nothing
        for task, passed, tries, was, line in zip(
            self.tasks, self.passed, self.tries, before, said, strict=True
        ):
            open_state = f"◩ {was}" if was else "✗ not yet" if tries else "○ not tried"
            state = "✓ passes" if passed else open_state
            yield str(task.number), task.name, state, str(tries), "" if passed else line


def unbroken(entry: str) -> str:
    """An escaped entry of a table that stays in one line where the page is narrow."""
    return f'<span style="white-space:nowrap">{entry}</span>'


def lines_of(rows: Iterable[Sequence[str]]) -> str:
    """The lines of a table, its head first; entries are HTML."""
    head, *others = rows
    lines = ["".join(f'<th scope="col" style="text-align:left">{e}</th>' for e in head)]
    lines += ["".join(f'<td style="text-align:left">{e}</td>' for e in row) for row in others]
    return "".join(f"<tr>{line}</tr>" for line in lines)


def progress_of(assignment: str) -> Progress:
    """The progress of an exercise ("ex04_attention") in this session.

    Raises ValueError if the exercise's checks have not been imported.
    """
    tasks = tasks_of(assignment)
    if not tasks:
        raise ValueError(
            "progress_of: expected an exercise whose checks are imported, such as "
            f"ex04_attention; got {assignment!r}"
        )
    keys = [task[:2] for task in tasks]
    records = [memory.recall(*key) for key in keys]
    return Progress(
        tasks,
        tuple(key in _passed for key in keys),
        tuple(max(_tries[k], r["tries"]) for k, r in zip(keys, records, strict=True)),
        tuple(_before(k, r) for k, r in zip(keys, records, strict=True)),
        tuple(_said.get(key, "") for key in keys),
    )


def _before(key: tuple[str, str], record: memory.Record) -> str:
    """What an earlier session says of a function that has not been tried in this one."""
    if "passed" not in record or key in _tries:
        return ""
    now = memory.source_of(getattr(sys.modules["__main__"], key[1], None))
    return CHANGED if now and now != record["passed"] else BEFORE


def tasks_of(assignment: str) -> tuple[Task, ...]:
    """The functions of an exercise, in the notebook's order: by number, then as declared.

    Of two checks of one task, the one that is above the other in its module is first.
    """
    found = [one for one in _declared.values() if one.assignment == assignment]
    return tuple(sorted(found, key=lambda one: one.number))


def begun(task: Task | None) -> None:
    """A check begins: until it passes, the function does not count."""
    if task is not None:
        _passed.discard(task[:2])


def ended(
    task: Task | None, function: Callable, *, passed: bool, said: str = "", mistake: str = ""
) -> None:
    """Record a check's verdict on a written function.

    said: what the check says of a failure; mistake: the sentence for a known one.
    A check of two functions has two verdicts; if both are good, they count as one try.
    """
    if task is None or (passed and task[:2] in _passed):
        return
    _tries[task[:2]] += 1
    first, *others = said.splitlines() or [""]
    # The first line is mostly the call.
    line = " · ".join(" ".join(each.split()) for each in others or [first])
    _said[task[:2]] = line if len(line) <= SAID else f"{line[: SAID - 1]}…"
    if passed:
        _passed.add(task[:2])
    memory.note(*task[:2], memory.passes(function) if passed else memory.fails(mistake))


def red_in(task: Task | None, function: Callable) -> list[Task]:
    """The exercise's other functions that this one calls and whose own checks are red now."""
    code = getattr(function, "__code__", None)
    if task is None or code is None:
        return []
    used = set(names_in(code))
    return [
        other
        for other in tasks_of(task.assignment)
        if other.name in used - {task.name} and _tries[other[:2]] and other[:2] not in _passed
    ]


def names_in(code: CodeType) -> Iterator[str]:
    """The global names of a program, and of the functions in it; `co_names` has attributes, too."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    yield from (one.argval for one in get_instructions(code) if one.opname in loads)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


def start_over() -> None:
    """Forget what has passed and how often it was tried."""
    for record in (_passed, _tries, _said):
        record.clear()
