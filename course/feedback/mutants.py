"""What the check of a student's own test is made of: right implementations, and mutants.

In mutation testing a mutant is a program with one mistake in it; a test is as good as the mutants
that it stops.
"""

from collections.abc import Callable

from course.feedback.checks import Check


class MutationCheck(Check):
    """Check of a test: a function that raises an AssertionError for a wrong implementation.

    `passes` and `stops` try it on one implementation each.
    """

    def passes(self, implementation: Callable, what: str) -> None:
        """The test must have nothing to say against `implementation`; `what` names it."""
        error = self._tried(implementation)
        if error is not None:
            said = f"{type(error).__name__}: {error}".removesuffix(": ")
            self.fail(f"stops {what} with {said}", "one of the two is wrong: which?")

    def stops(self, mutant: Callable, what: str, because: str) -> None:
        """The test must raise an error for `mutant`; `because` says what it does wrong."""
        if self._tried(mutant) is None:
            self.fail(f"does not notice that {what} is wrong", because)

    def shown(self, _arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(function)"

    def _tried(self, implementation: Callable) -> Exception | None:
        answer, error = self._run((implementation,), "")
        if answer is not None:
            self.fail(f"returned {answer!r}; a test raises an error, or does nothing: use `assert`")
        return error
