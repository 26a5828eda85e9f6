"""`python -m course collect`: hand-ins from a folder, a system's download, or the exchange.

First a plan: for each path of the download what it is, whose, when, and why; then it is shown and
carried out. nbgrader's own `zip_collect` unpacks archives to disk under the names in them, follows
links and has no limits; so we use only its layout of `submitted/` and its pattern's group names.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path, PurePosixPath

from bertlab._files import write_atomically
from course.collecting import reports
from course.collecting.entries import (
    NEW,
    NEWER,
    OLDER,
    REFUSED,
    SORT,
    TAKEN,
    UNCHANGED,
    Entry,
    Options,
)
from course.collecting.hand_in_files import files_in
from course.collecting.identity import People, Person
from course.collecting.plan import plan
from course.gradebook.records import read_timestamp
from course.settings import Course, printable, said

LONGEST_NAME = 200  # bytes; file systems take 255
UNKNOWN = "which-assignment"  # the folder of files whose assignment is not clear


def collect(
    course: Course,
    name: str,
    source: Path,
    options: Options = Options(),  # noqa: B008 - a NamedTuple
    dry_run: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Put the notebooks of a folder or zip file into submitted/; 1 if a person must look.

    name: of an assignment, or "all". dry_run: only show what would be done.
    """
    names = course.chosen(name)
    room = course.root / "to-sort-out"
    sorting = room.resolve() in (source.resolve(), *source.resolve().parents)
    options = options._replace(sorting=sorting)
    with closing(course.gradebook()) as book:
        students = [
            Person(s.id, s.first_name, s.last_name, s.email, s.lms_user_id) for s in book.students
        ]
    people = People(students, options.sheet)
    there = [path.name for path in course.room("submitted").glob("*")]
    with files_in(source) as files:
        entries = plan(files, names, course, people, options, there)
        done = [_done(course, entry, options, dry_run) for entry in entries]
    if not dry_run:
        _sorted_out(course, source, done, sorting)
    if dry_run:
        reports.table(done, say)
    for one in names:
        reports.report(course, one, [e for e in done if e.assignment == one], people, options, say)
    if rest := [entry for entry in done if entry.assignment not in names]:
        reports.report(course, "no assignment", rest, None, options, say)
    if dry_run:
        say("Nothing was written: --dry-run")
    return int(any(entry.state in reports.LOOK for entry in done))


def collect_from_exchange(course: Course, name: str, say: Callable[[str], None] = print) -> int:
    """nbgrader's collect, without following links; 1 if it failed."""
    failed = 0
    for one in course.chosen(name):
        result = course.nbgrader.collect(one)
        say(f"{one}: {'collected from the exchange' if result['success'] else said(result)}")
        failed |= not result["success"]
    return int(failed)


def _done(course: Course, entry: Entry, options: Options, dry_run: bool) -> Entry:
    """The entry after `_carried_out`; a file that cannot be stored stops nobody."""
    try:
        return _carried_out(course, entry, options, dry_run)
    except (OSError, ValueError) as error:
        return entry._replace(state=REFUSED, why=f"it cannot be stored: {error}")


def _carried_out(course: Course, entry: Entry, options: Options, dry_run: bool) -> Entry:
    """The entry with what was done with it, or would be."""
    if entry.state == TAKEN:
        state, why = _state(course, entry)
        if state in (NEW, NEWER) and not dry_run:
            store(course, entry)
        return entry._replace(state=state, why="; ".join(filter(None, (entry.why, why))))
    if entry.state == SORT and not options.sorting:
        folder = course.root / "to-sort-out" / (entry.assignment or UNKNOWN)
        if not dry_run:
            _keep_aside(folder, entry)
        return entry._replace(why=f"{entry.why}; it is in {folder.relative_to(course.root)}")
    return entry


def _state(course: Course, entry: Entry) -> tuple[str, str]:
    """What the hand-in is beside the stored one, and a remark."""
    path = course.hand_in(entry.assignment, entry.student)
    if not os.path.lexists(path.parent):
        return NEW, ""
    there, _ = read_timestamp(path.parent)
    same = path.is_file() and path.read_bytes() == entry.page
    if same and (entry.time or there) == there:
        return UNCHANGED, ""
    if not same and entry.time and there and entry.time < there:
        return OLDER, ""
    if not same and not entry.time and (number := _earlier(course, entry)):
        kept = f"submitted/.earlier/{entry.student}/{entry.assignment}/{number}"
        return OLDER, f"the same as {kept}; if it counts again, give its time"
    if there and not entry.time:
        return NEWER, f"replaces a hand-in of {there:%Y-%m-%d %H:%M} UTC, and has no time"
    return NEWER, ""


def _earlier(course: Course, entry: Entry) -> str:
    """The number under which the same hand-in was kept when a later one replaced it."""
    kept = course.room("submitted") / ".earlier" / entry.student / entry.assignment
    pages = kept.glob(f"*/{entry.assignment}.ipynb")
    return next((page.parent.name for page in pages if page.read_bytes() == entry.page), "")


def store(course: Course, entry: Entry) -> None:
    """Store a hand-in.

    The previous one is kept in submitted/.earlier/STUDENT/NAME/. The folder is moved into place in
    one step, so nobody sees it half written.
    """
    path = course.hand_in(entry.assignment, entry.student)
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(dir=path.parent.parent, prefix=".collecting-"))
    try:
        new = room / entry.assignment
        new.mkdir()
        write_atomically(new / path.name, entry.page or b"")
        if entry.time:
            write_atomically(new / "timestamp.txt", f"{entry.time} UTC\n")
        if os.path.lexists(path.parent):
            _keep(course, entry, path.parent)
        new.rename(path.parent)
    finally:
        shutil.rmtree(room)


def _keep(course: Course, entry: Entry, folder: Path) -> None:
    """Move an earlier hand-in to a folder that nbgrader ignores."""
    kept = course.room("submitted") / ".earlier" / entry.student / entry.assignment
    kept.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(one.name) for one in kept.iterdir() if one.name.isdigit()), default=0)
    folder.rename(kept / str(number))


def _aside(entry: Entry) -> str:
    """A file's name in to-sort-out/."""
    called = printable(entry.path).replace("/", " ").lstrip(".")
    if len(called.encode()) > LONGEST_NAME:  # shortened, and still another than the others
        digest = sha256(called.encode()).hexdigest()[:20]
        called = f"{digest}{PurePosixPath(called).suffix[:20]}"
    return called


def _keep_aside(folder: Path, entry: Entry) -> None:
    """Keep a file for a person to decide, beside others of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    called = PurePosixPath(_aside(entry))
    for number in count(1):
        path = folder / (called.name if number == 1 else f"{called.stem} ({number}){called.suffix}")
        if not path.is_file() or path.read_bytes() == entry.content:
            write_atomically(path, entry.content)
            return


def _sorted_out(course: Course, source: Path, entries: Sequence[Entry], sorting: bool) -> None:
    """Remove from to-sort-out/ what is in submitted/ now."""
    for entry in entries:
        paths = [course.root / "to-sort-out" / entry.assignment / _aside(entry)]
        paths += [source / entry.path] if sorting else []
        for path in paths if entry.student and entry.state in (NEW, NEWER, UNCHANGED) else ():
            if path.is_file() and path.read_bytes() == entry.content:
                path.unlink()
