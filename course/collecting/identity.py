"""The owner of a file, by its path and the lists of students; never by a guess."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from course.collecting.hand_in_files import normal
from course.collecting.opening import Refused
from course.settings import printable

if TYPE_CHECKING:
    from course.collecting.sheets import SheetRow

NOBODY = "nobody on the list of students is called"


class Unclear(Refused):
    """A file with an unclear owner: it is kept for a person to decide."""


class Person(NamedTuple):
    """A student of the gradebook."""

    id: str
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    lms_user_id: str | None = None

    @property
    def named(self) -> bool:
        """Whether the gradebook knows more than the id, which grading enters by itself."""
        return any(self[1:])


class People:
    """Who may hand in: the gradebook's students, and the rows of the learning system's sheet."""

    def __init__(self, students: Iterable[Person], sheet: Sequence["SheetRow"] = ()) -> None:
        self.students, self.sheet = list(students), sheet
        self.listed = [person for person in self.students if person.named]

    @cached_property
    def _exact(self) -> Mapping[str, set[str]]:
        return _index((normal(label), one.id) for one in self.students for label in _labels(one))

    @cached_property
    def _similar(self) -> Mapping[str, set[str]]:
        return _index((folded(label), one.id) for one in self.students for label in _labels(one))

    @cached_property
    def _numbers(self) -> Mapping[str, set[str]]:
        return _index((one.lms_user_id or "", one.id) for one in self.listed)

    @cached_property
    def _rows(self) -> Mapping[str, "SheetRow"]:
        return {row.number: row for row in self.sheet if row.number}

    def named(self, label: str) -> set[str]:
        """Students with this id, e-mail address or name: as written, otherwise nearly so."""
        exact = self._exact.get(normal(" ".join(label.split())))
        return exact or self._similar.get(folded(label), set())

    def numbered(self, number: str) -> set[str]:
        """Students with this number in the learning system."""
        return self._numbers.get(number, set())

    def has_number(self, student: str) -> bool:
        """Whether the list has a number of the learning system for the student."""
        return any(student in known for known in self._numbers.values())

    def row(self, number: str | None) -> "SheetRow | None":
        """The sheet's row with a number."""
        return self._rows.get(number or "")

    def of_row(self, row: "SheetRow") -> set[str]:
        """The students that a row of the sheet may mean."""
        for label in (row.student_id, row.email, row.full_name):
            if label and (known := self.named(label)):
                return known
        return self.numbered(row.number or "")

    def row_of(self, student: str) -> "SheetRow | None":
        """The only row of the sheet that is this student's."""
        rows = self._rows_by_student.get(student, [])
        return rows[0] if len(rows) == 1 else None

    @cached_property
    def _rows_by_student(self) -> Mapping[str, list["SheetRow"]]:
        found = defaultdict(list)
        for row in self.sheet:
            who = self.of_row(row) or {row.student_id or row.full_name or ""}
            if len(who) == 1:
                found[next(iter(who))].append(row)
        return found

    @cached_property
    def doubled_rows(self) -> frozenset[str]:
        """The full names, folded, of several rows of the sheet."""
        names = Counter(folded(row.full_name or "") for row in self.sheet)
        return frozenset(name for name, times in names.items() if times > 1)


def folded(name: str) -> str:
    """A name without case, spaces and signs: systems write them in many ways.

    >>> folded("O’Brien, Zoë") == folded("obrienzoë")
    True
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(one for one in text if unicodedata.category(one)[0] in "LNM")


def _index(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    """Label -> the students of whom it is; an empty label is nobody's."""
    found = defaultdict(set)
    for label, student in pairs:
        if label:
            found[label].add(student)
    return found


def _labels(person: Person) -> set[str]:
    """The id, the e-mail address, and the name in the orders that systems write."""
    first, last = (" ".join((name or "").split()) for name in person[1:3])
    both = {f"{first} {last}", f"{last} {first}", f"{last}, {first}"} if first and last else set()
    return {person.id, person.email or ""} | (both or {first or last})


