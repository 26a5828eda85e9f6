"""Checks of exercise 3, static vectors: counts, weights, a search, an ablation, gradients."""

from collections.abc import Callable
from math import log

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from course.feedback.checks import Check, checks_of
from course.feedback.differences import short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import GradientsCheck, TensorCheck, normal

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex03_static_vectors")


class PlainCheck(TensorCheck):
    """A check of functions that PyTorch offers under a name with "cosine"."""

    ready_made = ("cosine",)


@task(1, "(x * y).sum(dim=-1) is the dot product", "x.norm(dim=-1) is the length")
def cosine(check: PlainCheck) -> None:
    """The cosine along the last dimension."""
    check.example(
        torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]), gives=0.96, because="24 / (5 * 5)"
    )
    rows = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[-3.0, 0.0], [1.0, 1.0]]])
    check.example(
        rows,
        torch.tensor([2.0, 0.0]),
        gives=[[1.0, 0.0], [-1.0, 0.7071]],
        because="one cosine per vector, along the last dimension",
    )
    check.gradients(torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0, 0.5]]))
    check.done("lengths, directions, many against one")


@task(
    2,
    "a table of distances: (place[:, None] - place).abs()",
    "three conditions: not itself, near enough for the row, in the same sentence",
)
def near_words(check: TensorCheck) -> None:
    """The context words of each word."""
    check.example(
        torch.tensor([0, 0, 0, 1]),
        torch.tensor([1, 1, 2, 1]),
        gives=[[0.0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]],
        because="as in the statement",
    )
    check.example(torch.tensor([4]), torch.tensor([2]), gives=[[0.0]], because="a single word")
    check.done("reach, sentences, a single word")


@task(
    3,
    "for each place, look at the places up to `window` to its right",
    "enter (word, other) and (other, word), each with 1 / distance",
)
def near_counts(check: Check) -> None:
    """Neighbours, each weighted by 1 / distance."""
    check.example(
        [["a", "b", "c"], ["b", "a"]],
        2,
        gives={
            ("a", "b"): 2.0,
            ("b", "a"): 2.0,
            ("b", "c"): 1.0,
            ("c", "b"): 1.0,
            ("a", "c"): 0.5,
            ("c", "a"): 0.5,
        },
        because="as in the statement",
    )
    check.example(
        [["a"], ["b"], []], 3, gives={}, because="no window reaches into another sentence"
    )
    check.example(
        [["so", "so", "so"]],
        2,
        gives={("so", "so"): 5.0},
        because="its own neighbour: two pairs at distance 1, one at 2, counted from both sides",
    )
    near = {("a", "b"): 2.0, ("b", "a"): 2.0}
    check.example(
        [["a", "b", "a"]],
        4,
        gives=near | {("a", "a"): 1.0},
        because="a sentence may be shorter than the window",
    )
    check.done("distances, both directions, sentences, a word next to itself")


