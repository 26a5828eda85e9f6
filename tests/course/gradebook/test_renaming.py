"""An assignment gets another name: only the name changes, whenever the command is killed."""

import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from sqlalchemy import MetaData, select

from course.__main__ import main
from course.gradebook import backups, renaming
from course.grading import grade_run
from course.grading.assignments import as_handed_in, load_assignment
from course.grading.grader import Grader
from course.publishing import releasing
from course.settings import OLD_NAMES, Course, CourseError
from tests.conftest import ROOT
from tests.course.gradebook.test_gradebook import by_hand, database, postgres, quick  # noqa: F401
from tests.course.small_course import NAME, FakeGrader, copied, grade, graded_names, hand_in, make

pytestmark = pytest.mark.slow

NEW = "exx_small"


@pytest.fixture(autouse=True)
def an_old_name(monkeypatch):
    monkeypatch.setitem(OLD_NAMES, NAME, NEW)


def running(folder):
    """A running term whose course was updated: its assignment has the new name already."""
    return copied(_running, folder)


def _running(folder):
    late = "2026-10-03 10:00:00 UTC"
    course = make(folder, {"ada": {}, "ben": {"share": 0.5, "handed_in": late, "note": True}})
    hand_in(course, "cy", handed_in=None, fail=True)
    releasing.set_due(course, NAME, "2026-10-01T11:50+02:00")
    grade(course)
    by_hand(course, "ada", "explain", manual_score=3.0, extra_credit=0.5, needs_manual_grade=False)
    with closing(course.gradebook()) as book:
        book.grant_extension(NAME, "ben", days=1)
        book.find_comment("explain", NAME, NAME, "ada").manual_comment = "Well said."
        book.db.commit()
    releasing.extend(course, NAME, "dan", 2)  # nothing of theirs is graded
    hand_in(course, "dan")
    earlier = course.root / f"submitted/.earlier/ada/{NAME}/1/{NAME}.ipynb"
    for path in (earlier, course.root / f"feedback/ada/{NAME}/{NAME}.html"):
        path.parent.mkdir(parents=True)
        path.write_text(f"{path.name} is about {NAME}")
    for room in ("solutions", "exercises"):
        folder = (course.root / room / NAME).rename(course.root / room / NEW)
        (folder / f"{NAME}.ipynb").rename(folder / f"{NEW}.ipynb")
    return course


def everything(course):
    """All rows of all tables as text, and all files of the three folders with their content."""
    with closing(course.gradebook()) as book:
        tables = MetaData()
        tables.reflect(book.engine)
        rows = {
            name: sorted(str(tuple(row)) for row in book.db.execute(select(table)))
            for name, table in tables.tables.items()
        }
    paths = [path for step in renaming.STEPS for path in course.room(step).rglob("*")]
    return rows, {
        str(path.relative_to(course.root)): path.read_bytes() if path.is_file() else None
        for path in paths
        if not path.name.startswith(".grading")
    }


def renamed(state):
    """The same under the new name: only names of rows, folders and files change."""
    rows, files = state
    return (
        {name: sorted(row.replace(NAME, NEW) for row in table) for name, table in rows.items()},
        {path.replace(NAME, NEW): content for path, content in files.items()},
    )


def rename(course, old=NAME, new=NEW):
    said = []
    assert renaming.rename(course, old, new, say=said.append) == 0
    return said


def graded_again(course):
    """Grade under the new name; returns the printed lines."""
    said = []
    grade_run.run(course, [NEW], grade_run.Options(workers=1), FakeGrader, said.append)
    return "\n".join(said)


def test_only_the_name_changes_and_nothing_is_graded_again(tmp_path, database):  # noqa: F811
    course = running(tmp_path / "c")
    before = everything(course)
    assert "Well said." in str(before)
    assert f"submitted/.earlier/ada/{NAME}/1/{NAME}.ipynb" in before[1]
    backup, said = rename(course)
    assert said == f"{NAME} is now {NEW}: 4 hand-ins, 3 grades"
    after = everything(course)
    assert after == renamed(before)
    assert NAME not in str(after[0]) + str(list(after[1]))
    assert (course.root / backup.removeprefix("The gradebook is backed up: ")).is_file()
    with closing(course.gradebook()) as book:
        ben = book.find_submission(NEW, "ben")
        assert (ben.extension.days, ben.timestamp) == (1, datetime(2026, 10, 3, 10))
    assert renaming.reminder(course) == ""
    # dan is new, and cy's grading fails each time
    assert "4 hand-ins, 1 graded now, 2 unchanged, 1 not graded" in graded_again(course)
    assert sorted(graded_names(course)) == ["ada", "ben", "cy", "cy", "dan"]


