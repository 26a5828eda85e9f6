"""Checks of exercise 0, the warm-up: a function, a repair, a test, a prediction."""

from collections.abc import Callable, Sequence
from math import isfinite

from course.feedback.checks import Check, checks_of
from course.feedback.mutants import MutationCheck

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex00_warm_up")


@task(1, "go through the tokens, one after the other", "vocab.get(token, other)")
def token_ids(check: Check) -> None:
    """Ids instead of tokens; that of [UNK] for unknown tokens."""
    vocab = {"[UNK]": 5, "the": 7, "value": 3, "The": 0}
    check.example(
        ["value", "the"], vocab, gives=[3, 7], because="one id for each token, in their order"
    )
    check.example(
        ["the", "rain"],
        vocab,
        gives=[7, 5],
        because="`rain` is not in the vocabulary: it gets the id of [UNK], which is 5 here",
    )
    check.example(
        ["The", "the"], vocab, gives=[0, 7], because="`The` is in the vocabulary, with the id 0"
    )
    check.example([], vocab, gives=[], because="no tokens, no ids")
    check.done("known and unknown tokens, the id 0, no tokens")


@task(2, "try the draft on [0.25, 0.25]", "divide by the sum itself, unless that is 0")
def shares(check: Check) -> None:
    """Each number as a share of their sum."""
    check.example([3, 1], gives=[0.75, 0.25], because="3 and 1 of 4")
    check.example(
        [0.25, 0.25], gives=[0.5, 0.5], because="shares sum to 1, also if the numbers sum to less"
    )
    check.example([1, 0, 7], gives=[0.125, 0.0, 0.875], because="a share for each, in their order")
    check.example([0, 0], gives=[0.0, 0.0], because="if all numbers are 0, all shares are 0")
    check.example([], gives=[], because="no numbers, no shares")
    check.done("sums above and below 1, zeros, no numbers")


def draft(numbers: Sequence[float]) -> list[float]:
    """As in the notebook: wrong if the sum is less than 1."""
    return [number / max(sum(numbers), 1) for number in numbers]


def by_the_largest(numbers: Sequence[float]) -> list[float]:
    """Wrong: divides by the largest number."""
    return [number / (max(numbers) or 1) for number in numbers]


def not_all_zero(numbers: Sequence[float]) -> list[float]:
    """Wrong: divides by 0 if all numbers are 0."""
    return [number / sum(numbers) for number in numbers]


@task(
    3,
    "one `assert` for each sentence of task 2",
    "the draft is wrong if the numbers sum to less than 1; [0, 0] is an input, too",
)
def examine_shares(check: MutationCheck, own: Callable) -> None:
    """A test of `shares`, tried on the student's own and on three wrong ones."""
    check.passes(own, "shares", 2, [1])
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_the_largest,
        "a function that divides by the largest number",
        "it turns [3, 1] into [1.0, 0.33]",
    )
    check.stops(
        not_all_zero, "a function that fails if all numbers are 0", "call it with such a list"
    )
    check.done("your own shares passes, three wrong ones do not")


@task(4, "write `return` and a number")
def predict_growth(check: Check) -> None:
    """A number from 1 up, of the student's choice."""
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(number, f"a prediction is a number; it returned {answer!r}")
    check.law(isfinite(answer) and answer >= 1, f"it must be 1 or more; it returned {answer!r}")
    check.done(f"you predict a factor of {answer:g}; now measure")
