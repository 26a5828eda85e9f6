"""Checks of exercise 3, tasks 1 to 4: angles, windows, counts, mutual information."""

from collections.abc import Callable

import torch

from course.feedback.checks import Check, Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck


class PlainCheck(TensorCheck):
    """A check of functions that PyTorch offers under a name with "cosine"."""

    ready_made = ("cosine",)


@task("ex03_static_vectors", 1)
def cosine(function: Callable) -> Passed:
    """The cosine along the last dimension."""
    check = PlainCheck(
        "cosine",
        function,
        hints=("(x * y).sum(dim=-1) is the dot product", "x.norm(dim=-1) is the length"),
    )
    check.example(
        torch.tensor([3.0, 4.0]),
        torch.tensor([4.0, 3.0]),
        gives=0.96,
        because="24 / (5 * 5)",
        mistakes=[
            (24.0, "divide by both lengths"),
            (24 / 5, "divide by the length of each, not of one"),
            (24 / 10, "the lengths are multiplied, not added"),
            (24 / 625, "a length is the square root of the sum of squares"),
        ],
    )
    rows = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[-3.0, 0.0], [1.0, 1.0]]])
    check.example(
        rows,
        torch.tensor([2.0, 0.0]),
        gives=[[1.0, 0.0], [-1.0, 0.7071]],
        because="one cosine per vector, along the last dimension",
        mistakes=[((), "one cosine per vector, not one over all numbers")],
    )
    check.gradients(torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0, 0.5]]))
    check.done("lengths, directions, many against one")
    return check.passed()


@task("ex03_static_vectors", 2)
def near_words(function: Callable) -> Passed:
    """The context words of each word."""
    check = TensorCheck(
        "near_words",
        function,
        hints=(
            "a table of distances: (place[:, None] - place).abs()",
            "three conditions: not itself, near enough for the row, in the same sentence",
        ),
    )
    check.example(
        torch.tensor([0, 0, 0, 1]),
        torch.tensor([1, 1, 2, 1]),
        gives=[[0.0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]],
        because="as in the statement",
        mistakes=[
            (
                [[0.0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]],
                "the last word is in another sentence",
            ),
            (
                [[1.0, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]],
                "a word is not its own context",
            ),
            (
                [[0.0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
                "the row is the centre: the row's reach counts",
            ),
            (
                [[0.0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
                "a word at exactly this distance is near enough",
            ),
            (
                [[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
                "a window reaches to the left, too",
            ),
        ],
    )
    check.example(torch.tensor([4]), torch.tensor([2]), gives=[[0.0]], because="a single word")
    check.done("reach, sentences, a single word")
    return check.passed()


@task("ex03_static_vectors", 3)
def near_counts(function: Callable) -> Passed:
    """Neighbours, each weighted by 1 / distance."""
    check = Check(
        "near_counts",
        function,
        hints=(
            "for each place, look at the places up to `window` to its right",
            "enter (word, other) and (other, word), each with 1 / distance",
        ),
    )
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
        mistakes=[
            (
                {
                    ("a", "b"): 2.0,
                    ("b", "a"): 2.0,
                    ("b", "c"): 1.0,
                    ("c", "b"): 1.0,
                    ("a", "c"): 1.0,
                    ("c", "a"): 1.0,
                },
                "at distance 2 a neighbour counts 1/2",
            ),
            (
                {("a", "b"): 1.0, ("b", "a"): 1.0, ("b", "c"): 1.0, ("a", "c"): 0.5},
                "each neighbour counts in both directions",
            ),
            (
                {("a", "b"): 2.0, ("b", "a"): 2.0, ("b", "c"): 1.0, ("c", "b"): 1.0},
                "a neighbour at distance `window` still counts",
            ),
            (
                {
                    ("a", "b"): 2.0,
                    ("b", "a"): 2.0,
                    ("b", "c"): 2.0,
                    ("c", "b"): 2.0,
                    ("a", "c"): 1.0,
                    ("c", "a"): 1.0,
                    ("b", "b"): 1.0,
                },
                "no window reaches into another sentence",
            ),
        ],
    )
    check.example(
        [["a"], ["b"], []], 3, gives={}, because="no window reaches into another sentence"
    )
    check.example(
        [["so", "so", "so"]],
        2,
        gives={("so", "so"): 5.0},
        because="its own neighbour: two pairs at distance 1, one at 2, counted from both sides",
        mistakes=[
            ({("so", "so"): 2.5}, "each pair is seen from the left word and from the right one"),
            ({}, "the same word at another place is a neighbour like any other"),
        ],
    )
    near = {("a", "b"): 2.0, ("b", "a"): 2.0}
    check.example(
        [["a", "b", "a"]],
        4,
        gives=near | {("a", "a"): 1.0},
        because="a sentence may be shorter than the window",
        mistakes=[(near | {("a", "a"): 1.5}, "1 / distance, whatever the window")],
    )
    check.done("distances, both directions, sentences, a word next to itself")
    return check.passed()


@task("ex03_static_vectors", 4)
def ppmi(function: Callable) -> Passed:
    """Positive pointwise mutual information."""
    check = TensorCheck(
        "ppmi",
        function,
        hints=(
            "count * total / (row sum * column sum), then the logarithm",
            "clamp(min=0) for what is below chance, nan_to_num for 0/0",
        ),
    )
    check.example(
        torch.tensor([[4.0, 0.0], [2.0, 2.0]]),
        gives=[[0.2877, 0.0], [0.0, 0.6931]],
        because="as in the statement",
        mistakes=[
            ([[0.2877, -torch.inf], [-0.4055, 0.6931]], "values below chance become 0"),
            ([[0.4150, 0.0], [0.0, 1.0]], "take the natural logarithm, not that to base 2"),
            ([[1.3333, 0.0], [0.6667, 2.0]], "take the logarithm of the ratio"),
            ([[0.0, 0.0], [0.0, 0.0]], "are these the shares of the whole table?"),
        ],
    )
    check.example(
        torch.tensor([[3.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        gives=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        because="a single row has what chance predicts, and an empty row or column gives 0",
    )
    check.done("above chance, below it, empty rows")
    return check.passed()
