"""All hand-ins with their fingerprints: only a changed one is graded again."""

import hashlib
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from course.settings import Course, CourseError


class Task(NamedTuple):
    """One submission to grade. The paths are the same on all machines of a cluster."""

    root: Path
    assignment: str
    student: str
    submission: Path
    seed: str
    fingerprint: str


def tasks_of(course: Course, name: str, students: Sequence[str] = ()) -> list[Task]:
    """All hand-ins of an assignment, or those of some students.

    The fingerprint covers the notebook that was handed in, the assignment's source and release,
    the limits and the seed, but not the time. A new version of the course's own code does not
    change it: published grades must not change by accident, so that needs `--force`.
    """
    there = course.students(name)
    missing = sorted(set(students) - set(there))
    if missing:
        raise CourseError(
            f"{name}: nothing was handed in by {', '.join(missing)} (student ids are the names of "
            f"the folders in {course.room('submitted')})"
        )
    sources = [course.room(step) / name / f"{name}.ipynb" for step in ("source", "release")]
    shared = b"".join(hashlib.sha256(content(path)).digest() for path in sources)
    shared += repr(course.limits()).encode()
    tasks = []
    for student in students or there:
        path, seed = course.hand_in(name, student), f"{course.grading.term}/{student}"
        parts = shared + seed.encode() + hashlib.sha256(content(path)).digest()
        fingerprint = hashlib.sha256(parts).hexdigest()
        tasks.append(Task(course.root, name, student, path, seed, fingerprint))
    return tasks


def content(path: Path) -> bytes:
    """The file's bytes, or a marker if it is not a plain file (a link, a pipe)."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return b"not a plain file"
        return path.read_bytes()
    except OSError as error:
        return f"unreadable: {error.strerror}".encode()
