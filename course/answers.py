"""Answers to an assignment that are known to be wrong, and right ones that differ from ours.

They are one plain table beside its solution, `solutions/NAME/answers.txt`. It tests the feedback,
the class of a rehearsal hands it in, and from it come the values by which the checks recognise a
mistake (`course.recognised`). A line's first characters say what it is:

    task NAME       the id of the solution's cell; what follows is about this task
    ours            the right answer in the notebook
    right MANNER    another right answer, in the indented lines below it
    near MANNER     a right answer that is ours but for names or a line: not another way
    wrong NAME      a mistake: a change of the right answer above it
    - OLD           a part of that answer, which occurs in it once,
    + NEW           and what is there instead, which may be nothing; a mistake that is another
                    program has its lines, indented, and no change
    > SENTENCE      what helps whoever gets the mistake's value on the example that it fails first
    >> SENTENCE     the same on every example, and for every tensor of the mistake's shape
    > as: NAME      this mistake gives what that one gives, and gets its sentence
    ? WORDS         the check itself explains it, with these words
    hidden          no worked example shows it, so the hidden test must

A line of anything else, above the first task, is for readers.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import nbformat

from course import ROOT

OURS = "ours"  # the manner of the right answer in the notebook
AS = "as: "
SOMETHING_ELSE = (
    "expected task, ours, right, near, wrong, - old, + new, > sentence, >> sentence, ? words, "
    "hidden or an indented program"
)


class Wrong(NamedTuple):
    """A plausible mistake, by the text that a student would hand in.

    diagnosis: what its message must contain, a sentence or words; "" if only hidden tests see it.
    said: ">" if the table's sentence is for its value on one example, ">>" for all, "" otherwise.
    line: of the table.
    """

    task: str
    mistake: str
    solution: str
    diagnosis: str
    said: str
    line: int


class Right(NamedTuple):
    """A right solution. manner: its kind."""

    task: str
    manner: str
    solution: str


class Answers(NamedTuple):
    """The known answers to an assignment."""

    wrong: list[Wrong]
    right: list[Right]
    near: list[Right]  # also right, and so near to ours that they are not another way


class TableError(ValueError):
    """A line of a table of answers that does not fit."""


class _Row(NamedTuple):
    """A paragraph of the table: its first line, the number of it, and the lines below it."""

    number: int
    kind: str
    name: str
    below: list[str]


@cache
def answers_of(name: str, root: Path = ROOT) -> Answers:
    """Read `solutions/NAME/answers.txt` below root, and the notebook beside it.

    Raises FileNotFoundError if there is none, and TableError, with file and line, if a row is
    incomplete, given twice, of no task, or a change that does not fit.
    """
    folder = root / "solutions" / name
    path = folder / "answers.txt"
    if not path.is_file():
        raise FileNotFoundError(
            f"solutions/{name}/answers.txt is not in {root}: write down there what students may "
            "answer (course/new_assignment.md shows how)"
        )
    ours = _our_solutions(folder / f"{name}.ipynb")
    try:
        return _read(path.read_text(encoding="utf-8").splitlines(), ours)
    except TableError as error:
        raise TableError(f"solutions/{name}/answers.txt, line {error}") from None


def _read(lines: list[str], ours: dict[str, str]) -> Answers:
    found = Answers([], [], [])
    task = near_to = ""  # the task, and the right answer to it, that the next mistakes are about
    seen: dict[tuple[str, ...], int] = {}
    for row in _rows(lines):
        number, kind, name, _ = row
        if kind == "task":
            if name not in ours:
                raise TableError(
                    f"{number}: no solution's cell of the notebook has the id {name!r}; it has "
                    f"{', '.join(ours)}"
                )
            task, near_to = name, ours[name]
        elif not task:
            raise TableError(f"{number}: the first row must be a task; got {kind} {name}")
        elif kind == OURS:
            near_to = ours[task]
        elif kind == "wrong":
            found.wrong.append(_wrong(row, task, near_to, found.wrong))
        else:
            near_to = _program(row)
            (found.right if kind == "right" else found.near).append(Right(task, name, near_to))
        if kind in ("task", OURS):
            continue
        key = (task, "wrong" if kind == "wrong" else "right", name)
        if key in seen:
            raise TableError(
                f"{number}: {task} has two rows {name!r}, here and in line {seen[key]}; give one "
                "another name"
            )
        seen[key] = number
    return found


def _rows(lines: list[str]) -> Iterator[_Row]:
    """The table's paragraphs; what is above the first task is for readers."""
    row = None
    for number, line in enumerate(lines, start=1):
        kind, _, name = line.partition(" ")
        if kind in ("task", "right", "near", "wrong") or line == OURS:
            if row:
                yield row
            if line != OURS and not name.strip():
                raise TableError(f"{number}: {kind} needs a name behind it")
            row = _Row(number, kind, name, [])
        elif row:
            row.below.append(line)
    if row:
        yield row


