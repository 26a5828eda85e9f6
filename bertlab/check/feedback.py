"""What every check is made of: call the student's function, compare, say what is wrong.

A check knows worked examples and laws, never the answer. It calls the student's function with
copies, so that a change to the input is noticed, and watches what is called meanwhile, so that
the library cannot stand in for the answer.
"""

import copy
import html
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any

# How often each check has failed in this session; hints come one more a try.
_failures: Counter[str] = Counter()


class CheckFailed(AssertionError):
    """A check that failed; a notebook shows its message and no stack of calls."""

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self}"]


class LibraryUsed(Exception):
    """The student's function called the library that it is to replace."""


class Passed:
    """What a check returns when all is right: a line to be glad about."""

    def __init__(self, name: str, checked: Sequence[str]) -> None:
        self.text = f"✓ {name}: {', '.join(checked)}."

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # Dark green on light green, and a tick: colour is not the only sign.
        style = (
            "padding:6px 10px;border-radius:6px;background:#e3f4e8;color:#0b4a24;width:fit-content"
        )
        return f'<div role="status" style="{style}">{html.escape(self.text)}</div>'


class Check:
    """One task's check: `example` and `law` collect what was looked at, `passed` ends it.

    name: the function's name, as the student knows it; hints: from vague to plain, one more is
    shown each time the check fails.
    """

    def __init__(self, name: str, function: Callable, hints: Sequence[str] = ()) -> None:
        self.name, self.function, self.hints = name, function, hints
        self.checked: list[str] = []
        if not callable(function):
            self.fail(f"{name} must be a function; it is {_short(function)}")
        if str(getattr(function, "__module__", "")).startswith("bertlab"):
            self.fail(REFUSED.format(name=name))

    def call(self, *arguments: Any) -> Any:
        """The function's answer; fails with a sentence if it raises or changes its input."""
        given = copy.deepcopy(arguments)
        try:
            with _Watch():
                answer = self.function(*given)
        except NotImplementedError:
            self.fail("not written yet: replace the line that raises NotImplementedError")
        except LibraryUsed:
            self.fail(REFUSED.format(name=self.name))
        except Exception as error:
            self.fail(f"{self._shown(arguments)} raised {type(error).__name__}: {error}")
        if given != arguments:
            self.fail(f"{self._shown(arguments)} changed its input; work on a copy")
        return answer

    def example(self, *arguments: Any, gives: Any, because: str = "") -> None:
        """A worked example: the answer must equal `gives`, type included."""
        answer = self.call(*arguments)
        if type(answer) is not type(gives) and not isinstance(answer, type(gives)):
            self.fail(
                f"{self._shown(arguments)} must return a {type(gives).__name__}; "
                f"it returned {_short(answer)}, a {type(answer).__name__}"
            )
        if answer != gives:
            self.fail(
                f"{self._shown(arguments)}\n  expected {_short(gives)}\n  got      {_short(answer)}"
                + (f"\n  {because}" if because else "")
            )

    def law(self, holds: bool, otherwise: str) -> None:
        """Something that must be true of every answer; `otherwise` says what is not."""
        if not holds:
            self.fail(otherwise)

    def done(self, what: str) -> None:
        """Note what has been looked at, for the line at the end."""
        self.checked.append(what)

    def passed(self) -> Passed:
        """End the check."""
        _failures[self.name] = 0
        return Passed(self.name, self.checked)

    def fail(self, message: str) -> None:
        """End the check with what is wrong, and as many hints as there were tries."""
        _failures[self.name] += 1
        hints = [f"\n  Hint: {hint}" for hint in self.hints[: _failures[self.name] - 1]]
        # Not chained: the student's own stack is what the message already says in words.
        raise CheckFailed(f"{self.name}: {message}" + "".join(hints)) from None

    def _shown(self, arguments: tuple) -> str:
        return f"{self.name}({', '.join(map(_short, arguments))})"


REFUSED = (
    "{name} uses bertlab's own code. The library holds the answer to this task, so it cannot be "
    "the answer: write the steps yourself, with Python alone"
)


class _Watch:
    """Raises LibraryUsed as soon as a function of the library is entered."""

    def __enter__(self) -> None:
        self.before = sys.getprofile()
        sys.setprofile(self._entered)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.setprofile(self.before)

    @staticmethod
    def _entered(frame: FrameType, event: str, argument: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("bertlab.") and module != __name__:
            raise LibraryUsed


def _short(value: Any, limit: int = 160) -> str:
    """A value as Python writes it, cut in the middle if it is long."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 3 :]}"
