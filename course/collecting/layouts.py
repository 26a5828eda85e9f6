"""How learning systems name the files of a download: a table, and which row fits.

The system or the instructor writes the first part of a path, the student the rest. So a download
has one system, that of most of its top entries, and a pattern is never searched for later in a
path: nobody hands in for somebody else by a file's name.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

DEEPEST = 4  # folders around STUDENT/


class Layout(NamedTuple):
    """pattern: of a path, with these groups: who it is (`student_id`, `full_name`, `number` in
    Moodle, `lms_user_id` in Canvas; `titled` is a title and a user name; `team`, `anonymous`),
    `file`, `slug` of the assignment, `timestamp` of the hand-in, `late`; `own`: a file of the
    system itself.
    time: the form of `timestamp`, in the system's own zone, or "" if the name has none.
    """

    system: str
    name: str
    pattern: str
    time: str = ""


class Match(NamedTuple):
    """A path that a layout explains."""

    layout: Layout
    groups: Mapping[str, str | None]


# {names}: the assignment's names; {slugs}: as a repository's name begins; {again}: what browsers,
# Canvas and Jupyter add to a file that comes again.
MOODLE = r"(?P<full_name>[^/]*?)_(?P<number>\d+)_assignsubmission_[a-z]+"
BRIGHTSPACE = (
    r"\d+-\d+ - (?P<full_name>[^/]+?) - (?P<timestamp>\w{{3}} \d{{1,2}}, \d{{4}} \d{{3,4}} [AP]M)"
)
AGAIN = r"(?: ?\(\d+\)|-\d+|-Copy\d+)?"
LAYOUTS = (
    # Moodle: mod/assign/classes/downloader.php (locallib.php before 4.0). The number is the
    # participant's, which the grading worksheet repeats; teams have the group's name and number.
    Layout("Moodle", "Moodle 3, a folder per hand-in", MOODLE + r"_/(?P<file>.*)"),
    Layout("Moodle", "Moodle 4, a folder per hand-in", MOODLE + r"/(?P<file>.*)"),
    Layout("Moodle", "Moodle, all files in one folder", MOODLE + r"_(?P<file>.+)"),
    Layout(
        "Moodle",
        "Moodle, people without a team",
        r"(?P<team>[^/_]+)_assignsubmission_[a-z]+(?:_/|/|_)(?P<file>.*)",
    ),
    # Blackboard Learn, "Assignment File Download": TITLE_USER_attempt_TIME_FILE, and a receipt.
    Layout(
        "Blackboard",
        "Blackboard",
        r"(?P<titled>[^/]+?)_attempt_(?P<timestamp>\d{{4}}(?:-\d\d){{5}})"
        r"(?:_(?P<file>.+)|(?P<own>\.txt))",
        "%Y-%m-%d-%H-%M-%S",
    ),
    # Brightspace, "Download" of submissions. The numbers are the same for all people.
    Layout(
        "Brightspace", "Brightspace, folders", BRIGHTSPACE + "/(?P<file>.*)", "%b %d, %Y %I%M %p"
    ),
    Layout(
        "Brightspace", "Brightspace, files", BRIGHTSPACE + " - (?P<file>.+)", "%b %d, %Y %I%M %p"
    ),
    Layout("Brightspace", "Brightspace's own page", r"(?P<own>index\.html)"),
    # Canvas, "Download submissions": lib/content_zipper.rb.
    Layout(
        "Canvas",
        "Canvas",
        r"(?P<full_name>[^/]*?)_(?P<late>LATE_)?(?P<lms_user_id>\d+)_"
        r"(?:\d+_(?P<file>.+)|_?(?P<text>(?:text|link)\.html))",
    ),
    Layout(
        "Canvas",
        "Canvas, anonymous",
        r"(?P<late>LATE_)?(?P<anonymous>anon_[^_/]+)_(?:\d+_(?P<file>.+)|_?(?:text|link)\.html)",
    ),
    # Google Classroom names a student's copy of a file, in Drive: STUDENT - FILE.
    Layout(
        "Google Classroom", "Google Classroom", r"(?P<full_name>[^/]+?) - (?P<file>(?:{names}).*)"
    ),
    # GitHub Classroom names a student's repository ASSIGNMENT-USER, and `gh classroom clone
    # student-repos` the folder around all of them ASSIGNMENT-submissions.
    Layout(
        "GitHub Classroom",
        "GitHub Classroom",
        r"(?P<slug>{slugs})-(?![^/]*submissions/)(?P<student_id>[^/]+)/(?P<file>.*)",
    ),
)
OURS = "STUDENT"
FLAT = r"(?P<student_id>[^/]+)_(?P<file>(?:{names}){again}(?:\.[^/]+)?(?:/.*)?)"
FOLDER = Layout(OURS, "STUDENT/NAME.ipynb", r"(?P<student_id>[^/]+)/(?P<file>.*)")


class Table(NamedTuple):
    """The layouts for some assignments, by system; `flat` is our STUDENT_NAME.ipynb."""

    systems: Mapping[str, Sequence[tuple[Layout, re.Pattern]]]
    flat: tuple[Layout, re.Pattern]
    markers: frozenset[str]  # folders that only name the assignment


def table(names: Sequence[str]) -> Table:
    """The layouts of downloads that hold the assignments of these names, earlier ones included."""
    slugs = {slug for name in names for slug in (name.replace("_", "-"), name.split("_")[0])}
    fill = {
        "names": "|".join(map(re.escape, names)),
        "slugs": "|".join(sorted(map(re.escape, slugs), key=len, reverse=True)),
        "again": AGAIN,
    }
    systems = defaultdict(list)
    for row in LAYOUTS:
        systems[row.system].append((row, re.compile(row.pattern.format(**fill), re.IGNORECASE)))
    flat = Layout(OURS, "STUDENT_NAME.ipynb", FLAT)
    return Table(systems, (flat, re.compile(FLAT.format(**fill), re.IGNORECASE)), frozenset(names))


def recognised(
    paths: Sequence[str], table: Table, listed: Callable[[str], bool]
) -> list[Match | str]:
    """For each path the layout that explains it, or a sentence why none does.

    listed: whether a name or id is that of a person on the list.
    """
    parts = [_without_markers(path, table.markers) for path in paths]
    found = _systems(parts, table, listed)
    if found is None:
        return _ours(parts, table, listed)
    system = next(match.layout.system for match in found if match)
    return [match or f"it is not named as {system} names files; whose is it?" for match in found]


def _without_markers(path: str, markers: frozenset[str]) -> list[str]:
    """A path's parts, without the folders that only name the assignment."""
    *folders, file = path.split("/")
    return [*(one for one in folders if one.casefold() not in markers), file]


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """How many folders all paths have in common."""
    levels = zip(*(one[:-1] for one in parts), strict=False)
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))


