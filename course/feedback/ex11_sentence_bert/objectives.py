"""Checks of exercise 11 about training: what is asked of two sentences' vectors, u and v."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex11_sentence_bert.batches import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

NONE_LEFT = "one number for the whole batch: the mean, a tensor without dimensions"
MEAN = "that is the sum; divide by the number of pairs"

# What goes wrong with the two pairs of `in_batch_negatives_loss`.
OF_TWO_PAIRS = [
    (0.0635, "cosines, not dot products: divide by the lengths of u and of v"),
    (0.2999, "divide by the lengths of u, too"),
    (0.0647, "divide by the lengths of v, too"),
    (0.5178, "the cosines are not yet scaled"),
    (0.5994, "multiply by the scale"),
    (0.0091, "use the argument `scale`"),
    (
        0.52,
        "the softmax goes along the rows: for each u, over all v; scores[i, j] is of u_i and v_j",
    ),
    (0.4541, "the softmax goes along the rows: for each u, over all v, and nothing else"),
    (0.9081, "the softmax goes along the rows: for each u, over all v, and nothing else"),
    (0.7763, MEAN),
    (-0.3881, "the sign: -log p is positive, for p is below 1"),
    (0.6836, "that is p; the loss is -log p"),
    (-0.6836, "that is -p; the loss is -log p"),
    (0.3804, "the mean of the -log p, not -log of the mean p"),
    (0.5881, "the true column of row i is i: torch.arange(B), not zeros"),
    (0.9881, "the true column of row i is i: torch.arange(B), not ones"),
    (0.7881, "only the true column's log p counts, the diagonal's"),
    (0.5298, "softmax twice: cross_entropy takes scores and does the softmax itself"),
    (-1.6, "scores are not log p yet: the softmax is missing"),
    (-0.8, "the true answer is one of the B choices: it belongs into the softmax's sum, too"),
    (0.2, "the other rows of v are the wrong answers: use them"),
    ((2,), NONE_LEFT),
    ((2, 2), NONE_LEFT),
]


class PairsCheck(TensorCheck):
    """A check of a function of u and v; the gradient must reach both."""

    refused = OWN_CODE

    def gradients_of(self, u: Tensor, v: Tensor, *others: Any) -> None:
        """A gradient must reach u and v; whatever else is given needs none."""
        function = self.function
        self.function = lambda u, v: function(u, v, *others)
        self.gradients(u, v)
        self.function = function


class CosineCheck(PairsCheck):
    """A check of the loss whose cosine is to be written."""

    refused = (
        "uses code that holds the answer to this task: bertlab's, sentence-transformers', or "
        "PyTorch's cosine_similarity. What that computes is the task: write it with products, "
        "sums and lengths. From the next task on it is allowed"
    )
    ready_made = ("attention", "cosine_similarity", "cosine_embedding")


@task("ex11_sentence_bert", 4)
def cosine_loss(function: Callable) -> Passed:
    """How far the cosines are from what they should be."""
    check = CosineCheck(
        "cosine_loss",
        function,
        hints=(
            "first the cosines, [B]: the dot product of two rows, divided by the lengths of both",
            "(u * v).sum(dim=-1) is the dot product of each row of u with its row of v",
            "F.normalize(u, dim=-1) gives each row the length 1; then a dot product is a cosine",
        ),
    )
    u, v = torch.tensor([[2.0, 0], [0, 1]]), torch.tensor([[3.0, 4], [-16, -12]])
    targets = torch.tensor([1.0, 0.5])
    alone = "row i of u meets row i of v alone: u @ v.T compares every row with every one"
    check.example(
        *(u, v, targets),
        gives=0.685,
        because="the cosines are 0.6 and -0.6, their targets 1 and 0.5: the mean of 0.16 and 1.21",
        mistakes=[
            (90.625, "those are dot products, 6 and -12: divide by the lengths of u and of v"),
            (0.625, "divide by the length of u, too: 6 / 5 is no cosine"),
            (80.125, "divide by the length of v, too: 6 / 2 is no cosine"),
            (1.37, MEAN),
            (0.75, "the square of the difference, not its absolute value"),
            (-0.75, "the difference is not squared"),
            (0.8276, "the mean of the squares, without a root"),
            (0.785, "the cosine itself, 0.6 and -0.6, not 1 minus it"),
            (1.0, "what is a pair to have? `targets` says it; not every pair is to have 1"),
            (1.36, "what is a pair to have? `targets` says it; not every pair is to have 1"),
            (0.775, alone),
            (1.175, alone),
            (0.6674, "the lengths are those of single rows, dim=-1, not of the whole tensor"),
            (0.8372, "each pair has its own cosine: sums and lengths go along rows, dim=-1"),
            (1.382, "the lengths are those of rows, dim=-1, not of columns"),
            (0.085, "the sign counts: two vectors may point away from each other, with -0.6"),
            ((2,), NONE_LEFT),
            ((2, 2), f"{alone}; and then comes the mean"),
        ],
    )
    check.example(
        *(10 * u, v / 7, targets),
        gives=0.685,
        because="a longer vector points the same way: cosines know nothing of lengths",
    )
    check.done("two pairs, by hand, and longer ones")
    u, v, targets = _pairs(300, 40)
    check.gradients_of(u, v, targets)
    check.example(
        *(u, v, targets),
        gives=F.mse_loss(F.cosine_similarity(u, v), targets),
        because="300 pairs of 40 dimensions, as PyTorch computes it",
    )
    check.done("gradients; 300 pairs")
    return check.passed()


def _pairs(n: int, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs that are somewhat alike, in 64 bits, with targets."""
    u = normal(n, size, seed=1, dtype=torch.float64)
    v = u + normal(n, size, seed=2, dtype=torch.float64)
    return u, v, torch.linspace(-1, 1, n, dtype=torch.float64)


