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
    )
    check.example(
        torch.tensor([[3.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        gives=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        because="a single row has what chance predicts, and an empty row or column gives 0",
    )
    check.done("above chance, below it, empty rows")
    return check.passed()
