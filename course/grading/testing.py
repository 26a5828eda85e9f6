"""The tests' process: it knows the hidden tests, and asks the student's process for answers.

Run as `python -m course.grading.testing FD`. It prepares an assignment once and forks for each
submission, so that no submission sees what another one left behind.
"""

import ast
import contextlib
import io
import os
import pickle
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from nbformat import NotebookNode, v4
from nbgrader.utils import determine_grade

from course.grading import cells
from course.grading.assignments import Assignment, grade_id
from course.grading.outputs import failure, shown, stream
from course.grading.remote import Stopped, Student
from course.grading.sandbox import Limits, Sandbox
from course.grading.submissions import graded_cells, read_submission

TEST_CALLS = 4  # a test may take as long as so many calls
OWN_MEMORY = 8 * 2**30  # bytes of addresses beyond those at the start
VARIANT = "BERTLAB_VARIANT"  # read by `bertlab.check.variants`


class TooLong(BaseException):
    """A test does not come to an end, though every single answer comes in time."""


class Room:
    """The tests' namespace, and the plan of who runs what."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment, self.plan = assignment, cells.plan(assignment.source)
        self.source = {grade_id(cell): cell.source for cell in assignment.source.cells}
        self.scope: dict[str, Any] = {"__name__": "__main__", "display": lambda *shown: None}
        torch.set_num_threads(1)

    def warm_cells(self) -> list[dict]:
        return [{"id": id, "source": self.source[id]} for id in self.plan.warm]

    def prepare(self) -> None:
        """Run what needs no student's code; raises RuntimeError with the cell's name."""
        for id in self.plan.warm:
            if error := self.run(id):
                raise RuntimeError(f"the given cell {id} fails: {error.evalue}")

    def run(self, id: str) -> NotebookNode | None:
        """Run a cell of the instructor's; its output, or its error."""
        code, last = _compiled(self.source[id], id)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                exec(code, self.scope)
                value = eval(last, self.scope) if last else None
            except Stopped as stopped:
                return failure("Stopped", f"Stopped: {stopped}")
            except TooLong:
                return failure("Stopped", "Stopped: the test does not come to an end")
            except BaseException as error:
                return failure(type(error).__name__, _told(error))
        return _result(value)


def _compiled(source: str, id: str) -> tuple[CodeType, CodeType | None]:
    """A cell's statements, and its last expression, whose value is its result."""
    tree, last = ast.parse(source), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = compile(ast.Expression(tree.body.pop().value), f"<{id}>", "eval")
    return compile(tree, f"<{id}>", "exec"), last


def _told(error: BaseException) -> str:
    """What a test says is wrong; a check's message stands for itself."""
    said = str(error) or "a test failed"
    return said if type(error).__name__ in ("CheckFailed", "NotWritten") else (
        f"{type(error).__name__}: {said}"
    )


