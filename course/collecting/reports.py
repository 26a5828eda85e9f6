"""What `collect` says: totals that add up, and a line for whatever is not as usual."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from course.collecting.entries import (
    NEW,
    NEWER,
    NOT,
    REFUSED,
    SORT,
    STATES,
    UNCHANGED,
    Entry,
    Options,
)
from course.collecting.identity import NOBODY, People, Person
from course.settings import Course, printable

LOOK = (REFUSED, SORT)
EACH = 5  # lines about files of one person
LONGEST, LONGEST_NAME = 400, 200  # characters of a line, of a path in it
NO_TIMES = (
    "no time, so it is not late, whenever it came. Give the times with --sheet (Moodle's grading "
    "worksheet, Canvas's export of submissions) or --handed-in"
)
NO_ZONE = "; the names hold times of the attempts: their zone is --zone, such as Europe/Berlin"
Say = Callable[[str], None]


def table(entries: Sequence[Entry], say: Say) -> None:
    """A line per path: what happens, whose, when, why."""
    for entry in entries:
        time = f"{entry.time:%Y-%m-%d %H:%M} UTC" if entry.time else "no time"
        who = f"{entry.student or '?'} {entry.assignment}".strip()
        parts = [entry.state, who, time, entry.path, entry.why]
        say("  " + " | ".join(printable(part) for part in parts if part))


def report(
    course: Course,
    name: str,
    entries: Sequence[Entry],
    people: People | None,
    options: Options,
    say: Say,
) -> None:
    """The counts of an assignment, after the lines that a person should read."""
    for line in _lines(entries):
        say(f"  {printable(line)[:LONGEST]}")
    done = Counter(entry.state for entry in entries)
    counts = ", ".join(f"{done[state]} {state}" for state in STATES)
    say(f"{name}: {counts}; {len(entries)} {'file' if len(entries) == 1 else 'files'}")
    timeless = [e for e in entries if e.state in (NEW, NEWER) and not e.time]
    if timeless:
        more = NO_ZONE if any(entry.order for entry in timeless) and not options.zone else ""
        some = "1 hand-in has" if len(timeless) == 1 else f"each of {len(timeless)} hand-ins has"
        say(f"  {some[0].upper()}{some[1:]} {NO_TIMES}{more}")
    if done[SORT]:
        where = f"to-sort-out/{entries[0].assignment or 'which-assignment'}"
        called = f"STUDENT_{entries[0].assignment or 'ASSIGNMENT'}.ipynb"
        say(
            f"  To sort out: name a notebook in {where} {called}, with the student's id, then "
            f"collect --from {where}"
        )
    if any(entry.why.startswith(NOBODY) for entry in entries):
        say("  Not on the list: import a list that has them, or collect with --new-students")
    if people and people.listed:
        say(f"  {_attendance(course, name, entries, people)}")


def _lines(entries: Sequence[Entry]) -> list[str]:
    """Refused files, files to sort out, and all else that is unusual."""
    lines, beside = [], defaultdict(list)
    others: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for entry in entries:
        if entry.state in LOOK:
            theirs[who := entry.label or entry.path] += 1
            if theirs[who] <= EACH:
                lines.append(f"{entry.path[:LONGEST_NAME]}: {entry.state}: {entry.why}")
        elif entry.why.startswith("belongs to "):
            others[entry.why] += 1
        elif entry.state == NOT and entry.said and entry.student:
            beside[entry.student, entry.why].append(entry.file)
        elif entry.said and entry.why:
            lines.append(f"{entry.student or entry.path}: {entry.why}")
        if entry.late and not entry.time and entry.state in (NEW, NEWER, UNCHANGED):
            lines.append(f"{entry.student}: Canvas says LATE; give the time with --sheet")
    lines += [
        f"{who}: {number - EACH} more files to look at: --dry-run names them"
        for who, number in theirs.items()
        if number > EACH
    ]
    quiet = sum(1 for e in entries if e.state == NOT and not e.said and e.why.startswith("beside"))
    if quiet:
        lines.append(f"{quiet} other files beside the notebooks that count: --dry-run names them")
    for (student, why), files in beside.items():
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        lines.append(f"{student}: not taken: {', '.join(files[:3])}{more}: {why}")
    for why, number in others.items():
        name = why.removeprefix("belongs to ")
        lines.append(f"{number} {'file belongs' if number == 1 else 'files belong'} to {name}")
    return lines


def _attendance(course: Course, name: str, entries: Sequence[Entry], people: People) -> str:
    """How many people of the list have handed in; the others by name."""
    taken = {entry.student for entry in entries if entry.state in (NEW, NEWER, UNCHANGED)}
    within = taken | set(course.students(name))
    aside = {entry.student for entry in entries if entry.state == SORT} - within
    shown = {one.id: _shown(one) for one in people.listed}
    waiting = [shown[id] for id in shown if id in aside]
    without = [shown[id] for id in shown if id not in aside | within]
    parts = [f"{len(shown) - len(waiting) - len(without)} with a hand-in"]
    for some, what in ((waiting, "with files to sort out"), (without, "without")):
        parts += [f"{len(some)} {what}" + (f" ({', '.join(some)})" if some else "")]
    return printable(f"On the list: {len(shown)} = {' + '.join(parts)}")


def _shown(person: Person) -> str:
    name = " ".join(filter(None, (person.first_name, person.last_name)))
    return f"{person.id}: {name}" if name else person.id
