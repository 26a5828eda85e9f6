"""A list from each learning system in, grades out: nobody is lost, doubled or taken for another."""

import csv
import io
import unicodedata
from contextlib import closing
from typing import NamedTuple

import pytest

from course.collecting import student_lists
from course.gradebook import exports, records
from course.gradebook.spreadsheets import clean
from tests.course.small_course import NAME, make

pytestmark = pytest.mark.slow


class Person(NamedTuple):
    number: str  # of the learning system
    id: str
    first: str
    last: str
    email: str

    @property
    def full(self):
        return f"{self.first} {self.last}".strip()

    @property
    def points(self):
        """Of 4: another number for each."""
        return int(self.number) % 1000 / 8


NAMES = [
    *(("Sinéad", "O'Brien"), ("Jörg", "Müller"), ("Jo\u0308rg", "Mu\u0308ller-Lüdenscheidt")),
    *(("小明", "王"), ("María", "de la Cruz"), ("Anna", "Schmidt"), ("Anna", "Schmidt")),
    *(("", "Sukarno"), ("Madonna", ""), ("=cmd|' /C calc'!A1", "Bobby"), ("@sum", "-Tables")),
    *(("Zoë", "Łukasiewicz"), ("Ada", "Lovelace, Countess"), ('Bob "Bobby"', "Tables")),
    *(("Nguyễn", "Thị Minh Khai"), ("Æthel", "Þórsdóttir"), ("Søren", "Ångström")),
    *(("Jean-Luc", "d’Artagnan"), ("Müller", "Jörg"), ("محمد", "علي"), ("Ольга", "Иванова")),
    *(("X Æ", "A-12"), ("van", "van der Berg"), ("Ann", "Lee"), ("Ann-Lee", ""), ("A", "B")),
    *(("Test", "Student"), ("Null", "None"), ("1E5", "007"), ("Émile", "Straße")),
]
CLASS = [
    Person(f"4{i:03}", f"{i * 7919:07}", first, last, f"{i}.{'ABC'[i % 3]}@x.example")
    for i, (first, last) in enumerate(NAMES, start=1)
]
GERMAN = [p for p in CLASS if p.full.encode("cp1252", "ignore").decode("cp1252") == p.full]
HEADER = ("id", "first_name", "last_name", "email", "lms_user_id")
MOODLE = ("First name", "Surname", "ID number", "Institution", "Email address", "Quiz")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Quiz (101)")
BRIGHTSPACE = (
    "OrgDefinedId",
    "Username",
    "Last Name",
    "First Name",
    "Email",
    "End-of-Line Indicator",
)
WORKSHEET = (
    *("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (submission)", "Last modified (grade)"),
)


