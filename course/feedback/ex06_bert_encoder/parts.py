"""Checks of exercise 6 about BERT's parts, by hand and, for long inputs, by PyTorch's functions."""

from collections.abc import Callable

import torch
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex06_bert_encoder.weights import EncoderCheck, numbers
from course.feedback.progress import task
from course.feedback.tensors import normal


@task("ex06_bert_encoder", 1)
def layer_norm(function: Callable) -> Passed:
    """Mean 0, variance 1, then scale and shift."""
    check = EncoderCheck(
        "layer_norm",
        function,
        hints=(
            "four steps: the mean of each row, the differences, the mean of their squares, divide",
            "mean(dim=-1, keepdim=True) works on the last dimension and keeps it, with size 1",
        ),
    )
    ones, zeros = torch.ones(4), torch.zeros(4)
    row = torch.tensor([1.0, 1.0, 7.0, 7.0])
    check.example(
        *(row, ones, zeros, 0.0),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="the mean is 4 and the variance 9: subtract 4, divide by the root, 3",
    )
    rows = torch.tensor([[2.0, 2.0, 6.0, 6.0], [1.0, 1.0, 1.0, 5.0]])
    check.example(
        *(rows, ones, zeros, 0.0),
        gives=[[-1.0, -1.0, 1.0, 1.0], [-0.5774, -0.5774, -0.5774, 1.7321]],
        because="each row by itself, along dim=-1; keepdim=True keeps the dimension, with size 1",
    )
    check.done("a row, two rows")
    gamma, beta = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.0, 10.0, 10.0])
    check.example(
        *(row, gamma, beta, 0.0),
        gives=[-1.0, -2.0, 13.0, 14.0],
        because="[-1, -1, 1, 1] times gamma, [-1, -2, 3, 4], plus beta",
    )
    check.example(
        *(row, ones, zeros, 16.0),
        gives=[-0.6, -0.6, 0.6, 0.6],
        because="eps = 16 makes the variance 9 + 16 = 25, and its root 5",
    )
    even = torch.full((2, 4), 3.0)
    check.example(
        *(even, ones, gamma),
        gives=[[1.0, 2.0, 3.0, 4.0]] * 2,
        because="a row of equal numbers has no variance: only beta is left, thanks to eps",
    )
    check.done("gamma and beta, eps, rows of equal numbers")
    blocks = numbers(2, 3, 4, seed=3)
    check.example(
        *(blocks, gamma, beta),
        gives=F.layer_norm(blocks, (4,), gamma, beta, 1e-12),
        because="x may have any number of dimensions: D is the last dimension, whatever their "
        "number: dim=-1",
    )
    far = torch.tensor([3000.3, 3000.3, 3001.7, 3001.7])
    check.example(
        *(far, ones, zeros),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="numbers far from 0: subtract the mean before you square, or digits are lost",
    )
    wide = [normal(2, 200, 768, dtype=torch.float64), *normal(2, 768, dtype=torch.float64)]
    check.example(*wide, gives=F.layer_norm(wide[0], (768,), wide[1], wide[2], 1e-12))
    check.gradients(blocks, gamma, beta)
    check.done("a batch of 200 tokens and 768 dimensions, 64 bits, gradients")
    return check.passed()


@task("ex06_bert_encoder", 2)
def gelu(function: Callable) -> Passed:
    """The exact form."""
    check = EncoderCheck(
        "gelu",
        function,
        hints=("x times (1 + erf(...)) divided by 2", "inside: torch.erf(x / math.sqrt(2))"),
    )
    check.example(
        SOME,
        gives=EXACT,
        because="x Φ(x), number by number; torch.erf takes a tensor, math.erf only one number",
        tolerance=1e-5,
    )
    check.done("negative numbers, 0, positive numbers")
    blocks = 3 * numbers(2, 3, 4, seed=5)
    check.example(blocks, gives=F.gelu(blocks), because="x may have any shape", tolerance=1e-5)
    double = 4 * normal(40, 50, dtype=torch.float64)
    check.example(double, gives=F.gelu(double), tolerance=1e-6)
    check.gradients(blocks)
    check.done("other shapes, 64 bits, gradients")
    return check.passed()


# Functions similar to GELU at five points, to six decimals.
SOME = torch.tensor([-2.3, -1.0, 0.0, 1.0, 2.3])
EXACT = [-0.024665, -0.158655, 0.0, 0.841345, 2.275335]


@task("ex06_bert_encoder", 7)
def stretched_positions(function: Callable) -> Passed:
    """A learned table, interpolated to more or fewer positions."""
    check = StretchCheck(
        "stretched_positions",
        function,
        hints=(
            "point number i is at i * (M - 1) / (length - 1)",
            "(1 - share) * W_p[below] + share * W_p[above], and share is a column",
        ),
    )
    check.example(
        *(torch.tensor([[0.0, 4.0], [2.0, 0.0]]), 5),
        gives=[[0.0, 4.0], [0.5, 3.0], [1.0, 2.0], [1.5, 1.0], [2.0, 0.0]],
        because="five points from the first row to the last: at 0, 0.25, 0.5, 0.75 and 1",
    )
    table = torch.tensor([[0.0], [10.0], [40.0], [20.0]])
    check.example(table, 4, gives=table, because="M points on M rows: nothing changes")
    check.example(
        table, 3, gives=[[0.0], [25.0], [20.0]], because="fewer points than rows: 0, 1.5 and 3"
    )
    check.example(table, 1, gives=[[0.0]], because="a single point is at the first row")
    check.example(table[:1] + 7, 3, gives=[[7.0]] * 3, because="with one row all are that row")
    check.gradients(numbers(4, 3, seed=8), 9)
    wide = normal(512, 24, dtype=torch.float64)
    stretched = F.interpolate(wide.T[None], 1700, mode="linear", align_corners=True)[0].T
    check.example(wide, 1700, gives=stretched, because="1,700 points on 512 rows, in 64 bits")
    check.done("more points, fewer, one; a table of 512 rows, 64 bits, gradients")
    return check.passed()


class StretchCheck(EncoderCheck):
    """A check of interpolation, which must be written, not taken from PyTorch."""

    ready_made = (*EncoderCheck.ready_made, "interpolate", "upsample")
