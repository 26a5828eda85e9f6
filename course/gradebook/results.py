"""The result of grading a submission."""

from typing import NamedTuple

from nbformat import NotebookNode

from course.gradebook.notes import Note


class Result(NamedTuple):
    """The result of grading.

    notebook: the student's cells and the tests, with outputs; scores: the points of each graded
    cell by its id, None if a person must look; notes: what was noticed; disturbed: whether it
    timed out on a busy machine after hardly any processor time.
    """

    notebook: NotebookNode
    scores: dict[str, float | None]
    notes: tuple[Note, ...]
    seconds: float
    disturbed: bool = False
