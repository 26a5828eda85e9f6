"""Grades as files: for nbgrader, Moodle and Canvas, without formulas for a spreadsheet."""

import csv
from contextlib import closing

import nbformat
import pytest
from nbgrader.api import Assignment

from course.gradebook import exports, records
from course.gradebook.late_policy import LatePolicy
from course.gradebook.results import Result
from course.gradebook.totals import Total
from course.settings import CourseError
from tests.course.small_course import NAME, hand_in, make


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


def exported(course, format, to, **options):
    with closing(course.gradebook()) as book:
        notes = exports.export(course, book, format, to, **options)
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
        f"{NAME}: 1 wait for a person; their scores lack those points: ada",
        f"{NAME}: 1 late, and the points that it cost: ada -0.4",
    ]


def test_long_lists_of_names_end_in_a_number(course):
    now = {f"s{number:02}": Total(8.0, 0.0, True) for number in range(25)}
    (note,) = exports._notes(exports.Grades(Assignment(name=NAME), now))
    assert note.startswith(
        f"{NAME}: 25 wait for a person; their scores lack those points: s00, s01"
    )
    assert note.endswith("s19 and 5 more")


def test_a_hand_in_that_was_never_graded_has_no_score_and_a_line(course, tmp_path):
    hand_in(course, "eve")
    notes, rows = exported(course, "nbgrader", tmp_path / "grades.csv")
    assert {row[3]: row for row in rows}["eve"][7:] == ["", "", "", "8.0"]
    assert notes[0] == f"{NAME}: no score for bob, eve: not graded yet"


@pytest.mark.parametrize(
    ("format", "needs"),
    [
        ("moodle", "an e-mail address or ID number in a list, so Moodle"),
        ("canvas", "a Canvas number or SIS number in a list, so Canvas"),
        ("brightspace", "an OrgDefinedId in a list, so Brightspace"),
    ],
)
def test_whom_the_system_cannot_find_is_named(course, tmp_path, format, needs):
    notes, _ = exported(course, format, tmp_path / "grades.csv")
    assert notes[-1] == (
        f"1 without {needs} may not find them: bob; import a list with them: "
        "python -m course students LIST.csv"
    )


def test_one_assignment_or_all_into_a_file_that_can_be_written(course, tmp_path):
    with closing(course.gradebook()) as book:
        book.add_assignment("other")
    _, rows = exported(course, "moodle", tmp_path / "grades.csv")
    assert rows[0][4:] == ["other", NAME]
    _, rows = exported(course, "moodle", tmp_path / "grades.csv", assignments=[NAME])
    assert rows[0][4:] == [NAME]
    with pytest.raises(CourseError, match="ex99 is not in the gradebook"):
        exported(course, "moodle", tmp_path / "grades.csv", assignments=["ex99"])
    with pytest.raises(CourseError, match="cannot be written"):
        exported(course, "moodle", tmp_path / "nowhere" / "grades.csv")


FILES = {
    "moodle": [
        ["Email address", "ID number", "First name", "Last name", NAME],
        ["a@x", "ada", "Ada", "Łove, lace", "3.6"],
        ["", "bob", "", "", ""],
        ["", "eve", "'=HYPERLINK(1)", "'@SUM(A1)", ""],
    ],
    "canvas": [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME],
        ["Points Possible", "", "", "", "", "8.0"],
        ["Łove, lace, Ada", "7", "ada", "ada", "", "3.6"],
        ["bob", "", "bob", "bob", "", ""],
        ["'@SUM(A1), =HYPERLINK(1)", "", "eve", "eve", "", ""],
    ],
    "brightspace": [
        ["OrgDefinedId", "Username", f"{NAME} Points Grade", "End-of-Line Indicator"],
        ["#ada", "#7", "3.6", "#"],
        ["#bob", "", "", "#"],
        ["#eve", "", "", "#"],
    ],
}


@pytest.mark.parametrize("format", FILES)
def test_a_learning_systems_file(course, tmp_path, format):
    expected = FILES[format]
    first = 2 if format == "canvas" else 1  # of the people's rows
    _, rows = exported(course, format, tmp_path / "grades.csv")
    assert rows[:first] == expected[:first]
    assert sorted(rows[first:]) == sorted(expected[first:])