def doubled_names(groups: Iterable[Mapping[str, str | None]]) -> frozenset[str]:
    """The full names, folded, that occur with several numbers."""
    numbers = defaultdict(set)
    for one in groups:
        if (number := one.get("number") or one.get("lms_user_id")) and one.get("full_name"):
            numbers[folded(one["full_name"] or "")].add(number)
    return frozenset(full for full, several in numbers.items() if len(several) > 1)


def label_of(groups: Mapping[str, str | None]) -> str:
    """How the download names the person: two labels may be two people."""
    keys = ("number", "lms_user_id", "student_id", "full_name", "titled", "team", "anonymous")
    return next((groups[key] or "" for key in keys if groups.get(key)), "")


def student_of(
    groups: Mapping[str, str | None],
    people: People,
    doubled: frozenset[str] = frozenset(),
    new_students: bool = False,
) -> str:
    """The student's id: the gradebook's, or without a list what the path says.

    Raises Unclear if it is not clear who it is, Refused for an id that cannot be one.
    """
    if groups.get("team"):
        raise Unclear(f"a team ({groups['team']}): who is in it? Copy the file for each member")
    if groups.get("anonymous"):
        raise Unclear(f"anonymous ({groups['anonymous']}): show the names there, download again")
    known, label = _known(groups, people, doubled)
    if len(known) > 1:
        raise Unclear(f"{label} may be {' or '.join(sorted(known))}")
    if known:
        return good_id(next(iter(known)))
    if people.listed and not new_students:
        raise Unclear(f"{NOBODY} {label}")
    return good_id(label)


def _known(
    groups: Mapping[str, str | None], people: People, doubled: frozenset[str]
) -> tuple[set[str], str]:
    """The students whom a path may mean, and how the path calls them."""
    if titled := groups.get("titled"):
        return _by_title(titled, people)
    if named := groups.get("student_id"):
        return people.named(named), named
    full, canvas = groups.get("full_name") or "", groups.get("lms_user_id")
    number = groups.get("number") or canvas
    if row := people.row(number):
        full = row.full_name or full
        if known := people.of_row(row) or ({row.student_id} if row.student_id else set()):
            return known, full or row.student_id or ""
    if canvas and (known := people.numbered(canvas)):
        return known, full
    label = full if people.listed or not canvas else canvas
    if folded(full) in doubled | people.doubled_rows and not (canvas and not people.listed):
        raise Unclear(
            f"several people are called {full}: --sheet tells them apart by their numbers"
        )
    if groups.get("number") and _team(full) and not people.named(full):
        raise Unclear(f"{full} may be a team: who is in it? Copy the file for each member")
    known = people.named(full) if full else set()
    return {one for one in known if not (canvas and people.has_number(one))}, label


def _team(name: str) -> bool:
    """Whether Moodle's groups are often called so.

    >>> _team("Group A"), _team("Gruppe 12"), _team("Grouper Tom")
    (True, True, False)
    """
    words = name.casefold().split()
    kinds = ("group", "team", "gruppe", "groupe", "grupo", "gruppo", "équipe", "equipo")
    return bool(words) and words[0] in kinds and len(words) <= 2


def _by_title(titled: str, people: People) -> tuple[set[str], str]:
    """The user name at the end of Blackboard's TITLE_USER; both may have underscores."""
    pieces = titled.split("_")
    ends = ["_".join(pieces[number:]) for number in range(1, len(pieces))]
    known = {end: people.named(end) for end in ends}
    return set().union(*known.values()), ends[-1] if ends else titled


def good_id(student: str) -> str:
    """A student id that can name a folder and that nbgrader accepts. Raises Refused."""
    student = student.strip()
    if not student or student.startswith(".") or len(student.encode("utf-8", "replace")) > 128:
        raise Refused(f"{printable(student)!r} is not a student id; rename the folder or file")
    bad = {one for one in student if one in r'/\*?[]{}"' or unicodedata.category(one)[0] == "C"}
    if bad:
        signs = printable("".join(sorted(bad)))
        raise Refused(f"a student id cannot contain {signs}; rename the folder or file")
    return student
