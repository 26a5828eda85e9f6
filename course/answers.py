"""Answers to an assignment that are known to be wrong, and right ones that are not written as ours.

They stand beside its solution, in `solutions/NAME/answers.py`, as two lists, `WRONG` and
`OTHER_WAYS`. The feedback is tested with them, and the class of a rehearsal hands them in.
"""

import runpy
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from course import ROOT


class Wrong(NamedTuple):
    """A plausible mistake. diagnosis: words that must be in the message that it gets."""

    task: str
    mistake: str
    solution: str
    diagnosis: str


class Right(NamedTuple):
    """A right solution. manner: how it is written."""

    task: str
    manner: str
    solution: str


class Answers(NamedTuple):
    """What is known of an assignment."""

    wrong: list[Wrong]
    right: list[Right]


@cache
def answers_of(name: str, root: Path = ROOT) -> Answers:
    """Read `solutions/NAME/answers.py` below root. Raises FileNotFoundError where there is none."""
    path = root / "solutions" / name / "answers.py"
    if not path.is_file():
        raise FileNotFoundError(
            f"solutions/{name}/answers.py is not in {root}: write down there what students may "
            "answer (course/new_assignment.md shows how)"
        )
    known = runpy.run_path(str(path))
    return Answers(known["WRONG"], known["OTHER_WAYS"])


def wrong(task: str, mistake: str, solution: str, diagnosis: str) -> Wrong:
    """A row of `WRONG`.

    A diagnosis of "" means that the worked examples let it through and the hidden tests must
    catch it.
    """
    return Wrong(task, mistake, dedent(solution), diagnosis)


def right(task: str, manner: str, solution: str) -> Right:
    """A row of `OTHER_WAYS`."""
    return Right(task, manner, dedent(solution))


def changed(solution: str, *changes: tuple[str, str]) -> str:
    """A solution with some of its text replaced: pairs of old and new."""
    for old, new in changes:
        if old not in solution:
            raise ValueError(f"changed: the solution does not hold {old!r}")
        solution = solution.replace(old, new)
    return solution