def written(rows, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def ours(people):
    return [HEADER, *((p.id, p.first, p.last, p.email, p.number) for p in people)]


def excel(people):
    head = ("Matrikelnummer", "Vorname", "Nachname", "E-Mail-Adresse")
    return [head, *((p.id, p.first, p.last, p.email) for p in people)]


def moodle(people, ids=True):
    rows = ((p.first, p.last, p.id if ids else "", "", p.email, "") for p in people)
    return [MOODLE, *rows]


def canvas(people):
    rows = ((f"{p.last}, {p.first}", p.number, p.id, p.email, "A and B", "") for p in people)
    test = ("Student, Test", "99", "", "bbbc6740f0b946af", "A", "")
    return [CANVAS, ("    Points Possible", "", "", "", "", "10"), *rows, test]


def brightspace(people):
    rows = ((f"#{p.id}", f"#{p.number}", p.last, p.first, p.email, "#") for p in people)
    return [BRIGHTSPACE, *rows]


def worksheet(people):
    rest = ("Submitted for grading", "", "8.00", "Yes", "-", "-")
    rows = ((f"Participant {p.number}", p.full, "", p.email, *rest) for p in people)
    return [WORKSHEET, *rows]


BY_ID = lambda p: p.id  # noqa: E731
# The list's bytes, whom it has, and what is each one's id.
LISTS = {
    "ours": (written(ours(CLASS)).encode(), CLASS, BY_ID),
    "Excel in Germany": (written(excel(GERMAN), ";").encode("cp1252"), GERMAN, BY_ID),
    "Excel in Germany, CSV UTF-8": (written(excel(CLASS), ";").encode("utf-8-sig"), CLASS, BY_ID),
    "Excel, Unicode text": (written(excel(CLASS), "\t").encode("utf-16"), CLASS, BY_ID),
    "Moodle": (written(moodle(CLASS)).encode(), CLASS, BY_ID),
    "Moodle without ID numbers": (
        written(moodle(CLASS, ids=False)).encode(),
        CLASS,
        lambda p: p.email,
    ),
    "Canvas": (written(canvas(CLASS)).encode(), CLASS, BY_ID),
    "Brightspace": (written(brightspace(CLASS)).encode(), CLASS, BY_ID),
}


def scored(folder, content, people, key):
    """A course whose gradebook has the list, read twice, and everyone's points."""
    course, said = make(folder / "c"), []
    (folder / "list.csv").write_bytes(content)
    with closing(course.gradebook()) as book:
        for _ in range(2):
            student_lists.take(book, folder / "list.csv", say=said.append)
        for person in people:
            notebook = records._submitted_notebook(book.db, NAME, key(person))
            for grade in notebook.grades:
                grade.auto_score = person.points if grade.cell.name == "explain" else 0.0
                grade.needs_manual_grade = False
        book.db.commit()
    number = len(people)
    assert said[-1] == f"list.csv: 0 new, 0 changed, {number} unchanged"
    return course


def exported(course, to, format, **options):
    """The notes, and the rows of the file as dictionaries."""
    with closing(course.gradebook()) as book:
        notes = exports.export(course, book, format, to, **options)
    with open(to, newline="", encoding="utf-8") as file:
        return notes, list(csv.DictReader(file))


def test_the_class_is_difficult():
    assert len(CLASS) == 30
    assert len({p.full for p in CLASS}) == 29, "two of one name"
    assert len({unicodedata.normalize("NFC", p.full) for p in CLASS} - {p.full for p in CLASS}) == 1
    assert len(GERMAN) > 15
    assert len({p.points for p in CLASS}) == 30


# Where each format has its identity and its grade.
FORMATS = {
    "nbgrader": (lambda row: row["student_id"], "score"),
    "moodle": (lambda row: row["ID number"] or row["Email address"], NAME),
    "canvas": (lambda row: row["ID"] or row["SIS User ID"], NAME),
    "brightspace": (lambda row: row["OrgDefinedId"][1:], f"{NAME} Points Grade"),
}


@pytest.mark.parametrize("name", LISTS)
def test_everyone_gets_their_own_grade_back(tmp_path, name):
    content, people, key = LISTS[name]
    course = scored(tmp_path, content, people, key)
    for format, (identity, grade) in FORMATS.items():
        notes, rows = exported(course, tmp_path / "grades.csv", format)
        if format == "canvas":
            assert rows.pop(0)["Student"] == "Points Possible"
        numbers = format == "canvas" and name in ("ours", "Canvas", "Brightspace")
        own = {p.number if numbers else key(p): str(p.points) for p in people}
        assert {identity(row): row[grade] for row in rows} == own, format
        assert len(rows) == len(people)
        assert notes == []


def test_names_survive_without_formulas_and_nbgraders_file_is_a_list(tmp_path):
    content, _, key = LISTS["ours"]
    course = scored(tmp_path, content, CLASS, key)
    both = [p.first for p in CLASS] + [p.last for p in CLASS]
    one = [", ".join(filter(None, (p.last, p.first))) for p in CLASS]
    for format, places, names in (
        ("canvas", ("Student",), [*one, "Points Possible"]),
        ("moodle", ("First name", "Last name"), both),
        ("nbgrader", ("first_name", "last_name"), both),
    ):
        _, rows = exported(course, tmp_path / "grades.csv", format)
        given = [row[place] for place in places for row in rows]
        assert not any(text.startswith(tuple("=+-@")) for text in given)
        assert sorted(map(clean, given)) == sorted(map(clean, names))
    said = []
    with closing(course.gradebook()) as book:
        student_lists.take(book, tmp_path / "grades.csv", say=said.append)
    assert said == ["grades.csv: 0 new, 0 changed, 30 unchanged"]


def test_moodles_worksheet_goes_back_with_everyones_grade(tmp_path):
    """By e-mail addresses, in another order, beside a namesake who has handed in nothing."""
    course = scored(tmp_path, *LISTS["Moodle"])
    sheet = worksheet([*CLASS[::-1], Person("5001", "", "Anna", "Schmidt", "5@y.example")])
    (tmp_path / "sheet.csv").write_text(written(sheet), encoding="utf-8")
    options = {"sheet": tmp_path / "sheet.csv"}
    notes, rows = exported(course, tmp_path / "grades.csv", "moodle", **options)
    own = {f"Participant {p.number}": str(p.points) for p in CLASS}
    assert {row["Identifier"]: row["Grade"] for row in rows} == own | {"Participant 5001": ""}
    assert [row["Full name"] for row in rows] == [row[1] for row in sheet[1:]], "as they were"
    assert notes == []
