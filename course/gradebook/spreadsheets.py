"""CSV files of spreadsheets and learning systems, read by the meaning of their columns.

Excel, LibreOffice, Moodle, Canvas, Brightspace and Blackboard differ in encoding, delimiter, order
and language; the tables below are all that the commands know of them.
"""

import csv
import io
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from course.settings import CourseError, printable

Meanings = dict[str, tuple[str, ...]]
# Meaning -> headers, in English, German, French and Spanish; case, accents and marks do not count.
MEANINGS: Meanings = {
    "id": (
        *("id", "student id", "ID number", "student number", "matriculation number"),
        *("ID-Nummer", "Matrikelnummer", "Matrikel-Nr.", "Matr.-Nr.", "Studierenden-ID"),
        *("Numéro d'identification", "Numéro étudiant", "Número de ID", "Matrícula"),
    ),
    "login": ("username", "login", "user name", "Anmeldename", "Benutzername", "Kennung"),
    "first_name": ("first name", "given name", "Vorname", "Prénom", "Nombre"),
    "last_name": (
        *("last name", "surname", "family name", "Nachname", "Familienname", "Zuname"),
        *("Nom", "Nom de famille", "Apellido(s)", "Apellidos"),
    ),
    "full_name": (
        *("full name", "student", "student name", "name", "Vollständiger Name"),
        *("Nom complet", "Nombre completo"),
    ),
    "email": (
        *("email", "email address", "mail", "E-Mail-Adresse", "Adresse e-mail"),
        *("Adresse de courriel", "Courriel", "Dirección de correo", "Correo electrónico"),
    ),
    "lms_user_id": ("lms_user_id", "canvas user id"),
}
WORKSHEET: Meanings = {
    "number": ("Identifier", "ID", "Identifiant", "Identificador"),
    "id": tuple(name for name in MEANINGS["id"] if name != "id"),
    "handed_in": (
        *("Last modified (submission)", "Zuletzt geändert (Abgabe)"),
        *("Dernière modification (travail remis)", "Dernière modification (remise)"),
        "Última modificación (entrega)",
    ),
    "grade": ("Grade", "Bewertung", "Note", "Calificación"),
    "maximum": ("Maximum Grade", "Bestwertung", "Note maximale", "Calificación máxima"),
    "open": (
        *("Grade can be changed", "Bewertung kann geändert werden"),
        *("La note peut être modifiée", "La calificación puede cambiarse"),
    ),
}
SUBMISSIONS: Meanings = {
    "number": ("user_id", "canvas user id", "id"),
    "id": ("sis_user_id", "student id"),
    "full_name": (*MEANINGS["full_name"], "user_name"),
    "handed_in": ("submitted_at",),
}
CANVAS: Meanings = {"id": ("SIS User ID",), "login": ("SIS Login ID",), "lms_user_id": ("ID",)}
BRIGHTSPACE: Meanings = {"id": ("OrgDefinedId",), "lms_user_id": ("Username",)}
# Whose file, the headers that tell, and the columns that mean something else there.
LAYOUTS: tuple[tuple[str, tuple[str, ...], Meanings], ...] = (
    ("Moodle's grading worksheet", ("Last modified (grade)",), WORKSHEET),
    ("Moodle's grading worksheet", ("Zuletzt geändert (Bewertung)",), WORKSHEET),
    ("Moodle's grading worksheet", ("Dernière modification (note)",), WORKSHEET),
    ("Moodle's grading worksheet", ("Última modificación (calificación)",), WORKSHEET),
    ("Canvas's submissions", ("submitted_at",), SUBMISSIONS),
    ("Canvas's gradebook", ("SIS Login ID",), CANVAS),
    ("Canvas's gradebook", ("Student", "ID", "Section"), CANVAS),
    ("Brightspace's grades", ("OrgDefinedId",), BRIGHTSPACE),
    ("a list", (), {}),
)
MOODLE_SHEET, CANVAS_SHEET, CANVAS_LIST, BRIGHTSPACE_LIST = dict.fromkeys(
    layout for layout, *_ in LAYOUTS[:-1]
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # where a spreadsheet begins to calculate


class Table(NamedTuple):
    """A CSV file. header, rows: the cells as written; lines: the number of each row's first line.

    layout: whose file it is; columns: the place of each meaning that it has; encoding: how it was
    read.
    """

    path: Path
    layout: str
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    columns: dict[str, int]
    encoding: str

    def value(self, row: Sequence[str], meaning: str) -> str:
        """The clean text of a cell; "" if the row or the table has none."""
        place = self.columns.get(meaning, len(row))
        text = clean(row[place]) if place < len(row) else ""
        # Brightspace writes "#0123", so that no spreadsheet makes a number of it.
        return text.removeprefix("#") if self.layout == BRIGHTSPACE_LIST else text

    def has(self, meaning: str) -> bool:
        """Whether any row has a value for it."""
        return any(self.value(row, meaning) for row in self.rows)

    def header_of(self, meaning: str) -> str:
        """The column's name in the file."""
        return printable(clean(self.header[self.columns[meaning]]))


def read(path: Path) -> Table:
    """Read a CSV file in UTF-8, UTF-16 or Windows-1252, with commas, semicolons or tabs.

    Blank rows are left out. Raises CourseError, with the remedy, if it is not such a file.
    """
    text, encoding = _decoded(path)
    rows, lines = [], []
    for line, row in _rows(text, path):
        if any(clean(cell) for cell in row):
            rows.append(row)
            lines.append(line)
    if len(rows) < 2:
        raise CourseError(f"{path} has no rows below a header: save the list again, as CSV UTF-8")
    header, *rows = rows
    for line, row in zip(lines[1:], rows, strict=True):
        more = [clean(cell) for cell in row[len(header) :]]
        if any(more):
            raise CourseError(
                f"{path}, line {line}: {len(row)} cells below a header of {len(header)}. Put a "
                "text that contains the delimiter in double quotes; a spreadsheet does that."
            )
    return _understood(Table(path, "", header, rows, lines[1:], {}, encoding))


def clean(text: str) -> str:
    """A cell's text in Unicode's composed form, without what protects it from a spreadsheet.

    >>> clean('="0042"'), clean("'=cmd"), clean(" O'Brien "), clean("'T Hooft")
    ('0042', '=cmd', "O'Brien", "'T Hooft")
    """
    text = unicodedata.normalize("NFC", " ".join(text.split()))
    if quoted := re.fullmatch(r'="(.*)"', text):
        return quoted[1]
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def _understood(table: Table) -> Table:
    """The table with its layout and the meanings of its columns.

    Of several columns with one meaning the first that has values counts. Raises CourseError if two
    of them could be the id.
    """
    places = {_plain(name): place for place, name in reversed([*enumerate(table.header)])}
    layout, _, own = next(one for one in LAYOUTS if all(_plain(name) in places for name in one[1]))
    filled = {place for row in table.rows for place, cell in enumerate(row) if clean(cell)}
    columns = {}
    for meaning, names in (MEANINGS | own).items():
        found = list(dict.fromkeys(places[_plain(n)] for n in names if _plain(n) in places))
        used = [place for place in found if place in filled]
        if meaning == "id" and len(used) > 1:
            heads = " and ".join(clean(table.header[place]) for place in used)
            raise CourseError(f"{table.path}: {heads} may be the id: keep one of these columns")
        if found:
            columns[meaning] = (used or found)[0]
    if "first_name" in columns and "last_name" not in columns and "full_name" in columns:
        columns["last_name"] = columns.pop("full_name")  # "Name" beside "Vorname"
    return table._replace(layout=layout, columns=columns)


def _plain(header: str) -> str:
    letters = unicodedata.normalize("NFKD", header).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def _decoded(path: Path) -> tuple[str, str]:
    """The text and its encoding. Raises CourseError if it is not text."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{path} is a workbook: save it as CSV UTF-8, and give that file")
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        guesses: Sequence[str] = ["utf-16"]
    elif b"\0" in data[:100]:
        guesses = ["utf-16-le" if data[1:2] == b"\0" else "utf-16-be"]
    else:
        guesses = ["utf-8-sig", "cp1252"]
    for encoding in guesses:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise CourseError(f"{path} is not text in UTF-8 or Windows-1252: save it as CSV UTF-8")


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its first line. Raises CourseError if a quote is never closed."""
    given = re.match(r"sep=(.)\r?\n", text)  # Excel's own line
    head = next((line for line in text.splitlines()[bool(given) :] if line.strip()), "")
    marks = given[1] if given else ",;\t"
    try:
        mark = max(marks, key=lambda mark: len(next(csv.reader([head], delimiter=mark), [])))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        start = 1
        for row in reader:
            if not (given and start == 1):
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise CourseError(
            f"{path}, line {start}: not a row of a CSV file ({error}); is a double quote open?"
        ) from error
