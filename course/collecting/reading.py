"""What one path of a download is: whose, when, of which assignment."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nbgrader.utils import parse_utc

from course.collecting import contents, layouts, recognition
from course.collecting.contents import Assignments, right_name
from course.collecting.entries import NOT, REFUSED, SORT, TAKEN, Entry, Options
from course.collecting.hand_in_files import HandIn, checked
from course.collecting.identity import People, Unclear, doubled_names, label_of, student_of
from course.collecting.layouts import Layout, Match
from course.collecting.opening import Refused, opened
from course.settings import Course, CourseError

RECEIPT = "written by the learning system"
WHO = ("student_id", "full_name", "lms_user_id")


class Reader:
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
            self.matches = recognition.ours(paths, known)
        else:
            self.matches = recognition.recognised(paths, known, lambda who: bool(people.named(who)))
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
        page, why, ids = opened(contents.read, entry.file, entry.content)
        of = self.assignments.by_cells(ids)
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
        right = right_name(entry.file, entry.assignment, layouts.AGAIN)
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
