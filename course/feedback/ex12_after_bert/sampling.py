"""Checks of exercise 12, tasks 6 to 9: the nucleus, its test, the parts of a context, a guess."""

from collections.abc import Callable

import torch
from torch import Tensor

from course.feedback.checks import Check, Passed
from course.feedback.ex12_after_bert.questions import bits
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck

NAN = float("nan")


@task("ex12_after_bert", 6)
def nucleus(function: Callable) -> Passed:
    """Top-p."""
    check = TensorCheck(
        "nucleus",
        function,
        hints=(
            "try the draft with p = 0.6, and with words in another order",
            "keep a word if those before it, by rank, sum to less than p",
        ),
    )
    check.example(
        torch.tensor([0.125, 0.5, 0.125, 0.25]),
        0.6,
        gives=[0.0, 0.6667, 0.0, 0.3333],
        because="as in the statement",
    )
    check.example(
        torch.tensor([0.125, 0.25, 0.125, 0.5]),
        0.75,
        gives=[0.0, 0.3333, 0.0, 0.6667],
        because="two words have exactly 0.75, and that is enough",
    )
    check.example(
        torch.tensor([0.125, 0.875]),
        0.5,
        gives=[0.0, 1.0],
        because="one word has enough, and at least one must stay",
    )
    check.example(
        torch.tensor([0.25, 0.5, 0.25]),
        1.0,
        gives=[0.25, 0.5, 0.25],
        because="it takes all words to reach 1",
    )
    check.done("too little, enough, exactly enough, one word, all words")
    return check.passed()


def draft(probabilities: Tensor, p: float) -> Tensor:
    """As in the notebook: omits the word that reaches p, and moves probabilities."""
    ranked = probabilities.sort(descending=True).values
    kept = torch.where(ranked.cumsum(dim=0) <= p, ranked, 0.0)
    return kept / kept.sum()


def above(probabilities: Tensor, p: float) -> Tensor:
    """Wrong: uses each word's own probability."""
    kept = probabilities * (probabilities >= (1 - p) * probabilities.max())
    return kept / kept.sum()


def unscaled(probabilities: Tensor, p: float) -> Tensor:
    """Wrong: the kept probabilities do not sum to 1."""
    ranked, places = probabilities.sort(descending=True)
    size = int((ranked.cumsum(dim=0) < p).sum()) + 1
    kept = torch.zeros_like(probabilities)
    kept[places[:size]] = ranked[:size]
    return kept


@task("ex12_after_bert", 7)
def examine_nucleus(function: Callable, own: Callable) -> Passed:
    """A test of `nucleus`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_nucleus",
        function,
        hints=(
            "one call with words in no order, and a p that no sum equals",
            "then one with a p that a sum equals exactly, one with a small p, one with p = 1",
        ),
    )
    check.needs("nucleus", 6, own, torch.tensor([0.5, 0.5]), 1.0)
    check.passes(own, "your own `nucleus`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        unscaled,
        "a function that leaves what is kept as it was",
        "the words of the nucleus must sum to 1",
    )
    check.stops(
        above,
        "a function that looks only at each word's own probability",
        "the sum of the likeliest words counts",
    )
    check.done("your own nucleus passes, three wrong ones do not")
    return check.passed()


@task("ex12_after_bert", 8)
def visible(function: Callable) -> Passed:
    """The parts of a context."""
    check = TensorCheck(
        "visible",
        function,
        hints=(
            "two tables: may its side be seen, may its distance be seen",
            "side & distance, or the place itself",
        ),
    )
    for parts, seen in (
        ({"left", "right", "near"}, "0111110"),
        ({"left", "right", "far"}, "1001001"),
        ({"right", "near", "far"}, "0001111"),
        ({"left"}, "0001000"),
    ):
        check.example(*(7, 3, parts, 2), gives=bits(seen), because="as in the statement")
    check.example(
        *(4, 0, {"left", "right", "near", "far"}, 1),
        gives=bits("1111"),
        because="with all parts, every token may be seen",
    )
    check.done("sides, distances, the gap itself")
    return check.passed()


@task("ex12_after_bert", 9)
def predict_rises(function: Callable) -> Passed:
    """Two shares, of the student's choice."""
    check = Check(
        "predict_rises", function, hints=("write `return 0.3, 0.3`, with your own numbers",)
    )
    answer = check.call()
    check.law(
        isinstance(answer, tuple) and len(answer) == 2,
        f"it must return two numbers, without near and without far; it returned {answer!r}",
    )
    check.law(
        all(isinstance(x, int | float) and 0 <= x <= 1 for x in answer),
        f"both must be numbers from 0 to 1; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]:.0%} and {answer[1]:.0%}; now measure")
    return check.passed()
