"""Which layout a download has.

The system or the instructor writes the first part of a path, the student the rest. So a download
has one system, that of most of its top entries, and a pattern is never searched for later in a
path: nobody hands in for somebody else by a file's name.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from course.collecting.layouts import FOLDER, Layout, Match, Table

DEEPEST = 4  # folders around STUDENT/


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
