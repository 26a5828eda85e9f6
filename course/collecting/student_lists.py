"""`python -m course students`: a list of students from a spreadsheet or a learning system."""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nbgrader.api import Student

from course import ROOT
from course.collecting.identity import good_id
from course.collecting.opening import Refused
from course.gradebook import spreadsheets
from course.gradebook.spreadsheets import CANVAS_LIST, FORMULA, Table
from course.settings import Course, CourseError, named, printable

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

FIELDS = ("first_name", "last_name", "email", "lms_user_id")
LONGEST = 128  # characters of the gradebook's columns
MOST = 20  # changes and problems that are listed
KEYS = ("id", "login", "email", "lms_user_id")  # the first that has values is the id
UNIQUE = ("email", "lms_user_id")


class Person(NamedTuple):
    """A row of a list: its line, the id, and the fields that have a value."""

    line: int
    id: str
    fields: Mapping[str, str]


def main(arguments: Sequence[str]) -> int:
    """Enter a list of students into the gradebook; nobody is removed."""
    parser = argparse.ArgumentParser(prog="python -m course students", description=main.__doc__)
    parser.add_argument("list", type=Path, metavar="LIST.csv", help="with a header")
    parser.add_argument("--dry-run", action="store_true", help="only say what would change")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    with closing(Course(asked.root).gradebook()) as book:
        return take(book, asked.list, asked.dry_run)


def take(
    book: "Gradebook", path: Path, dry_run: bool = False, say: Callable[[str], None] = print
) -> int:
    """Enter a list into the gradebook, all or nothing, and say what is new; returns 0.

    Nobody is removed, and an empty cell changes nothing. Raises CourseError, which names the lines,
    if an id is missing, occurs twice or cannot name a folder, or if two people share an address or
    a number.
    """
    table = spreadsheets.read(path)
    people = list(_people(table, say))
    known = {student.id: student for student in book.students}
    if problems := _problems(people, known):
        more = [f"and {len(problems) - MOST} more"] if len(problems) > MOST else []
        lines = "\n  ".join([*problems[:MOST], *more])
        raise CourseError(f"{path}: nothing is changed until these lines are right:\n  {lines}")
    old = [person for person in people if person.id in known]
    changes = [(p.id, what) for p in old if (what := _changes(p, known[p.id]))]
    for id, what in changes[:MOST]:
        say(f"  {id}: {what}")
    if others := sorted(known.keys() - {person.id for person in people}):
        say(f"  in the gradebook, but not in the list: {named(others)}; nobody is removed")
    if not dry_run:
        _write(book, people, known)
    say(
        f"{path.name}: {len(people) - len(old)} new, {len(changes)} changed, "
        f"{len(old) - len(changes)} unchanged{'; nothing is written' if dry_run else ''}"
    )
    return 0


def _people(table: Table, say: Callable[[str], None]) -> Iterator[Person]:
    """The people of a table. Raises CourseError if no column can be the id."""
    key = next((name for name in KEYS if table.has(name)), None)
    if key is None:
        raise CourseError(
            f"{table.path}: no column has ids. Its columns are: {named(table.header)}. Name "
            "them as in id,first_name,last_name,email,lms_user_id, or export the list from Moodle, "
            "Canvas or Brightspace."
        )
    if key != "id":
        say(f"  the ids are those of the column {table.header_of(key)}, as no other has ids")
    if table.encoding == "cp1252":
        say("  the list is not in UTF-8 but in Windows-1252: look whether umlauts are right")
    left_out = []
    for line, row in zip(table.lines, table.rows, strict=True):
        fields = {name: table.value(row, name) for name in FIELDS}
        full = table.value(row, "full_name")
        if table.layout == CANVAS_LIST and _is_canvas_own(table, row):
            left_out.append(f"{full or 'no name'} (line {line})")
            continue
        if not fields["first_name"] and not fields["last_name"]:
            last, _, first = full.partition(", ")  # a full name without a comma stays whole
            fields |= {"first_name": first, "last_name": last}
        given = {name: fields[name] for name in FIELDS if fields[name]}
        yield Person(line, table.value(row, key), given)
    if left_out:
        say(f"  left out, as Canvas's own rows: {named(left_out)}")


def _is_canvas_own(table: Table, row: Sequence[str]) -> bool:
    """Whether a row is the points possible or the test student, whose login is a digest."""
    named_so = table.value(row, "full_name") == "Student, Test" and not table.value(row, "id")
    digest = re.fullmatch(r"[0-9a-f]{16,}|", table.value(row, "login"))
    return not table.value(row, "lms_user_id") or bool(named_so and digest)


def _problems(people: list[Person], known: Mapping[str, Student]) -> list[str]:
    """What is wrong, each with its line: nobody may be there twice, also not under another id."""
    listed, seen = {person.id for person in people}, {}
    for student in known.values():
        for name in UNIQUE:
            if student.id not in listed and (value := getattr(student, name)):
                where = f"{student.id} of the gradebook has it; give this row that id"
                seen[name, value.casefold()] = where
    problems = []
    for person in people:
        problems += [f"line {person.line}: {what}" for what in _faults(person)]
        for name in ("id", *UNIQUE):
            value = person.id if name == "id" else person.fields.get(name, "")
            where = seen.setdefault((name, value.casefold()), f"it is in line {person.line}")
            if value and where != f"it is in line {person.line}":
                problems.append(f"line {person.line}: {name} {printable(value)} again: {where}")
    return problems


def _faults(person: Person) -> Iterator[str]:
    if not person.id:
        yield f"no id for {printable(' '.join(person.fields.values())) or 'a nameless row'}"
        return
    try:
        good_id(person.id)
    except Refused as reason:
        yield str(reason)
    if person.id.startswith(FORMULA):
        yield f"id {printable(person.id)}: a spreadsheet would take it for a formula"
    if re.fullmatch(r"\d([.,]\d+)?E\+\d+", person.id):
        yield f"id {person.id} was rounded by a spreadsheet: format the column as text there"
    for name, value in person.fields.items():
        if len(value) > LONGEST:
            yield f"{name} has more than {LONGEST} characters"


def _changes(person: Person, student: Student) -> str:
    """The fields that differ, before and after."""
    return ", ".join(
        f"{name} {printable(getattr(student, name) or 'none')} -> {printable(value)}"
        for name, value in person.fields.items()
        if getattr(student, name) != value
    )


def _write(book: "Gradebook", people: list[Person], known: Mapping[str, Student]) -> None:
    """All or nothing."""
    try:
        for person in people:
            student = known.get(person.id) or Student(id=person.id)
            for name, value in person.fields.items():
                setattr(student, name, value)
            book.db.add(student)
        book.db.commit()
    except BaseException:
        book.db.rollback()
        raise
