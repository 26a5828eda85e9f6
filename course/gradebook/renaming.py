"""`python -m course rename`: rename an assignment, in the gradebook and all folders.

First all assignments are checked for conflicts. Then the gradebook changes in one transaction, then
the files and folders are renamed one by one, `submitted/` last. If it is killed at any moment, the
same command continues from there.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.api import Assignment
from sqlalchemy import delete, select, update
from sqlalchemy.engine import make_url

from course.gradebook import attempts, backups
from course.gradebook.extensions import EXTENSIONS
from course.gradebook.records import GRADED
from course.settings import OLD_NAMES, Course, CourseError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

STEPS = ("autograded", "feedback", "submitted")


def rename(
    course: Course,
    old: str,
    new: str | None = None,
    backup: bool = True,
    say: Callable[[str], None] = print,
) -> int:
    """Rename the assignment `old` to `new`; "all": those with a name of an earlier version.

    Points, comments, extensions and times are kept. Raises CourseError, before anything is changed,
    if there is no `old`, if the new name has no source notebook, or if both names are in one place.
    """
    if (old == "all") == (new is not None):
        raise CourseError("give the old name and the new one, or only `all`")
    who = f"{backups.this_process()}, which renames"
    with backups.only_one(course, who), closing(course.gradebook()) as book:
        known = _in_gradebook(book) | _in_folders(course, STEPS)
        if old == "all":
            pairs = {one: name for one, name in OLD_NAMES.items() if one in known}
        else:
            pairs = {old: str(new)}
        for one, name in pairs.items():
            _check(course, book, one, name, known)
        if not pairs:
            say("Nothing here has an old name.")
        elif backup and (copy := backups.back_up(course)):
            say(f"The gradebook is backed up: {copy.relative_to(course.root)}")
        for one, name in pairs.items():
            _rename_in_gradebook(book, one, name)
            _rename_files(_moves(course, one, name))
            hand_ins, grades = len(course.students(name)), len(book.assignment_submissions(name))
            say(f"{one} is now {name}: {hand_ins} hand-ins, {grades} grades")
    return 0


def reminder(course: Course) -> str:
    """A line if there are still names of an earlier version, or ""; creates no gradebook."""
    known = _in_folders(course, ("submitted",))
    url = make_url(course.db_url)
    if url.get_backend_name() != "sqlite" or Path(url.database or "").is_file():
        with closing(course.gradebook()) as book:
            known |= _in_gradebook(book)
    old = [name for name in OLD_NAMES if name in known]
    if not old:
        return ""
    return (
        f"Assignments have old names, which no command sees: {', '.join(old)}. "
        "`python -m course rename all` gives them the new ones."
    )


def _in_gradebook(book: "Gradebook") -> set[str]:
    return {assignment.name for assignment in book.assignments}


def _in_folders(course: Course, steps: Sequence[str]) -> set[str]:
    return {folder.name for home in _homes(course, steps) for folder in home.iterdir()}


def _homes(course: Course, steps: Sequence[str] = STEPS) -> Iterator[Path]:
    """The folders with one folder per assignment: each student's, and those `collect` has kept."""
    for step in steps:
        room = course.room(step)
        for home in (*room.glob("*"), *room.glob(".earlier/*")):
            if home.is_dir() and not home.name.startswith("."):
                yield home


def _moves(course: Course, old: str, new: str) -> list[tuple[Path, Path]]:
    """The renames, old path and new path, in order: the files of a folder before the folder."""
    report, newer = (course.room("autograded") / f"report-{name}.txt" for name in (old, new))
    moves = [(report, newer)] if report.exists() and not newer.exists() else []
    for home in _homes(course):
        folder = home / old
        if folder.is_dir():
            kept = [path for path in folder.glob("*/*") if path.parent.name.isdigit()]
            files = [path for path in (*folder.glob("*"), *kept) if path.stem == old]
            moves += [(path, path.with_name(new + path.suffix)) for path in files]
        if os.path.lexists(folder):
            moves.append((folder, home / new))
    return moves


def _rename_files(moves: Sequence[tuple[Path, Path]]) -> None:
    for path, target in moves:
        try:
            os.rename(path, target)
        except OSError as error:
            raise CourseError(
                f"{path} cannot be renamed: {error.strerror}. Repair that, then run the same "
                "command, which continues from here."
            ) from error


def _check(course: Course, book: "Gradebook", old: str, new: str, known: set[str]) -> None:
    """Raises CourseError, with the remedy, if the assignment cannot be renamed."""
    course.chosen(new)
    if old in course.assignments():
        raise CourseError(
            f"{old} has a source, {course.room('source') / old}: rename that first, as only what "
            "came in and the gradebook are renamed here"
        )
    if old not in known:
        raise CourseError(
            f"{old}: neither the gradebook nor a folder of hand-ins has that name. "
            f"There are: {', '.join(sorted(one for one in known if one[0] != '.')) or 'none'}."
        )
    for path, target in _moves(course, old, new):
        if os.path.lexists(target):
            raise CourseError(
                f"{path.parent.relative_to(course.root)} holds both {path.name} and {target.name}: "
                "move the one that does not count out of there, then run the same command. "
                "Nothing has been changed."
            )
    if {old, new} <= _in_gradebook(book):
        _check_both(book, old, new)


def _check_both(book: "Gradebook", old: str, new: str) -> None:
    """The new name may already be released, but nothing may depend on it."""
    newer = book.find_assignment(new)
    if newer.submissions:
        students = ", ".join(sorted(one.student_id for one in newer.submissions))
        raise CourseError(
            f"the gradebook has grades of both {old} and {new}. Note what a person gave for {new} "
            f"({students}), take it out with `cd course && nbgrader db assignment remove {new} "
            f"--force`, run the same command, then `python -m course grade {new}`. Nothing has "
            "been changed."
        )
    if newer.duedate:
        raise CourseError(
            f"the gradebook has both {old} and {new}, which is due {newer.duedate} UTC. Note the "
            f"date, take it away with `python -m course due {new} none`, run the same command, "
            "then enter the date again. Nothing has been changed."
        )


def _rename_in_gradebook(book: "Gradebook", old: str, new: str) -> None:
    """All or nothing. Entries of the new name without a submission are replaced."""
    for table in (GRADED, EXTENSIONS):
        table.create(book.engine, checkfirst=True)
    db = book.db
    try:
        known = {one.name: one for one in db.scalars(select(Assignment))}
        if old in known:
            if new in known:
                _remove(db, known[new])
            known[old].name = new
            for notebook in known[old].notebooks:
                notebook.name = new if notebook.name == old else notebook.name
            db.execute(delete(GRADED).where(GRADED.c.assignment == new))
            theirs = select(EXTENSIONS.c.student).filter_by(assignment=old)
            both = delete(EXTENSIONS).where(EXTENSIONS.c.student.in_(theirs))
            db.execute(both.filter_by(assignment=new))
            for table in (GRADED, EXTENSIONS):
                db.execute(update(table).filter_by(assignment=old).values(assignment=new))
            attempts.rename(db, old, new)
        db.commit()
    except BaseException:
        db.rollback()
        raise


def _remove(db: Any, assignment: Assignment) -> None:
    """Remove an assignment without hand-ins, as nbgrader would, but without its commit."""
    for notebook in assignment.notebooks:
        for cell in (*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells):
            db.delete(cell)
        for cell in notebook.source_cells:
            db.delete(cell)
        db.delete(notebook)
    db.delete(assignment)
    db.flush()  # before its name is taken
