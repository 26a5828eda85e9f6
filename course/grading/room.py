"""The namespace in the tests' process that runs an assignment's own cells and tests."""

import ast
import contextlib
import io
from types import CodeType
from typing import Any

import torch
from nbformat import NotebookNode, v4

from course.feedback.checks import Passed
from course.grading import cells
from course.grading.assignments import Assignment, grade_id
from course.grading.errors import Stopped
from course.grading.outputs import failure, stream

# With a space, so no student's error can have this name.
STOPPED = "not finished"


class TooLong(BaseException):
    """A test does not end, although every single answer comes in time."""


class Room:
    """The tests' namespace, and the plan of what runs where."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment, self.plan = assignment, cells.plan(assignment.source)
        self.source = {grade_id(cell): cell.source for cell in assignment.source.cells}
        self.scope: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None}
        torch.set_num_threads(1)

    def warm_cells(self) -> list[dict]:
        """The cells that the sandbox runs once, before any student's."""
        return [{"id": id, "source": self.source[id]} for id in self.plan.warm]

    def prepare(self) -> None:
        """Run the cells that need no student's code; raises RuntimeError with the cell's name."""
        for id in self.plan.warm:
            output = self.run(id)
            if output is not None and output.output_type == "error":
                raise RuntimeError(f"the given cell {id} fails: {output.evalue}")

    def run(self, id: str) -> NotebookNode | None:
        """Run an instructor's cell; its output, or its error."""
        code, last, gives = _compiled(self.source[id], id)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                exec(code, self.scope)
                value = eval(last, self.scope) if last else None
            except Stopped as stopped:
                return failure(STOPPED, str(stopped))
            except TooLong:
                return failure(STOPPED, "the test does not come to an end")
            except BaseException as error:
                return failure(type(error).__name__, _told(error))
        return _result(value, gives)


def _compiled(source: str, id: str) -> tuple[CodeType, CodeType | None, bool]:
    """A cell's statements, its last expression, and whether that is the number of points.

    As in nbgrader, a test may end with a number: points. It must be the test's own, so an
    expression with a call does not count: a student's function could return it.
    """
    tree, last, gives = ast.parse(source), None, False
    end = tree.body[-1] if tree.body else None
    if isinstance(end, ast.Expr):
        tree.body.pop()
        value = end.value
        gives = not any(isinstance(node, ast.Call) for node in ast.walk(value))
        last = compile(ast.Expression(value), f"<{id}>", "eval")
    return compile(tree, f"<{id}>", "exec"), last, gives


def _told(error: BaseException) -> str:
    """A test's error message; a check's message is used alone."""
    try:
        said = str(error) or "a test failed"
    except Exception:  # a student's error may hold a number that is too long to be printed
        said = "an error whose message cannot be printed"
    own = type(error).__name__ in ("CheckFailed", "NotWritten")
    return said if own else f"{type(error).__name__}: {said}"


def _result(value: Any, gives: bool) -> NotebookNode | None:
    """Points, a check's message, or nothing."""
    if gives and isinstance(value, (int, float)) and not isinstance(value, bool):
        return v4.new_output("execute_result", data={"text/plain": str(float(value))})
    return stream(f"{value.text}\n") if isinstance(value, Passed) else None
