"""The whole course as the checks remember it: what is done, what is next, how long it takes."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from course import ROOT
from course.feedback import memory
from course.feedback.progress import lines_of, unbroken

TASK = re.compile(r"##+ Task (\d+) · .*?(\d+) minutes", re.DOTALL)
CHECKED = re.compile(r"check\.(\w+)\(")


class Step(NamedTuple):
    """A task: its number, its functions, the minutes that it takes, its points."""

    number: int
    functions: tuple[str, ...]
    minutes: int
    points: int


class Exercise(NamedTuple):
    """An exercise, its tasks with functions, and the names of functions that passed last time.

    points: of all its tasks, with those that are answered in words
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    passed: frozenset[str]
    begun: bool
    points: int

    @property
    def place(self) -> str:
        """Its notebook, from a lecture."""
        return f"../exercises/{self.name}/{self.name}.ipynb"

    @property
    def functions(self) -> list[str]:
        """All its functions, in order."""
        return [function for step in self.steps for function in step.functions]

    @property
    def open(self) -> list[Step]:
        """The tasks with a function that has not passed."""
        return [step for step in self.steps if not self.passed.issuperset(step.functions)]

    @property
    def reached(self) -> int:
        """The points of the other tasks with functions, if grading agrees."""
        return sum(step.points for step in self.steps) - sum(step.points for step in self.open)


class SoFar(NamedTuple):
    """The exercises in the course's order; a notebook shows a table with links.

    lectures: of each how many of its cells have run, and how many it has; as saved.
    """

    exercises: tuple[Exercise, ...]
    lectures: dict[str, tuple[int, int]]

    def __str__(self) -> str:
        rows = [" · ".join(row) for row in self._rows()]
        return "\n".join([*rows, *self._read(), self.sentence()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, ...]] = [("exercise", "functions that pass", "points", "left")]
        rows += [
            (
                f'<a href="{exercise.place}">{html.escape(title)}</a>',
                unbroken(bar),
                unbroken(points.removesuffix(" points")),
                unbroken(left),
            )
            for exercise, (title, bar, points, left) in zip(
                self.exercises, self._rows(), strict=True
            )
        ]
        said = html.escape(self.sentence())
        if (found := self.next()) is not None:
            exercise, step = found
            said = f'<a href="{exercise.place}#cell-id=task-{step.number}">{said}</a>'
        paragraphs = [*map(html.escape, self._read()), said]
        return f"<table>{lines_of(rows)}</table>" + "".join(f"<p>{p}</p>" for p in paragraphs)

    def next(self) -> tuple[Exercise, Step] | None:
        """Where to go on: the last exercise that was begun and is open, or else the first."""
        unfinished = [exercise for exercise in self.exercises if exercise.open]
        begun = [exercise for exercise in unfinished if exercise.begun]
        chosen = begun[-1:] or unfinished[:1]
        return (chosen[0], chosen[0].open[0]) if chosen else None

    def sentence(self) -> str:
        """What is next, in words."""
        if (found := self.next()) is None:
            return "All functions of the course passed."
        exercise, step = found
        return (
            f"{'Go on' if exercise.begun else 'Begin'} with {exercise.title}, task {step.number} "
            f"({', '.join(step.functions)}): about {step.minutes} minutes."
        )

    def _read(self) -> Iterator[str]:
        whole = [_number(name) for name, (ran, cells) in self.lectures.items() if ran == cells]
        part = [_number(name) for name, (ran, cells) in self.lectures.items() if 0 < ran < cells]
        if whole or part:
            told = [f"{', '.join(whole)} whole"] * bool(whole)
            told += [f"{', '.join(part)} in part"] * bool(part)
            yield f"Lectures that you ran and saved: {'; '.join(told)}."

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for exercise in self.exercises:
            functions = exercise.functions
            bar = "".join("◩" if name in exercise.passed else "□" for name in functions)
            left = sum(step.minutes for step in exercise.open)
            counted = f"{bar} {len(exercise.passed)} of {len(functions)}"
            points = f"{exercise.reached} of {exercise.points} points"
            yield exercise.title, counted, points, f"{left} minutes" if left else "done"


def so_far(folder: Path = ROOT / "exercises") -> SoFar:
    """What `progress.json` says of each exercise; a function counts if it passed at its last try.

    folder: where exercises and that file are. A task's points count when its functions pass; that
    is no grade: grading tries more inputs, and somebody reads the answers in words.
    """
    known = memory.everything(folder)
    exercises = sorted(folder.glob("ex*/ex*.ipynb"))
    lectures = sorted((folder.parent / "lectures").glob("*.ipynb"))
    return SoFar(
        tuple(_exercise(path, known.get(path.stem, {})) for path in exercises),
        {path.stem: _ran(path) for path in lectures},
    )


def _number(lecture: str) -> str:
    """Such as 3b of 03b_word_vectors_by_hand."""
    return lecture.split("_")[0].lstrip("0") or "0"


def _ran(lecture: Path) -> tuple[int, int]:
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    return sum(count is not None for count in counts), len(counts)


def _exercise(path: Path, records: dict[str, memory.Record]) -> Exercise:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    found: dict[int, tuple[int, list[str]]] = {}
    points: Counter[int] = Counter()
    in_words = 0  # points of what somebody reads
    number = 0
    for cell, text in zip(cells, texts, strict=True):
        if heading := TASK.match(text):
            number, minutes = map(int, heading.groups())
            found[number] = (minutes, [])
        graded = cell["metadata"].get("nbgrader", {})
        if graded.get("solution"):
            in_words += graded.get("points", 0)
        else:
            points[number] += graded.get("points", 0)
        if cell.get("id", "").startswith("test-") and (called := CHECKED.match(text)) and number:
            found[number][1].append(called[1])
    steps = [
        Step(number, tuple(names), spent, points[number])
        for number, (spent, names) in found.items()
        if names
    ]
    passed = {name for name, r in records.items() if "passed" in r and not r["failures"]}
    functions = {name for step in steps for name in step.functions}
    title = texts[0].splitlines()[0].removeprefix("# ")
    done = frozenset(passed & functions)
    return Exercise(path.stem, title, tuple(steps), done, bool(records), points.total() + in_words)
