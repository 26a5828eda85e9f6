"""Checks of exercise 10 about one head's attention: how sharp it is, and how far it goes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.feedback.checks import Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

OWN_CODE = (
    "uses bertlab's own code. That code contains the answer to this task, so it cannot be the "
    "answer: write the steps yourself, with PyTorch"
)
LEADING = (
    "any number of dimensions may come before [L, L], such as layers and heads: count from the "
    "end, queries are dim=-2, keys are dim=-1"
)

ENTROPY = torch.tensor(
    [[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.25, 0]]
)
NEIGHBOURS = torch.tensor(
    [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.2, 0.2], [0.2, 0.6, 0.1, 0.1], [0.3, 0.1, 0.4, 0.2]]
)


class PatternCheck(TensorCheck):
    """A check of a measure of attention, [..., L, L]."""

    refused = OWN_CODE

    def layers(self, one: Tensor, *others: Any) -> None:
        """Two layers of three heads at once must give the same as each alone."""
        attention = one.expand(2, 3, *one.shape).clone()
        attention[1, 2] = one.flip(-1)
        alone = [[self.call(head, *others) for head in layer] for layer in attention]
        gives = torch.stack([torch.stack(layer) for layer in alone])
        self.example(
            *(attention, *others),
            gives=gives,
            because=f"{LEADING}. Here are 2 layers of 3 heads: {list(gives.shape)}",
        )


def attention(length: int, *leading: int, seed: int = 0) -> Tensor:
    """Random attention [..., L, L] in 64 bits, for long inputs."""
    scores = normal(*leading, length, length, seed=seed, dtype=torch.float64)
    return (2 * scores).softmax(dim=-1)


@task("ex10_attention_heads", 1)
def attention_entropy(function: Callable) -> Passed:
    """How spread out each row is."""
    check = PatternCheck(
        "attention_entropy",
        function,
        hints=(
            "one number for each query: the sum of -p log p over its keys, dim=-1",
            "0 times -inf is nan, so a plain p * p.log() fails where p is 0",
            "torch.xlogy(p, p) is p log p, and 0 where p is 0",
        ),
    )
    right = torch.tensor([0.6931, 0, 1.3863, 1.0397])
    check.example(
        ENTROPY,
        gives=right,
        because="two halves: log 2; one key: 0; four quarters: log 4; 0.5, 0.25, 0.25: 1.0397. "
        "A key with p = 0 adds nothing",
    )
    check.layers(ENTROPY)
    check.done("four rows, by hand; 2 layers of 3 heads")
    check.example(
        torch.full((1, 400, 400), 1 / 400),
        gives=torch.full((1, 400), 5.9915),
        because="400 keys that get the same attention: log 400",
    )
    check.example(
        torch.eye(300).flip(0),
        gives=torch.zeros(300),
        because="all on one key: nothing is spread, the entropy is 0",
    )
    many = attention(130, 4)
    many = torch.where(many < 1e-3, 0, many)
    many /= many.sum(dim=-1, keepdim=True)
    surprise = torch.where(many > 0, many, 1).log().neg()
    check.example(
        many,
        gives=torch.einsum("hqk,hqk->hq", many, surprise),
        because="4 heads, 130 tokens, in 64 bits",
    )
    check.done("uniform, one key, 130 tokens")
    return check.passed()


@task("ex10_attention_heads", 2)
def attention_to_offset(function: Callable) -> Passed:
    """The attention to the previous token, to the next, and so on."""
    check = PatternCheck(
        "attention_to_offset",
        function,
        hints=(
            "offset -1: the queries 1, 2, ..., L - 1 have a previous token, query 0 has none",
            "the probabilities of query i at key i + offset lie on a diagonal of the matrix",
            "attention.diagonal(offset, dim1=-2, dim2=-1) is that diagonal, [..., L - |offset|]",
        ),
    )
    check.example(
        *(NEIGHBOURS, -1),
        gives=0.5,
        because="query 1 gives 0.5 to key 0, query 2 gives 0.6 to key 1, query 3 gives 0.4 to key "
        "2; query 0 has no previous token",
    )
    check.example(
        *(NEIGHBOURS, 1),
        gives=0.1667,
        because="query 0 gives 0.2 to key 1, query 1 gives 0.2 to key 2, query 2 0.1 to key 3",
    )
    for offset, gives, because in (
        (2, 0.25, "offset 2: query 0 gives 0.3 to key 2, query 1 gives 0.2 to key 3"),
        (0, 0.125, "offset 0: every query and itself, 0.1, 0.1, 0.1, 0.2"),
        (-3, 0.3, "offset -3: only query 3 has such a key, and gives it 0.3"),
    ):
        check.example(*(NEIGHBOURS, offset), gives=gives, because=because)
    check.done("the previous, the next and others, by hand")
    for offset in (4, -4, 9):
        check.raises(
            ValueError,
            *(NEIGHBOURS, offset),
            because="in a text of 4 tokens no query has such a key: there is nothing to measure, "
            "and 0 or nan would be taken for a result",
        )
    check.layers(NEIGHBOURS, -1)
    long = torch.eye(257, dtype=torch.float64).roll(2, dims=0)
    long[:2] = 1 / 257
    check.example(
        *(long.expand(5, 257, 257), -2),
        gives=torch.ones(5, dtype=torch.float64),
        because="257 tokens, and each but the first two attends only to the one two before it: 1",
    )
    check.done("no such key; 2 layers of 3 heads; 257 tokens")
    return check.passed()
