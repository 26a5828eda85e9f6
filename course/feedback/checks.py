"""The base of all checks: call the student's function, compare, explain what is wrong.

A check has worked examples and laws, never the answer. It calls the student's function with copies,
so that a change of the input is detected, and watches it meanwhile (`watch.py`), so that the
library cannot replace the answer and an endless loop is stopped.
"""

import copy
import html
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from textwrap import fill
from typing import Any, NoReturn

from course.feedback import memory, progress
from course.feedback.another_way import another_way
from course.feedback.differences import difference, short
from course.feedback.known import sentence_for
from course.feedback.watch import LibraryUsed, NeverEnds, Watch, is_an_answer, students_line

REFUSED = (
    "uses bertlab's own code, or another tokenizer's. That code contains the answer to this task, "
    "so it cannot be the answer: write the steps yourself, in plain Python"
)

# What a released function raises until it is written.
PLACEHOLDER = "write this function, then delete this line"

# Before what an example is about, which is true of it whatever the mistake was.
CASE = "This case: "

# How often each check has failed since it passed last; each failure shows one more hint.
_failures: Counter[str] = Counter()


def start_over() -> None:
    """A new session for the next student: no hints are due yet, and nothing has passed."""
    _failures.clear()
    progress.start_over()


def about(because: str) -> str:
    """The line of a message that says what an example is about, if anything."""
    return f"\n{CASE}{because}" if because else ""


class CheckFailed(AssertionError):
    """A check that failed; a notebook shows its message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        lines = f"✗ {self}".splitlines()
        return ["\n".join(fill(line, 56, subsequent_indent="    ") for line in lines)]


class NotWritten(CheckFailed, NotImplementedError):
    """The student's function still raises NotImplementedError."""


def is_unwritten(error: Exception) -> bool:
    """Is this the released line? PyTorch raises the same error, as for a softmax of integers."""
    return isinstance(error, NotImplementedError) and error.args in ((), (PLACEHOLDER,))


class Passed:
    """The success message of a check, with what was checked, the progress, and HTML below it."""

    def __init__(
        self,
        name: str,
        checked: Sequence[str],
        progress: progress.Progress | None = None,
        below: str = "",
    ) -> None:
        self.text = f"✓ {name} passes: {'; '.join(checked)}."
        self.progress, self.below = progress, below

    def __repr__(self) -> str:
        return self.text if self.progress is None else f"{self.text}\n  {self.progress}"

    def _repr_html_(self) -> str:
        # Dark green on light green, a tick and words: colour is not the only sign.
        style = (
            "padding:6px 10px;border-radius:6px;background:#e3f4e8;color:#0b4a24;width:fit-content"
        )
        bar = "" if self.progress is None else self.progress.bar()
        return f'<div role="status" style="{style}">{html.escape(self.text)}{bar}{self.below}</div>'


def checks_of(assignment: str) -> tuple[Callable[[], progress.Progress], Callable[..., Callable]]:
    """The progress of an exercise, such as "ex04_attention", and the decorator of its checks.

    `@task(3, "a vague hint", "a plain one")` is for a function that compares, and makes it the
    check of the student's function of its name, in task 3. What it gets first is a check of the
    kind that its first argument is annotated with; unless that fails, it passes at the end.
    """

    def task(number: int, *hints: str) -> Callable[[Callable], Callable]:
        def declare(compare: Callable) -> Callable:
            own = progress.Task(assignment, compare.__name__, number)
            progress.declare(own)
            first, *others = signature(compare).parameters.values()

            @wraps(compare)
            def checked(function: Callable, *arguments: Any) -> Passed:
                check = first.annotation(own.name, function, hints, own)
                compare(check, *arguments)
                return check.passed()

            students = first.replace(name="function", annotation=Callable)
            shown = Signature([students, *others], return_annotation=Passed)
            checked.__signature__ = shown  # type: ignore[attr-defined]
            return checked

        return declare

    return partial(progress.progress_of, assignment), task


