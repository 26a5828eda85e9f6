"""*Run All* with one wrong answer: what does not build on it stays green, the last cell says so."""

import os
import subprocess

import nbformat
import pytest
from nbclient import NotebookClient

from course.answers import answers_of
from course.feedback.memory import SWITCH
from course.grading.cells import graded_code, is_solution, names_of
from tests.exercises.test_assignments import ASSIGNMENTS, LONG, release_of, source_of

pytestmark = pytest.mark.slow

# Their experiments take longest; those of exercise 12 are run by test_assignments.py.
WITHOUT_EXPERIMENTS = (*LONG, "ex12_after_bert")


def with_one_wrong(assignment):
    """The students' notebook with our solutions, but for one mistake; and the names it may hurt.

    Where experiments take longest, they are left out.
    """
    source = nbformat.read(source_of(assignment), as_version=4)
    ours = {cell.id: cell for cell in source.cells}
    notebook = nbformat.read(release_of(assignment), as_version=4)
    if assignment in WITHOUT_EXPERIMENTS:
        kept = {"summary", *(cell.id for cell in graded_code(source))}
        notebook.cells = [cell for cell in notebook.cells if cell.id in kept]
    tasks = [cell for cell in notebook.cells if is_solution(cell)]
    for cell in tasks:
        cell.source = ours[cell.id].source
    middle = {cell.id for cell in tasks[1:-1]} or {tasks[0].id}
    wrong = next(row for row in answers_of(assignment).wrong if row.task in middle)
    hurt = set()
    for cell in notebook.cells:
        if cell.id == wrong.task:
            hurt |= names_of(cell.source).defined
            cell.source = wrong.solution
        elif cell.cell_type == "code" and names_of(cell.source).used & hurt:
            hurt |= names_of(cell.source).defined
        if cell.id.startswith("test-") and names_of(cell.source).used & hurt:
            hurt |= names_of(cell.source).used - {"check"}  # a check of both: a test of a repair
    return notebook, hurt


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_only_what_builds_on_a_wrong_answer_is_red(assignment):
    notebook, hurt = with_one_wrong(assignment)
    place = {"metadata": {"path": release_of(assignment).parent}}
    client = NotebookClient(notebook, timeout=600, resources=place)
    client.execute(stderr=subprocess.DEVNULL, env=os.environ | {SWITCH: "off"})
    (output,) = next(cell for cell in notebook.cells if cell.id == "summary").outputs
    _, *rows, _ = output["data"]["text/plain"].splitlines()
    states = {name: state for _, name, state, *_ in (row.split(" · ") for row in rows)}
    red = {name for name, state in states.items() if state == "✗ not yet"}
    assert red, "the mistake is seen"
    assert red <= hurt
    assert {state for name, state in states.items() if name not in red} == {"✓ passes"}
