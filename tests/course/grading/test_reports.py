"""What the instructor reads: everybody who loses points is named, and a console shows it all."""

from contextlib import closing

import pytest
from bs4 import BeautifulSoup

from course.__main__ import main
from course.gradebook import records
from course.gradebook.notes import MOST, REQUEST, Note
from course.gradebook.records import Graded
from course.grading import reports
from course.publishing import releasing
from tests.course.gradebook.test_gradebook import by_hand, grade, quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, hand_in, make

LINE = "handed in 2026-10-03 10:00 UTC, 2 days 0 h after the due time (2026-10-01 09:50 UTC, 15 "
LINE += "minutes' grace): {}"


def row(student, *notes, failure=None):
    return Graded(student, "x", notes, failure)


def test_equal_notes_are_one_line_and_27_others_of_one_student_are_six():
    changed, odd = Note("this given cell had been changed", "imports"), "its cell was missing"
    rows = [row(f"s{number:03}", changed) for number in range(200)]
    for who in ("xu", "yan"):  # each in a notebook without metadata
        rows.append(row(who, *(Note(odd, f"task-{number}") for number in range(27))))
    rows.append(row("zoe", *(Note(f"raised {number}", "train") for number in range(27))))
    rows += [row("eve", Note("my loop is right", "train", kind=REQUEST)), row("fay", failure="x")]
    ten = ", ".join(f"s{number:03}" for number in range(10))
    assert reports.brief(reports.noted(rows, 2), 40) == [
        "fay: NOT GRADED: x",
        "eve: regrade: train: my loop is right",
        f"{ten} and 190 more: imports: this given cell had been changed",
        "xu, yan: task-0, task-1 and 25 more: its cell was missing",
        *(f"zoe: train: raised {number}" for number in range(5)),
        "zoe: 22 more notes",
    ]
    assert reports.brief(reports.noted(rows), 2)[-1] == "and 8 more lines"


@pytest.mark.slow
def test_440_notes_of_a_hand_in_are_60_and_those_for_a_person_are_among_them(tmp_path):
    course = make(tmp_path / "c", {"ada": {}})
    grade(course)
    look = Note("a person should look", "explain", waits=True)
    with closing(course.gradebook()) as book:
        records.note(book, NAME, "ada", [*(Note(f"raised {n}") for n in range(439)), look])
        kept = records.graded(book, NAME)["ada"].notes
    assert (len(kept), str(kept[-1])) == (MOST + 1, "380 more notes were left out")
    assert look in kept


@pytest.fixture
def late_class(tmp_path):
    """Points before the penalty: ada 4, in the grace period; bob 4 and cyd 0, two days late."""
    course = make(tmp_path / "c", {"ada": {}, "bob": {"handed_in": "2026-10-03 10:00:00 UTC"}})
    hand_in(course, "cyd", "2026-10-03 10:00:00 UTC", share=0)
    releasing.set_due(course, NAME, "2026-10-01T11:50+02:00")
    return course


@pytest.mark.slow
def test_the_late_are_named_with_what_it_costs_in_report_status_and_overview(late_class, capsys):
    """48 h 10 min late: two days begun after the grace, 20 % of bob's 4 points, later of 8."""
    _, said = grade(late_class)
    text = (late_class.room("autograded") / f"report-{NAME}.txt").read_text()
    assert "  late: bob (2 days 0 h, -0.8)\n" in said
    assert f"\n  bob: late: {LINE.format('0.8 of 4 points are deducted')}\n" in text
    assert f"\n  cyd: late: {LINE.format('nothing is deducted')}\n" in text
    assert "ada: late" not in text, "ten minutes are forgiven"
    for who in ("bob", "cyd"):
        by_hand(late_class, who, "explain", manual_score=4.0, needs_manual_grade=False)
    assert main(["--root", str(late_class.root), "status"]) == 0
    now = "    late: bob (2 days 0 h, -1.6), cyd (2 days 0 h, -0.8)\n"
    assert now in capsys.readouterr().out + "\n"
    assert main(["--root", str(late_class.root), "overview"]) == 0
    page = BeautifulSoup((late_class.root / "overview.html").read_text(), "html.parser")
    lines = [line.text for line in page.select("li")]
    assert f"bob: {LINE.format('1.6 of 8 points are deducted')}" in lines
    assert page.select("tbody td")[5].text == "2", "cyd's stored penalty is still nothing"
    releasing.extend(late_class, NAME, "bob", 3)
    assert main(["--root", str(late_class.root), "status"]) == 0
    assert "    late: cyd (2 days 0 h, -0.8)" in capsys.readouterr().out


@pytest.mark.slow
def test_who_waits_is_named_with_the_cell_and_the_reason(tmp_path):
    """bob's points are changed by a person and then asked for, cyd's test has a note."""
    course = make(tmp_path / "c", {"ada": {}, "bob": {"share": 0.5}, "cyd": {}})
    grade(course)
    by_hand(course, "bob", "explain", manual_score=1.0, needs_manual_grade=False)
    by_hand(course, "cyd", "hidden-double", needs_manual_grade=True)
    hand_in(course, "bob", share=0.5, own=["regrade: look again"])
    _, said = grade(course)
    lines = [line for line in said.splitlines() if "wait for a person: " in line]
    assert lines == [
        "  wait for a person: ada, cyd: explain, to grade",
        "  wait for a person: bob: explain, points given, then changed or asked for",
        "  wait for a person: cyd: hidden-double, see the notes",
    ]


@pytest.mark.slow
def test_the_report_file_names_all_students_even_if_only_one_is_graded_again(tmp_path):
    course = make(tmp_path / "c", {"ada": {"note": True}, "bob": {"note": True}})
    grade(course)
    with closing(course.gradebook()) as book:
        records.note(book, NAME, "bob", [Note("its cell was missing", "double")])
    _, said = grade(course, students=["ada"])
    text = (course.room("autograded") / f"report-{NAME}.txt").read_text()
    assert "bob: double" not in said
    assert "\n  ada: seed 2026-fall/ada\n  bob: double: its cell was missing\n" in text