class Check:
    """One task's check: `example`, `law` and `raises` test the answers, `passed` ends it.

    name: the student's function; hints: from vague to plain, one more is shown each time the check
    fails; task: where it is in the course, None outside of assignments.
    """

    # The message when library code computes the answer, PyTorch's forbidden functions, and the
    # advice for a function that writes into its input. `TensorCheck` has its own words.
    refused = REFUSED
    ready_made: tuple[str, ...] = ()
    changed = "work on a copy: list(...), dict(...) and set(...) make one"

    def __init__(
        self,
        name: str,
        function: Callable,
        hints: Sequence[str] = (),
        task: progress.Task | None = None,
    ) -> None:
        self.name, self.function, self.hints, self.task = name, function, hints, task
        self.checked: list[str] = []
        self.compared_so_far = 0
        progress.begun(self.task)
        if self.task and name not in _failures:
            _failures[name] = memory.recall(*self.task[:2])["failures"]
        if not callable(function):
            self.fail(
                f"give the function itself, `{name}`, not what it returns; got {short(function)}"
            )
        if is_an_answer(str(getattr(function, "__module__", ""))):
            self.fail(self.refused)

    def call(self, *arguments: Any, because: str = "") -> Any:
        """The function's answer; fails with a message if it raises or changes its input.

        because: the subject of this call, for the message.
        """
        given = copy.deepcopy(arguments)
        answer, error = self._run(given, because)
        if error is not None:
            self.fail(f"{self.shown(arguments)}\n{self._raised(error)}{about(because)}")
        if not self._same(given, arguments):
            self.fail(f"{self.shown(arguments)}\nchanged its input", self.changed)
        return answer

    def example(
        self,
        *arguments: Any,
        gives: Any,
        because: str = "",
    ) -> None:
        """A worked example: the answer must equal `gives`, type included.

        because: what this example is about.
        """
        answer = self.call(*arguments, because=because)
        self.compared(difference(gives, answer), answer, self.shown(arguments), because)

    def compared(
        self, found: str, answer: Any, shown: str, because: str, tolerance: float = 0.0
    ) -> None:
        """End of a comparison: fails with the difference `found`, unless that is "".

        An answer that a known mistake gives gets its sentence after an arrow (`known.py`; its
        numbers may differ by `tolerance`); for another one the message says what the case is about.
        """
        self.compared_so_far += 1
        if not found:
            return
        assignment = self.task.assignment if self.task else ""
        known = sentence_for(assignment, self.name, self.compared_so_far, answer, tolerance)
        self.fail(f"{shown}\n{found}{'' if known else about(because)}", known)

    def raises(
        self, error: type[Exception], *arguments: Any, because: str, naming: str = ""
    ) -> None:
        """A call that must raise this kind of error; naming: what its message must contain."""
        answer, raised = self._run(copy.deepcopy(arguments), because)
        if not isinstance(raised, error):
            told = "" if raised is None else f"it {self._raised(raised)}"
            got = told or f"it returned {short(answer)}"
            self.fail(
                f"{self.shown(arguments)} must raise a {error.__name__}; {got}",
                "" if told else because,
            )
        if naming not in str(raised):
            self.fail(
                f"{self.shown(arguments)} must raise a {error.__name__} whose message names "
                f"{naming}; it {self._raised(raised)}",
                because,
            )

    def law(self, holds: bool, otherwise: str) -> None:
        """A condition for every answer; `otherwise` is the message if it does not hold."""
        if not holds:
            self.fail(otherwise)

    def done(self, what: str) -> None:
        """Record what was checked, for the line at the end."""
        self.checked.append(what)

    def passed(self) -> Passed:
        """End the check; a notebook shows the result."""
        _failures[self.name] = 0
        progress.ended(self.task, self.function, passed=True)
        far = progress.progress_of(self.task.assignment) if self.task else None
        return Passed(self.name, self.checked, far, another_way(self.task))

    def fail(self, message: str, because: str = "") -> NoReturn:
        """End the check with the error, and one more hint than at the previous try."""
        hints = list(self.hints[: _failures[self.name]])
        _failures[self.name] += 1
        progress.ended(self.task, self.function, passed=False, said=message, mistake=because)
        lines = [*message.splitlines(), *([f"→ {because}"] if because else [])]
        lines += [
            f"it calls {red.name} (task {red.number}), whose own check is red: begin there"
            for red in progress.red_in(self.task, self.function)
        ]
        lines += [f"Hint {number}: {hint}" for number, hint in enumerate(hints, start=1)]
        # Not chained: the message already describes the student's traceback.
        raise CheckFailed(f"{self.name}: " + "\n  ".join(lines)) from None

    def _run(self, arguments: tuple, because: str) -> tuple[Any, Exception | None]:
        """The student's answer, or the exception raised instead."""
        try:
            with Watch(ready_made=self.ready_made):
                return self.function(*arguments), None
        except LibraryUsed:
            self.fail(self.refused)
        except NeverEnds:
            self.fail(
                f"{self.shown(arguments)}\ndoes not come to an end, so it was stopped. Does every "
                f"round of your loop change the variables of its condition?{about(because)}"
            )
        except Exception as error:
            if is_unwritten(error):
                raise NotWritten(
                    f"{self.name}: not written yet. Replace the line that raises "
                    "NotImplementedError with your code, run that cell, then run this one again"
                ) from None
            return None, error

    def _raised(self, error: Exception) -> str:
        """An error's message, and the student's line that raised it, if known.

        An error of a function in another process, as in grading, carries its line.
        """
        line = getattr(error, "student_line", None)
        if line is None:
            line = students_line(error, self.function)
        said = f"raised {type(error).__name__}: {error}" + (
            f"\nin your line: {line}" if line else ""
        )
        if isinstance(error, NotImplementedError) and "not implemented for" in said:
            said += "\nPyTorch has this function for numbers of another dtype: .float() makes such"
        # With these the check's own sentences begin.
        return said.replace("→", "->").replace(CASE, "this case: ")

    def _same(self, given: tuple, arguments: tuple) -> bool:
        return given == arguments

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        shown = (short(dict(a) if isinstance(a, Mapping) else a) for a in arguments)
        return f"{self.name}({', '.join(shown)})"
