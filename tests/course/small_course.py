"""A course of one small assignment in a separate folder, and a Grader that runs no code."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course import ROOT
from course.gradebook.notes import Note
from course.gradebook.results import Result
from course.grading import grade_run
from course.publishing import releasing
from course.settings import Course

NAME = "psx_small"
TABLES = """
    select s.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade,
           s.timestamp, n.late_submission_penalty
    from grade g join submitted_notebook n on g.notebook_id = n.id
    join submitted_assignment s on n.assignment_id = s.id join base_cell c on g.cell_id = c.id
    order by s.student_id, c.name
"""
COMMENTS = """
    select s.student_id, b.name, c.auto_comment, c.manual_comment
    from comment c join submitted_notebook n on c.notebook_id = n.id
    join submitted_assignment s on n.assignment_id = s.id join base_cell b on c.cell_id = b.id
    order by s.student_id, b.name
"""
GRADED = "select student, fingerprint, notes, failure from bertlab_graded order by student"


def marks(name, grade=False, solution=False, points=None):
    flags = {"grade": grade, "solution": solution, "locked": not solution, "task": False}
    points = {} if points is None else {"points": points}
    return {"nbgrader": {"grade_id": name, "schema_version": 3, **flags, **points}}


def cell(kind, name, text, **flags):
    return kind(text, id=name, metadata=marks(name, **flags))


def source():
    """A function, its visible and its hidden test, and a written answer: 1 + 3 + 4 points."""
    code = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    tests = "secret = 21\nassert double(secret) == 42"
    hidden = f"### BEGIN HIDDEN TESTS\n{tests}\n### END HIDDEN TESTS"
    answer = "### BEGIN SOLUTION\nTwice.\n### END SOLUTION"
    cells = [
        cell(new_markdown_cell, "title", "# Small"),
        cell(new_code_cell, "double", code, solution=True),
        cell(new_code_cell, "test-double", "assert double(1) == 2", grade=True, points=1),
        cell(new_code_cell, "hidden-double", f"# Other numbers\n{hidden}", grade=True, points=3),
        cell(new_markdown_cell, "explain", answer, grade=True, solution=True, points=4),
    ]
    page = new_notebook(cells=cells)
    page.metadata.kernelspec = {"display_name": "P", "language": "python", "name": "python3"}
    return page


def make(folder: Path, students: dict[str, dict] | None = None) -> Course:
    """The released course with a hand-in of each student, whose behaviour is specified."""
    course = copied(_released, folder)
    for student, behaviour in (students or {}).items():
        hand_in(course, student, **behaviour)
    return course


def copied(build: Callable[[Path], Course], folder: Path) -> Course:
    """`build(folder)`: the same in every test, so made once and copied, with its gradebook."""
    if "BERTLAB_GRADEBOOK" in os.environ:  # that one is elsewhere
        return build(folder)
    shutil.copytree(_template(build), folder)
    return Course(folder)


@cache
def _template(build: Callable[[Path], Course]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="small-course-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build(folder / "course").root


def new_course(folder: Path, more: str = "") -> Course:
    """A course without assignments, with this repository's settings and `more`."""
    (folder / "course").mkdir(parents=True, exist_ok=True)
    settings = (ROOT / "course" / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "course" / "nbgrader_config.py").write_text(settings + more, encoding="utf-8")
    return Course(folder)


def _released(folder: Path) -> Course:
    (folder / "solutions" / NAME).mkdir(parents=True)
    nbformat.write(source(), folder / "solutions" / NAME / f"{NAME}.ipynb")
    course = new_course(folder)
    said = []
    assert releasing.release(course, [NAME], say=said.append) == 0, said
    return course


def hand_in(course, student, handed_in="2026-10-01 10:00:00 UTC", explain="Two times.", **fake):
    """A hand-in; its metadata control FakeGrader, e.g. share=0.5, wait=1, die=True."""
    page = nbformat.read(course.room("release") / NAME / f"{NAME}.ipynb", as_version=4)
    page.metadata["fake"] = fake
    page.cells[1].source = f"def double(x):\n    return 2 * x  # {student}"
    page.cells[-1].source = explain
    page.cells += map(new_markdown_cell, fake.get("own", ()))  # the student's own
    path = course.hand_in(NAME, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(page, path)
    if handed_in:
        (path.parent / "timestamp.txt").write_text(handed_in)


def nbgrader(folder, *arguments, **environment):
    """Run plain nbgrader in a folder; returns the finished process."""
    # It calls `alembic` by name, so the environment's commands must be on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options = {"env": os.environ | {"PATH": path} | environment, "cwd": folder}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)


class FakeGrader:
    """Gives the share of points that the hand-in specifies, and records what it graded."""

    def __init__(self, assignment, limits=None, sandboxed=True):
        self.assignment = assignment

    def close(self):
        pass

    def grade(self, submission, seed=""):
        page = nbformat.reads(submission.read_text(), as_version=4)
        fake = page.metadata["fake"]
        root = submission.parents[3]
        with open(root / "graded.txt", "a") as log:
            log.write(f"{submission.parents[1].name} {os.getpid()}\n")
        time.sleep(fake.get("wait", 0))
        if "die_once" in fake and not (root / "died").exists():
            (root / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if fake.get("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if fake.get("fail"):
            raise OSError("no zygote")
        late = "late_once" in fake and not (root / "late").exists()
        if late:
            (root / "late").touch()
        scores = {}
        for cell in self.assignment.source.cells:
            if cell.metadata.nbgrader.grade:
                points = cell.metadata.nbgrader.points
                scores[cell.id] = 0.0 if late else points * fake.get("share", 1.0)
        release = self.assignment.release.cells[-1].source
        scores["explain"] = 0.0 if page.cells[4].source == release else None
        for mine, theirs in zip(page.cells, self.assignment.source.cells, strict=False):
            if theirs.metadata.nbgrader.locked:
                mine.source = theirs.source
            if theirs.id in fake.get("fails", {}):
                mine.outputs = [new_output("error", **fake["fails"][theirs.id], traceback=[])]
        notes = (Note(f"seed {seed}"),) if fake.get("note") else ()
        return Result(page, scores, notes, 0.1, disturbed=late)


def grade(course, *, students=(), workers=2, **options):
    """Run the grading with FakeGrader; returns the exit code and the printed text."""
    said = []
    asked = grade_run.Options(students=students, workers=workers, **options)
    code = grade_run.run(course, [NAME], asked, FakeGrader, said.append)
    return code, "\n".join(said)


def rows(course) -> dict[str, list[tuple]]:
    """The gradebook's data on hand-ins, without the random keys of its tables."""
    from sqlalchemy import text

    with closing(course.gradebook()) as book:
        queries = {"grades": TABLES, "comments": COMMENTS, "graded": GRADED}
        found = {name: book.db.execute(text(query)) for name, query in queries.items()}
        return {name: [tuple(row) for row in result] for name, result in found.items()}


def scores(course) -> dict[tuple[str, str], tuple]:
    """(student, cell): (auto_score, manual_score, needs_manual_grade)."""
    return {row[:2]: row[2:5] for row in rows(course)["grades"]}


def graded_names(course) -> list[str]:
    """The students that FakeGrader graded, in order."""
    log = course.root / "graded.txt"
    return [line.split()[0] for line in log.read_text().splitlines()] if log.exists() else []
