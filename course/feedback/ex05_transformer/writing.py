"""Checks of exercise 5, tasks 5 and 6: a beam without finished texts, and chrF."""

import math
from collections.abc import Callable
from typing import Any

from course.feedback.checks import Check, Passed
from course.feedback.ex05_transformer.scalars import NumberCheck
from course.feedback.progress import task

END = "<end>"
AFTER = {
    (): {"a": 0.5, "b": 0.3, END: 0.2},
    ("a",): {"a": 0.3, "b": 0.6, END: 0.1},
    ("b",): {"a": 0.05, "b": 0.05, END: 0.9},
    ("a", "b"): {"a": 0.3, "b": 0.2, END: 0.5},
}


def step(text: tuple[str, ...]) -> dict[str, float]:
    """The log-probabilities of the next symbol, as in the notebook."""
    shares = AFTER.get(text, {"a": 0.1, "b": 0.1, END: 0.8})
    return {symbol: math.log(share) for symbol, share in shares.items()}


def sure(text: tuple[str, ...]) -> dict[str, float]:
    """Five letters, then the end."""
    last = len(text) == 5
    shares = {"a": 0.01 if last else 0.95, END: 0.98 if last else 0.04, "b": 0.01}
    return {symbol: math.log(share) for symbol, share in shares.items()}


class BeamCheck(Check):
    """A check whose first argument is a function."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(step, {', '.join(map(str, arguments[1:]))})"


@task("ex05_transformer", 5)
def beam(function: Callable) -> Passed:
    """The best finished texts, which leave the beam."""
    check = BeamCheck(
        "beam",
        function,
        hints=(
            "two lists: (log-probability, text) of those that are open, and of the finished ones",
            "extend every open text by every symbol; sort; then separate those that have ended",
            "at the end sort the finished ones by log-probability / ((5 + n) / 6)**alpha",
        ),
    )

    def case(*arguments: Any, gives: list, because: str) -> None:
        texts = [tuple(text.split()) for text in gives]
        check.example(*arguments, gives=texts, because=because)

    case(
        *(step, 2, 3, 0.0), gives=["b <end>", "<end>"], because="as in the statement: 0.27 and 0.2"
    )
    case(
        *(sure, 3, 6, 0.0),
        gives=["a a a a a <end>", "<end>", "a <end>"],
        because="six rounds reach a text of six symbols",
    )
    case(
        *(step, 2, 3, 2.0),
        gives=["b <end>", "a b <end>"],
        because="scores: -1.309 / 1.361 = -0.962 and -1.897 / 1.778 = -1.067",
    )
    case(
        *(step, 2, 3, 0.5),
        gives=["b <end>", "<end>"],
        because="second: <end> has n = 1, -1.609 / 1; a b <end> has n = 3, -1.897 / 1.155 = -1.643",
    )
    case(
        *(step, 1, 3, 0.0),
        gives=["<end>"],
        because="0.2 for only <end>; a, then a b, take the beam's one place",
    )
    case(
        *(step, 1, 2, 0.0),
        gives=["<end>"],
        because="two rounds: a b is still open",
    )
    case(*(sure, 1, 1, 0.6), gives=["<end>"], because="one round")
    check.done("texts that end at different steps, a length penalty, a beam of one")
    return check.passed()


@task("ex05_transformer", 6)
def chrf(function: Callable) -> Passed:
    """The F-score of character n-grams."""
    check = NumberCheck(
        "chrf",
        function,
        hints=(
            "Counter & Counter keeps the smaller count of each; .total() adds them up",
            "first the mean precision and the mean recall over n, then one F of the two",
            "5 * p * r / (4 * p + r), if p and r are not 0",
        ),
    )
    check.example(
        *("abc", "abcd", 2),
        gives=75.2212,
        because="precisions 3/3 and 2/2, recalls 3/4 and 2/3: means 1 and 0.7083",
    )
    check.example(
        *("aaaa", "ab", 1),
        gives=41.6667,
        because="a occurs once in the reference: 1 of 4 and 1 of 2",
    )
    check.example(
        *("a bc", "ab c", 3),
        gives=100.0,
        because="spaces are removed first",
    )
    check.example(
        *("ab", "abc", 6),
        gives=63.6364,
        because="neither has four letters, and one has no three: only n = 1 and 2 count",
    )
    check.example("xyz", "abc", 2, gives=0.0, because="nothing in common")
    check.example("", "abc", 2, gives=0.0, because="nothing was written")
    check.example("Ab", "ab", 1, gives=50.0, because="a capital is a different letter")
    check.done("clipped counts, recall before precision, spaces, short and empty texts")
    return check.passed()
