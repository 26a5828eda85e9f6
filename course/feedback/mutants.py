"""Checks of a student's own test, by right implementations and mutants.

In mutation testing a mutant is a program with one mistake; a test is as good as the mutants that it
detects.
"""

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from course.feedback.checks import Check, NotWritten, is_unwritten

NOT_CALLED = "it never calls its argument: test that one, not a function of another cell"
# `assert` of a tensor with many truths.
EVERY = "== compares number by number; ask about all of them at once: torch.allclose(one, other)"


class MutationCheck(Check):
    """Check of a test: a function that raises an AssertionError for a wrong implementation.

    `passes` and `stops` try it on one implementation each, the student's own and a wrong one.
    """

    def passes(self, own: Callable, name: str, task: int, *arguments: Any) -> None:
        """The test must accept the student's own function `name`, which that task asks for.

        arguments: of a first call, which fails if the function is not written yet.
        """
        try:
            own(*arguments)
        except NotImplementedError as error:
            if not is_unwritten(error):
                raise
            raise NotWritten(
                f"{self.name}: `{name}` is not written yet; task {task} comes first"
            ) from None
        what = f"your own `{name}`"
        raised = self._tried(own)
        if isinstance(raised, AssertionError):
            said = f"{type(raised).__name__}: {raised}".removesuffix(": ")
            with redirect_stdout(StringIO()):  # it has printed once
                _, called = self._tried_noting(lambda *_, **__: None)
            because = "one of the two is wrong: which?" if called else NOT_CALLED
            self.fail(f"rejects {what} with {said}", because)
        if raised is not None:
            truth = "Boolean value of Tensor" in str(raised)
            self.fail(f"rejects {what}\n{self._raised(raised)}", EVERY if truth else "")

    def stops(self, mutant: Callable, what: str, because: str) -> None:
        """The test must raise an error for `mutant`; `because` explains its mistake."""
        with redirect_stdout(StringIO()) as printed:
            error, called = self._tried_noting(mutant)
        print(printed.getvalue(), end="")
        if error is None and not called:
            because = NOT_CALLED
        elif error is None and printed.getvalue():
            because = "printing stops nobody: only an error does, so write `assert` and a condition"
        if error is None:
            self.fail(f"does not notice that {what} is wrong", because)

    def shown(self, _arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(function)"

    def _tried(self, implementation: Callable) -> Exception | None:
        answer, error = self._run((implementation,), "")
        if answer is not None:
            self.fail(f"returned {answer!r}; a test raises an error, or does nothing: use `assert`")
        return error

    def _tried_noting(self, ours: Callable) -> tuple[Exception | None, bool]:
        """What the test raises for a function that is not the student's, and whether it calls it.

        In grading, the student's own is in another process, which waits until the test has ended.
        """
        called = False

        def noted(*arguments: Any, **named: Any) -> Any:
            nonlocal called
            called = True
            return ours(*arguments, **named)

        return self._tried(noted), called


def judge(
    name: str, test: Callable, right: Mapping[str, Callable], wrong: Mapping[str, Callable]
) -> None:
    """For hidden tests: try a student's test on many implementations; keys describe each.

    Raises AssertionError if `test` rejects a right one, or accepts a wrong one.
    """
    for what, implementation in right.items():
        if error := _raised(test, implementation):
            said = f"it raised {type(error).__name__}"
            raise AssertionError(
                f"{name} rejects an implementation that is right and {what}: {said}"
            )
    for what, implementation in wrong.items():
        if not _raised(test, implementation):
            raise AssertionError(f"{name} does not notice an implementation that {what}")


def _raised(test: Callable, implementation: Callable) -> Exception | None:
    try:
        test(implementation)
    except Exception as error:
        return error
    return None
