"""Watch a student's function while it runs: does it call the library, does it ever end?"""

import sys
from collections.abc import Callable
from functools import wraps
from math import inf
from types import FrameType, TracebackType
from typing import Any

# Packages that hold the answers. `bertlab.check` calls the student, so it is not among them.
ANSWERS = ("bertlab", "tokenizers", "transformers")
MOST_LINES = 2_000_000  # about two seconds; a right solution needs a small part of it


class LibraryUsed(BaseException):
    """The watched function called a package that holds its answer.

    No `Exception`: an `except Exception` in the student's function must not swallow it.
    """


class NeverEnds(BaseException):
    """The watched function ran through more lines than any solution needs."""


class Watch:
    """Inside `with Watch():` LibraryUsed and NeverEnds are raised where they happen.

    Lines are counted rather than seconds, so the verdict is the same on every machine. They are
    not counted while a debugger or a coverage tool is at work, which need the same hook.
    """

    def __init__(self, most_lines: float = MOST_LINES) -> None:
        self.lines_left = most_lines

    def __enter__(self) -> "Watch":
        self.profiler, self.tracer = sys.getprofile(), sys.gettrace()
        sys.setprofile(self._entered)
        if self.tracer is None and self.lines_left < inf:
            sys.settrace(self._traced)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.setprofile(self.profiler)
        sys.settrace(self.tracer)

    @staticmethod
    def _entered(frame: FrameType, event: str, argument: Any) -> None:
        """Called for every function that is entered, C functions too."""
        if event == "call" and is_an_answer(str(frame.f_globals.get("__name__"))):
            raise LibraryUsed
        if event == "c_call":
            owner = type(getattr(argument, "__self__", None)).__module__
            if is_an_answer(owner) or is_an_answer(str(getattr(argument, "__module__", ""))):
                raise LibraryUsed

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Callable:
        """Called for every line that is run."""
        self.lines_left -= event == "line"
        if self.lines_left < 0:
            raise NeverEnds
        return self._traced


def watched(function: Callable) -> Callable:
    """The same function, which raises LibraryUsed when it calls the library; for hidden tests."""

    @wraps(function)
    def inside(*arguments: Any) -> Any:
        with Watch(most_lines=inf):
            return function(*arguments)

    return inside


def is_an_answer(module: str) -> bool:
    """Whether a module belongs to a package that holds the answers.

    >>> is_an_answer("bertlab.tokenizers.merges"), is_an_answer("bertlab.check.watch")
    (True, False)
    """
    inside = any(module == name or module.startswith(f"{name}.") for name in ANSWERS)
    return inside and not module.startswith("bertlab.check")
