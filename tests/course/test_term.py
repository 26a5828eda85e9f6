"""A term from release to export, by the instructor's commands, with the real sandbox.

Three students: all right; an assignment's last task empty and the one before it wrong; the
exercise as released. The points that each must get result from running the instructor's
tests on their answers in this process, as `run_task` does.
Hostile students have their own term in `grading/test_hostile_class.py`.
"""

import csv
import shutil
from contextlib import closing
from functools import cache
from io import StringIO

import nbformat
import pytest
from nbgrader.validator import Validator

from course.answers import answers_of
from course.grading.cells import is_solution
from course.publishing.mistakes import run_task
from tests.conftest import ROOT, read_page
from tests.course.grading.hostile.term import command
from tests.course.small_course import new_course
from tests.exercises.test_assignments import (
    ASSIGNMENTS,
    TASKS,
    release_of,
    source_of,
    without_marks,
)

pytestmark = pytest.mark.notebooks

STUDENTS = ("ada", "bob", "dan")  # all right, a task wrong and one empty, unchanged
WRITTEN = ("explain", "prove")  # graded by a person


def last_tasks(assignment):
    """The assignment's last two functions: no task before them calls them."""
    return [cell.id for cell in read_page(source_of(assignment)).code if is_solution(cell)][-2:]


def wrong_answer(assignment, task):
    """A wrong but plausible answer to a task."""
    return next(row.solution for row in answers_of(assignment).wrong if row.task == task)


def hand_in_of(assignment, student):
    """The notebook that a student hands in."""
    release = nbformat.read(release_of(assignment), as_version=4)
    if student == "dan":
        return nbformat.writes(release)
    page = nbformat.reads(without_marks(source_of(assignment)), as_version=4)
    if student == "bob":
        wrong, left_out = last_tasks(assignment)
        cells = {cell.id: cell for cell in page.cells}
        cells[wrong].source = wrong_answer(assignment, wrong)
        (cells[left_out].source,) = [c.source for c in release.cells if c.id == left_out]
    return nbformat.writes(page)


@cache
def passes(assignment, task, kind):
    """Whether the wrong answer passes the task's visible or hidden test."""
    try:
        run_task(assignment, task, wrong_answer(assignment, task), tests=[kind])
    except (AssertionError, LookupError, RecursionError):
        return False
    return True


def expected(assignment, student):
    """The points of each automatically graded cell, computed in this process."""
    cells = [c for c in read_page(source_of(assignment)).cells if c.metadata.nbgrader.grade]
    points = {c.id: c.metadata.nbgrader.points for c in cells if c.id not in WRITTEN}
    if student == "dan":
        return dict.fromkeys(points, 0)
    if student == "bob":
        wrong, left_out = last_tasks(assignment)
        for kind in ("test", "hidden"):
            points[f"{kind}-{wrong}"] *= passes(assignment, wrong, kind)
            points[f"{kind}-{left_out}"] = 0
    return points


def put(course, assignment, student, text):
    path = course.hand_in(assignment, student)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The course after one term."""
    course = new_course(tmp_path_factory.mktemp("term") / "course")
    shutil.copytree(ROOT / "solutions", course.room("source"))
    assert command(course, "release", "all") == 0
    for assignment in ASSIGNMENTS:
        for student in STUDENTS:
            put(course, assignment, student, hand_in_of(assignment, student))
    # The hostile class tests parallel grading: here each assignment is prepared once.
    assert command(course, "grade", "all", "--workers", 1) == 0
    assert command(course, "feedback", "all") == 0
    assert command(course, "export", "--to", course.root / "grades.csv") == 0
    return course


def scores(course, assignment, student):
    with closing(course.gradebook()) as book:
        notebook = book.find_submission_notebook(assignment, assignment, student)
        return {grade.name: grade.auto_score for grade in notebook.grades}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.parametrize("student", STUDENTS)
def test_the_grades_are_exactly_as_expected(term, assignment, student):
    found = scores(term, assignment, student)
    written = {name for name in found if name in WRITTEN}
    by_machine = {name: found[name] for name in found if name not in WRITTEN}
    assert len(by_machine) >= 2 * TASKS.get(assignment, 5)
    assert by_machine == expected(assignment, student)
    if student == "dan":  # nothing written: no point, and no manual grading
        assert {found[name] for name in written} == {0}
    else:
        assert all(found[name] is None for name in written), "a person must look"


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_validation_says_what_fails_as_released_and_that_the_solution_passes(term, assignment):
    """nbgrader's validation of the notebooks that were run for their grades."""
    unsolved = validated(term.graded_copy(assignment, "dan"))
    assert "VALIDATION FAILED" in unsolved
    assert "not written yet" in unsolved
    solved = validated(term.graded_copy(assignment, "ada"))
    assert "Success! Your notebook passes all the tests." in solved


def validated(notebook):
    """What `nbgrader validate` prints of a notebook that has been run."""
    judge = Validator(preprocessors=[])
    judge.stream = StringIO()
    judge.validate_and_print(str(notebook))
    return judge.stream.getvalue()


def test_every_student_gets_feedback_without_hidden_tests(term):
    for assignment in ASSIGNMENTS:
        for student in STUDENTS:
            page = term.root / "feedback" / student / assignment / f"{assignment}.html"
            text = page.read_text(encoding="utf-8")
            assert "BEGIN HIDDEN TESTS" not in text
            assert "_watched" not in text


def test_the_export_has_a_row_for_each_hand_in(term):
    with (term.root / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}
    for assignment in ASSIGNMENTS:
        for student in STUDENTS:
            total = sum(expected(assignment, student).values())
            assert float(rows[assignment, student]["score"]) == total
