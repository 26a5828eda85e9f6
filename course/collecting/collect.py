"""`python -m course collect`: hand-ins from a folder, Moodle's or Canvas's zip, or the exchange.

nbgrader's own `zip_collect` unpacks archives to disk under the names in them, follows links and has
no limits; so we use only its layout of `submitted/` and its pattern's group names.
"""

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.utils import parse_utc

from bertlab._files import write_atomically
from course.collecting.hand_in_files import HandIn, Refused, checked, files_in
from course.collecting.identity import Students, Unclear, doubled_names, good_id, normal, student_of
from course.gradebook.records import read_timestamp
from course.settings import Course, CourseError, names_of, printable, said

# File names of the systems: Moodle "Ada Lovelace_123_assignsubmission_file_/ex01_bpe.ipynb" (or
# with "_" for "/"), Canvas "lovelaceada_LATE_123_456_ex01_bpe-1.ipynb" with its number of the user
# first, our own layouts "ada/ex01_bpe.ipynb", "ada/ex01_bpe/ex01_bpe.ipynb", "ada_ex01_bpe.ipynb".
# Students choose the rest after the system's part, so no pattern searches for its part later.
MOODLE = r"(?P<full_name>[^/]+?)_(?P<number>\d+)_assignsubmission_file_[/_]?(?P<file>.+)"
CANVAS = r"[^/_]+_(?P<late>LATE_)?(?P<lms_user_id>\d+)_\d+_(?P<file>[^/]+)"
PLAIN = r"(?P<student_id>[^/]+)/(?P<file>.+)|(?P<student>[^/]+)_(?P<flat>(?:{names})\.ipynb)"
LONGEST_NAME = 200  # bytes; file systems take 255
GROUPS = ("student_id", "full_name", "lms_user_id")


class Found(NamedTuple):
    """A notebook that belongs to a student."""

    student: str
    file: str
    content: bytes
    time: datetime | None
    late: bool


def collect(
    course: Course,
    name: str,
    source: Path,
    pattern: str | None = None,
    handed_in: datetime | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Put the notebooks of a folder or zip file into submitted/; 1 if one was refused.

    pattern: a regular expression for a file's whole path with the group `student_id` (or
    `full_name` or `lms_user_id`, looked up among the gradebook's students), and optionally `file`
    and `timestamp`. handed_in: the time of all of them, in UTC without a zone.
    """
    with closing(course.gradebook()) as book:
        listed = [(s.id, s.first_name, s.last_name, s.lms_user_id) for s in book.students]
    found, refused = defaultdict(list), []
    with files_in(source) as files:
        pages = [file for file in files if _is_notebook(file.name)]
        matching = _pattern(name, [file.name for file in pages], pattern)
        students = Students(listed, doubled_names(matching, [file.name for file in pages]))
        for file in pages:
            try:
                one = _read(file, matching, students)
                found[one.student].append(one)
            except Refused as reason:
                kept = _sort_out(course, name, file) if isinstance(reason, Unclear) else ""
                refused.append(f"{printable(file.name)}: refused: {reason}{kept}")
    done: dict[Any, int] = defaultdict(int)
    for student, theirs in sorted(found.items()):
        try:
            one = _choose(name, theirs)
            done[store(course, name, one, handed_in)] += 1
            if one.late:
                say(f"  {student}: Canvas says LATE; give the time with --handed-in if it counts")
        except Refused as reason:
            refused.append(f"{student}: refused: {reason}")
    for line in refused:
        say(f"  {line}")
    counts = ", ".join(f"{done[word]} {word}" for word in ("new", "newer", "unchanged", "older"))
    say(f"{name}: {counts}, {len(refused)} refused")
    return int(bool(refused))


def collect_from_exchange(course: Course, name: str, say: Callable[[str], None] = print) -> int:
    """nbgrader's collect, without following links; 1 if it failed."""
    result = course.nbgrader.collect(name)
    say(f"{name}: {'collected from the exchange' if result['success'] else said(result)}")
    return int(not result["success"])


def _is_notebook(path: str) -> bool:
    """Whether it is a notebook, not one of Jupyter's or macOS's extra files."""
    parts = path.split("/")
    beside = parts[-1].startswith("._") or {".ipynb_checkpoints", "__MACOSX"} & set(parts)
    return path.lower().endswith(".ipynb") and not beside


def _pattern(name: str, files: Sequence[str], pattern: str | None) -> re.Pattern:
    """One pattern for the whole download, so that no file can imitate another system's."""
    if pattern is None:
        for system in (MOODLE, CANVAS):
            if files and all(re.fullmatch(system, file) for file in files):
                return re.compile(system)
        return re.compile(PLAIN.format(names=_names(name)))
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise CourseError(f"--pattern {pattern}: not a regular expression: {error}") from error
    if not set(compiled.groupindex) & set(GROUPS):
        raise CourseError(f"--pattern {pattern}: needs a group such as (?P<student_id>[^/]+)")
    return compiled


def _sort_out(course: Course, name: str, file: HandIn) -> str:
    """Keep a file of an unclear student; returns the end of a line: where, or why not."""
    folder = course.root / "to-sort-out" / name
    called = printable(file.name).replace("/", " ").lstrip(".")
    if len(called.encode()) > LONGEST_NAME:  # shortened, and still another than the others
        called = f"{sha256(called.encode()).hexdigest()[:20]}.ipynb"
    try:
        content = file.read()
    except Refused as reason:
        return f"; not kept: {reason}"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / called, content)
    where = folder.relative_to(course.root)
    return f"; it is in {where}: name it STUDENT_{name}.ipynb there and collect --from {where}"


