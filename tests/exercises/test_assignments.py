"""Assignments: the release, what it must not contain, and what each source must have."""

import ast
import pkgutil
import re
import shutil

import nbformat
import pytest

from course.grading.assignments import as_handed_in
from course.grading.cells import is_solution, is_test
from tests.conftest import ROOT, read_page
from tests.course.small_course import nbgrader
from tests.lectures.test_notebooks import definitions, essence

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))
WARM_UP = "ex00_warm_up"  # shorter than the others
PROJECT = "ex13_project"  # one function, and a report that a person reads
TASKS = {WARM_UP: 4, PROJECT: 2}  # of others at least 5
WRITTEN = {WARM_UP: 2, PROJECT: 28}  # points of the written answer; of others 4
# They train. What the project measures, as released and with our solution, is the baseline.
LONG = ("ex05_transformer", "ex08_pretraining", "ex09_finetuning", "ex10_attention_heads", PROJECT)
CONFIG = ROOT / "course" / "nbgrader_config.py"


def source_of(assignment):
    return ROOT / "solutions" / assignment / f"{assignment}.ipynb"


def release_of(assignment):
    return ROOT / "exercises" / assignment / f"{assignment}.ipynb"


@pytest.fixture(scope="session")
def classroom(tmp_path_factory):
    """A separate course with our settings and solutions, and a function that calls nbgrader."""
    room = tmp_path_factory.mktemp("classroom")
    (room / "course").mkdir()
    shutil.copy(CONFIG, room / "course")
    shutil.copytree(ROOT / "solutions", room / "solutions")

    def call(*arguments):
        done = nbgrader(room / "course", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    call.room = room
    return call


@pytest.fixture(scope="session")
def released(classroom):
    """What `make exercises` makes of the solutions, each with something else beside it."""
    for assignment in ASSIGNMENTS:
        for name in (f"{assignment}.py", "notes.md"):
            (classroom.room / "solutions" / assignment / name).write_text("the solution")
    classroom("generate_assignment", "*", "--no-db", "--force")
    return classroom.room / "exercises"


@pytest.mark.notebooks
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_exercises_are_what_nbgrader_makes_of_solutions(released, assignment):
    made = (released / assignment / f"{assignment}.ipynb").read_bytes()
    assert release_of(assignment).read_bytes() == made, "run `make exercises`"


def test_exercises_hold_nothing_else():
    assert sorted(path.parent.name for path in ROOT.glob("exercises/*/*.ipynb")) == ASSIGNMENTS


@pytest.mark.notebooks
def test_a_script_beside_a_source_is_not_released(released):
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
    assert len(stubs) == len(solutions) >= TASKS.get(assignment, 5)
    assert all("raise NotImplementedError(" in cell.source for cell in stubs)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_ids_are_grade_ids_and_points_are_there_a_persons_by_the_questions_table(assignment):
    cells = read_page(source_of(assignment)).cells
    by_id = {cell.metadata.nbgrader.grade_id: cell for cell in cells}
    assert [cell.id for cell in cells] == list(by_id)
    graded = [cell for cell in cells if cell.metadata.nbgrader.grade]
    points = {cell.id: cell.metadata.nbgrader.points for cell in graded}
    assert min(points.values()) > 0
    assert f"**Points** {sum(points.values())}." in cells[0].source
    written = [cell.id for cell in graded if cell.cell_type == "markdown"]
    assert points[written[0]] == WRITTEN.get(assignment, 4), "one answer is graded by a person"
    for name in written:
        question = by_id[f"{name}-question"].source
        _, table = question.split("\n\n| criterion | points |\n|---|---|\n")
        criteria = re.findall(r"^\| .{20,} \| (\d+) \|$", table, re.M)
        assert len(criteria) > 1
        assert sum(map(int, criteria)) == points[name]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_red_check_does_not_stop_a_run(assignment):
    for cell in read_page(release_of(assignment)).code:
        goes_on = "raises-exception" in cell.metadata.get("tags", [])
        assert goes_on == cell.id.startswith("test-"), cell.id


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
    assert len(failed) >= TASKS.get(assignment, 5)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", [name for name in ASSIGNMENTS if name not in LONG])
def test_what_is_measured_with_our_solutions_runs_to_its_end(assignment):
    scope = {"__name__": "__main__", "display": repr}
    for cell in read_page(source_of(assignment)).code:
        if not is_test(cell):
            exec(compile(cell.source, cell.id, "exec"), scope)


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


def without_marks(path):
    """The source as a student would hand it in: without solution marks and hidden tests."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = as_handed_in(cell.source)
    return nbformat.writes(notebook)


@pytest.mark.notebooks
def test_validate_must_be_judged_by_what_it_prints(classroom):
    """Its exit code is 0 either way, as course/README.md warns."""
    page = nbformat.v4.new_notebook()
    marks = {"grade_id": "a", "grade": True, "solution": False, "locked": True, "points": 1}
    paths = {name: classroom.room / f"{name}.ipynb" for name in ("good", "bad")}
    for name, source in (("good", "x = 1"), ("bad", "1 / 0")):
        cell = nbformat.v4.new_code_cell(source, id="a")
        cell.metadata.nbgrader = marks | {"schema_version": 3, "task": False}
        page.cells = [cell]
        nbformat.write(page, paths[name])
    said = classroom("validate", *map(str, paths.values()))
    assert re.findall("Success!|FAILED", said) == ["Success!", "FAILED"]
