"""`make exercises`: minutes, points and lists of notebooks, in the pages that show them.

The syllabus, the list of exercises and the README's map say what the notebooks say of themselves in
their first cell: title, minutes, points, the lecture that an exercise builds on. A new notebook
appears in all of them; which lecture is in which week, goals and reading are written by hand.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat

from bertlab._files import write_atomically
from course import ROOT

CLASS_MINUTES = 90 + 45  # of a week: lecture and exercises
FURTHER_READING = "urther reading: no later lecture needs it."
PAGES = ("course/syllabus.md", "exercises/README.md", "README.md")


class Lecture(NamedTuple):
    """A lecture; number: "03" or "03b"; further: no later lecture needs it, as its title says."""

    number: str
    path: str
    title: str
    minutes: int
    further: bool = False


class Exercise(NamedTuple):
    """An exercise; lecture: the number that it builds on; by_hand: points that a person gives."""

    name: str
    title: str
    lecture: str
    time: str
    points: int
    by_hand: int

    @property
    def path(self) -> str:
        """The students' notebook."""
        return f"exercises/{self.name}/{self.name}.ipynb"

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return int(self.time.split()[0])


class Course(NamedTuple):
    """All notebooks, in order."""

    lectures: list[Lecture]
    exercises: list[Exercise]

    @property
    def core(self) -> list[Lecture]:
        """The lectures that are no further reading."""
        return [one for one in self.lectures if not one.further]

    def of(self, *numbers: str) -> list[Lecture]:
        """The lectures with these numbers."""
        return [one for one in self.lectures if one.number in numbers]

    def beside(self, lectures: Iterable[Lecture]) -> list[Exercise]:
        """The exercises that build on these lectures."""
        numbers = {one.number for one in lectures}
        return [one for one in self.exercises if one.lecture in numbers]


def read_course(root: Path = ROOT) -> Course:
    """What the notebooks below root say of themselves.

    Raises ValueError if the first cell of one has no title, time, points or lecture.
    """
    lectures, exercises = [], []
    for path in sorted(root.glob("lectures/[0-9]*.ipynb")):
        said = _Title(path.name, _cells(path))
        minutes = int(said.find(r"\*\*Time\*\* (?:about )?(\d+) minutes", "time in minutes"))
        number = path.name.partition("_")[0]
        further = FURTHER_READING in said.text
        lectures.append(Lecture(number, f"lectures/{path.name}", said.title, minutes, further))
    for path in sorted(root.glob("solutions/*/*.ipynb")):
        cells = _cells(path)
        said = _Title(path.name, cells)
        marks = [(cell.cell_type, cell.metadata.get("nbgrader", {})) for cell in cells]
        points = [(kind, mark["points"]) for kind, mark in marks if mark.get("grade")]
        exercises.append(
            Exercise(
                path.stem,
                said.title,
                said.find(r"\*\*Builds on\*\* lecture (\d+)", "lecture that it builds on").zfill(2),
                said.find(r"\*\*Time\*\* (?:about )?(\d+ minutes(?: within [\w ]+)?)", "time"),
                sum(number for _, number in points),
                sum(number for kind, number in points if kind == "markdown"),
            )
        )
    return Course(lectures, exercises)


def _cells(path: Path) -> list[nbformat.NotebookNode]:
    return nbformat.read(path, as_version=4).cells


class _Title:
    """The first cell of a notebook."""

    def __init__(self, name: str, cells: Sequence[nbformat.NotebookNode]) -> None:
        self.name, self.text = name, cells[0].source
        self.title = self.find(r"\A# (.*)", "title")

    def find(self, pattern: str, what: str) -> str:
        """What a pattern finds in it."""
        if not (found := re.search(pattern, self.text)):
            raise ValueError(f"{self.name}: the first cell must say the {what}: {pattern}")
        return found[1]


def filled(page: str, text: str, course: Course) -> str:
    """The text of one of `PAGES` with what the notebooks say."""
    return {PAGES[0]: _syllabus, PAGES[1]: _list_of_exercises, PAGES[2]: _map}[page](text, course)


def _list_of_exercises(text: str, course: Course) -> str:
    rows = []
    for one in course.exercises:
        (lecture,) = course.of(one.lecture)
        title = f"[{lecture.title}](../{lecture.path})"
        rows.append((_link(one, ""), title, one.time))
    return _with_table(text, lambda _: rows)


