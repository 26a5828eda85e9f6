"""The gradebook after the instructor's grading run, in SQLite and in PostgreSQL."""

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from unittest.mock import DEFAULT, Mock, patch

import pytest
from sqlalchemy import text

from course.__main__ import main
from course.gradebook import backups, records
from course.grading import grade_run, grade_workers, reports
from course.publishing import releasing
from course.settings import Course, CourseError
from tests.course import small_course
from tests.course.small_course import NAME, grade, graded_names, hand_in, make, rows, scores

pytestmark = pytest.mark.slow

QUIET = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


@contextmanager
def threads(workers, scheduler=None):
    """Dask with threads in this process: the same engine, without starting Python again."""
    from distributed import Client

    here = {"processes": False, "silence_logs": logging.CRITICAL}
    with Client(n_workers=workers, threads_per_worker=1, scheduler_kwargs=QUIET, **here) as client:
        client.register_plugin(grade_workers._keeper())
        yield client


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(grade_workers, "cluster", threads)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own on a Unix socket; its URL without a database."""
    if shutil.which("pg_config") is None and not any(Path("/usr/lib/postgresql").glob("*/bin")):
        pytest.fail("install PostgreSQL (Debian: apt install postgresql)")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    folder = Path(tempfile.mkdtemp(prefix="gradebook-"))  # short: it also contains the socket
    run = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody")
        run = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    data = folder / "data"
    initdb = [*run, programs / "initdb", "-D", data, "-U", "course", "--no-sync", "-A", "trust"]
    subprocess.run(initdb, check=True, capture_output=True, cwd="/")
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    control = [*run, programs / "pg_ctl", "-D", data]
    start = [*control, "-w", "-l", folder / "log", "-o", options, "start"]
    subprocess.run(start, check=True, cwd="/", stdout=subprocess.DEVNULL)
    try:
        yield f"postgresql+psycopg://course@/DATABASE?host={folder}"
    finally:
        stop = [*control, "-m", "immediate", "stop"]
        subprocess.run(stop, check=True, cwd="/", capture_output=True)
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, monkeypatch, tmp_path):
    """The one setting that chooses the gradebook's database."""
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)
    if request.param == "postgresql":
        from sqlalchemy import create_engine, text

        url = request.getfixturevalue("postgres")
        name = f"course_{abs(hash(tmp_path))}"
        engine = create_engine(url.replace("DATABASE", "postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"create database {name}"))
        engine.dispose()
        monkeypatch.setenv("BERTLAB_GRADEBOOK", url.replace("DATABASE", name))
    return request.param


def by_hand(course, student, cell, **values):
    """What a person enters in the formgrader."""
    with closing(course.gradebook()) as book:
        grade = book.find_grade(cell, NAME, NAME, student)
        for name, value in values.items():
            setattr(grade, name, value)
        book.db.commit()


def test_scores_comments_and_notes_are_written(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {}, "Zoë Łuk": {"share": 0.5, "note": True}})
    hand_in(course, "idle", explain="*Write your answer here, in place of this line.*")
    code, said = grade(course)
    assert code == 0
    assert scores(course)["ada", "test-double"] == (1.0, None, False)
    assert scores(course)["ada", "explain"] == (None, None, True)
    assert scores(course)["Zoë Łuk", "hidden-double"] == (1.5, None, False)
    assert scores(course)["idle", "explain"] == (0.0, None, False)
    comments = {row[:2]: row[2] for row in rows(course)["comments"]}
    assert comments["idle", "explain"] == "No response."
    assert comments["ada", "explain"] is None
    assert comments["idle", "double"] is None
    assert f"{NAME}: 3 hand-ins, 3 graded now, 0 unchanged, 0 not graded" in said
    assert "  Zoë Łuk: seed 2026-fall/Zoë Łuk\n" in said
    assert "Mean 3.3 of 8 points before penalties; 0 late; 2 wait for a person" in said
    report = (course.room("autograded") / f"report-{NAME}.txt").read_text()
    assert report in said


def test_grading_again_changes_nothing_and_grades_no_one(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {}, "bob": {"share": 0}})
    grade(course)
    before = rows(course)
    code, said = grade(course)
    assert (code, rows(course)) == (0, before)
    assert sorted(graded_names(course)) == ["ada", "bob"]
    assert "0 graded now, 2 unchanged" in said
    code, _ = grade(course, force=True)
    assert (code, rows(course)) == (0, before)
    assert sorted(graded_names(course)) == ["ada", "ada", "bob", "bob"]


