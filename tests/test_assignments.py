"""Assignments from source to grade: the release, and nbgrader's marks."""

import ast
import os
import pkgutil
import shutil
import sqlite3
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbgrader.validator import Validator

from course.grading.assignments import as_handed_in
from course.grading.cells import is_solution
from tests.conftest import ROOT, read_page
from tests.test_notebooks import definitions, essence

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))
CONFIG = ROOT / "course" / "nbgrader_config.py"


def source_of(assignment):
    return ROOT / "solutions" / assignment / f"{assignment}.ipynb"


def release_of(assignment):
    return ROOT / "exercises" / assignment / f"{assignment}.ipynb"


@pytest.fixture(scope="session")
def classroom(tmp_path_factory):
    """A course of its own, with our settings and our solutions, and a way to call nbgrader."""
    room = tmp_path_factory.mktemp("classroom")
    (room / "course").mkdir()
    shutil.copy(CONFIG, room / "course")
    shutil.copytree(ROOT / "solutions", room / "solutions")

    # nbgrader calls `alembic` by name, so the environment's commands must be on the path.
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def nbgrader(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=room / "course",
            env=os.environ | {"PATH": commands},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    nbgrader.room = room
    return nbgrader


@pytest.fixture(scope="session")
def released(classroom):
    classroom("generate_assignment", "*", "--force", "--create")
    return classroom.room / "exercises"


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_exercises_are_what_nbgrader_makes_of_solutions(released, assignment):
    made = (released / assignment / f"{assignment}.ipynb").read_bytes()
    assert release_of(assignment).read_bytes() == made, "run `make exercises`"


def test_exercises_hold_nothing_else():
    assert sorted(path.parent.name for path in ROOT.glob("exercises/*/*.ipynb")) == ASSIGNMENTS


@pytest.mark.notebooks
def test_a_script_beside_a_source_is_not_released(classroom, released):
    for assignment in ASSIGNMENTS:
        for name in (f"{assignment}.py", "notes.md"):
            (classroom.room / "solutions" / assignment / name).write_text("the solution")
    classroom("generate_assignment", "*", "--force", "--no-db")
    for assignment in ASSIGNMENTS:
        names = [path.name for path in (released / assignment).iterdir()]
        assert names == [f"{assignment}.ipynb"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_solution_and_no_hidden_test_is_released(assignment):
    text = release_of(assignment).read_text(encoding="utf-8")
    for secret in ("BEGIN SOLUTION", "HIDDEN TESTS", "For the grader", "_expected"):
        assert secret not in text
    solutions = [cell for cell in read_page(source_of(assignment)).code if is_solution(cell)]
    stubs = [cell for cell in read_page(release_of(assignment)).code if is_solution(cell)]
    assert len(stubs) == len(solutions) >= 5
    assert all("raise NotImplementedError(" in cell.source for cell in stubs)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_ids_are_grade_ids_and_every_task_has_points(assignment):
    cells = read_page(source_of(assignment)).cells
    assert [cell.id for cell in cells] == [cell.metadata.nbgrader.grade_id for cell in cells]
    graded = [cell for cell in cells if cell.metadata.nbgrader.grade]
    assert all(cell.metadata.nbgrader.points > 0 for cell in graded)
    assert any(cell.cell_type == "markdown" for cell in graded), "one answer is graded by a person"
    total = sum(cell.metadata.nbgrader.points for cell in graded)
    assert f"**Points** {total}." in cells[0].source


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_each_visible_test_fails_as_released(assignment):
    scope = {"__name__": "__main__"}
    failed = []
    for cell in read_page(release_of(assignment)).code:
        if not cell.id.startswith("test-"):
            exec(compile(cell.source, cell.id, "exec"), scope)
            continue
        with pytest.raises(NotImplementedError, match="not written yet"):
            exec(compile(cell.source, cell.id, "exec"), scope)
        failed.append(cell.id)
    assert len(failed) >= 5


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_a_solution_is_compared_with_exists_and_a_lectures_function_is_the_same(assignment):
    for cell in filter(is_solution, read_page(source_of(assignment)).code):
        compared = cell.metadata.bertlab.get("compared")
        if compared and "#" in compared:
            path, name = compared.split("#")
            (lectures,) = [
                node
                for shown in read_page(ROOT / path).code
                for node in definitions(shown.source)
                if node.name == name
            ]
            assert essence(cell.source) == essence(ast.unparse(lectures))
        elif compared:
            assert callable(pkgutil.resolve_name(compared))


# nbgrader's marks: the solution gets all points, the exercise as released gets none.


class Marks(NamedTuple):
    room: Path
    rows: list[tuple]


@pytest.fixture(scope="session")
def marks(classroom, released):
    """What nbgrader's autograder gives to two students, a row for each of their graded cells.

    Each notebook is run once, for all tests below.
    """
    for assignment in ASSIGNMENTS:
        for student, notebook in (
            ("solved", without_marks(source_of(assignment))),
            ("untouched", release_of(assignment).read_text(encoding="utf-8")),
        ):
            folder = classroom.room / "submitted" / student / assignment
            folder.mkdir(parents=True)
            (folder / f"{assignment}.ipynb").write_text(notebook, encoding="utf-8")
    classroom("autograde", "*", "--force", "--create")
    query = """
        select a.name, s.student_id, c.name, g.auto_score, g.manual_score, gc.max_score,
               g.needs_manual_grade
        from grade g join submitted_notebook n on g.notebook_id = n.id
        join submitted_assignment s on n.assignment_id = s.id
        join assignment a on s.assignment_id = a.id
        join base_cell c on g.cell_id = c.id join grade_cells gc on gc.id = c.id
    """
    with sqlite3.connect(classroom.room / "gradebook.db") as gradebook:
        return Marks(classroom.room, gradebook.execute(query).fetchall())


def without_marks(path):
    """The source as a student would hand it in: no solution marks, no hidden tests."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = as_handed_in(cell.source)
    return nbformat.writes(notebook)


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_solution_gets_full_marks_from_nbgrader(marks, assignment):
    auto = [row for row in marks.rows if row[:2] == (assignment, "solved") and not row[6]]
    assert len(auto) >= 10
    assert [row for row in auto if row[3] != row[5]] == []


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_exercise_as_released_gets_no_point(marks, assignment):
    rows = [row for row in marks.rows if row[:2] == (assignment, "untouched")]
    auto = [row for row in rows if row[2] != "explain"]
    assert len(auto) >= 10
    assert [row for row in auto if row[3] != 0] == []


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_written_answer_waits_for_a_person(marks, assignment):
    (answer,) = [row for row in marks.rows if row[:3] == (assignment, "solved", "explain")]
    assert answer[6], "needs_manual_grade"
    assert answer[5] == 4


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_validation_says_what_fails_as_released_and_that_the_solution_passes(marks, assignment):
    """nbgrader's judgement of the notebooks that were run for their marks."""
    unsolved = validated(marks.room / "autograded" / "untouched" / assignment)
    assert "VALIDATION FAILED" in unsolved
    assert "not written yet" in unsolved
    solved = validated(marks.room / "autograded" / "solved" / assignment)
    assert "Success! Your notebook passes all the tests." in solved


def validated(folder):
    """What `nbgrader validate` prints of a notebook that has been run."""
    judge = Validator(preprocessors=[])
    judge.stream = StringIO()
    judge.validate_and_print(str(folder / f"{folder.name}.ipynb"))
    return judge.stream.getvalue()


@pytest.mark.notebooks
def test_validate_must_be_judged_by_what_it_prints(classroom, released):
    """Its exit code is 0 either way, as course/README.md warns."""
    page = nbformat.v4.new_notebook()
    nbgrader = {"grade_id": "a", "grade": True, "solution": False, "locked": True, "points": 1}
    for name, source, said in (("bad", "1 / 0", "FAILED"), ("good", "x = 1", "Success!")):
        cell = nbformat.v4.new_code_cell(source, id="a")
        cell.metadata.nbgrader = nbgrader | {"schema_version": 3, "task": False}
        page.cells = [cell]
        nbformat.write(page, classroom.room / f"{name}.ipynb")
        assert said in classroom("validate", str(classroom.room / f"{name}.ipynb"))
