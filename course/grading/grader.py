"""Grading from outside: one submission in, points and a notebook out."""

import os
import subprocess
import sys
import time
from multiprocessing import Pipe
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade

from course import ROOT
from course.gradebook.notes import Note
from course.gradebook.results import Result
from course.grading.assignments import Assignment
from course.grading.clock import BACKSTOP
from course.grading.orders import Broken, Graded, Order
from course.grading.outputs import one_line
from course.grading.sandbox import NoSandbox
from course.settings import Limits

START_SECONDS = 180
STOP_SECONDS = 60  # beyond a submission's limit
ATTEMPTS = 4


class GradingFailed(RuntimeError):
    """The grading system failed, not the student: no grade may result."""


class Grader:
    """Grades submissions of one assignment, one after the other; close it, or use it in a `with`.

    sandboxed: False runs students' code with your rights: only for people whom you trust. Raises
    NoSandbox if bubblewrap cannot run, and GradingFailed if the assignment's own cells fail.
    """

    def __init__(
        self, assignment: Assignment, limits: Limits | None = None, sandboxed: bool = True
    ) -> None:
        self.setup = assignment, limits or Limits(), sandboxed
        self._start()

    def grade(self, submission: Path, seed: str = "") -> Result:
        """Grade a notebook file; any content gets points.

        seed: of the hidden tests' random inputs, such as "2026-fall/ada". Raises GradingFailed if
        the grading system fails twice.
        """
        start = time.monotonic()
        answer = self._answer(Order(Path(submission), seed))
        if isinstance(answer, Broken):
            # Is it this submission, or the system? Grading the unchanged release shows which.
            release = self._ask_for_release()
            if isinstance(release, Broken):
                raise GradingFailed(f"{submission} could not be graded: {answer.reason}")
            scores = dict.fromkeys(_scores(release.notebook))
            notes = (
                Note("grading ended twice, so a person must look", advice="Your teacher was told."),
                Note(one_line(f"why grading ended: {answer.reason}"), private=True),
            )
            return Result(release.notebook, scores, notes, time.monotonic() - start)
        scores = _scores(answer.notebook) | dict.fromkeys(answer.lost)
        seconds = time.monotonic() - start
        return Result(answer.notebook, scores, answer.notes, seconds, answer.disturbed)

    def _answer(self, order: Order) -> Graded | Broken:
        """The answer of the tests' process.

        It is asked again if it fails: first for the same, as the cause may be the machine; then
        without the test in which it ended, or without the student's outputs and pictures.
        """
        limits: Limits = self.setup[1]
        last = time.monotonic() + BACKSTOP * limits.submission_seconds + STOP_SECONDS
        for attempt in range(ATTEMPTS):
            answer = self._try(order)
            if not isinstance(answer, Broken):
                return answer
            if attempt and time.monotonic() > last:
                break
            if attempt and answer.cell:
                order = order._replace(lost=order.lost | {answer.cell})
            elif attempt:
                order = order._replace(bare=True)
        return answer

    def _try(self, order: Order) -> Graded | Broken:
        """One attempt; a failed one ends the tests' process."""
        try:
            self.orders.send(order)
            limits: Limits = self.setup[1]
            answer = self._receive(BACKSTOP * limits.submission_seconds + STOP_SECONDS)
            if not isinstance(answer, Broken):
                return answer
        except (EOFError, OSError) as broken:
            answer = Broken(f"the tests' process ended: {broken}")
        self.close()
        self._start()
        return answer

    def _ask_for_release(self) -> Graded | Broken:
        with NamedTemporaryFile("w", suffix=".ipynb") as file:
            file.write(nbformat.writes(self.setup[0].release))
            file.flush()
            return self._answer(Order(Path(file.name)))

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

    def _receive(self, seconds: float) -> Any:
        if not self.orders.poll(seconds):
            self.process.kill()
            raise EOFError(f"no answer within {seconds:.0f} s")
        return self.orders.recv()


def _scores(notebook: NotebookNode) -> dict[str, float | None]:
    """The points of each graded cell, as nbgrader determines them from the outputs."""
    scores = {}
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if not marks:
            continue
        if marks.get("locked") and not marks.get("solution"):
            marks.checksum = compute_checksum(cell)  # of the restored text, as in the gradebook
        if marks.get("grade"):
            scores[marks.grade_id] = _points(cell)
    return scores


def _points(cell: NotebookNode) -> float | None:
    """nbgrader's points; a test's points are limited to 0 and its maximum."""
    for output in cell.get("outputs", []):
        if output.output_type == "execute_result":
            given = float(output.data["text/plain"])
            most = float(cell.metadata.nbgrader.points)
            output.data["text/plain"] = str(min(max(given, 0.0), most) if given == given else 0.0)
    return determine_grade(cell)[0]