def test_a_persons_points_and_comments_survive_a_new_version(tmp_path):
    course = running(tmp_path / "c")
    rename(course)
    source = course.room("source") / NEW / f"{NEW}.ipynb"
    source.write_text(source.read_text().replace("21", "22").replace("42", "44"))
    assert releasing.release(course, [NEW], say=lambda line: None) == 0
    graded_again(course)
    assert sorted(graded_names(course)) == ["ada", "ada", "ben", "ben", "cy", "cy", "dan"]
    with closing(course.gradebook()) as book:
        explained = book.find_grade("explain", NEW, NEW, "ada")
        assert (explained.manual_score, explained.extra_credit) == (3.0, 0.5)
        assert not explained.needs_manual_grade
        assert book.find_comment("explain", NEW, NEW, "ada").comment == "Well said."


class Killed(BaseException):
    """Like `kill -9`, for this process."""


def test_after_a_kill_at_any_step_the_same_command_continues(tmp_path, monkeypatch):
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)
    before, steps, number = everything(running(tmp_path / "c")), os.rename, 0
    wanted = renamed(before)
    while True:
        course = running(tmp_path / f"c{number}")
        left = number

        def step(path, target):
            nonlocal left
            if Path(path).parent.name != "backups":
                left -= 1
            if left < 0:
                raise Killed
            steps(path, target)

        with monkeypatch.context() as patched:
            patched.setattr(os, "rename", step)
            try:
                rename(course)
                break
            except Killed:
                pass
        between = everything(course)
        assert sorted(map(str, between[1].values())) == sorted(map(str, before[1].values()))
        assert between != wanted
        told = f"Assignments have old names, which no command sees: {NAME}."
        assert renaming.reminder(course).startswith(told)
        assert rename(course, "all", None)[-1] == f"{NAME} is now {NEW}: 4 hand-ins, 3 grades"
        assert everything(course) == wanted
        number += 1
    assert number == 17, "a report, 8 files and 8 folders"