@task(
    4,
    "count * total / (row sum * column sum), then the logarithm",
    "clamp(min=0) for what is below chance, nan_to_num for 0/0",
)
def ppmi(check: TensorCheck) -> None:
    """Positive pointwise mutual information."""
    check.example(
        torch.tensor([[4.0, 0.0], [2.0, 2.0]]),
        gives=[[0.2877, 0.0], [0.0, 0.6931]],
        because="as in the statement",
    )
    check.example(
        torch.tensor([[3.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        gives=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        because="a single row has what chance predicts, and an empty row or column gives 0",
    )
    check.done("above chance, below it, empty rows")


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


@task(
    5,
    "try the draft with a vector that is much longer than the others",
    "sort all rows by their cosine, omit the word itself, cut after n",
)
def nearest(check: SearchCheck) -> None:
    """The nearest words by cosine."""
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
    check.example("right", WORDS, ROWS, 1, gives=["far"], because="a vector of any length")
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


@task(
    6,
    "one call with vectors of different lengths, its order worked out by hand",
    "a short vector that points nearly the same way, a long one that does not",
)
def examine_nearest(check: MutationCheck, own: Callable) -> None:
    """A test of `nearest`, tried on the student's own and on three wrong ones."""
    check.passes(own, "nearest", 5, "a", ["a"], torch.ones(1, 2), 1)
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_distance,
        "a function that ranks by the distance between end points",
        "a long vector may point the same way",
    )
    check.stops(farthest, "a function that returns the farthest words first", "look at the order")
    check.done("your own nearest passes, three wrong ones do not")


class AblationCheck(Check):
    """A check whose first argument is a function."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(score, {arguments[1]})"


@task(7, "whole = score(frozenset(parts))", "frozenset(parts) - {part} lacks one of them")
def ablation(check: AblationCheck) -> None:
    """The loss of score without each part."""

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


class CbowCheck(GradientsCheck):
    """A check of the gradients of a step of CBOW."""

    by = ("v", "u")

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it, without the tables."""
        return f"{self.name}(v, u, {', '.join(map(short, arguments[2:]))})"


LN3 = log(3)


@task(
    8,
    "the shares are 1 / distance, divided by their sum; h is the sum of share times v",
    "how wrong: sigmoid(u @ h), minus 1 for the target; h gets the sum of wrong times u",
    "a word around gets its share times what h gets; a scored word gets wrong times h",
)
def weighted_cbow_gradients(check: CbowCheck) -> None:
    """The gradients of one step of CBOW whose words around have shares."""
    v = torch.tensor([[LN3, 2.0], [LN3, -1.0], [0.0, -1.0], [0.0, 0.0]])
    u = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [-1.0, 1.0]])
    check.by_hand(
        *(v, u, [0, 1], [2, 1], 2, [3]),
        gives=(
            torch.tensor([[-1 / 6, 1 / 12], [-1 / 3, 1 / 6], [0.0, 0.0], [0.0, 0.0]]),
            torch.tensor([[0.0, 0.0], [0.0, 0.0], [-LN3 / 4, 0.0], [LN3 / 4, 0.0]]),
        ),
        because="as in the statement",
    )
    check.done("two distances")
    check.by_hand(
        *(v, u, [1, 0, 1], [2, 3, 6], 2, [3, 2, 3]),
        gives=(
            torch.tensor([[0.0, 1 / 6], [0.0, 1 / 3], [0.0, 0.0], [0.0, 0.0]]),
            torch.tensor([[0.0, 0.0], [0.0, 0.0], [LN3 / 2, 0.0], [LN3 / 2, 0.0]]),
        ),
        because="a word is around twice, another is drawn twice, and the target is drawn as noise",
    )
    check.done("repeated words")
    check.by_hand(
        *(v, u, [0], [3], 2, []),
        gives=(
            torch.tensor([[-0.25, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
            torch.tensor([[0.0, 0.0], [0.0, 0.0], [-LN3 / 4, -0.5], [0.0, 0.0]]),
        ),
        because="a single word has the whole share, at any distance; there is no noise",
    )
    words = torch.arange(25)
    around, noise = (words * 7 % 11).tolist(), (words * 5 % 13).tolist()
    given = (normal(30, 4), normal(30, 4, seed=1), around, (1 + words % 6).tolist(), 17, noise)
    check.by_hand(*given, gives=_by_autograd(*given), because="as autograd computes it")
    check.done("a single word, 25 words against autograd")


def _by_autograd(
    v: Tensor, u: Tensor, around: list[int], distances: list[int], target: int, noise: list[int]
) -> tuple[Tensor, ...]:
    """PyTorch's gradients of the statement's loss."""
    v, u = v.clone().requires_grad_(), u.clone().requires_grad_()
    h = torch.zeros(v.shape[1])
    for id, distance in zip(around, distances, strict=True):
        h = h + v[id] / distance / sum(1 / each for each in distances)
    loss = -logsigmoid(u[target] @ h) - sum(logsigmoid(-u[id] @ h) for id in noise)
    return torch.autograd.grad(loss, (v, u))


@task(9, "write `return` and one of the names")
def predict_part(check: Check) -> None:
    """One of the three parts, of the student's choice."""
    answer = check.call()
    check.law(answer in PARTS, f"it must be one of {', '.join(PARTS)}; it returned {answer!r}")
    check.done(f"you predict {answer}; now measure")