def _names(name: str) -> str:
    """A pattern: a student's notebook may still have the name of an earlier version."""
    return "|".join(map(re.escape, names_of(name)))


def _read(file: HandIn, pattern: re.Pattern, students: Students) -> Found:
    """The file's student and content. Raises Refused."""
    match = pattern.fullmatch(normal(checked(file.name)))
    if match is None:
        raise Refused("the pattern does not say whose it is; give another with --pattern")
    groups = match.groupdict()
    time = file.time
    if pattern.pattern == CANVAS:
        time = None  # its zip files hold the time of the download
    if groups.get("timestamp"):
        try:
            time = parse_utc(groups["timestamp"])
        except (ValueError, OverflowError):
            raise Refused(f"{groups['timestamp']!r} is not a time") from None
    label = groups.get("file") or groups.get("flat") or file.name
    student = good_id(student_of(groups, students))
    return Found(student, Path(label).name, file.read(), time, bool(groups.get("late")))


def _choose(name: str, files: Sequence[Found]) -> Found:
    """The one notebook of a student that counts. Raises Refused if that is not clear."""
    # Browsers and Canvas number a file that comes again: ex01_bpe-1.ipynb, ex01_bpe (1).ipynb.
    again = re.compile(rf"(?:{_names(name)})( ?\(\d+\)|-\d+)?\.ipynb", re.IGNORECASE)
    named = [one for one in files if again.fullmatch(one.file)] or list(files)
    if len(named) > 1 and len({one.content for one in named}) > 1:
        # A later one counts, where that can be told.
        times = sorted((one.time for one in named if one.time), reverse=True)
        if len(times) < len(named) or times[0] == times[1]:
            names = ", ".join(sorted(one.file for one in named))
            raise Refused(f"several notebooks, not clear which counts: {printable(names)}")
        named = [one for one in named if one.time == times[0]]
    return named[0]


def store(course: Course, name: str, one: Found, handed_in: datetime | None = None) -> str:
    """Store a hand-in: "new", "newer", "unchanged" or "older" (than the stored one).

    The previous one is kept in submitted/.earlier/STUDENT/NAME/. The folder is moved into place in
    one step, so nobody sees it half written.
    """
    time = handed_in or one.time
    path = course.hand_in(name, one.student)
    there, _ = read_timestamp(path.parent)
    if path.is_file() and path.read_bytes() == one.content and (handed_in or there) == there:
        return "unchanged"
    if path.exists() and not handed_in and time and there and time < there:
        return "older"
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(dir=path.parent.parent, prefix=".collecting-"))
    try:
        new = room / name
        new.mkdir()
        write_atomically(new / path.name, one.content)
        if time:
            write_atomically(new / "timestamp.txt", f"{time} UTC\n")
        old = os.path.lexists(path.parent)
        if old:
            _keep(course, name, one.student, path.parent)
        new.rename(path.parent)
    finally:
        shutil.rmtree(room)
    return "newer" if old else "new"


def _keep(course: Course, name: str, student: str, folder: Path) -> None:
    """Move an earlier hand-in to a folder that nbgrader ignores."""
    kept = course.room("submitted") / ".earlier" / student / name
    kept.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(one.name) for one in kept.iterdir() if one.name.isdigit()), default=0)
    folder.rename(kept / str(number))