def test_a_forced_run_that_was_stopped_continues(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "bob": {}})
    grade(course)
    second = Mock(wraps=grade_run._write_down, side_effect=[DEFAULT, KeyboardInterrupt])
    with patch.object(grade_run, "_write_down", second), pytest.raises(KeyboardInterrupt):
        grade(course, force=True)
    assert "1 graded now, 1 unchanged" in grade(course, force=True)[1]
    assert "2 graded now, 0 unchanged" in grade(course, force=True)[1]


@pytest.mark.parametrize("what", ["submission", "source", "limits", "term"])
def test_what_has_changed_is_graded_again(tmp_path, what):
    course = make(tmp_path / "c", {"ada": {}, "bob": {}})
    grade(course)
    if what == "submission":
        hand_in(course, "bob", share=0.5)
    elif what == "source":
        path = course.room("source") / NAME / f"{NAME}.ipynb"
        path.write_text(path.read_text().replace("21", "22").replace("42", "44"))
    elif what == "limits":
        course.config.Grading.limits = {"call_seconds": 5}
    else:
        course.config.Grading.term = "2027-spring"
    grade(course)
    assert sorted(graded_names(course)[2:]) == (["bob"] if what == "submission" else ["ada", "bob"])


def test_a_persons_grades_survive_and_a_changed_answer_is_shown_again(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {}, "bob": {"share": 0}})
    grade(course)
    by_hand(course, "ada", "explain", manual_score=3.0, needs_manual_grade=False)
    points = {"manual_score": 1.0, "extra_credit": 0.5}
    by_hand(course, "bob", "test-double", **points, needs_manual_grade=False)
    grade(course, force=True)
    assert scores(course)["ada", "explain"] == (None, 3.0, False)
    assert scores(course)["bob", "test-double"] == (0.0, 1.0, False)
    hand_in(course, "ada", explain="Thrice.")
    hand_in(course, "bob", share=1.0)
    grade(course)
    assert scores(course)["ada", "explain"] == (None, 3.0, True)
    assert scores(course)["bob", "test-double"] == (1.0, 1.0, True)
    assert scores(course)["ada", "test-double"] == (1.0, None, False)


def test_failed_grading_leaves_no_grade_of_now_or_before(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {}, "bob": {"fail": True}})
    grade(course)
    assert scores(course)["bob", "test-double"] == (None, None, True)
    by_hand(course, "ada", "explain", manual_score=3.0, needs_manual_grade=False)
    hand_in(course, "ada", fail=True)
    code, said = grade(course)
    assert code == 1
    assert "  ada, bob: NOT GRADED: OSError: no zygote\n" in said
    assert "0 graded now, 0 unchanged, 2 not graded" in said
    for _ in range(2):  # each time that it fails
        assert f"  ada: {records.REMOVED.text}\n" in said
        assert f"bob: {records.REMOVED.text}" not in said
        _, said = grade(course)
    assert scores(course)["ada", "test-double"] == (None, None, True)
    assert scores(course)["ada", "explain"] == (None, 3.0, False)
    assert not course.graded_copy(NAME, "ada").exists()
    hand_in(course, "ada")
    code, said = grade(course)
    assert code == 1, "bob is tried again and fails again"
    assert scores(course)["ada", "test-double"] == (1.0, None, False)
    assert scores(course)["ada", "explain"] == (None, 3.0, False), "her answer is the same"


def test_scores_that_do_not_match_the_gradebook_give_no_grade(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}})
    good = small_course.FakeGrader.grade

    def without_one(self, submission, seed=""):
        result = good(self, submission, seed)
        del result.scores["hidden-double"]
        return result

    monkeypatch.setattr(small_course.FakeGrader, "grade", without_one)
    code, said = grade(course)
    assert code == 1
    assert "graded cells are not those of the gradebook: hidden-double; run `python -m" in said
    assert scores(course)["ada", "test-double"] == (None, None, True)


