"""The owner of a file, by its path and the gradebook's list; never by a guess."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.collecting.hand_in_files import Refused
from course.settings import printable


class Unclear(Refused):
    """A file with an unclear owner: it is kept for a person to decide."""


class Students(NamedTuple):
    """listed: (id, first name, last name, number) of the gradebook's; doubled: full names
    that several people of one download share, who differ only by the learning system's numbers.
    """

    listed: Sequence[tuple[str, str | None, str | None, str | None]]
    doubled: frozenset[str]


def doubled_names(pattern: re.Pattern, paths: Sequence[str]) -> frozenset[str]:
    """The full names that occur with several numbers."""
    numbers = defaultdict(set)
    for match in filter(None, (pattern.fullmatch(normal(path)) for path in paths)):
        groups = match.groupdict()
        if groups.get("number"):
            numbers[groups["full_name"]].add(groups["number"])
    return frozenset(full for full, several in numbers.items() if len(several) > 1)


def normal(path: str) -> str:
    """Unicode's composed form; macOS decomposes letters."""
    return unicodedata.normalize("NFC", path)


def student_of(groups: Mapping[str, str | None], students: Students) -> str:
    """The student's id: the given one, or the gradebook's, or the learning system's.

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
    """A student id that can name a folder and that nbgrader accepts. Raises Refused."""
    student = student.strip()
    if not student or student.startswith(".") or len(student.encode()) > 128:
        raise Refused(f"{printable(student)!r} is not a student id")
    bad = {one for one in student if one in r'/\*?[]{}"' or unicodedata.category(one)[0] == "C"}
    if bad:
        raise Refused(f"a student id cannot contain {printable(''.join(sorted(bad)))}")
    return student
