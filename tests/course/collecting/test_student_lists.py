"""Lists of students as spreadsheets and learning systems write them, into the gradebook."""

from contextlib import closing

import pytest

from course.__main__ import main
from course.collecting import student_lists
from course.settings import CourseError
from tests.course.small_course import new_course

OURS = "id,first_name,last_name,email,lms_user_id\n"
ADA = ("Ada", "Lovelace", "ada@x.example", None)
JÖRG = ("Jörg", "Müller", "jm@x.example", None)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("list") / "c")


@pytest.fixture
def book(empty):
    """The gradebook of a course without students."""
    with closing(empty.gradebook()) as book:
        yield book
        book.db.rollback()
        for student in book.students:
            book.db.delete(student)
        book.db.commit()


def taken(book, path, content, **options):
    """The printed lines, and the gradebook's students by id."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = []
    assert student_lists.take(book, path, say=said.append, **options) == 0
    return said, students(book)


def students(book):
    rows = book.students
    return {s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in rows}


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("id,first_name,last_name,email", ","),
        ("ID;Vorname;Nachname;E-Mail-Adresse", ";"),
        ("Matrikelnummer\tVORNAME\tFamilienname\tE-Mail", "\t"),
        ("Matrikel-Nr.;Vorname;Name;Mail", ";"),
        ("Student ID,First Name,Surname,Email address", ","),
        ("ID number,First name,Last name,Email address", ","),
        ("Número de ID;Nombre;Apellido(s);Dirección de correo", ";"),
        ("Numéro d’identification;Prénom;Nom;Adresse de courriel", ";"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_spreadsheets_of_each_language_and_encoding_are_read(
    book, tmp_path, header, delimiter, encoding
):
    rows = ["007", "Jörg", "Müller", "jm@x.example"], ["12", "Ada", "Lovelace", "ada@x.example"]
    lines = [header, "", *(delimiter.join(row) for row in rows), delimiter * 3, ""]
    said, found = taken(book, tmp_path / "list.csv", "\r\n".join(lines).encode(encoding))
    assert found == {"007": JÖRG, "12": ADA}
    assert said[-1] == "list.csv: 2 new, 0 changed, 0 unchanged"


LISTS = {
    "Moodle's grades": (
        '"First name",Surname,"ID number",Institution,Department,"Email address","Quiz: one"\n'
        'Jörg,Müller,007,"A, B",,jm@x.example,56.00\n',
        {"007": JÖRG},
    ),
    "Moodle's participants, without ID numbers": (
        '"First name","Last name","ID number","Email address",Groups\n'
        'Jörg,Müller,,jm@x.example,"A, B"\n',
        {"jm@x.example": JÖRG},
    ),
    "Canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (101)\n,,,,,Manual Posting\n"
        '    Points Possible,,,,,10\n"Müller, Jörg",41,007,jm,"A and B",9\n'
        '"Student, Test",99,,bbbc6740f0b946af,A,\n',
        {"007": ("Jörg", "Müller", None, "41")},
    ),
    "Canvas without SIS": (
        'Student,ID,SIS Login ID,Section\n"Student, Test",41,ts,A\nSukarno,42,su,A\n',
        {"ts": ("Test", "Student", None, "41"), "su": (None, "Sukarno", None, "42")},
    ),
    "Brightspace": (
        "OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
        "#007,#jmueller,Müller,Jörg,jm@x.example,#\n",
        {"007": ("Jörg", "Müller", "jm@x.example", "jmueller")},
    ),
    "Blackboard": (
        '"Last Name"\t"First Name"\t"Username"\t"Student ID"\n"Müller"\t"Jörg"\t"jm"\t"007"\n',
        {"007": ("Jörg", "Müller", None, None)},
    ),
    "protected from Excel": (
        f"\ufeffsep=,\n{OURS}" + '="007",Jörg,\'=cmd,,\n',
        {"007": ("Jörg", "=cmd", None, None)},
    ),
    "ours": (OURS + "007, Jo\u0308rg ,Müller,,41\n", {"007": ("Jörg", "Müller", None, "41")}),
}


@pytest.mark.parametrize("name", LISTS)
def test_exports_of_learning_systems_are_read(book, tmp_path, name):
    text, expected = LISTS[name]
    _, found = taken(book, tmp_path / "list.csv", text)
    assert found == expected


def test_the_column_of_the_ids_and_rows_left_out_are_named(book, tmp_path):
    said, _ = taken(
        book, tmp_path / "moodle.csv", LISTS["Moodle's participants, without ID numbers"][0]
    )
    assert "  the ids are those of the column Email address, as no other has ids" in said
    said, _ = taken(book, tmp_path / "canvas.csv", LISTS["Canvas"][0])
    assert (
        "  left out, as Canvas's own rows: no name (line 2), Points Possible (line 3), "
        "Student, Test (line 5)" in said
    )


def test_a_second_list_changes_what_it_says_and_removes_nobody(book, tmp_path):
    path = tmp_path / "list.csv"
    taken(book, path, OURS + "ada,Ada,Byron,ada@x,7\nben,Ben,B,,\ncy,Cy,C,,\n")
    second = OURS + "ada,Ada,Lovelace,,7\nben,Ben,B,,\ndan,Dan,D,,\n"
    before = students(book)
    said, now = taken(book, path, second, dry_run=True)
    assert now == before
    assert said == [
        "  ada: last_name Byron -> Lovelace",
        "  in the gradebook, but not in the list: cy; nobody is removed",
        "list.csv: 1 new, 1 changed, 1 unchanged; nothing is written",
    ]
    said, now = taken(book, path, second)
    assert said[-1] == "list.csv: 1 new, 1 changed, 1 unchanged"
    assert now["ada"] == ("Ada", "Lovelace", "ada@x", "7"), "an empty cell changes nothing"
    assert set(now) == {"ada", "ben", "cy", "dan"}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (",Jörg,Müller,,", "line 4: no id for Jörg Müller"),
        ("ADA,Jörg,Müller,,", "line 4: id ADA again: it is in line 2"),
        ("jm,Jörg,Müller,ADA@x,", "line 4: email ADA@x again: it is in line 2"),
        ("jm,Jörg,Müller,,7", "line 4: lms_user_id 7 again: it is in line 2"),
        ("a/b,Jörg,Müller,,", "line 4: a student id cannot contain /"),
        (".jm,Jörg,Müller,,", "line 4: '.jm' is not a student id"),
        ("@jm,Jörg,Müller,,", "line 4: id @jm: a spreadsheet would take it for a formula"),
        ("1.23457E+11,Jörg,Müller,,", "line 4: id 1.23457E+11 was rounded by a spreadsheet"),
        ("jm,Jörg,Müller,old@x,", "line 4: email old@x again: 0815 of the gradebook has it"),
        (f"jm,{'J' * 129},Müller,,", "line 4: first_name has more than 128 characters"),
        ("jm,Jörg,Müller,,,,x", "line 4: 7 cells below a header of 5"),
        ('jm,"Jörg,Müller,,', "line 4: not a row of a CSV file"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_written(book, tmp_path, row, problem):
    book.add_student("0815", email="old@x")
    list_ = tmp_path / "list.csv"
    list_.write_text(f'{OURS}ada,Ada,"Love\nlace",ada@x,7\n{row}\n', encoding="utf-8")
    with pytest.raises(CourseError) as raised:
        student_lists.take(book, list_, say=lambda line: None)
    assert problem in str(raised.value)
    assert set(students(book)) == {"0815"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no rows below a header"),
        (OURS.encode(), "no rows below a header"),
        (b"PK\x03\x04rest", "is a workbook: save it as CSV UTF-8"),
        (b"Name\nAda\n", "no column has ids. Its columns are: Name"),
        (b"ID,Matrikelnummer\n1,007\n", "ID and Matrikelnummer may be the id: keep one"),
        (b"id\n\x81\n", "is not text in UTF-8 or Windows-1252"),
    ],
)
def test_another_file_is_refused_with_a_remedy(book, tmp_path, content, complaint):
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(CourseError, match=complaint):
        student_lists.take(book, tmp_path / "list.csv")


def test_a_failure_while_writing_changes_nothing(book, tmp_path, monkeypatch):
    def full(*args):
        raise OSError("disk full")

    monkeypatch.setattr(book.db, "commit", full)
    with pytest.raises(OSError, match="disk full"):
        taken(book, tmp_path / "list.csv", OURS + "ada,Ada,Byron,,\n")
    monkeypatch.undo()
    assert students(book) == {}


def test_the_command_says_what_it_did(empty, book, tmp_path, capsys):
    path = tmp_path / "class.csv"
    path.write_text(OURS + "ada,Ada,Byron,,\n")
    assert main(["--root", str(empty.root), "students", str(path)]) == 0
    assert capsys.readouterr().out == "class.csv: 1 new, 0 changed, 0 unchanged\n"
    assert main(["--root", str(empty.root), "students", str(tmp_path / "none.csv")]) == 1
    assert "none.csv cannot be read: No such file" in capsys.readouterr().err