def test_a_result_that_cannot_be_written_stops_nobody(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}, "bob": {}, "cy": {}})
    good = small_course.FakeGrader.grade

    def broken(self, submission, seed=""):
        result = good(self, submission, seed)
        if "bob" in str(submission):
            raise RuntimeError("a student's line\n" * 440)
        if "cy" in str(submission):
            result.notebook.metadata["odd"] = 1 + 2j
        return result

    monkeypatch.setattr(small_course.FakeGrader, "grade", broken)
    code, said = grade(course)
    assert code == 1
    assert "1 graded now, 0 unchanged, 2 not graded" in said
    assert "bob: NOT GRADED: RuntimeError: a student's line a student's line" in said
    assert max(map(len, said.splitlines())) < 400
    assert scores(course)["ada", "test-double"] == (1.0, None, False)
    assert scores(course)["cy", "test-double"] == (None, None, True)


def test_scores_and_our_row_are_written_together_or_not_at_all(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}})
    with monkeypatch.context() as patched:
        patched.setattr(records, "_replace", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            grade(course)
    assert rows(course) == {"grades": [], "comments": [], "graded": []}


def test_only_requested_students_and_released_assignments_are_graded(tmp_path):
    course = make(tmp_path / "c", {"ada": {}, "bob": {}})
    grade(course, students=["bob"])
    assert graded_names(course) == ["bob"]
    with pytest.raises(CourseError, match="nothing was handed in by eve"):
        grade(course, students=["eve"])
    (course.root / "gradebook.db").unlink()
    with pytest.raises(CourseError, match=f"run `python -m course release {NAME}`"):
        grade(course)


# Lateness.


def test_late_penalties_follow_the_due_date_and_points_given_later(tmp_path, database):
    late = "2026-10-03 10:00:00 UTC"
    course = make(tmp_path / "c", {"ada": {}, "bob": {"handed_in": late}, "fay": {}})
    hand_in(course, "fay", handed_in=None)
    grade(course)
    assert {row[6] for row in rows(course)["grades"]} == {None}, "nothing is due yet"
    said = releasing.set_due(course, NAME, "2026-10-01T11:50+02:00")
    assert said == f"{NAME}: due 2026-10-01 09:50 UTC"
    penalties = {row[0]: row[6] for row in rows(course)["grades"]}
    # ada is 10 minutes late, which is forgiven; bob 48 h 10 min: 2 days begun after the grace.
    assert penalties == {"ada": None, "bob": pytest.approx(0.8), "fay": None}
    by_hand(course, "bob", "explain", manual_score=4.0, needs_manual_grade=False)
    _, said = grade(course)
    assert "1 late" in said
    assert {row[0]: row[6] for row in rows(course)["grades"]}["bob"] == pytest.approx(1.6)
    assert main(["--root", str(course.root), "extend", NAME, "bob", "--days", "3"]) == 0
    assert {row[6] for row in rows(course)["grades"]} == {None}


EARLY = "; nothing of theirs is graded yet, so it is kept"


def test_an_extension_before_the_hand_in_is_graded_counts_as_soon_as_it_is(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {"handed_in": "2026-10-04 09:00:00 UTC"}, "bob": {}})
    hand_in(course, "bob", "2026-10-04 09:00:00 UTC")
    releasing.set_due(course, NAME, "2026-10-01T11:50+02:00")
    said = releasing.extend(course, NAME, "ada", 3)
    assert said == f"{NAME}: ada has 3 days more: due 2026-10-04 09:50 UTC{EARLY}"
    with closing(course.gradebook()) as book:
        assert book.assignment_submissions(NAME) == [], "an extension is no hand-in"
    grade(course)
    penalties = {row[0]: row[6] for row in rows(course)["grades"]}
    assert penalties == {"ada": None, "bob": pytest.approx(1.2)}, "three days begun: 30 % of 4"
    said = releasing.extend(course, NAME, "ada", 1)
    assert said == f"{NAME}: ada has 1 day more: due 2026-10-02 09:50 UTC"
    assert rows(course)["grades"][0][6] == pytest.approx(0.8), "1 instead of 3, not 4"
    said = releasing.extend(course, NAME, "ada", 0)
    assert said == f"{NAME}: ada has no extension: due 2026-10-01 09:50 UTC"
    assert rows(course)["grades"][0][6] == pytest.approx(1.2)
    releasing.set_due(course, NAME, "none")
    said = releasing.extend(course, NAME, "cy", 2)
    assert said == f"{NAME}: cy has 2 days more: no due date is set{EARLY}"


