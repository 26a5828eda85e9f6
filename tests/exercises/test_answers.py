"""What the checks detect: wrong but plausible solutions, each with its diagnosis."""

import pytest

from course.answers import answers_of
from course.feedback import checks
from course.feedback.checks import CheckFailed
from course.grading.cells import is_solution
from course.publishing.mistakes import code_of, run_task
from tests.exercises.test_assignments import ASSIGNMENTS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("texts_are_read_once")]

WRONG = {name: answers_of(name).wrong for name in ASSIGNMENTS}
OTHER_WAYS = {name: answers_of(name).right for name in ASSIGNMENTS}
NEAR_OURS = {name: answers_of(name).near for name in ASSIGNMENTS}


@pytest.fixture(autouse=True)
def first_try():
    """Every check as at its first try, so that no hint can be mistaken for the diagnosis."""
    checks.start_over()


def rows(solutions, wanted=lambda row: True):
    """Assignment and row, each with an id that names assignment, task and mistake or manner."""
    return [
        pytest.param(assignment, row, id=f"{assignment}, {row[0]}: {row[1]}")
        for assignment in ASSIGNMENTS
        for row in solutions[assignment]
        if wanted(row)
    ]


@pytest.mark.parametrize(("assignment", "row"), rows(WRONG, lambda row: row.diagnosis))
def test_a_wrong_solution_gets_its_diagnosis(assignment, row):
    with pytest.raises(CheckFailed) as failed:
        run_task(assignment, row.task, row.solution, tests=["test"])
    words = f"\n  → {row.diagnosis}" if row.said else row.diagnosis
    assert words in str(failed.value), f"line {row.line} of the table"


@pytest.mark.parametrize(("assignment", "row"), rows(WRONG, lambda row: not row.diagnosis))
def test_memorised_examples_fail_hidden_tests(assignment, row):
    run_task(assignment, row.task, row.solution, tests=["test"])
    with pytest.raises((AssertionError, KeyError, IndexError, RecursionError)):
        run_task(assignment, row.task, row.solution)


@pytest.mark.parametrize(("assignment", "row"), [*rows(OTHER_WAYS), *rows(NEAR_OURS)])
def test_a_right_solution_written_another_way_gets_full_marks(assignment, row):
    run_task(assignment, row.task, row.solution)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_task_is_tried_with_wrong_solutions(assignment, record_property):
    tasks = [cell.id for cell, _ in code_of(assignment) if is_solution(cell)]
    wrong, right = WRONG[assignment], OTHER_WAYS[assignment]
    tried = {task: sum(row[0] == task for row in wrong) for task in tasks}
    record_property(
        "counted",
        f"{assignment}: {len(wrong)} wrong solutions, each caught by a test: {tried}\n"
        f"{assignment}: {len(right)} right ones written another way get full marks",
    )
    assert sum(tried.values()) == len(wrong), "a row of WRONG names a task that does not exist"
    assert min(tried.values()) >= 3
    assert {row[0] for row in right} == set(tasks), "a task is not tried in another way"
