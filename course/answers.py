"""Answers to an assignment that are known to be wrong, and right ones that differ from ours.

They are beside its solution, in `solutions/NAME/answers.py`, as two lists, `WRONG` and
`OTHER_WAYS`. They test the feedback, and the class of a rehearsal hands them in.

A wrong answer is a right one with one part changed: ours, which is read from the solution's
notebook, or one of `OTHER_WAYS`. So it shows what is wrong, and nothing is written twice. If a
mistake is nearest to ours with other names, or with one line less, that right answer may be in a
third list, `NEAR_OURS`; it is not handed in, as it is not another way.
"""

import runpy
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import nbformat

from course import ROOT

OURS = "ours"  # the manner of the right answer in the notebook


class Wrong(NamedTuple):
    """A plausible mistake. diagnosis: words that its message must contain."""

    task: str
    mistake: str
    solution: str
    diagnosis: str


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


class Mistake(NamedTuple):
    """A row of `WRONG`, as written: changes of the right answer of this manner."""

    task: str
    mistake: str
    manner: str
    changes: list[Any]  # pairs of texts, old and new, or one text: the whole program
    diagnosis: str


@cache
def answers_of(name: str, root: Path = ROOT) -> Answers:
    """Read `solutions/NAME/answers.py` below root, and the notebook beside it.

    Raises FileNotFoundError if there is none, and ValueError if a change does not fit.
    """
    folder = root / "solutions" / name
    path = folder / "answers.py"
    if not path.is_file():
        raise FileNotFoundError(
            f"solutions/{name}/answers.py is not in {root}: write down there what students may "
            "answer (course/new_assignment.md shows how)"
        )
    known = runpy.run_path(str(path))
    right = known["OTHER_WAYS"]
    solutions = _our_solutions(folder / f"{name}.ipynb")
    near = known.get("NEAR_OURS", [])
    solutions |= {(row.task, row.manner): row.solution for row in right + near}
    return Answers([_as_answered(row, solutions) for row in known["WRONG"]], right, near)


def mistakes(task: str, manner: str, *rows: tuple[Any, ...]) -> list[Mistake]:
    """Rows of `WRONG` for one task, each (mistake, change, ..., diagnosis).

    manner: the right answer that is changed, `OURS` or one of the lists' own. A change is a pair:
    a part that occurs once, and its replacement. If a mistake is a different program, its whole
    text is the only change.

    A diagnosis of "" means that the mistake passes the worked examples and the hidden tests must
    detect it.
    """
    for row in rows:
        if len(row) < 3:
            raise ValueError(f"{task}: a row is (mistake, change, ..., diagnosis); got {row}")
    return [
        Mistake(task, mistake, manner, changes, diagnosis) for mistake, *changes, diagnosis in rows
    ]


def right(task: str, manner: str, solution: str) -> Right:
    """A row of `OTHER_WAYS`."""
    return Right(task, manner, dedent(solution))


def _our_solutions(path: Path) -> dict[tuple[str, str], str]:
    """Our solution of each task, without nbgrader's marks."""
    cells = nbformat.read(path, as_version=4).cells
    return {
        (cell.id, OURS): "".join(
            f"{line}\n" for line in cell.source.splitlines() if " SOLUTION" not in line
        )
        for cell in cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }


def _as_answered(row: Mistake, solutions: dict[tuple[str, str], str]) -> Wrong:
    """A mistake with the text that a student would hand in."""
    if isinstance(row.changes[0], str):
        return Wrong(row.task, row.mistake, dedent(row.changes[0]), row.diagnosis)
    where = f"{row.task}, {row.mistake!r}"
    if (row.task, row.manner) not in solutions:
        raise ValueError(
            f"{where}: no right answer to {row.task} is written {row.manner!r}; "
            "take OURS, or a manner of OTHER_WAYS or NEAR_OURS"
        )
    text = solutions[row.task, row.manner]
    for old, new in row.changes:
        if (times := text.count(old)) != 1:
            raise ValueError(
                f"{where}: {old!r} must occur once in the right answer ({row.manner}), but it "
                f"occurs {times} times; copy it from there, with enough around it"
            )
        text = text.replace(old, new)
    return Wrong(row.task, row.mistake, text, row.diagnosis)