def test_an_extension_that_cannot_be_meant_is_refused(tmp_path):
    course = make(tmp_path / "c")
    for days in (-3, 400):
        with pytest.raises(CourseError, match=f"--days {days}: .* 0 to 366; 0 removes"):
            releasing.extend(course, NAME, "ada", days)
    with closing(course.gradebook()) as book:
        book.update_or_create_student("ada", last_name="Lovelace")
    assert "ada has 1 day more" in releasing.extend(course, NAME, "ada", 1)
    with pytest.raises(CourseError, match=r"adaa is not a student of .* list; is it ada"):
        releasing.extend(course, NAME, "adaa", 1)
    with pytest.raises(CourseError, match=r"not in the gradebook: run `python -m course release"):
        releasing.extend(course, "ex", "ada", 1)


def test_due_and_extend_take_all_assignments_that_are_released(tmp_path, capsys):
    course = make(tmp_path / "c")
    for name in ("psy", "psz"):
        copy = course.room("source") / name / f"{name}.ipynb"
        copy.parent.mkdir()
        shutil.copy(course.room("source") / NAME / f"{NAME}.ipynb", copy)
    assert releasing.release(course, ["psy"]) == 0
    capsys.readouterr()
    assert main(["--root", str(course.root), "due", "all", "2026-10-01T12:00+00:00"]) == 0
    assert main(["--root", str(course.root), "extend", "all", "ada", "--days", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Not released, so nothing was set: psz",
        *(f"{name}: due 2026-10-01 12:00 UTC" for name in (NAME, "psy")),
        "Not released, so nothing was set: psz",
        *(f"{name}: ada has 1 day more: due 2026-10-02 12:00 UTC{EARLY}" for name in (NAME, "psy")),
    ]


def test_a_regrade_request_is_listed_until_reviewed_and_is_not_late(tmp_path):
    answer = "a regrade: inside a sentence is an answer"
    course = make(tmp_path / "c", {"ada": {}, "bob": {"share": 0.5}, "eve": {"explain": answer}})
    hand_in(course, "gil")
    releasing.set_due(course, NAME, "2026-10-01T12:00+00:00")
    grade(course)
    for who in ("ada", "bob", "eve", "gil"):
        by_hand(course, who, "explain", manual_score=2.0, needs_manual_grade=False)
    later, ask = "2026-10-05 10:00:00 UTC", "## Regrade: the\n\x1b[2J control " + "x" * 999
    hand_in(course, "ada", later, own=[ask])
    hand_in(course, "bob", later, own=["Regrade it", "regrade: half"], explain="Two.", share=0.5)
    hand_in(course, "eve", later, explain=f"{answer}, now a better one", own=["regrade: please"])
    hand_in(course, "gil", later, explain="Two times.\n\n**Please regrade:** it is\nin words.")
    stub = "*Write your answer here, in place of this line.*"
    hand_in(course, "fay", None, explain=stub, own=["regrade: it is on paper"])
    _, said = grade(course)
    assert f"  ada: regrade: explain: the \\u001b[2J control {'x' * 183}\n" in said
    kept = "  ada, gil: nothing is new but a regrade request; it counts as handed in 2026-10-01"
    assert kept in said
    penalties = {row[0]: row[6] for row in rows(course)["grades"] if row[6]}
    assert penalties == {"bob": pytest.approx(1.6), "eve": pytest.approx(2.4)}, (
        "ada and gil are not late"
    )
    assert scores(course)["ada", "explain"] == scores(course)["gil", "explain"] == (None, 2.0, True)
    assert "  gil: regrade: explain: it is in words.\n" in said

    def asking():
        with closing(course.gradebook()) as book:
            return [line[:3] for line in reports.standing(course, book, NAME).requests()]

    assert asking() == ["ada", "bob", "eve", "fay", "gil"]
    by_hand(course, "ada", "explain", manual_score=3.0, needs_manual_grade=False)
    assert asking() == ["bob", "eve", "fay", "gil"]
    before = rows(course)
    assert (grade(course, force=True)[0], rows(course)) == (0, before)


# Backups, and one run at a time.


def test_the_gradebook_is_backed_up_before_each_run(tmp_path, database):
    course = make(tmp_path / "c", {"ada": {}})
    with closing(course.gradebook()) as book:
        book.update_or_create_student("old", last_name="=1+1")
    _, said = grade(course)
    (copy,) = (course.root / "backups").iterdir()
    assert f"The gradebook is backed up: backups/{copy.name}" in said
    if database == "sqlite":
        with closing(sqlite3.connect(copy)) as old:
            assert old.execute("select id from student").fetchall() == [("old",)]
            assert old.execute("select count(*) from grade").fetchone() == (0,)
    else:
        listed = subprocess.run(["pg_restore", "--file=-", copy], capture_output=True, text=True)
        assert "COPY public.student" in listed.stdout
        assert "old\t" in listed.stdout
        assert "ada" not in listed.stdout.split()


def test_the_last_backups_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "KEPT", 3)
    course = make(tmp_path / "c")
    copies = [backups.back_up(course) for _ in range(5)]
    assert sorted((course.root / "backups").iterdir()) == sorted(copies)[2:]


