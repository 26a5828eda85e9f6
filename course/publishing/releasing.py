"""`python -m course release`, `due` and `extend`: students' versions and due dates."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from bertlab._files import write_atomically
from course.gradebook import backups, extensions, records, releases
from course.gradebook.late_policy import LatePolicy
from course.grading.assignments import check_source, read_page
from course.settings import Course, CourseError, said, utc_moment

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

MOST_DAYS = 366  # of an extension


def release(
    course: Course,
    assignments: Sequence[str],
    exchange: bool = False,
    say: Callable[[str], None] = print,
    yes: bool = False,
    backup: bool = True,
) -> int:
    """Make exercises/NAME from solutions/NAME and enter it in the gradebook; 1 if one failed.

    exchange: also put it into nbgrader's exchange, for students on a hub. yes: also if that deletes
    what a person gave. One that fails changes neither its files nor the gradebook.
    """
    faults = 0
    for name in assignments:
        try:
            for line in _release(course, name, yes, backup):
                say(line)
        except CourseError as error:
            say(f"{name}: NOT RELEASED, nothing has changed: {error}")
            faults += 1
            continue
        if exchange:
            result = course.nbgrader.release_assignment(name)
            success = result["success"]
            say(f"{name}: {'handed out through the exchange' if success else said(result)}")
            faults += not success
    return int(faults > 0)


def _release(course: Course, name: str, yes: bool, backup: bool) -> list[str]:
    """Release one assignment, all or nothing; returns lines for the instructor."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        stage = course.elsewhere(Path(folder))
        files = _built(course, stage, name)
        who = f"{backups.this_process()}, which releases"
        with (
            backups.only_one(course, who),
            closing(stage.gradebook()) as made,
            closing(course.gradebook()) as book,
        ):
            fresh = made.find_notebook(name, name)
            changes = releases.changes(book, name, fresh)
            if changes.lost and not yes:
                raise CourseError(
                    "it would delete what a person gave to cells that are gone from the source:\n"
                    + "".join(f"    {line}\n" for line in changes.lost)
                    + f"  Put these cells back, or delete it by `release {name} --yes`."
                )
            copy = backups.back_up(course) if backup and (changes.lines or changes.lost) else None
            place = course.room("release") / name
            before = _contents(place)
            try:
                releases.enter(book, name, fresh, changes.renamed)
                _put(place, files)
                book.db.commit()
            except BaseException:
                book.db.rollback()
                _put(place, before)
                raise
            cells = fresh.grade_cells
            points = sum(cell.max_score for cell in cells)
            tests = sum(cell.cell_type == "code" for cell in cells)
    lines = [
        f"{name}: {points:g} points in {len(cells)} cells, "
        f"{tests} graded by tests, {len(cells) - tests} by a person; "
        f"students get {place.relative_to(course.root)}/{name}.ipynb"
    ]
    if changes.lines:
        whose = releases.counted(changes.students, "student")
        lines.append(f"  {whose} with scores: run `grade {name}` next")
    lines += [f"  {line}" for line in changes.lines]
    lines += [f"  deleted: {line}" for line in changes.lost]
    if copy:
        lines.append(f"  The gradebook before that: {copy.relative_to(course.root)}")
    return lines


def _built(course: Course, stage: Course, name: str) -> dict[Path, bytes]:
    """The students' files, made by nbgrader in another place. Raises CourseError."""
    source = course.room("source") / name
    if others := sorted(path.name for path in source.glob("*.ipynb") if path.stem != name):
        raise CourseError(
            f"{source.relative_to(course.root)} also has {', '.join(others)}, and an assignment "
            "has one notebook. Move the others to another folder."
        )
    path = source / f"{name}.ipynb"
    check_source(read_page(path, course.root), str(path.relative_to(course.root)))
    result = stage.nbgrader.generate_assignment(name, force=True, create=True)
    if not result["success"]:
        raise CourseError(f"{path.relative_to(course.root)}: nbgrader says: {said(result)}")
    return _contents(stage.room("release") / name)


def _contents(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def _put(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Give the folder these files and no others; each changes in one step, notebooks last."""
    for name in sorted(files, key=lambda name: name.suffix == ".ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, files[name])
    for name in _contents(folder).keys() - files.keys():
        (folder / name).unlink()


def released(
    course: Course, assignments: Sequence[str], say: Callable[[str], None] = print
) -> list[str]:
    """Those of the assignments that are in the gradebook; says which are not.

    Raises CourseError if none is.
    """
    with closing(course.gradebook()) as book:
        known = {assignment.name for assignment in book.assignments}
    missing = [name for name in assignments if name not in known]
    if len(missing) == len(assignments):
        raise records.not_released(missing[0])
    if missing:
        say(f"Not released, so nothing was set: {', '.join(missing)}")
    return [name for name in assignments if name in known]


def set_due(course: Course, name: str, due: str) -> str:
    """Set when an assignment is due, e.g. "2026-12-01T23:59+01:00", or "none".

    Late penalties are updated at once. Raises CourseError if it is not a time with a zone.
    """
    moment = None
    if due != "none":
        try:
            moment = utc_moment(due)
        except ValueError:
            raise CourseError(
                f"{due}: not a time with its zone; write it as 2026-12-01T23:59+01:00, or none"
            ) from None
    released(course, [name])
    with closing(course.gradebook()) as book:
        book.update_or_create_assignment(name, duedate=moment)
        records.charge_all(book, name, LatePolicy(config=course.config))
    return f"{name}: due {moment:%Y-%m-%d %H:%M} UTC" if moment else f"{name}: no due date"


def extend(course: Course, name: str, student: str, days: int) -> str:
    """Give one student this many more days, instead of those given before; 0 removes them.

    Late penalties are updated at once; before a hand-in is graded, the days are kept until then.
    Raises CourseError if days is not from 0 to 366, or if a list of students lacks this one.
    """
    if not 0 <= days <= MOST_DAYS:
        raise CourseError(
            f"--days {days}: give the days that the student has more than the others, 0 to "
            f"{MOST_DAYS}; 0 removes an extension"
        )
    released(course, [name])
    with closing(course.gradebook()) as book:
        _check_listed(book, student)
        graded = extensions.grant(book, name, student, days)
        records.charge_all(book, name, LatePolicy(config=course.config))
        due = book.find_assignment(name).duedate
    more = f"{releases.counted(days, 'day')} more" if days else "no extension"
    until = f"due {due + timedelta(days):%Y-%m-%d %H:%M} UTC" if due else "no due date is set"
    kept = "" if graded or not days else "; nothing of theirs is graded yet, so it is kept"
    return f"{name}: {student} has {more}: {until}{kept}"


def _check_listed(book: "Gradebook", student: str) -> None:
    """Raises CourseError if a list of students was imported and this one is not known."""
    known = {one.id: one.last_name or one.first_name or one.email for one in book.students}
    if any(known.values()) and student not in known:
        near = get_close_matches(student, known, 1)
        raise CourseError(
            f"{student} is not a student of the gradebook's list"
            + (f"; is it {near[0]}?" if near else "; ids are as in `nbgrader db student list`")
        )