@task("ex11_sentence_bert", 5)
def siamese_scores(function: Callable) -> Passed:
    """Classes for pairs, out of (u, v, |u - v|)."""
    check = PairsCheck(
        "siamese_scores",
        function,
        hints=(
            "two steps: [B, 3D] out of u, v and |u - v|; then a matrix product with W",
            "torch.cat([...], dim=-1) puts tensors side by side; W has a row for each class",
        ),
    )
    u, v = torch.tensor([[1.0, 2], [0, -1]]), torch.tensor([[3.0, 1], [2, 2]])
    W = torch.tensor([[1.0, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, -1]])
    joined = "the rows are (1, 2, 3, 1, 2, 1) and (0, -1, 2, 2, 2, 3); each meets each row of W"
    check.example(
        *(u, v, W),
        gives=[[34.0, 1, 1], [40, 0, -1]],
        because=joined,
        mistakes=[
            (mistaken, said)
            for parts, said in _other_parts()
            for mistaken in [torch.cat(parts(u, v), dim=-1) @ W.T]
        ]
        + [
            ((3, 2), "a row for each pair, a column for each class: [B, C], not [C, B]"),
            ((2, 6), "that is the input of W; its product with W is missing"),
            (
                torch.tensor([[34.0, 1, 1], [40, 0, -1]]).softmax(dim=-1),
                "scores, not shares: the softmax belongs to the loss, cross_entropy does it",
            ),
            (
                torch.tensor([[34.0, 1, 1], [40, 0, -1]]).log_softmax(dim=-1),
                "scores, not log p: the softmax belongs to the loss, cross_entropy does it",
            ),
        ],
    )
    one = (torch.tensor([[2.0], [5], [1]]), torch.tensor([[3.0], [3], [1]]))
    W = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    check.example(
        *(*one, W),
        gives=[[2.0, 3, 1, 6], [5, 3, 2, 10], [1, 1, 0, 2]],
        because="3 pairs of one dimension, 4 classes: the first columns show u, v and |u - v|",
    )
    check.done("by hand, 2 pairs and 3 classes, 3 pairs and 4 classes")
    u, v, _ = _pairs(200, 30)
    W = normal(5, 90, seed=3, dtype=torch.float64)
    check.gradients(u, v, W)
    rows = torch.stack([u, v, (u - v).abs()]).permute(1, 0, 2).reshape(200, 90)
    check.example(u, v, W, gives=F.linear(rows, W), because="200 pairs of 30 dimensions")
    check.done("gradients; 200 pairs")
    return check.passed()