def test_without_pg_dump_a_run_is_rejected_unless_allowed(tmp_path, database, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}})
    found, find = {"pg_dump": None}, shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: found[name] if name in found else find(name))
    if database == "postgresql":
        with pytest.raises(CourseError, match=r"pg_dump is not on the path.*--no-backup"):
            grade(course)
        fails = tmp_path / "pg_dump"
        fails.write_text("#!/bin/sh\necho another version >&2\nexit 1\n")
        fails.chmod(0o700)
        found["pg_dump"] = str(fails)
        with pytest.raises(CourseError, match="no backup: another version\nMake one yourself"):
            grade(course)
        assert graded_names(course) == []
    assert grade(course, backup=False)[0] == 0
    assert graded_names(course) == ["ada"]


def test_a_second_run_with_the_same_gradebook_is_rejected(tmp_path, database):
    here, elsewhere = (make(tmp_path / name, {"ada": {}}) for name in ("here", "elsewhere"))
    told = {"match": "under way: process 7 of ada on snow"}
    with ExitStack() as stack:
        stack.enter_context(backups.only_one(here, "process 7 of ada on snow"))
        with pytest.raises(CourseError, **told):
            grade(here)
        if database == "postgresql":  # SQLite: a gradebook of its own in each folder
            stack.enter_context(pytest.raises(CourseError, **told))
        assert grade(elsewhere)[0] == 0
    assert graded_names(elsewhere) == ([] if database == "postgresql" else ["ada"])
    assert grade(here)[0] == grade(elsewhere)[0] == 0, "the lock is free again"


def test_without_a_sandbox_nothing_is_graded_unless_allowed(tmp_path, monkeypatch):
    course = make(tmp_path / "c", {"ada": {}})
    from course.grading import sandbox

    monkeypatch.setattr(sandbox, "why_no_sandbox", lambda: "this is a toaster")
    with pytest.raises(CourseError, match=r"this is a toaster.*--no-sandbox"):
        grade_run.run(course, [NAME])
    code, said = grade(course, sandboxed=False)
    assert code == 0
    assert said.startswith("--no-sandbox: students' code runs with your rights.")


def test_a_missing_course_a_wrong_name_and_a_due_date_without_zone_are_reported(tmp_path):
    with pytest.raises(CourseError, match="no course is here"):
        Course(tmp_path)
    course = make(tmp_path / "c")
    with pytest.raises(CourseError, match=f"no such assignment; .* has {NAME}"):
        course.chosen("psy")
    for wrong in ("tomorrow", "2026-10-01T11:50"):
        with pytest.raises(CourseError, match="not a time with its zone"):
            releasing.set_due(course, NAME, wrong)
    assert releasing.set_due(course, NAME, "none") == f"{NAME}: no due date"


def test_a_database_that_cannot_be_reached_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTLAB_GRADEBOOK", "postgresql+psycopg://x@127.0.0.1:1/none")
    with pytest.raises(CourseError, match=r"the gradebook cannot be opened: .*BERTLAB_GRADEBOOK"):
        small_course.new_course(tmp_path / "c").gradebook()


def test_a_new_gradebook_is_of_the_version_that_nbgrader_itself_would_note(tmp_path):
    ask = "from nbgrader import api; print(api.get_alembic_version())"
    reference = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    with closing(make(tmp_path / "c").gradebook()) as book:
        noted = book.db.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    assert noted == [reference.stdout.strip()]


def test_timestamps_are_read_as_nbgrader_writes_them(tmp_path):
    (tmp_path / "timestamp.txt").write_text("2026-10-01 12:00:00.5 CEST\n")
    assert records.read_timestamp(tmp_path) == (datetime(2026, 10, 1, 12, 0, 0, 500000), "")
