"""The plan of `collect`: what each path of a download is, whose, when, and why.

Nothing is written, and nothing is left out: each path has one entry.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from nbgrader.utils import parse_utc

from course.collecting import layouts
from course.collecting.contents import Assignments, as_notebook, right_name
from course.collecting.hand_in_files import HandIn, Refused, checked
from course.collecting.identity import People, Unclear, doubled_names, label_of, student_of
from course.collecting.layouts import Layout, Match
from course.settings import Course, CourseError, names_of

if TYPE_CHECKING:
    from course.collecting.sheets import Sheet

NEW, NEWER, UNCHANGED, OLDER = "new", "newer", "unchanged", "older"
REFUSED, SORT, NOT = "refused", "to sort out", "not hand-ins"
STATES = (NEW, NEWER, UNCHANGED, OLDER, REFUSED, SORT, NOT)
TAKEN = "taken"  # until it is compared with the stored one
JUNK = {".ipynb_checkpoints", "__macosx", ".git", "__pycache__"}
JUNK_FILES = {".ds_store", "thumbs.db", "desktop.ini", "timestamp.txt"}
RECEIPT = "written by the learning system"
WHO = ("student_id", "full_name", "lms_user_id")


class Options(NamedTuple):
    """pattern: a regular expression for a file's whole path with the group `student_id` (or
    `full_name` or `lms_user_id`), and optionally `file` and `timestamp`. handed_in: the time of all
    of them, in UTC without a zone. sheet: the learning system's list of times; zone: of the times
    in names; new_students: whether to take people who are not on the list; sorting: whether the
    source is to-sort-out/.
    """

    pattern: str | None = None
    handed_in: datetime | None = None
    sheet: "Sheet | None" = None
    zone: ZoneInfo | None = None
    new_students: bool = False
    sorting: bool = False


class Entry(NamedTuple):
    """One path. assignment: "" if it is not clear; label: how the download names the person; file:
    the name that the student chose; content: the file, page: the notebook that it is; rank: the
    lowest of a person counts; order: the time of the attempt, by the name alone; late: whether
    Canvas says so; said: whether it needs a line.
    """

    path: str
    state: str
    why: str = ""
    assignment: str = ""
    student: str = ""
    label: str = ""
    time: datetime | None = None
    order: datetime | None = None
    file: str = ""
    content: bytes = b""
    page: bytes | None = None
    rank: int = 0
    late: bool = False
    said: bool = True


def plan(
    files: Sequence[HandIn],
    names: Sequence[str],
    course: Course,
    people: People,
    options: Options,
    there: Iterable[str] = (),
) -> list[Entry]:
    """An entry for each file, in order. names: the assignments; there: the folders of submitted/.

    Raises CourseError for an unusable pattern.
    """
    useful = [file for file in files if not _is_junk(file.name)]
    stamps = {file.name.rpartition("/")[0]: file for file in files if _is_stamp(file.name)}
    reader = _Reader(useful, stamps, names, course, people, options)
    entries = [_junk(file.name, names) for file in files if _is_junk(file.name)]
    entries += map(reader.entry, useful, reader.matches)
    entries = _one_person_each(map(_alone(entries), entries), people, there)
    groups: dict[Any, list[Entry]] = defaultdict(list)
    for number, entry in enumerate(entries):
        taken = entry.state == TAKEN
        groups[(entry.assignment, entry.student) if taken else number].append(entry)
    busy = {entry.student for entry in entries if entry.page is not None and entry.student}
    chosen = [
        one
        for group in groups.values()
        for one in (_chosen(group, busy) if group[0].state == TAKEN else group)
    ]
    return sorted(chosen, key=lambda entry: entry.path)


def _is_junk(path: str) -> bool:
    """Whether it is one of the extra files of Jupyter, macOS, Windows or git."""
    *folders, file = path.casefold().split("/")
    return bool(JUNK & set(folders)) or file in JUNK_FILES or file.startswith("._")


def _is_stamp(path: str) -> bool:
    return path.endswith("/timestamp.txt")


def _junk(path: str, names: Sequence[str]) -> Entry:
    return Entry(path, NOT, "an extra file", names[0] if len(names) == 1 else "", said=False)


class _Reader:
    """What the entries of one download are made with."""

    def __init__(
        self,
        files: Sequence[HandIn],
        stamps: Mapping[str, HandIn],
        names: Sequence[str],
        course: Course,
        people: People,
        options: Options,
    ) -> None:
        self.stamps, self.names, self.people, self.options = stamps, names, people, options
        self.assignments = Assignments(course)
        paths = [file.name for file in files]
        known = layouts.table(list(self.assignments.names))
        if options.pattern is not None:
            self.matches = _by_pattern(options.pattern, paths)
        elif options.sorting:
            self.matches = layouts.ours(paths, known)
        else:
            self.matches = layouts.recognised(paths, known, lambda who: bool(people.named(who)))
        self.doubled = doubled_names(one.groups for one in self.matches if isinstance(one, Match))

    def entry(self, file: HandIn, match: Match | str) -> Entry:
        """The entry of a file, before those of one person are compared."""
        groups = {} if isinstance(match, str) else match.groups
        label = groups.get("file") or groups.get("text") or file.name
        entry = Entry(file.name, TAKEN, file=label, label=_label(groups, self.people))
        named = self.assignments.by_name(label, file.name)
        named = named or self.assignments.by_slug(groups.get("slug"))
        entry = entry._replace(assignment=self._assignment(named))
        try:
            checked(file.name)
            if groups.get("own"):
                return entry._replace(state=NOT, why=RECEIPT, said=False)
            if file.name.endswith("/"):
                return entry._replace(state=NOT, why="an empty folder: nothing was handed in")
            if named and named not in self.names:
                return self._of_another(entry, named)
            entry = entry._replace(content=file.read())
            return self._read(entry, match, named)
        except Unclear as reason:
            return entry._replace(state=SORT, why=str(reason))
        except Refused as reason:
            return entry._replace(state=REFUSED, why=str(reason))

    def _assignment(self, of: str | None) -> str:
        if of and of in self.names:
            return of
        return self.names[0] if len(self.names) == 1 else ""

    def _of_another(self, entry: Entry, name: str) -> Entry:
        return entry._replace(state=NOT, why=f"belongs to {name}", said=False)

    def _read(self, entry: Entry, match: Match | str, named: str | None) -> Entry:
        """Its notebook, assignment, owner and time. Raises Refused."""
        page, why = as_notebook(entry.file, entry.content)
        of = self.assignments.by_cells(page) if page else None
        if of and of not in self.names and not named:
            return self._of_another(entry, of)
        entry = entry._replace(page=page, why=why, assignment=self._assignment(named or of))
        if isinstance(match, str):
            raise Unclear(match)
        student = student_of(match.groups, self.people, self.doubled, self.options.new_students)
        entry = entry._replace(student=student, late=bool(match.groups.get("late")))
        if named and of and of != named:
            why = f"it is named {named}, but its cells are those of {of}"
            return entry._replace(state=SORT, why=why)
        if not entry.assignment and page is not None:
            why = "neither its name nor its cells say of which assignment it is"
            return entry._replace(state=SORT, why=why)
        time, order = self._times(entry, match)
        return entry._replace(time=time, order=order, rank=self._rank(entry, of))

    def _rank(self, entry: Entry, of: str | None) -> int:
        right = right_name(entry.file, names_of(entry.assignment), layouts.AGAIN)
        if entry.file.lower().endswith(".py"):
            return 3 if right else 4
        return 0 if right else 1 if of == entry.assignment else 2

    def _times(self, entry: Entry, match: Match) -> tuple[datetime | None, datetime | None]:
        """The time of the hand-in in UTC, if it is known, and the order of several."""
        order = zoned = None
        if text := match.groups.get("timestamp"):
            order = _moment(text, match.layout)
            zone = self.options.zone
            zoned = order if not match.layout.time else order and zone and _in_utc(order, zone)
        row = self.people.row(match.groups.get("number") or match.groups.get("lms_user_id"))
        row = row or self.people.row_of(entry.student)
        stamp = self._stamp(entry) if match.layout == layouts.FOLDER else None
        time = self.options.handed_in or (row and row.handed_in) or zoned or _stamped(stamp)
        return time, order or _stamped(stamp)

    def _stamp(self, entry: Entry) -> HandIn | None:
        """The file timestamp.txt of STUDENT/NAME/; another one could be the student's own."""
        folder = entry.path.rpartition("/")[0]
        ours = folder.rpartition("/")[2] in self.names and "/" not in entry.file
        return self.stamps.get(folder) if ours else None


