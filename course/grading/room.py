"""Where an assignment's own cells and tests are run: a namespace in the tests' process."""

import ast
import contextlib
import io
from types import CodeType
from typing import Any

import torch
from nbformat import NotebookNode, v4

from course.grading import cells
from course.grading.assignments import Assignment, grade_id
from course.grading.errors import Stopped
from course.grading.outputs import failure, stream


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
            output = self.run(id)
            if output is not None and output.output_type == "error":
                raise RuntimeError(f"the given cell {id} fails: {output.evalue}")

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
    return (
        said
        if type(error).__name__ in ("CheckFailed", "NotWritten")
        else (f"{type(error).__name__}: {said}")
    )


def _result(value: Any) -> NotebookNode | None:
    """A number is a part of the points, as in nbgrader; anything else is shown."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return v4.new_output("execute_result", data={"text/plain": str(float(value))})
    if value is None:
        return None
    text = getattr(value, "text", None) or repr(value)
    return stream(f"{text}\n")
