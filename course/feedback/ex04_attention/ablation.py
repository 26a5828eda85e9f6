"""Checks of exercise 4, tasks 8 and 9: a prediction, and a head without a part of its input."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Check, Passed
from course.feedback.ex04_attention.scores import BIASED, WEIGHTS, X
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal


@task("ex04_attention", 8)
def predict_bits(function: Callable) -> Passed:
    """Three entropies, of the student's choice."""
    check = Check("predict_bits", function, hints=("write `return [...]` with three numbers",))
    answer = check.call()
    check.law(
        isinstance(answer, Sequence) and len(answer) == 3 and not isinstance(answer, str),
        f"it must return a list of three numbers; it returned {answer!r}",
    )
    check.law(
        all(isinstance(bits, int | float) and 0 <= bits <= 6 for bits in answer),
        f"each must be a number of bits from 0 to 6, since log2(64) = 6; it returned {answer!r}",
    )
    check.done(f"you predict {', '.join(f'{bits:.4g}' for bits in answer)} bits; now measure")
    return check.passed()


class PartsCheck(TensorCheck):
    """A check whose first argument is a dictionary of tensors, and its third a function."""

    def _same(self, given: tuple, arguments: tuple) -> bool:
        one, other = given[0], arguments[0]
        return list(one) == list(other) and all(torch.equal(one[name], other[name]) for name in one)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        parts, gone, norm, _ = arguments
        return f"{self.name}({{{', '.join(map(repr, parts))}}}, {gone!r}, {norm.__name__}, weights)"


def unchanged(x: Tensor) -> Tensor:
    """No norm at all."""
    return x


def layer_norm(x: Tensor) -> Tensor:
    """Each row to mean 0 and variance 1."""
    return F.layer_norm(x, x.shape[-1:])


@task("ex04_attention", 9)
def shares_without(function: Callable) -> Passed:
    """A head without a part of its input."""
    check = PartsCheck(
        "shares_without",
        function,
        hints=(
            "add up all parts except `gone`; apply norm to the sum; then compute query and key",
            "row_softmax(query @ key.T / math.sqrt(d_head)), as before",
        ),
    )
    shares = [[0.1065, 0.1065, 0.7870], [0.2119, 0.2119, 0.5761], [0.6652, 0.2447, 0.0900]]
    parts = {"words": X, "noise": torch.ones(3, 3)}
    check.example(
        *(parts, "noise", unchanged, WEIGHTS),
        gives=shares,
        because="without the noise these are the lecture's three tokens",
    )
    check.done("the lecture's tokens without a part")
    parts = {
        "words": torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]]),
        "places": torch.tensor([[0.0, 0, 1], [0, 1, 1], [1, 0, 0]]),
        "both": torch.tensor([[0.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0]]),
    }
    for gone in (None, *parts):
        for norm in (unchanged, layer_norm):
            kept = [part for name, part in parts.items() if name != gone]
            check.example(
                *(parts, gone, norm, BIASED),
                gives=_by_pytorch(norm(torch.stack(kept).sum(dim=0)), BIASED),
                because="first the sum of the parts that are left, then the norm, then queries "
                "and keys, with their biases",
            )
    check.done("three parts, without each of them, with all, with and without a norm")
    sizes = [(24, 8), (8,)] * 2 + [(24, 5), (5,)]
    weights = HeadWeights(*(normal(*size, seed=21 + i) for i, size in enumerate(sizes)))
    parts = {name: normal(66, 24, seed=seed) for seed, name in enumerate("abcd", start=50)}
    rest = sum((parts[name] for name in "acd"), torch.zeros(66, 24))
    check.example(
        *(parts, "b", layer_norm, weights),
        gives=_by_pytorch(layer_norm(rest), weights),
        because="66 tokens, four parts",
    )
    check.done("66 tokens, equal to PyTorch's")
    return check.passed()


def _by_pytorch(x: Tensor, weights: HeadWeights) -> Tensor:
    """PyTorch's attention to each token."""
    query, key = (x @ weights[i] + weights[i + 1] for i in (0, 2))
    return F.scaled_dot_product_attention(query, key, torch.eye(len(x)))