def _other_parts() -> list[tuple[Callable, str]]:
    """What else people put side by side, each with the sentence that helps."""
    order = "the order is u, v, |u - v|: W's columns were made for it"
    sign = "the difference counts without its sign: .abs()"
    return [
        (lambda u, v: [u, v, u - v], sign),
        (lambda u, v: [u, v, v - u], sign),
        (lambda u, v: [u, v, (u - v) ** 2], "the absolute value of the difference, not its square"),
        (lambda u, v: [u, v, u * v], "the third part is |u - v|, not the product u * v"),
        (lambda u, v: [v, u, (u - v).abs()], order),
        (lambda u, v: [(u - v).abs(), u, v], order),
        (lambda u, v: [u, (u - v).abs(), v], order),
        (lambda u, v: [u, v, u.abs() - v.abs()], "|u - v|: first subtract, then take .abs()"),
        (lambda u, v: [u, v, (u.abs() - v.abs()).abs()], "|u - v| is (u - v).abs()"),
        (
            lambda u, v: [u, v, (u - v).norm(dim=-1, keepdim=True).expand_as(u)],
            "|u - v| is meant number by number: a vector of D numbers, not a length",
        ),
        (
            lambda u, v: [F.normalize(u, dim=-1), F.normalize(v, dim=-1), (u - v).abs()],
            "u and v keep their lengths here: no cosine is taken",
        ),
    ]


class BatchLossCheck(PairsCheck):
    """A check of a loss whose scale is given by name."""

    def scaled(self, u: Tensor, v: Tensor, scale: float, **more: Any) -> None:
        """An example with a scale."""
        function = self.function
        self.function = lambda u, v, scale: function(u, v, scale=scale)
        self.example(u, v, scale, **more)
        self.function = function

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        if len(arguments) < 3:
            return super().shown(arguments)
        return f"{super().shown(arguments[:2])[:-1]}, scale={arguments[2]})"


@task("ex11_sentence_bert", 6)
def in_batch_negatives_loss(function: Callable) -> Passed:
    """The other pairs of the batch are the wrong answers."""
    check = BatchLossCheck(
        "in_batch_negatives_loss",
        function,
        hints=(
            "first all cosines, [B, B]: row i is u_i against every v; multiply them by scale",
            "a softmax along each row; the true column of row i is i",
            "F.cross_entropy takes scores [B, B] and true columns [B]: torch.arange(B)",
        ),
    )
    u, v = torch.tensor([[2.0, 0], [0, 1]]), torch.tensor([[3.0, 4], [0, 5]])
    cosines = "the cosines are 0.6, 0 and 0.8, 1; twice that 1.2, 0 and 1.6, 2. -log p is 0.2633 "
    check.scaled(
        *(u, v, 2.0),
        gives=0.3882,
        because=cosines + "of column 0 in the first row, 0.5130 of column 1 in the second",
        mistakes=OF_TWO_PAIRS,
    )
    check.example(
        *(u, v),
        gives=0.0091,
        because="without a scale it is 20, as the first line of the function says",
        mistakes=[(0.5178, "the default of `scale` is 20.0: leave the first line as it is")],
    )
    check.scaled(
        *(u, v, 0.5),
        gives=0.5994,
        because="scale=0.5: with a small scale the shares are nearly even",
    )
    check.done("two pairs, by hand, at three scales")
    _laws(check, u, v)
    u, v, _ = _pairs(64, 16)
    check.gradients_of(u, v)
    scores = 20 * torch.stack([F.cosine_similarity(row[None], v) for row in u])
    check.example(
        *(u, v),
        gives=F.cross_entropy(scores, torch.arange(64)),
        because="64 pairs of 16 dimensions, as PyTorch computes it",
    )
    check.done("gradients; 64 pairs")
    return check.passed()


def _laws(check: BatchLossCheck, u: Tensor, v: Tensor) -> None:
    """One pair, huge scales, other lengths."""
    check.example(
        *(u[:1], v[:1]),
        gives=0.0,
        because="one pair: there is nothing to tell apart, and the only answer has p = 1",
    )
    check.scaled(
        *(torch.eye(2), torch.eye(2).flip(0), 1000.0),
        gives=1000.0,
        because="exp(1000) is infinite: take the logarithm and the softmax in one step, with "
        "log_softmax, logsumexp or cross_entropy",
    )
    check.scaled(
        *(0.01 * u, 300 * v, 2.0),
        gives=0.3882,
        because="a longer vector points the same way: cosines know nothing of lengths",
    )
    check.done("one pair; a huge scale; other lengths")
