"""Whose a file is, by what its path says and by the gradebook's list; never by a guess."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.collecting.hand_in_files import Refused
from course.settings import printable


class Unclear(Refused):
    """A file of which it is not clear whose it is: it is kept for a person to sort out."""


class Students(NamedTuple):
    """listed: (id, first name, last name, number) of the gradebook's; doubled: full names that
    several people of one download have, whom only the learning system's numbers tell apart.
    """

    listed: Sequence[tuple[str, str | None, str | None, str | None]]
    doubled: frozenset[str]


def doubled_names(pattern: re.Pattern, paths: Sequence[str]) -> frozenset[str]:
    """The full names that stand with several numbers."""
    numbers = defaultdict(set)
    for match in filter(None, (pattern.fullmatch(normal(path)) for path in paths)):
        groups = match.groupdict()
        if groups.get("number"):
            numbers[groups["full_name"]].add(groups["number"])
    return frozenset(full for full, several in numbers.items() if len(several) > 1)


def normal(path: str) -> str:
    """One form for what looks alike; macOS takes its letters apart."""
    return unicodedata.normalize("NFC", path)


def student_of(groups: Mapping[str, str | None], students: Students) -> str:
    """The student's id: as named, or of whom the gradebook knows, or what the system calls them.

    Raises Refused if it is not clear.
    """
    if named := groups.get("student_id") or groups.get("student"):
        return named
    full, number = groups.get("full_name"), groups.get("lms_user_id")
    if full in students.doubled:
        raise Unclear(f"several people are called {full}")
    known = [
        id
        for id, first, last, lms in students.listed
        if (number and lms == number) or (full and f"{first} {last}" == full)
    ]
    if len(known) > 1:
        raise Unclear(f"{full or number} may be {' or '.join(known)}")
    if full and not known and any(last for _, _, last, _ in students.listed):
        raise Unclear(f"nobody in the gradebook's list is called {full}")
    return known[0] if known else (full or number or "")


def good_id(student: str) -> str:
    """A student id that can name a folder and that nbgrader takes as it is. Raises Refused."""
    student = student.strip()
    if not student or student.startswith(".") or len(student.encode()) > 128:
        raise Refused(f"{printable(student)!r} is no student id")
    bad = {one for one in student if one in r'/\*?[]{}"' or unicodedata.category(one)[0] == "C"}
    if bad:
        raise Refused(f"a student id cannot hold {printable(''.join(sorted(bad)))}")
    return student
