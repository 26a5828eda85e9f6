"""A release changes everything or nothing, and says whose scores it touches."""

import json
import shutil
import sqlite3
from contextlib import closing
from unittest.mock import Mock

import pytest

from course.__main__ import main
from course.gradebook import backups
from course.grading import assignments, grade_workers
from course.publishing import releasing
from course.settings import CourseError
from tests.course.gradebook.test_gradebook import by_hand, threads
from tests.course.small_course import NAME, copied, grade, hand_in, make, nbgrader, rows, scores

pytestmark = pytest.mark.slow

SOURCE = f"solutions/{NAME}/{NAME}.ipynb"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(grade_workers, "cluster", threads)
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)


@pytest.fixture
def course(tmp_path):
    """Two students with grades; ada has 3 of 4 points and a comment from a person."""
    return copied(graded, tmp_path / "c")


def graded(folder):
    course = make(folder, {"ada": {}, "bob": {"share": 0.5}})
    assert grade(course)[0] == 0
    by_hand(course, "ada", "explain", manual_score=3.0, needs_manual_grade=False)
    with closing(course.gradebook()) as book:
        comment = book.find_comment("explain", NAME, NAME, "ada")
        comment.manual_comment = "Good,\nbut short"
        book.db.commit()
    return course


def edit(course, change):
    """Change the instructor's notebook, a dictionary whose cells are found by their ids."""
    path = course.root / SOURCE
    page = json.loads(path.read_text())
    change(page, {cell["id"]: cell for cell in page["cells"]})
    path.write_text(json.dumps(page))


def release(course, **options):
    said = []
    code = releasing.release(course, [NAME], say=said.append, **options)
    return code, "\n".join(said)


def state(course):
    """The content of the gradebook, and all files but the source, locks and backups."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as gradebook:
        dump = list(gradebook.iterdump())
    files = {
        path: path.read_bytes()
        for room in ("exercises", "submitted", "autograded")
        for path in (course.root / room).rglob("*")
        if path.is_file() and ".grading" not in path.name
    }
    return dump, files


def meta(cells, name):
    return cells[name]["metadata"]["nbgrader"]


def replaced(name, old, new):
    return lambda _, cells: cells[name].update(
        source="".join(cells[name]["source"]).replace(old, new)
    )


def drop(name):
    return lambda page, cells: page["cells"].remove(cells[name])


FAULTS = {
    "doubled": (
        lambda page, cells: page["cells"].append(cells["test-double"]),
        f"{SOURCE}: 2 cells have the id test-double; rename all but one",
    ),
    "no points": (
        lambda _, cells: meta(cells, "test-double").pop("points"),
        f"{SOURCE}: cell 3 (test-double): it is graded, but has no points; give them in its",
    ),
    "points in words": (
        lambda _, cells: meta(cells, "test-double").update(points="two"),
        f"{SOURCE}: cell 3 (test-double): 'two' is not of type 'number'",
    ),
    "no end": (
        replaced("double", "### END SOLUTION", ""),
        f"{SOURCE}: cell 2 (double): a line `### END SOLUTION` is missing; add it below",
    ),
    "no end of tests": (
        replaced("hidden-double", "### END HIDDEN TESTS", ""),
        f"{SOURCE}: cell 4 (hidden-double): a line `### END HIDDEN TESTS` is missing",
    ),
    "no id": (
        lambda _, cells: meta(cells, "explain").pop("grade_id"),
        f"{SOURCE}: cell 5 (without an id): it needs a grade_id of letters, digits, - and _",
    ),
    "old metadata": (
        lambda _, cells: meta(cells, "explain").pop("schema_version"),
        f"{SOURCE}: cell 5 (explain): Outdated schema version",
    ),
    "not a solution": (
        lambda _, cells: meta(cells, "double").update(solution=False, locked=True),
        f"{SOURCE}: cell 2 (double): it has a solution, but is no solution cell; mark it as one",
    ),
    "no cells": (lambda page, _: page.pop("cells"), f"{SOURCE} is no valid notebook: "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_release_names_the_cell_and_changes_nothing(course, fault):
    damage, message = FAULTS[fault]
    before = state(course)
    edit(course, damage)
    code, said = release(course)
    assert (code, state(course)) == (1, before)
    assert said.startswith(f"{NAME}: NOT RELEASED, nothing has changed: {message}")
    with pytest.raises(CourseError):
        grade(course, force=True)
    assert state(course) == before, "nor does the next grading"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"cells": [', "is not JSON: Expecting value"),
        (b"", "is not JSON: "),
        (b"[]", "is no valid notebook: "),
        (b"\xff\xfe{}", "is no valid notebook: 'utf-8' codec"),
        (b'{"nbformat": 99, "nbformat_minor": 0, "cells": [], "metadata": {}}', "is no valid note"),
    ],
)
@pytest.mark.parametrize("command", ["release", "grade", "feedback"])
def test_a_damaged_source_is_an_error_that_names_its_file(course, capsys, command, content, kind):
    before = state(course)
    (course.root / SOURCE).write_bytes(content)
    options = ["--no-sandbox"] if command == "grade" else []
    assert main(["--root", str(course.root), command, NAME, *options]) == 1
    said = "".join(capsys.readouterr())
    assert f"{SOURCE} {kind}" in said
    assert "Traceback" not in said
    assert state(course) == before


def test_what_nbgrader_alone_refuses_is_said_in_its_words(course, monkeypatch):
    before = state(course)
    monkeypatch.setattr(releasing, "check_source", Mock())
    edit(course, replaced("double", "### END SOLUTION", ""))
    code, said = release(course)
    assert (code, state(course)) == (1, before)
    assert f"{SOURCE}: nbgrader says: " in said
    assert "RuntimeError: no end solution statement found" in said
    assert "above traceback" not in said


def test_a_source_with_a_second_notebook_is_not_released(course):
    path = course.root / SOURCE
    shutil.copy(path, path.with_name("copy.ipynb"))
    before = state(course)
    code, said = release(course)
    assert (code, state(course)) == (1, before)
    assert f"solutions/{NAME} also has copy.ipynb, and an assignment has one notebook" in said


def test_a_release_that_stops_halfway_is_undone(course, monkeypatch):
    before = state(course)
    (course.root / "solutions" / NAME / "a.txt").write_text("a file beside it")
    edit(course, drop("test-double"))
    write, fails = releasing.write_atomically, {f"{NAME}.ipynb"}

    def full_disk(path, content):
        if path.name in fails:
            fails.remove(path.name)
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(releasing, "write_atomically", full_disk)
    with pytest.raises(OSError, match="No space"):
        release(course)
    assert state(course) == before
    assert release(course)[0] == 0
    assert state(course) != before


def test_a_release_waits_for_no_grading_run_but_is_refused(course):
    before = state(course)
    with backups.only_one(course, "process 7 of ada on snow"):
        code, said = release(course)
    assert (code, state(course)) == (1, before)
    assert "under way: process 7 of ada on snow" in said


CELLS = """
    select 'grade', b.name, c.max_score, c.cell_type, ''
    from grade_cells c join base_cell b using (id)
    union select 'solution', b.name, 0, '', '' from solution_cells c join base_cell b using (id)
    union select 'source', name, locked, cell_type, source || checksum from source_cell
    union select 'notebook', n.name, 0, kernelspec, a.name || a.course_id
    from notebook n join assignment a on a.id = n.assignment_id order by 1, 2