def _systems(
    parts: Sequence[Sequence[str]], table: Table, listed: Callable[[str], bool]
) -> list[Match | None] | None:
    """The matches of the system that explains most top entries; None if none explains most.

    A folder around several downloads of systems is as good as one.
    """
    best, most, shared = None, 0, _shared(parts)
    for rows in table.systems.values():
        found = [_match(one, rows, shared, listed) for one in parts]
        tops = {one[shared] for one, match in zip(parts, found, strict=True) if match}
        evident = any(match and _evident(match.groups) for match in found)
        if evident and len(tops) > most and 2 * len(tops) > len({one[shared] for one in parts}):
            best, most = found, len(tops)
    groups = defaultdict(list)
    for number, one in enumerate(parts):
        groups[one[shared]].append(number)
    if best or len(groups) < 2 or any(len(one) <= shared + 1 for one in parts):
        return best
    inner = [_systems([parts[n] for n in group], table, listed) for group in groups.values()]
    if not all(inner) or any(listed(top) for top in groups):
        return None
    by_number = {
        n: match
        for group, found in zip(groups.values(), inner, strict=True)
        for n, match in zip(group, found or (), strict=True)
    }
    return [by_number[number] for number in range(len(parts))]


def _evident(groups: Mapping[str, str | None]) -> bool:
    """Whether only this system names files so; any download may have an index.html."""
    return any(value for key, value in groups.items() if key != "own")