def test_a_killed_transaction_does_not_change_the_gradebook(tmp_path, database, monkeypatch):  # noqa: F811
    course = running(tmp_path / "c")
    before = everything(course)
    with monkeypatch.context() as patched:
        patched.setattr(renaming, "update", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            rename(course)
    assert everything(course) == before
    rename(course)
    assert everything(course) == renamed(before)


def test_a_killed_process_leaves_no_lock_and_nothing_lost(tmp_path, monkeypatch):
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)
    course = running(tmp_path / "c")
    wanted = renamed(everything(course))
    program = f"""
import os, signal, sys
from course.gradebook import renaming
from course.settings import Course
rename = os.rename
def third(path, target):
    if {NAME!r} in str(path) and "ben" in str(path):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(path, target)
os.rename = third
renaming.rename(Course(sys.argv[1]), {NAME!r}, {NEW!r})
"""
    done = subprocess.run([sys.executable, "-c", program, course.root], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert everything(course) != wanted
    rename(course)
    assert everything(course) == wanted


@pytest.mark.parametrize(
    ("both", "where"),
    [
        (f"submitted/ada/{NEW}/{NEW}.ipynb", "submitted/ada holds both psx_small and exx_small"),
        (f"submitted/ada/{NAME}/{NEW}.ipynb", r"submitted/ada/psx_small holds both .*ipynb"),
        (f"submitted/.earlier/ada/{NEW}/1/{NEW}.ipynb", "submitted/.earlier/ada holds both"),
        (f"autograded/ben/{NEW}/{NEW}.ipynb", "autograded/ben holds both"),
    ],
)
def test_two_names_in_one_place_are_rejected_without_changes(tmp_path, both, where):
    course = running(tmp_path / "c")
    (course.root / both).parent.mkdir(parents=True, exist_ok=True)
    (course.root / both).write_text("another")
    before, copies = everything(course), sorted((course.root / "backups").iterdir())
    for names in ((NAME, NEW), ("all", None)):
        with pytest.raises(CourseError, match=f"{where}.*: move the one .* Nothing has been"):
            rename(course, *names)
    assert everything(course) == before
    assert sorted((course.root / "backups").iterdir()) == copies


def test_grades_under_both_names_are_rejected_with_helpful_advice(tmp_path, database):  # noqa: F811
    course = running(tmp_path / "c")
    assert releasing.release(course, [NEW], say=lambda line: None) == 0
    with closing(course.gradebook()) as book:
        book.update_or_create_student("eve")
        book.add_submission(NEW, "eve", timestamp=None)
    before = everything(course)
    with pytest.raises(CourseError, match=r"grades of both .* \(eve\), take it out with .cd"):
        rename(course)
    assert everything(course) == before
    command = ["db", "assignment", "remove", NEW, "--force"]
    room = course.root / "course"
    subprocess.run([sys.executable, "-m", "nbgrader", *command], cwd=room, check=True)
    assert rename(course)[-1] == f"{NAME} is now {NEW}: 4 hand-ins, 3 grades"


def test_a_new_name_that_was_released_already_is_replaced(tmp_path, database):  # noqa: F811
    course = running(tmp_path / "c")
    before = everything(course)
    assert releasing.release(course, [NEW], say=lambda line: None) == 0
    releasing.set_due(course, NEW, "2026-12-01T11:50+02:00")
    with pytest.raises(CourseError, match=f"due 2026-12-01 .* -m course due {NEW} none"):
        rename(course)
    releasing.set_due(course, NEW, "none")
    rename(course)
    assert everything(course) == renamed(before)


def test_impossible_names_are_reported(tmp_path):
    course = running(tmp_path / "c")
    before = everything(course)
    for names, why in (
        (("psy", NEW), f"psy: neither the gradebook nor a folder .* There are: {NAME}"),
        ((NAME, "exy"), f"exy: no such assignment; .* has {NEW}"),
        ((NEW, NEW), f"{NEW} has a source, .*: rename that first"),
        (("../ada", NEW), "neither the gradebook"),
        ((NAME, None), "give the old name and the new one, or only `all`"),
        (("all", NEW), "give the old name and the new one, or only `all`"),
    ):
        with pytest.raises(CourseError, match=why):
            rename(course, *names)
    assert everything(course) == before
    rename(course)
    with pytest.raises(CourseError, match=f"{NAME}: neither .* There are: {NEW}"):
        rename(course)
    assert rename(course, "all", None) == ["Nothing here has an old name."]


def test_a_grading_run_is_not_disturbed_and_a_locked_file_is_reported(tmp_path, monkeypatch):
    course = running(tmp_path / "c")
    wanted = renamed(everything(course))
    refused = Mock(side_effect=PermissionError(13, "Permission denied"))
    with (
        backups.only_one(course, "process 7 of ada on snow"),
        pytest.raises(CourseError, match="under way: process 7 of ada on snow"),
    ):
        rename(course)
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", refused)
        patched.setattr(backups, "back_up", lambda course: None)
        with pytest.raises(CourseError, match="cannot be renamed: Permission denied"):
            rename(course)
    rename(course)
    assert everything(course) == wanted


# Messages of the other commands.


def test_old_names_map_to_existing_assignments():
    known = {*Course(ROOT).assignments(), NEW}
    newer = {name for name in known if name[2:4] in ("00", "03", "05", "12", "13")}
    assert {*OLD_NAMES.values()} == known - newer


def test_commands_warn_of_old_names_and_report_the_new_one(tmp_path, capsys):
    course = running(tmp_path / "c")
    root = ["--root", str(course.root)]
    assert main([*root, "grade", NAME]) == 1
    error = capsys.readouterr().err
    assert f"python -m course grade: {NAME} is called {NEW} now." in error
    assert f"`python -m course rename {NAME} {NEW}`" in error
    for command in (["status"], ["export", "--to", str(tmp_path / "grades.csv")]):
        assert main([*root, *command]) == 0
        assert _but_protection(capsys.readouterr().err) == (
            f"Assignments have old names, which no command sees: {NAME}. "
            "`python -m course rename all` gives them the new ones.\n"
        )
    assert main([*root, "rename", "all", "--no-backup"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"{NAME} is now {NEW}: 4 hand-ins, 3 grades\n", "")
    assert main([*root, "status"]) == 0
    said = capsys.readouterr()
    assert _but_protection(said.err) == ""
    assert re.search(rf"{NEW} +4 +2", said.out)


def _but_protection(said):
    """What was said, without the line of `status` on the machine's protections."""
    return re.sub(r"^Protection here: .*\n", "", said, flags=re.MULTILINE)


def test_a_reminder_creates_no_gradebook(tmp_path, monkeypatch):
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)
    course = make(tmp_path / "c")
    (course.root / "gradebook.db").unlink()
    assert renaming.reminder(course) == ""
    assert not (course.root / "gradebook.db").exists()


def test_a_notebook_of_the_old_name_gets_its_points(tmp_path):
    """Its imports and texts are of an earlier version: the course's own cells are run."""
    assignment = load_assignment(ROOT, "ex01_bpe")
    page = nbformat.read(ROOT / "exercises/ex01_bpe/ex01_bpe.ipynb", as_version=4)
    for cell, ours in zip(page.cells, assignment.source.cells, strict=True):
        if ours.metadata.nbgrader.solution:
            cell.source = as_handed_in(ours.source)
        if cell.id == "imports":
            imports = "from course.feedback import ex01_bpe as check"
            assert imports in cell.source
            cell.source = cell.source.replace(imports, "from bertlab.check import ps1_bpe as check")
    nbformat.write(page, tmp_path / "ps1_bpe.ipynb")
    with Grader(assignment) as grader:
        result = grader.grade(tmp_path / "ps1_bpe.ipynb", "2026-fall/ada")
    points = {cell.id: cell.metadata.nbgrader.get("points") for cell in assignment.source.cells}
    assert all(score == points[name] for name, score in result.scores.items() if name != "explain")
    assert list(map(str, result.notes)) == [
        "imports: this given cell had been changed; the original was used"
    ]