def _map(text: str, course: Course) -> str:
    head, rest = text.split("\n## The map\n", 1)

    def rows(written: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        known = {re.search(r"\((\S+)\)", row[0])[1]: row for row in written}  # type: ignore[index]
        lectures = [
            (one, known.get(one.path, (f"[{one.title}]({one.path})", "")))
            for one in course.lectures
        ]
        return [
            (*row[:2], ", ".join(_link(each) for each in course.beside([one])))
            for one, row in lectures
        ]

    return f"{head}\n## The map\n{_with_table(rest, rows)}"


def _link(exercise: Exercise, to: str = "exercises/") -> str:
    path = exercise.path.removeprefix("exercises/")
    return f"[{exercise.name}]({to}{path})"


def _syllabus(text: str, course: Course) -> str:
    head, *parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    parts = [_week(part, course) if part.startswith("## Week ") else part for part in parts]
    weeks = [part for part in parts if part.startswith("## Week ")]
    tables: dict[str, Callable] = {
        "Twelve weeks": lambda _: _overview(weeks, course),
        "Grading": lambda _: [
            (one.name, *map(str, (one.points, one.by_hand, one.minutes)))
            for one in course.exercises
        ],
        "Six weeks": lambda rows: _shorter(rows, course),
        "One week, as a block": lambda rows: _shorter(rows, course),
    }
    made = [_with_table(head, lambda rows: _hours(rows, len(weeks), course))]
    for part in parts:
        rows = tables.get(part.partition("\n")[0].removeprefix("## "))
        made.append(_with_table(part, rows) if rows else part)
    return _with_totals("".join(made), course)


def _hours(rows: Sequence[Sequence[str]], weeks: int, course: Course) -> list[Sequence[str]]:
    """Hours in class, of reading, of writing, and together."""
    minutes = weeks * CLASS_MINUTES, _minutes(course.core, []), _minutes([], course.exercises)
    shown = f"{minutes[0] / 60:g}", *(f"{each / 60:.1f}" for each in (*minutes[1:], sum(minutes)))
    return [(row[0], number) for row, number in zip(rows, shown, strict=True)]


def _overview(weeks: Sequence[str], course: Course) -> list[Sequence[str]]:
    rows, total = [], 0
    for number, week in enumerate(weeks, start=1):
        held = _lectures_in(week, course)
        beside = course.beside(held)
        links = ", ".join(f"[{one.number}](../{one.path})" for one in held)
        exercises = ", ".join(_link(one, "../exercises/") for one in beside)
        each, minutes = ", ".join(str(one.points) for one in beside), _minutes(held, beside)
        total += minutes
        title = f"{links} {_heading(week)}"
        rows.append((str(number), title, exercises, each, f"{minutes} minutes"))
    points = sum(one.points for one in course.exercises)
    return [*rows, ("", "", "", f"**{points}**", f"**{total} minutes**")]


def _with_totals(text: str, course: Course) -> str:
    """The text with the sums of its sentences."""
    n, points = len(course.exercises), sum(one.points for one in course.exercises)
    by_hand = sum(one.by_hand for one in course.exercises)
    for pattern, said in (
        (r"There are \d+ lectures and \d+ ", f"There are {len(course.core)} lectures and {n} "),
        (r"at home: \d+ minutes", f"at home: {_minutes(course.core, [])} minutes"),
        (r"assignments: \d+ minutes", f"assignments: {_minutes([], course.exercises)} minutes"),
        (
            r"The \d+ assignments make \d+ points: \d+ are given by tests, \d+ by",
            f"The {n} assignments make {points} points: {points - by_hand} are given by tests, "
            f"{by_hand} by",
        ),
    ):
        text = re.sub(pattern, said, text)
    return text


def _heading(part: str) -> str:
    """The heading of a section, without the number of a week."""
    return part.partition("\n")[0].removeprefix("## ").rpartition(" · ")[2]


def _lectures_in(week: str, course: Course) -> list[Lecture]:
    paths = re.findall(r"^- Lecture: .*\(\.\./(\S+)\)", week, re.MULTILINE)
    return [one for one in course.lectures if one.path in paths]


def _minutes(lectures: Iterable[Lecture], exercises: Iterable[Exercise]) -> int:
    return sum(one.minutes for one in lectures) + sum(one.minutes for one in exercises)


def _week(part: str, course: Course) -> str:
    """A week whose list of lectures and assignments is what the notebooks say."""
    held = _lectures_in(part, course)
    beside = course.beside(held)
    further = [one for one in course.of(*(f"{one.number}b" for one in held)) if one.further]
    lines = [f"- Lecture: [{x.title}](../{x.path}), {x.minutes} minutes" for x in held]
    lines += [
        f"- Assignment: [{one.title}](../{one.path}), {one.minutes} minutes, {one.points} points"
        for one in beside
    ]
    lines.append(f"- Homework: {_minutes(held, beside)} minutes")
    lines += [f"- Further: [{x.title}](../{x.path}), {x.minutes} minutes" for x in further]
    lists = re.compile(r"(?:^- (?:Lecture|Assignment|Homework|Further): .*\n)+", re.MULTILINE)
    return lists.sub(lambda _: "\n".join(lines) + "\n", part, count=1)


def _shorter(rows: Sequence[Sequence[str]], course: Course) -> list[Sequence[str]]:
    """A shorter course: its lectures and exercises are chosen by hand."""
    made, points, minutes = [], 0, 0
    for number, lectures, name, *_ in rows[:-1]:
        (exercise,) = (one for one in course.exercises if one.name == name)
        taken = _minutes(course.of(*lectures.split(", ")), [exercise])
        made.append((number, lectures, name, str(exercise.points), f"{taken} minutes"))
        points, minutes = points + exercise.points, minutes + taken
    return [*made, ("", "", "", f"**{points}**", f"**{minutes} minutes**")]


def _with_table(text: str, rows: Callable[[list[list[str]]], Iterable[Sequence[str]]]) -> str:
    """The text with other rows in its first table; `rows` gets those that are there."""
    table = re.search(r"^(\|.*\n\|[-| ]+\|\n)((?:\|.*\n)*)", text, re.MULTILINE)
    if table is None:
        raise ValueError(f"no table in {text[:40]!r}")
    written = [line.strip().strip("|").split(" | ") for line in table[2].splitlines()]
    made = rows([[entry.strip() for entry in row] for row in written])
    lines = ["".join(f"| {entry} " if entry else "| " for entry in row) + "|\n" for row in made]
    return f"{text[: table.end(1)]}{''.join(lines)}{text[table.end() :]}"


def main(root: Path = ROOT) -> None:
    """Write the pages again."""
    course = read_course(root)
    for page in PAGES:
        path = root / page
        write_atomically(path, filled(page, path.read_text(encoding="utf-8"), course))


if __name__ == "__main__":
    main()