def _wrong(row: _Row, task: str, right: str, before: list[Wrong]) -> Wrong:
    """A mistake: its program, or the right answer with its changes; and what is said of it."""
    changes: list[tuple[list[str], list[str]]] = []
    program: list[str] = []
    said: tuple[str, str] | None = None
    for number, line in enumerate(row.below, start=row.number + 1):
        mark, _, rest = line.partition(" ")
        if said is not None and line.strip():
            raise TableError(f"{number}: what is said of {row.name!r} is its last line")
        if mark == "-":
            if not changes or changes[-1][1]:
                changes.append(([], []))
            changes[-1][0].append(rest)
        elif mark == "+" and changes:
            changes[-1][1].append(rest)
        elif line == "hidden":
            said = ("", "")
        elif mark in (">", ">>", "?") and rest.strip():
            said = ("" if mark == "?" else mark, rest)
        elif line.startswith("    ") or not line:
            program.append(line)
        else:
            raise TableError(f"{number}: {line!r} in {row.name!r}: {SOMETHING_ELSE}")
    if said is None:
        raise TableError(
            f"{row.number}: nothing is said of {row.name!r}; end it with > and the sentence that "
            "helps, ? and words of the check's own, or hidden"
        )
    text = dedent("\n".join(program)).strip("\n")
    if bool(text) == bool(changes):
        raise TableError(f"{row.number}: {row.name!r} needs changes (- and +), or a whole program")
    solution = f"{text}\n" if text else _changed(row, right, changes)
    mark, sentence = said
    if mark and sentence.startswith(AS):
        mark, sentence = _of_another(row, task, sentence.removeprefix(AS), before)
    return Wrong(task, row.name, solution, sentence, mark, row.number)


def _of_another(row: _Row, task: str, name: str, before: list[Wrong]) -> tuple[str, str]:
    for other in before:
        if (other.task, other.mistake) == (task, name) and other.said:
            return other.said, other.diagnosis
    raise TableError(
        f"{row.number}: {row.name!r} is said to be as {name!r}, but no mistake of that name with "
        f"a sentence is above it in {task}"
    )


def _changed(row: _Row, text: str, changes: list[tuple[list[str], list[str]]]) -> str:
    for lines, others in changes:
        old, new = "\n".join(lines), "\n".join(others)
        if not old or (times := text.count(old)) != 1:
            raise TableError(
                f"{row.number}: {row.name!r}: {old!r} must occur once in the right answer above "
                f"it, but it occurs {times if old else 'everywhere'}"
                f"{' times' if old else ''}; copy it from there, with enough around it"
            )
        start = text.index(old)
        end = start + len(old)
        if not new and not text[:start].rpartition("\n")[2].strip() and text[end : end + 1] == "\n":
            start, end = text.rfind("\n", 0, start) + 1, end + 1  # a line taken out leaves none
        text = f"{text[:start]}{new}{text[end:]}"
    return text


def _program(row: _Row) -> str:
    for number, line in enumerate(row.below, start=row.number + 1):
        if line and not line.startswith("    "):
            raise TableError(f"{number}: {line!r}: {SOMETHING_ELSE}")
    text = dedent("\n".join(row.below)).strip("\n")
    if not text:
        raise TableError(f"{row.number}: the program of {row.name!r} is missing; indent it below")
    return f"{text}\n"


def _our_solutions(path: Path) -> dict[str, str]:
    """Our solution of each task, without nbgrader's marks."""
    cells = nbformat.read(path, as_version=4).cells
    return {
        cell.id: "".join(
            f"{line}\n" for line in cell.source.splitlines() if " SOLUTION" not in line
        )
        for cell in cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }
