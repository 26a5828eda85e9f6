"""Downloads of learning systems for a class of 30 people with difficult names.

Each builder follows a public description of the system's names: see `course.collecting.layouts`.
"""

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from course.collecting import collect
from course.collecting.entries import Options
from course.collecting.identity import Person
from course.collecting.sheets import SheetRow
from course.gradebook.records import read_timestamp
from tests.course.small_course import NAME, make

ZONE = ZoneInfo("Europe/Berlin")
# First and last names; the last one hands in no notebook.
NAMES = """
Sinéad|O'Brien, Jürgen|Müller, 小明|王, Anna|van der Berg, Jan|Novák, Jan|Novák, María|de la Cruz,
Sukarno|, |Teller, Mary_Jane|Watson, Louis|14, Jean-Luc|Picard-Smith, Ada 🦊|Fox, Ada|Lovelace,
Łukasz|Żółć, Gina|D’Angelo, Thị Ánh|Nguyễn, محمد|علي, Александр|Иванов, Ana - María|Ruiz,
St. John|Smith Jr., Group|Theory, İpek|Şahin, Günther|Weiß, X|Y, Lovelace|Ada Byron,
Anna|van den Berg, Zoë|attempt, R2|D2, Tom|Onlinetext
"""
CLASS = [
    Person(f"id{number:02}", first, last, f"p{number}@school.example", str(7000 + number))
    for number, (first, last) in enumerate(re.findall(r"\s*([^|,\n]*)\|([^,\n]*)", NAMES), 1)
]
DOUBLED = {"id05", "id06"}  # one name
TEXT = CLASS[-1]


class Download(NamedTuple):
    """files: path and content; options: to collect with; unclear: ids whose files the layout alone
    cannot tell from others'; times: whether each hand-in has its time.
    """

    files: list[tuple[str, bytes]]
    options: Options
    unclear: set[str]
    times: bool


def list_of_students(folder: Path):
    """A course with the class in its gradebook."""
    course = make(folder)
    with closing(course.gradebook()) as book:
        for person in CLASS:
            book.add_student(person.id, **dict(zip(Person._fields[1:], person[1:], strict=True)))
    return course


def page(person: Person, attempt: str = "") -> bytes:
    """A notebook that nobody else has."""
    return json.dumps({"cells": [], "metadata": {"who": person.id + attempt}}).encode()


def handed_in(person: Person) -> datetime:
    """The local time of a hand-in: all minutes of the clock, before and after noon."""
    number = int(person.id[2:])
    return datetime(2026, 11, 19, 0, 5) + timedelta(minutes=47 * number)


def in_utc(local: datetime) -> datetime:
    """Berlin's winter time in UTC, without a zone."""
    return local - timedelta(hours=1)


def full_name(person: Person) -> str:
    return " ".join(filter(None, (person.first_name, person.last_name)))


def _moodle_name(text: str) -> str:
    """clean_filename, and the underscores that Moodle needs for itself."""
    return re.sub(r"""[&<>"`|':\\/]""", "", text.replace("_", " "))


def sheet(kind: str) -> list[SheetRow]:
    """What Moodle's grading worksheet or Canvas's export says."""
    return [
        SheetRow(
            number=str(4000 + int(person.id[2:])) if kind == "moodle" else person.lms_user_id,
            student_id=None if kind == "moodle" else person.id,
            full_name=full_name(person),
            email=person.email if kind == "moodle" else None,
            handed_in=in_utc(handed_in(person)),
        )
        for person in CLASS
    ]


def _moodle(folder: str, blind: bool = False, known: bool = True, form: str = "NFC") -> Download:
    files = []
    for number, person in enumerate(CLASS, 4001):
        name = "Participant" if blind else _moodle_name(full_name(person))
        start = unicodedata.normalize(form, f"{name}_{number}_assignsubmission_")
        if person == TEXT:
            path = f"{start}onlinetext{folder}onlinetext.html"
            files.append((path, b"<p>see my mail"))
            continue
        files.append((f"{start}file{folder}{NAME}.ipynb", page(person)))
        if number % 4 == 0 and folder.endswith("/"):
            files.append((f"{start}file{folder}{NAME} (1).ipynb", page(person)))
    unclear = set() if known else {one.id for one in CLASS} if blind else DOUBLED
    return Download(files, Options(sheet=sheet("moodle") if known else ()), unclear, known)


