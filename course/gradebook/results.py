"""What a graded submission is."""

from typing import NamedTuple

from nbformat import NotebookNode


class Result(NamedTuple):
    """What grading gives.

    notebook: the student's cells and the tests, with outputs; scores: the points of each graded
    cell by its id, None if a person must look; notes: lines for the report; disturbed: whether it
    was late on a machine so busy that it had hardly worked.
    """

    notebook: NotebookNode
    scores: dict[str, float | None]
    notes: tuple[str, ...]
    seconds: float
    disturbed: bool = False