WORKSHEET = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
"""


def filled(course, tmp_path, *rows, header=WORKSHEET):
    """The notes, and Moodle's grades by participant; all other cells are as they were."""
    sheet, to = tmp_path / "sheet.csv", tmp_path / "filled.csv"
    sheet.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    notes, after = exported(course, "moodle", to, sheet=sheet)
    with open(sheet, newline="", encoding="utf-8") as file:
        before = list(csv.reader(file))
    place = before[0].index("Grade")
    assert [row[:place] + row[place + 1 :] for row in after] == [
        row[:place] + row[place + 1 :] for row in before
    ]
    return notes, {row[0]: row[place] for row in after[1:]}


def row(number, name="", id="", email="", grade="", most="8.00", open="Yes"):
    return (
        f"Participant {number},{name},{id},{email},Submitted,{grade},{most},{open},-,-,=well done"
    )


def test_a_worksheet_is_filled_in_by_id_address_or_name(course, tmp_path):
    others = (
        row(2, "Bob B", "bob", grade="5.00"),
        row(3, "Eve", "", "eve@x"),
        row(4, "Łove ada", ""),
    )
    for ada in row(1, "A. L.", "ADA"), row(1, "Byron", "", "A@X"), row(1, '"Ada Łove, lace"'):
        notes, grades = filled(course, tmp_path, ada, *others)
        only = {"Participant 2": "5.00", "Participant 3": "", "Participant 4": ""}
        assert grades == {"Participant 1": "3.6"} | only, "what has no score here stays"
        assert not any("row" in note for note in notes)


@pytest.mark.parametrize("id", ["4711", "Participant 4711", "Participant_4711"])
def test_with_blind_marking_the_number_is_the_identity(course, tmp_path, id):
    with closing(course.gradebook()) as book:
        book.find_submission(NAME, "ada").student = book.add_student(id)
        book.db.commit()
    blind = "Identifier,Status,Grade,Last modified (grade)\n"
    rows = "Participant 4711,Submitted,,-", "Participant 711,Submitted,,-"
    _, grades = filled(course, tmp_path, *rows, header=blind)
    assert grades == {"Participant 4711": "3.6", "Participant 711": ""}
    # Where rows have names, a number that looks like an id is somebody else's.
    _, grades = filled(course, tmp_path, row(4711, "Somebody Else"))
    assert grades == {"Participant 4711": ""}


@pytest.mark.parametrize(
    "rows",
    [
        (row(1, '"Ada Łove, lace"', "", "another@x"),),
        (row(1, '"Ada Łove, lace"'), row(2, '"Ada Łove, lace"')),
        (row(1, "Ada", "ada"), row(2, "Ada", "", "a@x")),
        (row(1, "Ada", "eve", "a@x"),),
    ],
    ids=["a namesake", "two of one name", "one person twice", "id and address disagree"],
)
def test_a_grade_is_never_given_to_a_row_that_may_be_another_persons(course, tmp_path, rows):
    notes, grades = filled(course, tmp_path, *rows)
    assert set(grades.values()) == {""}
    assert "1 have a score, but no row that is certainly theirs: ada" in notes
    assert any(note.startswith("rows that are nobody's here: Participant 1") for note in notes)


def test_what_moodle_would_skip_or_show_wrongly_is_said(course, tmp_path):
    notes, _ = filled(course, tmp_path, row(1, id="ada", most="100.00", open="No"))
    assert notes[-2:] == [
        "Moodle does not let these grades be changed: ada",
        f"the worksheet's maximum is 100.00, but {NAME} has 8 points: set the maximum grade in "
        "Moodle to 8, then download the worksheet again",
    ]


def test_a_worksheet_is_of_one_assignment_and_of_moodle(course, tmp_path):
    (tmp_path / "sheet.csv").write_text("id,grade\nada,\n")
    options = {"to": tmp_path / "grades.csv", "sheet": tmp_path / "sheet.csv"}
    with pytest.raises(CourseError, match=r"is not Moodle's grading worksheet.* are: id, grade"):
        exported(course, "moodle", **options)
    with pytest.raises(CourseError, match="--sheet fills in Moodle's worksheet of one assign"):
        exported(course, "canvas", **options)
    with closing(course.gradebook()) as book:
        book.add_assignment("other")
    with pytest.raises(CourseError, match="give its name"):
        exported(course, "moodle", **options)
    assert not options["to"].exists()
