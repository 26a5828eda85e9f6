"""The plan of `collect`: what each path of a download is, whose, when, and why.

Nothing is written, and nothing is left out: each path has one entry.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from course.collecting.entries import NOT, OLDER, SORT, TAKEN, UNCHANGED, Entry, Options
from course.collecting.hand_in_files import HandIn
from course.collecting.identity import People
from course.collecting.reading import RECEIPT, Reader
from course.settings import Course

JUNK = {".ipynb_checkpoints", "__macosx", ".git", "__pycache__"}
JUNK_FILES = {".ds_store", "thumbs.db", "desktop.ini", "timestamp.txt"}


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
    stamps = {
        file.name.rpartition("/")[0]: file for file in files if file.name.endswith("/timestamp.txt")
    }
    reader = Reader(useful, stamps, names, course, people, options)
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


def _junk(path: str, names: Sequence[str]) -> Entry:
    return Entry(path, NOT, "an extra file", names[0] if len(names) == 1 else "", said=False)


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
