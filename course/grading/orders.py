"""What the Grader and the tests' process tell each other."""

from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from course.gradebook.notes import Note


class Order(NamedTuple):
    """A submission to grade.

    seed: of the hidden tests' random inputs. After a process ended: lost, tests that are not run;
    bare, whether the student's outputs and pictures are left out.
    """

    path: Path
    seed: str = ""
    lost: frozenset[str] = frozenset()
    bare: bool = False


class Graded(NamedTuple):
    """lost: tests without a result, for a person; disturbed: late on a busy machine."""

    notebook: NotebookNode
    notes: tuple[Note, ...]
    lost: frozenset[str]
    disturbed: bool


class Broken(NamedTuple):
    """Grading failed; cell: the test that was running, or ""."""

    reason: str
    cell: str = ""
