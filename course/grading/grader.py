"""Grading from outside: one submission in, points and a notebook out."""

import os
import subprocess
import sys
import time
from multiprocessing import Pipe
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade

from course.grading.assignments import Assignment
from course.grading.sandbox import ROOT, Limits, NoSandbox

START_SECONDS = 180
STOP_SECONDS = 60  # beyond a submission's limit


class GradingFailed(RuntimeError):
    """The machinery failed, not the student: no grade may come of it."""


class Result(NamedTuple):
    """What grading gives.

    notebook: the student's cells and the tests, with outputs; scores: the points of each graded
    cell by its id, None if a person must look; notes: lines for the report.
    """

    notebook: NotebookNode
    scores: dict[str, float | None]
    notes: tuple[str, ...]
    seconds: float


class Grader:
    """Grades submissions of one assignment, one after the other; close it, or use it in a `with`.

    sandboxed: False runs students' code with your rights, which is for people whom you trust.
    Raises NoSandbox where bubblewrap cannot run, and GradingFailed if the assignment's own cells
    fail.
    """

    def __init__(
        self, assignment: Assignment, limits: Limits | None = None, sandboxed: bool = True
    ) -> None:
        self.setup = assignment, limits or Limits(), sandboxed
        self._start()

    def grade(self, submission: Path, seed: str = "") -> Result:
        """Grade a notebook file; whatever is in it, points come out.

        seed: of the hidden tests' random inputs, such as "2026-fall/ada". Raises GradingFailed if
        the machinery fails twice.
        """
        start = time.monotonic()
        for attempt in (1, 2):
            try:
                answer = self._ask((Path(submission), seed))
                if isinstance(answer, tuple):
                    notebook, notes = answer
                    scores = _scores(notebook)
                    return Result(notebook, scores, notes, time.monotonic() - start)
                error = str(answer)
            except (EOFError, OSError) as broken:
                error = f"the tests' process ended: {broken}"
            if attempt == 1:
                self.close()
                self._start()
        raise GradingFailed(f"{submission} could not be graded: {error}")

    def close(self) -> None:
        """End its processes."""
        self.orders.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> None:
        self.orders, theirs = Pipe()
        settings = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course.grading.testing", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        try:
            self.orders.send(self.setup)
            problem = self._receive(START_SECONDS)
        except (EOFError, OSError) as error:
            raise GradingFailed(f"the tests' process did not start: {error}") from None
        if problem is not None:
            kind, text = problem
            raise (NoSandbox if kind == "NoSandbox" else GradingFailed)(text)

    def _ask(self, order: tuple[Path, str]) -> object:
        self.orders.send(order)
        limits: Limits = self.setup[1]
        return self._receive(limits.submission_seconds + STOP_SECONDS)

    def _receive(self, seconds: float) -> object:
        if not self.orders.poll(seconds):
            self.process.kill()
            raise EOFError(f"no answer within {seconds:.0f} s")
        return self.orders.recv()


def _scores(notebook: NotebookNode) -> dict[str, float | None]:
    """The points of each graded cell, as nbgrader reads them off the outputs."""
    scores = {}
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if not marks:
            continue
        if marks.get("locked") and not marks.get("solution"):
            marks.checksum = compute_checksum(cell)  # of the restored text, as in the gradebook
        if marks.get("grade"):
            scores[marks.grade_id] = determine_grade(cell)[0]
    return scores