def _canvas(known: bool = True) -> Download:
    files = []
    for number, person in enumerate(CLASS, 900):
        first, last = person.first_name, person.last_name
        name = re.sub(r"\W", "", ", ".join(filter(None, (last, first))).lower())
        start = f"{name}_{'LATE_' if number % 5 == 0 else ''}{person.lms_user_id}"
        if person == TEXT:
            files.append((f"{start}_text.html", b"<p>see my mail"))
        else:
            files.append((f"{start}_{number}_{NAME}{'-1' * (number % 2)}.ipynb", page(person)))
    return Download(files, Options(sheet=sheet("canvas") if known else ()), set(), known)


def _brightspace(between: str, zone: ZoneInfo | None = ZONE) -> Download:
    files = [("index.html", b"<html>")]
    for person in CLASS:
        for days in (0, 1) if person.id in ("id01", "id13") else (0,):
            time = handed_in(person) - timedelta(days=days)
            shown = f"{time:%b} {time.day}, {time.year} {int(time.strftime('%I'))}{time:%M %p}"
            start = f"6650-41 - {full_name(person)} - {shown}{between}"
            name, content = f"{NAME}.ipynb", page(person, " earlier" * days)
            if person == TEXT:
                name, content = "my text.html", b"<p>"
            files.append((start + name, content))
    return Download(files, Options(zone=zone), DOUBLED, zone is not None)


def _blackboard() -> Download:
    files = []
    for person in CLASS:
        for days in (0, 1) if person.id in ("id01", "id13") else (0,):
            time = handed_in(person) - timedelta(days=days)
            start = f"{NAME}_{person.id}_attempt_{time:%Y-%m-%d-%H-%M-%S}"
            files.append((f"{start}.txt", f"Name: {full_name(person)} ({person.id})".encode()))
            name, content = f"{NAME}.ipynb", page(person, " earlier" * days)
            if person == TEXT:
                name, content = "my text.docx", b"PK"
            files.append((f"{start}_{name}", content))
    return Download(files, Options(zone=ZONE), set(), True)


def _google() -> Download:
    files = [
        (f"{full_name(person)} - {NAME}.{'pdf' if person == TEXT else 'ipynb'}", page(person))
        for person in CLASS
    ]
    files[-1] = (files[-1][0], b"%PDF")
    return Download(_numbered(files), Options(), DOUBLED, False)