"""


def cells(root):
    with closing(sqlite3.connect(root / "gradebook.db")) as gradebook:
        return gradebook.execute(CELLS).fetchall()


@pytest.mark.parametrize("with_grades", [True, False])
def test_the_gradebook_and_the_files_are_as_nbgrader_makes_them(tmp_path, course, with_grades):
    ours = course if with_grades else make(tmp_path / "ours")

    def change(page, cells):
        page["cells"].remove(cells["test-double"])
        meta(cells, "hidden-double")["points"] = 7
        cells["title"]["source"] = "# Another"

    edit(ours, change)
    assert release(ours)[0] == 0
    theirs = make(tmp_path / "theirs")
    edit(theirs, change)
    done = nbgrader(theirs.root / "course", "generate_assignment", NAME, "--force")
    assert done.returncode == 0, done.stderr
    assert cells(ours.root) == cells(theirs.root)
    assert len(cells(ours.root)) == 2 + 2 + 4 + 1
    path = f"exercises/{NAME}/{NAME}.ipynb"
    assert (ours.root / path).read_bytes() == (theirs.root / path).read_bytes()


# Changes of graded cells while there are scores.


def totals(course):
    found = {"ada": 0, "bob": 0}
    for (student, _), (auto, by_person, _) in scores(course).items():
        found[student] += (auto or 0) if by_person is None else by_person
    return found


def test_other_points_are_announced_and_totals_are_right_after_grading(course):
    assert totals(course) == {"ada": 1 + 3 + 3, "bob": 0.5 + 1.5}
    edit(course, lambda _, cells: meta(cells, "hidden-double").update(points=6))
    with pytest.raises(CourseError, match=r"same graded cells and points: hidden-double. Nothing"):
        grade(course)
    code, said = release(course)
    assert code == 0
    assert f"2 students with scores: run `grade {NAME}` next\n" in said
    assert "  hidden-double has 6 points instead of 3\n" in said
    assert "  The gradebook before that: backups/gradebook-" in said
    assert totals(course) == {"ada": 1 + 3 + 3, "bob": 0.5 + 1.5}, "until they are graded"
    code, said = grade(course)
    assert code == 0
    assert "2 graded now" in said
    assert totals(course) == {"ada": 1 + 6 + 3, "bob": 0.5 + 3}


def test_new_and_removed_cells_are_announced_and_the_others_keep_their_scores(course):
    def change(page, cells):
        more = json.loads(json.dumps(cells["test-double"]))
        more["id"] = more["metadata"]["nbgrader"]["grade_id"] = "test-zero"
        more["source"] = "assert double(0) == 0"
        page["cells"][page["cells"].index(cells["hidden-double"])] = more

    edit(course, change)
    code, said = release(course)
    assert code == 0
    assert "  test-zero is new: 1 point\n" in said
    assert "  hidden-double is removed, with the scores of 2 students\n" in said
    assert totals(course) == {"ada": 1 + 3, "bob": 0.5}
    assert scores(course)["bob", "test-zero"] == (None, None, True), "it waits for the grading"
    assert grade(course)[0] == 0
    assert totals(course) == {"ada": 1 + 3 + 1, "bob": 0.5 + 0.5}
    assert scores(course)["ada", "explain"] == (None, 3.0, False), "not touched"
    again = release(course)[1]
    assert len(again.splitlines()) == 1, "nothing changes, so nothing more is said"


def test_a_release_makes_nobody_late(tmp_path):
    """The work of a student who asked for a regrade is the same; only the assignment changed."""
    course = make(tmp_path / "c", {"ada": {}})
    releasing.set_due(course, NAME, "2026-10-01T12:00+00:00")
    grade(course)
    hand_in(course, "ada", "2026-10-05 10:00:00 UTC", own=["regrade: look again"])
    assert "it counts as handed in 2026-10-01" in grade(course)[1]

    def one_more(page, cells):
        more = json.loads(json.dumps(cells["test-double"]))
        more["id"] = more["metadata"]["nbgrader"]["grade_id"] = "test-zero"
        page["cells"].insert(1, more)

    edit(course, one_more)
    assert release(course)[0] == 0
    assert "it counts as handed in 2026-10-01" in grade(course)[1]
    assert {row[6] for row in rows(course)["grades"]} == {None}


def test_what_a_person_gave_is_listed_and_goes_only_with_yes(course):
    edit(course, drop("explain"))
    before = state(course)
    code, said = release(course)
    assert (code, state(course)) == (1, before)
    assert "    ada: explain: 3 points\n    ada: explain: the comment 'Good, but short'\n" in said
    assert f"`release {NAME} --yes`" in said
    code, said = release(course, yes=True)
    assert code == 0
    assert "  deleted: ada: explain: 3 points\n" in said
    assert totals(course) == {"ada": 4, "bob": 2}
    (copy,) = [one for one in (course.root / "backups").iterdir() if one.name in said]
    with closing(sqlite3.connect(copy)) as old:
        assert old.execute("select max(manual_score) from grade").fetchone() == (3,)


def test_a_renamed_cell_keeps_what_a_person_gave(course):
    def change(_, cells):
        for old, new in (("explain", "why"), ("test-double", "test-twice")):
            cells[old]["id"] = meta(cells, old)["grade_id"] = new

    edit(course, change)
    code, said = release(course)
    assert code == 0
    assert "  explain is now called why: what a person gave stays, and is shown again\n" in said
    assert "  test-double is now called test-twice: what" in said
    assert "removed" not in said
    assert scores(course)["ada", "why"] == (None, 3.0, False)
    assert totals(course) == {"ada": 7, "bob": 2}
    with closing(course.gradebook()) as book:
        assert book.find_comment("why", NAME, NAME, "ada").manual_comment == "Good,\nbut short"


def test_a_cell_of_the_same_text_is_not_taken_for_another(course):
    """Two answers have the same placeholder: which is which cannot be told."""

    def two(page, cells):
        more = json.loads(json.dumps(cells["explain"]))
        more["id"] = more["metadata"]["nbgrader"]["grade_id"] = "other"
        page["cells"].append(more)

    edit(course, two)
    assert release(course)[0] == 0

    def both(_, cells):
        for old, new in (("explain", "why"), ("other", "how")):
            cells[old]["id"] = meta(cells, old)["grade_id"] = new

    edit(course, both)
    code, said = release(course)
    assert code == 1
    assert "ada: explain: 3 points" in said


def test_nbgraders_own_grading_refuses_a_source_that_is_not_released(course):
    edit(course, drop("test-double"))
    before = state(course)
    done = nbgrader(course.root / "course", "autograde", NAME, "--force")
    assert done.returncode
    assert "CourseError" in done.stderr
    assert state(course)[0] == before[0]


def test_ids_of_jupyters_own_are_not_needed(course):
    def old_format(page, _):
        page["nbformat_minor"] = 4
        for cell in page["cells"]:
            del cell["id"]

    edit(course, old_format)
    assert release(course)[0] == 0
    assignment = assignments.load_assignment(course.root, NAME)
    assert [cell.id for cell in assignment.source.cells][1] == "double"
    assert grade(course)[0] == 0
