"""Random damage to a right notebook never costs points without a line for the student."""

import copy
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.collecting import opening
from course.grading.grader import Grader
from course.grading.sandbox import why_no_sandbox
from tests.course.grading.damaged import (
    ANSWERS,
    ASSIGNMENT,
    FULL,
    NEEDS,
    as_type,
    graded,
    right,
    written,
)


def join(cells, n, _):
    """As in JupyterLab: the type and the marks of the first."""
    if n + 1 < len(cells):
        below = cells.pop(n + 1)
        cells[n] = {**cells[n], "source": f"{cells[n]['source']}\n\n{below['source']}"}


def move(cells, n, m):
    cells.insert(m, cells.pop(n))


def duplicate(cells, n, m):
    cells.insert(m, {**copy.deepcopy(cells[n]), "id": f"copy-{m}"})


def delete(cells, n, _):
    if len(cells) > 1:
        del cells[n]


def retype(cells, n, _):
    """Typed or pasted into a fresh cell."""
    cells[n] = {**cells[n], "metadata": {}, "id": f"{n:08x}"}


def forget(cells, n, m):
    """Some other program has saved the notebook."""
    for number in range(len(cells)):
        retype(cells, number, 0)


def reverse(cells, n, m):
    cells.reverse()


def convert(cells, n, m):
    cells[n] = as_type(("code", "markdown", "raw")[m % 3], cells[n])


def swap(cells, n, m):
    """The marks of two cells."""
    for key in ("id", "metadata"):
        cells[n][key], cells[m][key] = cells[m][key], cells[n][key]


def split(cells, n, m):
    """At a blank line or after a few lines; both halves keep the marks."""
    lines = cells[n]["source"].splitlines(keepends=True)
    place = m % (len(lines) + 1)
    below = {**copy.deepcopy(cells[n]), "source": "".join(lines[place:]), "id": f"half-{n}"}
    cells[n]["source"] = "".join(lines[:place])
    cells.insert(n + 1, below)


DAMAGES = [join, move, duplicate, delete, retype, forget, reverse, convert, swap, split]
NUMBERS = st.integers(0, 99)
STEPS = st.lists(st.tuples(st.sampled_from(DAMAGES), NUMBERS, NUMBERS), min_size=1, max_size=6)


def damage(steps):
    """The cells of the right notebook after these steps."""
    cells = right()
    for change, n, m in steps:
        change(cells, n % len(cells), m % len(cells))
    return cells


def about(id):
    """The cells at which a student looks for a line about a graded cell."""
    task = id.partition("-")[2]
    return {"", id, *(f"{kind}{name}" for name in NEEDS.get(task, ()) for kind in ("", "test-"))}


def unexplained(points, notes):
    """The graded cells that lost points without a line that the student reads."""
    told = {note.cell for note in notes if not note.private and note.advice}
    lost = [id for id, full in FULL.items() if points[id] != full]
    return [id for id in lost if not about(id) & told]


@pytest.mark.slow
@settings(max_examples=500, derandomize=True, deadline=None, database=None)
@given(steps=STEPS)
def test_no_points_are_lost_without_a_line(tmp_path_factory, steps):
    cells = damage(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "CAN_FORK", False)  # in this process: faster
        points, submission = graded(tmp_path_factory.getbasetemp(), cells)
    assert points.keys() == FULL.keys()
    assert unexplained(points, submission.notes) == []
    everything = "\n".join(one["source"] for one in cells)
    waiting = {note.cell for note in submission.notes if note.waits}
    shown = {one.id: one.source for one in submission.cells}
    for id, answer in ANSWERS.items():
        if answer in everything:
            assert answer in shown[id] or {id, ""} & waiting, f"the answer {id} is lost"


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
def test_the_sandbox_gives_the_same_points_and_lines(tmp_path):
    """For ten of them; so what is shown in this process is true of the grader."""
    with Grader(ASSIGNMENT) as grader:
        for seed in range(10):
            draw = random.Random(seed)
            numbers = [(draw.randrange(100), draw.randrange(100)) for _ in range(4)]
            cells = damage([(draw.choice(DAMAGES), *pair) for pair in numbers])
            expected, submission = graded(tmp_path, cells)
            result = grader.grade(written(tmp_path, cells))
            assert result.scores == expected, seed
            assert unexplained(result.scores, result.notes) == [], seed
            repairs = [note for note in submission.notes if note.text != "its cell raised"]
            assert {note.text[:300] for note in repairs} <= {note.text for note in result.notes}