def _by_pattern(pattern: str, paths: Sequence[str]) -> list[Match | str]:
    """The matches of the user's own pattern."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise CourseError(f"--pattern {pattern}: not a regular expression: {error}") from error
    if not set(compiled.groupindex) & set(WHO):
        raise CourseError(f"--pattern {pattern}: needs a group such as (?P<student_id>[^/]+)")
    found = [compiled.fullmatch(path) for path in paths]
    own = Layout("--pattern", "--pattern", pattern)
    no = "the pattern does not say whose it is; give another with --pattern"
    return [Match(own, match.groupdict()) if match else no for match in found]


def _label(groups: Mapping[str, str | None], people: People) -> str:
    """How the download names a person; without a list two attempts may be those of two people."""
    label = label_of(groups)
    if groups.get("timestamp") and label == groups.get("full_name") and not people.listed:
        label += f", {groups['timestamp']}"
    return label


def _moment(text: str, layout: Layout) -> datetime | None:
    """A time in a name. Raises Refused if a pattern's own is none."""
    if layout.time:
        text = re.sub(r"\b(\d)(\d\d) ([AP]M)", r"0\1\2 \3", text)
        try:
            return datetime.strptime(text, layout.time)
        except ValueError:
            return None
    try:
        return parse_utc(text)
    except (ValueError, OverflowError):
        raise Refused(f"{text!r} is not a time") from None


