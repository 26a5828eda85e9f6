"""Grades as files: for nbgrader, Moodle and Canvas, without formulas for a spreadsheet."""

import csv
from contextlib import closing

import nbformat
import pytest

from course.gradebook import exports, records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.results import Result
from course.settings import CourseError
from tests.course.small_course import NAME, make


@pytest.fixture
def course(tmp_path):
    """ada has 4 of 8 points and a day's penalty, bob could not be graded, eve did nothing."""
    course = make(tmp_path / "c", {"ada": {}, "bob": {}})
    with closing(course.gradebook()) as book:
        ada = {"first_name": "Ada", "last_name": "Łove, lace", "email": "a@x", "lms_user_id": "7"}
        book.add_student("ada", **ada)
        book.add_student("eve", first_name="=HYPERLINK(1)", last_name="@SUM(A1)")
        book.update_or_create_assignment(NAME, duedate="2026-09-30 10:00:00 UTC")
        when, _ = records.read_timestamp(course.hand_in(NAME, "ada").parent)
        scores = {"test-double": 1.0, "hidden-double": 3.0, "explain": None}
        page = nbformat.read(course.hand_in(NAME, "ada"), as_version=4)
        result = Result(page, scores, (), 0.1)
        records.graded(book, NAME)
        policy = LatePolicy(config=course.config)
        records.record(book, NAME, "ada", result, "f", when, policy)
        records.mark_failed(book, NAME, "bob", "no zygote")
    return course


def exported(course, format, to):
    with closing(course.gradebook()) as book:
        notes = exports.export(course, book, format, to)
    with open(to, newline="", encoding="utf-8") as file:
        return notes, list(csv.reader(file))


def test_nbgraders_columns(course, tmp_path):
    notes, rows = exported(course, "nbgrader", tmp_path / "grades.csv")
    assert rows[0] == list(exports.NBGRADER)
    by_id = {row[3]: row for row in rows[1:]}
    assert by_id["ada"][4:] == ["Łove, lace", "Ada", "a@x", "4.0", "0.4", "3.6", "8.0"]
    assert by_id["bob"][7:] == ["", "", "", "8.0"], "no 0.0 that looks like a grade"
    assert by_id["eve"][4:6] == ["'@SUM(A1)", "'=HYPERLINK(1)"]
    assert notes == [
        f"{NAME}: no score for bob: not graded yet",
        f"{NAME}: 1 wait for a person; their scores lack those points",
    ]


def test_moodles_columns_and_a_file_that_cannot_be_written(course, tmp_path):
    _, rows = exported(course, "moodle", tmp_path / "grades.csv")
    assert rows[0] == ["Email address", "ID number", "First name", "Last name", NAME]
    assert ["a@x", "ada", "Ada", "Łove, lace", "3.6"] in rows
    assert ["", "bob", "", "", ""] in rows
    assert len(rows) == 4
    with pytest.raises(CourseError, match="cannot be written"):
        exported(course, "moodle", tmp_path / "nowhere" / "grades.csv")


def test_canvas_columns(course, tmp_path):
    _, rows = exported(course, "canvas", tmp_path / "grades.csv")
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert rows[1] == ["Points Possible", "", "", "", "", "8.0"]
    assert ["Łove, lace, Ada", "7", "ada", "ada", "", "3.6"] in rows
    assert ["'@SUM(A1), =HYPERLINK(1)", "", "eve", "eve", "", ""] in rows