def _result(value: Any) -> NotebookNode | None:
    """A number is a part of the points, as in nbgrader; anything else is shown."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return v4.new_output("execute_result", data={"text/plain": str(float(value))})
    if value is None:
        return None
    text = getattr(value, "text", None) or repr(value)
    return stream(f"{text}\n")


class Exam:
    """One submission: its cells in their order, each in its process."""

    def __init__(self, room: Room, sandbox: Sandbox, limits: Limits) -> None:
        self.room, self.limits = room, limits
        self.student = Student(sandbox, limits)
        self.done: list[str] = []  # sources that a new process has to run again
        self.notes: list[str] = []

    def grade(self, path: Path) -> tuple[NotebookNode, dict, tuple[str, ...]]:
        """The graded notebook, the points of each graded cell, and notes."""
        submission = read_submission(path, self.room.assignment, self.limits)
        self.notes += submission.notes
        for name in self.room.plan.functions:
            self.room.scope[name] = self.student.function(name)
        signal.signal(signal.SIGALRM, _too_long)
        for cell in submission.cells:
            if cell.cell_type == "code":
                self._grade_cell(cell)
        release = self.room.assignment.release
        notebook = v4.new_notebook(cells=submission.cells, metadata=release.metadata)
        scores = {grade_id(cell): _points(cell) for cell in graded_cells(submission.cells)}
        return notebook, scores, tuple(self.notes)

    def _grade_cell(self, cell: NotebookNode) -> None:
        id, plan = grade_id(cell), self.room.plan
        if cells.is_test(cell):
            self._test(cell)
        elif id in plan.warm:
            cell.outputs = []
        elif id in plan.student | plan.tests:
            if id in plan.student:
                self._run(cell)
            if id in plan.tests:
                self.room.run(id)
        elif not (cells.is_given(cell) or self._is_experiment(cell)):
            self._run(cell)

    def _is_experiment(self, cell: NotebookNode) -> bool:
        """A cell that builds on what is there to be looked at: it is not run again."""
        used = cells.names_of(cell.source).used
        return not cells.is_solution(cell) and bool(used & self.room.plan.experiments)

    def _run(self, cell: NotebookNode) -> None:
        """A cell of the student's, in the student's process."""
        name = grade_id(cell) or "a cell of their own"
        try:
            self._revive()
            reply = self.student.run(cell.source)
        except Stopped as stopped:
            self.notes.append(f"{name}: {stopped}; its cell was left out")
            cell.outputs = [failure("Stopped", f"Stopped: {stopped}")]
            return
        self.done.append(cell.source)
        cell.outputs = _outputs(reply, self.limits.output_kb)
        if reply.get("cut"):
            self.notes.append(f"{name}: printed more than {self.limits.output_kb} kB; cut")
        if error := reply.get("error"):
            cell.outputs.append(failure(str(error["names"][0]), _student_error(error)))
            unwritten = error["names"][0] == "NotImplementedError"
            if not unwritten:
                self.notes.append(f"{name}: its cell raised {cell.outputs[-1].evalue}")

    def _test(self, cell: NotebookNode) -> None:
        """A test, in this process."""
        limit = self.limits.call_seconds * TEST_CALLS
        try:
            self._revive()
            signal.setitimer(signal.ITIMER_REAL, limit)
            output = self.room.run(grade_id(cell))
        except Stopped as stopped:
            output = failure("Stopped", f"Stopped: {stopped}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        cell.outputs = [] if output is None else [output]
        cell.execution_count = None
        if output is not None and output.get("ename") == "Stopped":
            self.notes.append(f"{grade_id(cell)}: {output.evalue.removeprefix('Stopped: ')}")

    def _revive(self) -> None:
        """A new process in place of one that ended, with all that the old one had run."""
        if self.student.alive:
            return
        self.student.start()
        for source in self.done:
            self.student.run(source)


def _outputs(reply: dict, most_kb: int) -> list[NotebookNode]:
    """The outputs of a cell; the reply comes from the sandbox and may be anything."""
    said = reply.get("said") or {}
    made = [stream(str(said[name]), name) for name in ("stdout", "stderr") if name in said]
    made += [shown(data) for data in reply.get("outputs") or []]
    return [output for output in made if output.get("text") or output.get("data")]


def _student_error(error: dict) -> str:
    line = f"\nin the line: {error['line']}" if error.get("line") else ""
    return f"{error['names'][0]}: {error['text']}{line}"[:2_000]


def _points(cell: NotebookNode) -> float | None:
    return determine_grade(cell)[0]


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong


def serve(orders: Connection) -> None:
    """Prepare an assignment, then grade one submission after the other."""
    assignment, limits, sandboxed = orders.recv()
    try:
        room = Room(assignment)
        sandbox = Sandbox(limits, room.warm_cells(), sandboxed)
        room.prepare()
    except Exception as error:
        orders.send((type(error).__name__, str(error)))
        return
    orders.send(None)
    try:
        while True:
            path, seed = orders.recv()
            orders.send(_in_a_fork(room, sandbox, limits, path, seed))
            sandbox.stop()
    except EOFError:
        return
    finally:
        sandbox.close()


def _in_a_fork(room: Room, sandbox: Sandbox, limits: Limits, path: Path, seed: str) -> Any:
    """Grade in a child of this process; what it sends, or a sentence if it ends without."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.environ[VARIANT] = seed
            _limit_memory()
            answer = Exam(room, sandbox, limits).grade(path)
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else "the tests' process ended"  # noqa: S301 (ours)


def _limit_memory() -> None:
    """An answer that is too large to be looked at fails its test instead of the machine."""
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + OWN_MEMORY, now + OWN_MEMORY))


if __name__ == "__main__":
    with Connection(int(sys.argv[1])) as orders:
        serve(orders)
