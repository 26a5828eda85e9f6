"""A term with a hostile class, by the instructor's commands."""

import csv
import functools
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import nbformat

from course.__main__ import main
from course.gradebook import records
from course.settings import Course
from tests.course.grading.hostile.small import LIMITS, NAME, assignment
from tests.course.small_course import new_course


class Outcome(NamedTuple):
    """What one student gets."""

    scores: dict[str, float | None]
    notes: tuple[str, ...]
    notebook: nbformat.NotebookNode
    feedback: str  # HTML
    total: float  # as exported


def command(course: Course, *arguments: object) -> int:
    """`python -m course`, in this process; its exit code."""
    return main(["--root", str(course.root), *map(str, arguments)])


class Term:
    """The course after hand-ins were collected, graded, commented on and exported.

    handed_in: the bytes of each student's file; odd: a function that creates something else in
    its place, which only a folder that students can write to can contain, not a download.
    """

    def __init__(
        self, root: Path, handed_in: Mapping[str, bytes], odd: Mapping[str, Callable[[Path], None]]
    ):
        self.course = new_course(root, f"\nconfig.Grading.limits = {LIMITS._asdict()}\n")
        source = self.course.room("source") / NAME / f"{NAME}.ipynb"
        source.parent.mkdir(parents=True)
        nbformat.write(assignment().source, source)
        assert command(self.course, "release", NAME) == 0
        download = root / "download"
        for student, content in handed_in.items():
            (download / student).mkdir(parents=True)
            (download / student / source.name).write_bytes(content)
        assert command(self.course, "collect", NAME, "--from", download) == 0
        shutil.rmtree(download)
        for student, make in odd.items():
            path = self.course.hand_in(NAME, student)
            path.parent.mkdir(parents=True)
            make(path)
        self.codes = {
            "grade": command(self.course, "grade", "all"),
            "feedback": command(self.course, "feedback", "all"),
            "export": command(self.course, "export", "--to", root / "grades.csv"),
        }

    @functools.cached_property
    def report(self) -> list[str]:
        """The lines that the instructor reads."""
        path = self.course.room("autograded") / f"report-{NAME}.txt"
        return path.read_text(encoding="utf-8").split("\n")

    @functools.cached_property
    def totals(self) -> dict[str, float]:
        """The exported score of each student."""
        with (self.course.root / "grades.csv").open(newline="", encoding="utf-8") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    def outcome(self, student: str) -> Outcome:
        """All results of a student; the gradebook and the graded copy agree."""
        with closing(self.course.gradebook()) as book:
            grades = book.find_submission_notebook(NAME, NAME, student).grades
            scores = {grade.name: grade.auto_score for grade in grades}
            row = records.graded(book, NAME)[student]
        assert row.failure is None
        copy = self.course.graded_copy(NAME, student)
        notebook = nbformat.reads(copy.read_text(encoding="utf-8"), as_version=4)
        assert notebook.metadata.bertlab.scores == scores
        page = self.course.room("feedback") / student / NAME / f"{NAME}.html"
        text = page.read_text(encoding="utf-8")
        return Outcome(scores, tuple(map(str, row.notes)), notebook, text, self.totals[student])
