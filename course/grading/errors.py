"""The student's errors, as the tests see them; and the watch of a student's function."""

import builtins
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from course.feedback.watch import LibraryUsed, NeverEnds, Watch


class Stopped(BaseException):
    """The student's process had to be ended, or ended itself; the message says why.

    Not an `Exception`: a test that expects a ValueError must not catch it.
    """


@contextmanager
def unwatched() -> Iterator[Watch | None]:
    """Suspend the watch during the tests' own communication; yields the suspended watch."""
    profiler, tracer = sys.getprofile(), sys.gettrace()
    watch = getattr(profiler, "__self__", None)
    if isinstance(watch, Watch):
        sys.setprofile(None)
        if getattr(tracer, "__self__", None) is watch:
            sys.settrace(None)
    else:
        watch = None
    try:
        yield watch
    finally:
        if watch is not None:
            sys.settrace(tracer)
            sys.setprofile(profiler)


def limits_of(watch: Watch) -> dict:
    """A watch's remaining limits, for JSON."""
    lines = None if watch.lines_left == float("inf") else watch.lines_left
    return {"most_lines": lines, "ready_made": list(watch.ready_made)}


def pickled_error(error: BaseException) -> bytes:
    """An error of the tests, to be raised again in the sandbox."""
    if type(error).__module__ == "builtins":
        return pickle.dumps(error)
    # Its class may be unknown in the sandbox.
    return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def student_error(raised: Any, own: BaseException | None = None) -> BaseException:
    """The error that represents one of the student's.

    own: the error of a tests' function that the student's function called, if any: a test may check
    whether it is passed on.
    """
    if raised.get("watch") == "library":
        return LibraryUsed()
    if raised.get("watch") == "endless":
        return NeverEnds()
    names = [str(name) for name in raised["names"]]
    if own is not None and names[0] == type(own).__name__:
        told: Any = own
        told.students = True
        return told
    known = next((found for name in names if (found := _exception(name))), RuntimeError)
    shown = re.sub(r"\W", "_", names[0])[:60]
    kind = known if shown == known.__name__ else type(shown, (known,), {})
    arguments = raised["arguments"]
    try:
        error = kind(*(arguments if isinstance(arguments, list) else [str(raised["text"])]))
    except TypeError:  # a UnicodeDecodeError needs five arguments
        error = type(shown, (RuntimeError,), {})(str(raised["text"]))
    error.students, error.student_line = True, str(raised["line"])
    return error


def _exception(name: str) -> type[Exception] | None:
    """A built-in exception, but not SystemExit and similar: they must not end the tests."""
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
