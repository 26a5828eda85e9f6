"""What the checks detect: wrong but plausible solutions, each with its diagnosis."""

from functools import cache

import nbformat
import pytest

from course.answers import answers_of
from course.feedback import checks
from course.feedback.checks import CheckFailed
from course.grading.cells import graded_code, is_solution, is_test, names_of
from tests.exercises.test_assignments import ASSIGNMENTS, source_of

pytestmark = pytest.mark.slow

WRONG = {name: answers_of(name).wrong for name in ASSIGNMENTS}
OTHER_WAYS = {name: answers_of(name).right for name in ASSIGNMENTS}
NEAR_OURS = {name: answers_of(name).near for name in ASSIGNMENTS}


@pytest.fixture(autouse=True)
def first_try():
    """Every check as at its first try, so that no hint can be mistaken for the diagnosis."""
    checks.start_over()


@cache
def code_of(assignment):
    """The cells that points depend on, in order, each compiled once."""
    source = nbformat.read(source_of(assignment), as_version=4)
    return [(cell, compile(cell.source, cell.id, "exec")) for cell in graded_code(source)]


def run_task(assignment, task, solution=None, *, tests=("test", "hidden"), watch=None):
    """Run the notebook's cells up to the task's last test of the kinds in `tests`.

    Other tasks' tests are omitted, except hidden ones that define helpers of this one's.
    solution: in place of ours; watch: a function called with the scope before the last test.
    """
    code, last = code_of(assignment), f"{tests[-1]}-{task}"
    ids = [cell.id for cell, _ in code]
    if task not in ids:
        raise LookupError(f"{assignment} has no task {task}")
    code = code[: ids.index(last) + 1]
    wanted = {f"{kind}-{task}" for kind in tests}
    if "hidden" in tests:
        wanted |= helper_cells([cell for cell, _ in code])
    scope = {"__name__": "__main__"}
    for cell, compiled in code:
        if watch and cell.id == last:
            watch(scope)
        if solution and cell.id == task:
            exec(compile(solution, cell.id, "exec"), scope)
        elif not is_test(cell) or cell.id in wanted:
            exec(compiled, scope)


def helper_cells(cells):
    """Ids of the hidden tests that define what the last one uses, and what these use in turn."""
    used, helpers = set(names_of(cells[-1].source).used), set()
    for cell in reversed(cells[:-1]):
        names = names_of(cell.source)
        if cell.id.startswith("hidden-") and names.defined & used:
            helpers.add(cell.id)
            used |= names.used
    return helpers


def rows(solutions, wanted=lambda row: True):
    """Assignment and row, each with an id that names assignment, task and mistake or manner."""
    return [
        pytest.param(assignment, *row, id=f"{assignment}, {row[0]}: {row[1]}")
        for assignment in ASSIGNMENTS
        for row in solutions[assignment]
        if wanted(row)
    ]


@pytest.mark.parametrize(
    ("assignment", "task", "mistake", "solution", "diagnosis"), rows(WRONG, lambda row: row[3])
)
def test_a_wrong_solution_gets_its_diagnosis(assignment, task, mistake, solution, diagnosis):
    with pytest.raises(CheckFailed) as failed:
        run_task(assignment, task, solution, tests=["test"])
    assert diagnosis in str(failed.value)


@pytest.mark.parametrize(
    ("assignment", "task", "mistake", "solution", "diagnosis"), rows(WRONG, lambda row: not row[3])
)
def test_memorised_examples_fail_hidden_tests(assignment, task, mistake, solution, diagnosis):
    run_task(assignment, task, solution, tests=["test"])
    with pytest.raises((AssertionError, KeyError, IndexError, RecursionError)):
        run_task(assignment, task, solution)


@pytest.mark.parametrize(
    ("assignment", "task", "manner", "solution"), [*rows(OTHER_WAYS), *rows(NEAR_OURS)]
)
def test_a_right_solution_written_another_way_gets_full_marks(assignment, task, manner, solution):
    run_task(assignment, task, solution)


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
