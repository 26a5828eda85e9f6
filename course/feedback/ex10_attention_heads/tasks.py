"""Checks of exercise 10 about attention over all layers, and a test of it."""

from collections.abc import Callable, Sequence
from functools import reduce

import torch
from torch import Tensor

from course.feedback.checks import Passed
from course.feedback.differences import short
from course.feedback.ex10_attention_heads.patterns import (
    OWN_CODE,
    attention,
)
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, written


class RolloutCheck(TensorCheck):
    """A check of all layers together."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        layers = arguments[0]
        if layers[0].numel() <= 8:
            return f"{self.name}([{', '.join(map(written, layers))}])"
        return f"{self.name}({len(layers)} layers of {list(layers[0].shape)})"


@task("ex10_attention_heads", 4)
def attention_rollout(function: Callable) -> Passed:
    """From the last layer back to the words."""
    check = RolloutCheck(
        "attention_rollout",
        function,
        hints=(
            "try the draft with two layers that differ, and with two heads that differ",
            "one layer: the mean over its heads, [L, L]; then 0.5 A + 0.5 I, with torch.eye(L)",
            "two layers: row i of the upper one has the weights of the lower one's vectors, so the "
            "upper one is on the left: upper @ lower",
            "start with rollout = torch.eye(L), and for each layer: rollout = mixed @ rollout",
        ),
    )
    lower = torch.tensor([[[1.0, 0], [0.2, 0.8]], [[0, 1], [0.4, 0.6]]])
    upper = torch.tensor([[[1.0, 0], [0.6, 0.4]], [[1, 0], [1, 0]]])
    one = [[0.75, 0.25], [0.15, 0.85]]
    check.example(
        [lower],
        gives=one,
        because="one layer: the mean of its heads is [[0.5, 0.5], [0.3, 0.7]], and half of that "
        "with half of the identity is [[0.75, 0.25], [0.15, 0.85]]",
    )
    check.example(
        [lower, upper],
        gives=[[0.75, 0.25], [0.39, 0.61]],
        because="the lower layer is [[0.75, 0.25], [0.15, 0.85]], the upper one [[1, 0], [0.4, "
        "0.6]]. Token 1 at the top takes 0.4 of token 0, of which 0.75 is word 0, and 0.6 of token "
        "1, of which 0.15 is: 0.3 + 0.09",
    )
    check.done("one layer and two, by hand")
    three = [attention(3, 2, seed=seed).float() for seed in range(3)]
    first = torch.eye(3)[[1, 2, 0]].expand(2, 3, 3)
    check.example(
        (first, first, first),
        gives=[[0.25, 0.375, 0.375], [0.375, 0.25, 0.375], [0.375, 0.375, 0.25]],
        because="three layers, in a tuple, whose heads all look at the next of three tokens: each "
        "path stays or steps, (0.5 + 0.5 step)³ has 1, 3, 3, 1 eighths",
    )
    _laws(check, three)
    return check.passed()


def _laws(check: RolloutCheck, three: list[Tensor]) -> None:
    """Rows that sum to 1, and a deep model."""
    answer = check.call(three)
    shown = check.shown((three,))
    check.law(isinstance(answer, Tensor), f"{shown}\nit must return a tensor; got {short(answer)}")
    check.rows_sum_to_one(answer, shown)
    deep = [attention(150, 12, seed=layer).float() for layer in range(24)]
    mixed = [(layer.mean(dim=0) + torch.eye(150)) / 2 for layer in deep]
    check.example(
        deep,
        gives=reduce(lambda below, above: torch.einsum("ij,jk->ik", above, below), mixed),
        because="24 layers of 12 heads, 150 tokens",
    )
    check.rows_sum_to_one(check.call(deep), check.shown((deep,)))
    check.done("three layers; 24 layers of 12 heads, rows that sum to 1")


def _draft(attentions: Sequence[Tensor]) -> Tensor:
    """As in the notebook: the maximum of the heads, and layers from the wrong side."""
    rollout = torch.eye(attentions[0].shape[-1])
    for heads in attentions:
        rollout = rollout @ (heads.amax(dim=0) + torch.eye(len(rollout)))
    return rollout / rollout.sum(dim=-1, keepdim=True)


def _mixed(heads: Tensor) -> Tensor:
    return (heads.mean(dim=0) + torch.eye(heads.shape[-1])) / 2


def _wrong_side(attentions: Sequence[Tensor]) -> Tensor:
    """Wrong: the upper layer is on the right."""
    return reduce(torch.matmul, map(_mixed, attentions))


def _without_residual(attentions: Sequence[Tensor]) -> Tensor:
    """Wrong: without the residual connection."""
    return reduce(lambda below, above: above @ below, [heads.mean(dim=0) for heads in attentions])


@task("ex10_attention_heads", 5)
def examine_rollout(function: Callable, own: Callable) -> Passed:
    """A test of `attention_rollout`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_rollout",
        function,
        hints=(
            "two layers of two heads, all four different, and their rollout worked out by hand",
            "one layer, two layers, three in a tuple: compare by torch.allclose",
        ),
    )
    check.needs("attention_rollout", 4, own, [torch.ones(1, 1, 1)])
    check.passes(own, "your own `attention_rollout`")
    check.stops(_draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        _wrong_side,
        "a function that multiplies from the wrong side",
        "two layers that differ show which one is on the left",
    )
    check.stops(
        _without_residual,
        "a function without the residual connection",
        "half of each vector comes from its own place",
    )
    check.done("your own attention_rollout passes, three wrong ones do not")
    return check.passed()