def _numbered(files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Two files of one name, as browsers and Drive call them."""
    seen: set[str] = set()
    done = []
    for name, content in files:
        again = name.replace(".ipynb", " (1).ipynb") if name in seen else name
        seen.add(again)
        done.append((again, content))
    return done


def _github() -> Download:
    slug = NAME.replace("_", "-")
    files = []
    for person in CLASS:
        top = f"{slug}-{person.id}"
        files += [(f"{top}/README.md", b"# Readme"), (f"{top}/.git/config", b"[core]")]
        if person == TEXT:
            continue
        within = f"exercises/{NAME}/" if int(person.id[2:]) % 2 else ""
        files.append((f"{top}/{within}{NAME}.ipynb", page(person)))
        files.append((f"{top}/exercises/ex02_wordpiece/ex02_wordpiece.ipynb", b'{"cells": []}'))
    return Download(files, Options(), set(), False)


def _ours(form: str, by: Callable[[Person], str] = lambda person: person.id) -> Download:
    files = [(form.format(who=by(one), name=NAME), page(one)) for one in CLASS[:-1]]
    files.append((form.format(who=by(TEXT), name=NAME).replace(".ipynb", ".pdf"), b"%PDF"))
    return Download(files, Options(), set(), False)


def zipped(files: Sequence[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip file; its entries have the time of the download."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            info = zipfile.ZipInfo(name, (2026, 11, 21, 9, 0, 0)) if isinstance(name, str) else name
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def unpacked(folder: Path, files: Sequence[tuple[str, bytes]]) -> Path:
    """The files in a folder."""
    for name, content in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def collected(course, source, name=NAME, dry_run=False, **options):
    """The exit code, the lines, and the content of each hand-in.

    source: a folder or a file, or what is in a zip file: its bytes, or names and contents.
    """
    if not isinstance(source, Path):
        archive = course.root.parent / "download.zip"
        archive.write_bytes(source if isinstance(source, bytes) else zipped(source))
        source = archive
    said = []
    code = collect.collect(course, name, source, Options(**options), dry_run, said.append)
    return code, "\n".join(said), stored(course)


def stored(course, name=NAME):
    """Student -> the content of the hand-in."""
    return {one: course.hand_in(name, one).read_bytes() for one in course.students(name)}


def time_of(course, student):
    """The known time of a hand-in."""
    time, warning = read_timestamp(course.hand_in(NAME, student).parent)
    assert not warning
    return time


def _own_zips(download: Download) -> Download:
    """Each notebook in a zip file of the student's."""
    files = [
        (name.replace(".ipynb", ".zip"), zipped([(f"work/{NAME}.ipynb", content)]))
        if name.endswith(".ipynb")
        else (name, content)
        for name, content in download.files
    ]
    return download._replace(files=files)


def _inside(download: Download, *folders: str) -> Download:
    """The same with folders around it, in parts of equal size."""
    size = -(-len(download.files) // len(folders))
    files = [
        (folders[number // size] + name, content)
        for number, (name, content) in enumerate(download.files)
    ]
    return download._replace(files=files)


DOWNLOADS: dict[str, Callable[[], Download]] = {
    "Moodle 3": lambda: _moodle("_/"),
    "Moodle 4": lambda: _moodle("/"),
    "Moodle 4, from macOS": lambda: _moodle("/", form="NFD"),
    "Moodle, flat": lambda: _moodle("_"),
    "Moodle without its worksheet": lambda: _moodle("/", known=False),
    "Moodle, blind, names shown again in the worksheet": lambda: _moodle("/", blind=True),
    "Moodle, blind": lambda: _moodle("/", blind=True, known=False),
    "Canvas": _canvas,
    "Canvas without its export": lambda: _canvas(known=False),
    "Brightspace": lambda: _brightspace("/"),
    "Brightspace, files": lambda: _brightspace(" - "),
    "Brightspace without a zone": lambda: _brightspace("/", None),
    "Blackboard": _blackboard,
    "Google Classroom": _google,
    "GitHub Classroom": _github,
    "STUDENT/NAME.ipynb": lambda: _ours("{who}/{name}.ipynb"),
    "STUDENT/NAME/NAME.ipynb": lambda: _ours("{who}/{name}/{name}.ipynb"),
    "STUDENT_NAME.ipynb": lambda: _ours("{who}_{name}.ipynb"),
    "STUDENT/ by e-mail": lambda: _ours("{who}/{name}.ipynb", lambda one: one.email or ""),
    "a folder around Moodle": lambda: _inside(_moodle("/"), "CS-ex01-77/"),
    "sections of Moodle": lambda: _inside(_moodle("/"), "CS-77/", "CS-78/"),
    "a folder around Canvas": lambda: _inside(_canvas(), "a/submissions/"),
    "a folder around Blackboard": lambda: _inside(_blackboard(), "gradebook/"),
    "a folder around GitHub": lambda: _inside(_github(), f"{NAME.replace('_', '-')}-submissions/"),
    "a folder around STUDENT/": lambda: _inside(_ours("{who}/{name}.ipynb"), "download/"),
    "a folder around STUDENT_": lambda: _inside(_ours("{who}_{name}.ipynb"), "download/"),
    "a download in a zip file": lambda: Download(
        [("download.zip", zipped(_moodle("/").files))], _moodle("/").options, set(), True
    ),
    "students' zip files in Moodle": lambda: _own_zips(_moodle("/")),
    "students' zip files in Canvas": lambda: _own_zips(_canvas()),
    "students' zip files, STUDENT_": lambda: _own_zips(_ours("{who}_{name}.ipynb")),
}