def _match(
    part: Sequence[str],
    rows: Sequence[tuple[Layout, re.Pattern]],
    shared: int,
    listed: Callable[[str], bool],
) -> Match | None:
    """The first row that explains the path, inside the folders around all paths."""
    for depth in range(min(shared, DEEPEST) + 1):
        if depth and listed(part[depth - 1]):  # a student's folder, not one around the download
            return None
        text = "/".join(part[depth:])
        for layout, pattern in rows:
            if match := pattern.fullmatch(text):
                return Match(layout, match.groupdict())
    return None


def _ours(
    parts: Sequence[Sequence[str]], table: Table, listed: Callable[[str], bool]
) -> list[Match | str]:
    """STUDENT/NAME.ipynb and STUDENT_NAME.ipynb, perhaps in a folder around all."""
    depth = _depth(parts, table, listed)
    if isinstance(depth, str):
        return [depth] * len(parts)
    return [_our_match(one, depth, table) for one in parts]


def _our_match(part: Sequence[str], depth: int, table: Table) -> Match | str:
    text = "/".join(part[depth:])
    for rows in table.systems.values():
        for layout, pattern in rows:
            if (match := pattern.fullmatch(text)) and _evident(match.groupdict()):
                return f"it is named as {layout.system} names files, but the others are not"
    if who := _owner(part, depth, table):
        layout = FOLDER if len(part) > depth + 1 and who == _stem(part[depth]) else table.flat[0]
        file = "/".join(part[depth + 1 :]) or part[-1]
        flat = table.flat[1].fullmatch(text)
        return Match(layout, {"student_id": who, "file": flat["file"] if flat else file})
    return "its name does not say whose it is"


def _stem(folder: str) -> str:
    """A folder's name; a zip file is one."""
    return folder[:-4] if folder.lower().endswith(".zip") else folder


def _owner(part: Sequence[str], depth: int, table: Table) -> str | None:
    """The name or id of the student if `depth` folders are around the hand-ins."""
    if len(part) <= depth:
        return None
    if flat := table.flat[1].fullmatch("/".join(part[depth:])):
        return flat["student_id"]
    return _stem(part[depth]) if len(part) > depth + 1 else None


def _depth(
    parts: Sequence[Sequence[str]], table: Table, listed: Callable[[str], bool]
) -> int | str:
    """How many folders are around the hand-ins, or why that is not clear.

    With a list: the first level that has the name of a listed person. Otherwise the folders around
    all, if they hold several folders or files with a student's name; if not, one is the student's.
    """
    for depth in range(DEEPEST):
        owners = {_owner(one, depth, table) for one in parts}
        if any(who and listed(who) for who in owners):
            return depth
    around = _shared(parts)
    inside = [one[around:] for one in parts]
    folders = {one[0] for one in inside if len(one) > 1}
    files = any(len(one) == 1 and ".ipynb" in one[0].lower() for one in inside)
    named = any(table.flat[1].fullmatch("/".join(one)) for one in inside)
    if named or (len(folders) > 1 and not files):
        return around
    unzipped = [n for n in range(around) if not parts[0][n].lower().endswith(".zip")]
    if len(unzipped) > 1:
        names = " or ".join(parts[0][n] for n in unzipped)
        return f"it is not clear which folder is the student's: {names}"
    return unzipped[0] if unzipped else 0


def ours(paths: Sequence[str], table: Table) -> list[Match | str]:
    """The matches of our own layouts alone: in to-sort-out/ a person has named the files."""
    return [_our_match(_without_markers(path, table.markers), 0, table) for path in paths]