def _in_utc(local: datetime, zone: ZoneInfo) -> datetime:
    return local.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)


def _stamped(file: HandIn | None) -> datetime | None:
    """The time in a folder's timestamp.txt, as nbgrader writes it."""
    try:
        return parse_utc(file.read().decode().strip()) if file else None
    except (Refused, ValueError, OverflowError):
        return None


def _alone(entries: Sequence[Entry]) -> Callable[[Entry], Entry]:
    """Let a receipt be said whose person has no other file."""
    others = {entry.label for entry in entries if entry.state != NOT}

    def alone(entry: Entry) -> Entry:
        lonely = entry.why == RECEIPT and entry.label and entry.label not in others
        return entry._replace(why="a receipt without a file", said=True) if lonely else entry

    return alone


def _one_person_each(found: Iterable[Entry], people: People, there: Iterable[str]) -> list[Entry]:
    """Nothing of two people for one: what two names lead to is to be sorted out."""
    entries = list(found)
    labels, spellings = defaultdict(set), defaultdict(set)
    for entry in entries:
        if entry.state == TAKEN:
            labels[entry.student].add(entry.label)
            spellings[entry.student.casefold()].add(entry.student)
    if not people.listed:
        for student in there:
            if not student.startswith("."):
                spellings[student.casefold()].add(student)

    def checked_(entry: Entry) -> Entry:
        if entry.state != TAKEN:
            return entry
        several, alike = labels[entry.student], spellings[entry.student.casefold()]
        if len(alike) > 1:
            why = f"the names {' and '.join(sorted(alike))} differ only in case: who is it?"
        elif len(several) > 1 and entry.label != entry.student:
            why = f"several names lead to {entry.student}: {', '.join(sorted(several))}"
        else:
            return entry
        return entry._replace(state=SORT, why=why)

    return list(map(checked_, entries))


def _chosen(group: Sequence[Entry], busy: set[str]) -> list[Entry]:
    """The files of a person for an assignment, of which at most one is taken."""
    pages = [entry for entry in group if entry.page is not None]
    if not pages:
        beside = group[0].student in busy
        state, why = (NOT, "beside notebooks of other assignments") if beside else (SORT, "")
        return [entry._replace(state=state, why=why or entry.why) for entry in group]
    best = min(entry.rank for entry in pages)
    first = [entry for entry in pages if entry.rank == best]
    counts = _counting(first)
    if counts is None:
        files = ", ".join(sorted(entry.file for entry in first))
        why = f"several notebooks, not clear which counts: {files}"
        return [e._replace(state=SORT, why=why) if e in first else _beside(e, None) for e in group]
    return [entry if entry is counts else _beside(entry, counts) for entry in group]


def _counting(entries: Sequence[Entry]) -> Entry | None:
    """The entry that counts: all are the same, or one is the latest attempt."""
    if len({entry.page for entry in entries}) == 1:
        return entries[0]
    orders = Counter(entry.order for entry in entries)
    if None in orders:
        return None
    latest = max(order for order in orders if order)
    last = [entry for entry in entries if entry.order == latest]
    return last[0] if len({entry.page for entry in last}) == 1 else None


def _beside(entry: Entry, counts: Entry | None) -> Entry:
    """Another file of a person whose notebook counts."""
    if counts is None:
        return entry._replace(state=NOT, why="beside several notebooks")
    if entry.page == counts.page:
        return entry._replace(state=UNCHANGED, why=f"the same as {counts.path}", said=False)
    if entry.rank == counts.rank:
        return entry._replace(state=OLDER, why=f"an earlier attempt than {counts.path}", said=False)
    why = f"beside {counts.file}, which counts"
    return entry._replace(state=NOT, why=why, said=entry.page is not None)
