"""Checks of exercise 3, tasks 5 to 8: a search, its test, an ablation, a prediction."""

from collections.abc import Callable

import torch
from torch import Tensor

from course.feedback.checks import Check, Passed
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task

WORDS = ["low", "up", "far", "right", "down"]
ROWS = torch.tensor([[-0.1, -3.0], [0.0, 1.0], [8.0, 9.0], [2.0, 0.0], [0.3, -1.0]])
PARTS = ("sentences", "distance", "ppmi")


class SearchCheck(Check):
    """A check of a search, whose table of vectors must not change."""

    def _same(self, given: tuple, arguments: tuple) -> bool:
        return given[:2] == arguments[:2] and torch.equal(given[2], arguments[2])

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        word, words, matrix, n = arguments
        return f"{self.name}({word!r}, {words}, {matrix.tolist()}, {n})"


@task("ex03_static_vectors", 5)
def nearest(function: Callable) -> Passed:
    """The nearest words by cosine."""
    check = SearchCheck(
        "nearest",
        function,
        hints=(
            "try the draft with a vector that is much longer than the others",
            "sort all rows by their cosine, omit the word itself, cut after n",
        ),
    )
    check.example(
        "up",
        WORDS,
        ROWS,
        2,
        gives=["far", "right"],
        because="the cosines with `up` are 0.75 for far, 0 for right, and below 0 for the others",
    )
    check.example(
        "down", WORDS, ROWS, 3, gives=["low", "right", "far"], because="length does not matter"
    )
    check.example(
        "right",
        WORDS,
        ROWS,
        1,
        gives=["far"],
        because="a vector of any length",
    )
    check.example(
        "up",
        WORDS,
        ROWS,
        9,
        gives=["far", "right", "down", "low"],
        because="there are only four other words",
    )
    check.example("so", ["so"], ROWS[:1], 1, gives=[], because="there is no other word")
    check.done("lengths, directions, a large n")
    return check.passed()


def draft(word: str, words: list[str], matrix: Tensor, n: int) -> list[str]:
    """As in the notebook: wrong if vectors differ in length, and for a large n."""
    own = words.index(word)
    scores = matrix @ matrix[own]
    scores[own] = -torch.inf
    return [words[i] for i in scores.topk(n).indices]


def by_distance(word: str, words: list[str], matrix: Tensor, n: int) -> list[str]:
    """Wrong: uses the distance between the end points."""
    own = words.index(word)
    order = (matrix - matrix[own]).norm(dim=1).argsort().tolist()
    return [words[i] for i in order if i != own][:n]


def farthest(word: str, words: list[str], matrix: Tensor, n: int) -> list[str]:
    """Wrong: the smallest product first."""
    own = words.index(word)
    order = (matrix @ matrix[own]).argsort().tolist()
    return [words[i] for i in order if i != own][:n]


@task("ex03_static_vectors", 6)
def examine_nearest(function: Callable, own: Callable) -> Passed:
    """A test of `nearest`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_nearest",
        function,
        hints=(
            "one call with vectors of different lengths, its order worked out by hand",
            "a short vector that points nearly the same way, a long one that does not",
        ),
    )
    check.needs("nearest", 5, own, "a", ["a"], torch.ones(1, 2), 1)
    check.passes(own, "your own `nearest`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_distance,
        "a function that ranks by the distance between end points",
        "a long vector may point the same way",
    )
    check.stops(farthest, "a function that returns the farthest words first", "look at the order")
    check.done("your own nearest passes, three wrong ones do not")
    return check.passed()


@task("ex03_static_vectors", 7)
def ablation(function: Callable) -> Passed:
    """The loss of score without each part."""
    check = AblationCheck(
        "ablation",
        function,
        hints=("whole = score(frozenset(parts))", "frozenset(parts) - {part} lacks one of them"),
    )

    def both(parts: frozenset[str]) -> float:
        return len(parts) + 2.0 * ({"a", "b"} <= parts)

    check.example(
        both, ["a", "b", "c"], gives={"a": 3.0, "b": 3.0, "c": 1.0}, because="as in the statement"
    )
    check.example(
        lambda parts: 5.0 - len(parts),
        ["x", "y"],
        gives={"x": -1.0, "y": -1.0},
        because="a score that rises without a part has a negative fall",
    )
    check.done("parts that need each other, a score that rises")
    return check.passed()


class AblationCheck(Check):
    """A check whose first argument is a function."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(score, {arguments[1]})"


@task("ex03_static_vectors", 8)
def predict_part(function: Callable) -> Passed:
    """One of the three parts, of the student's choice."""
    check = Check("predict_part", function, hints=("write `return` and one of the names",))
    answer = check.call()
    check.law(answer in PARTS, f"it must be one of {', '.join(PARTS)}; it returned {answer!r}")
    check.done(f"you predict {answer}; now measure")
    return check.passed()
