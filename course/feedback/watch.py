"""Watch a student's function while it runs: does it call the library, and does it end?

This stops a call by accident, not by intent: it runs beside the student's code, which can switch it
off, and Python reports no call of a C function by another one, such as `map` or `partial`.
"""

import gc
import linecache
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from math import inf
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

# Packages that contain the answers, like `course.experiments` and `course.models`.
OUR_ANSWERS = ("course.experiments", "course.models")
ANSWERS = ("bertlab", "seqeval", "tokenizers", "transformers", "sentence_transformers")
MOST_LINES = 2_000_000  # about two seconds; a right solution needs a small part of it


class LibraryUsed(BaseException):
    """The watched function called a package, or a function of PyTorch, that holds its answer.

    Not an `Exception`: an `except Exception` in the student's function must not catch it.
    """


class NeverEnds(BaseException):
    """The watched function has run more lines than any solution needs."""


def students_line(error: BaseException, function: object = None) -> str:
    """The line of a notebook that an error came through last, or "".

    function: the called one, whose own cell counts: the line may be in a function that was given.
    """
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    for frame, number in reversed(list(walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        if file == home or (
            home is None and ("ipykernel_" in file or file.startswith("<ipython-input"))
        ):
            return linecache.getline(file, number).strip()
    return ""


class Watch:
    """Inside `with Watch():` LibraryUsed and NeverEnds are raised where they happen.

    Lines are counted rather than seconds, so the verdict is the same on every machine. Lines of an
    import are not counted, and none are if a debugger or a coverage tool is running, because these
    need the same hook.

    ready_made: words in the names of forbidden PyTorch functions, such as "attention".
    """

    def __init__(self, most_lines: float = MOST_LINES, ready_made: Sequence[str] = ()) -> None:
        self.lines_left, self.ready_made = most_lines, ready_made

    def __enter__(self) -> "Watch":
        self.profiler, self.tracer = sys.getprofile(), sys.gettrace()
        # The library's own objects may be cleaned up later, which is not the student's call.
        self.collects = gc.isenabled()
        gc.disable()
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
        if self.collects:
            gc.enable()

    def _entered(self, frame: FrameType, event: str, argument: Any) -> None:
        """Called for every entered function, also C functions."""
        if event == "call":
            module = str(frame.f_globals.get("__name__"))
            if is_an_answer(module) and not is_importing(frame):
                raise LibraryUsed
            if self._is_ready_made(module, frame.f_code.co_name):
                raise LibraryUsed
        if event == "c_call":
            owner = type(getattr(argument, "__self__", None)).__module__
            module = str(getattr(argument, "__module__", ""))
            # A tensor's method only has its owner, a function its module.
            if (is_an_answer(owner) or is_an_answer(module)) and not is_importing(frame):
                raise LibraryUsed
            if any(self._is_ready_made(part, argument.__name__) for part in (owner, module)):
                raise LibraryUsed

    def _is_ready_made(self, module: str, name: str) -> bool:
        """Whether a function is PyTorch's, and one of those that must be written here."""
        return module.split(".")[0] == "torch" and any(part in name for part in self.ready_made)

    def _traced(self, frame: FrameType, event: str, _argument: Any) -> Callable:
        """Called for every executed line."""
        if event == "call" and _imports(frame):
            return self._uncounted()
        self.lines_left -= event == "line"
        if self.lines_left < 0:
            raise NeverEnds
        return self._traced

    def _uncounted(self) -> Callable:
        """Called instead of `_traced` for an import, whose code is not the student's."""
        left, self.lines_left = self.lines_left, inf

        def traced(_frame: FrameType, event: str, _argument: Any) -> Callable:
            if event == "return":
                self.lines_left = left
            return traced

        return traced


def watched(function: Callable, ready_made: Sequence[str] = ()) -> Callable:
    """The same function, which raises LibraryUsed when it calls the library; for hidden tests."""

    @wraps(function)
    def inside(*arguments: Any) -> Any:
        with Watch(most_lines=inf, ready_made=ready_made):
            return function(*arguments)

    return inside


def is_importing(frame: FrameType) -> bool:
    """Whether Python's import system called this function, on the student's side of the check.

    Some packages add their own finder to `sys.meta_path`. Python calls it whenever PyTorch imports
    one of its modules late, so that is not the student's call. Imported functions are caught when
    they are called.
    """
    caller = frame.f_back
    while caller is not None:
        if _imports(caller):
            return True
        if str(caller.f_globals.get("__name__")).startswith("course.feedback"):
            return False
        caller = caller.f_back
    return False


def _imports(frame: FrameType) -> bool:
    """Whether this function is the import system's."""
    return str(frame.f_globals.get("__name__")).startswith("importlib.")


def is_an_answer(module: str) -> bool:
    """Whether a module belongs to a package that contains the answers.

    >>> modules = ["bertlab.tokenizers.bpe", "course.experiments.reach", "course.feedback.watch"]
    >>> [is_an_answer(module) for module in modules]
    [True, True, False]
    """
    return module.split(".")[0] in ANSWERS or module.startswith(OUR_ANSWERS)
