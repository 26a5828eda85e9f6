"""Checks of exercise 4 about several heads: joining them, and heads with shared keys."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

# Two heads of two columns each: the tens digit is the head.
JOINED = torch.tensor([[1, 2, 11, 12], [3, 4, 13, 14], [5, 6, 15, 16]])
APART = torch.tensor([[[1, 2], [3, 4], [5, 6]], [[11, 12], [13, 14], [15, 16]]])

# One query, two keys; four heads of one number, in two groups.
QUERY = torch.tensor([[0.0, 2, 0, 2]])
KEY = torch.tensor([[1.0, 0], [0, 1]])
VALUE = torch.tensor([[10.0, 1], [20, 2]])
BOTH = torch.tensor([[True, True]])


@task("ex04_attention", 6)
def merge_heads(function: Callable) -> Passed:
    """Heads back into one tensor."""
    check = TensorCheck(
        "merge_heads",
        function,
        hints=(
            "work backwards: first swap H and L, then merge the last two dimensions",
            "x.transpose(-3, -2), then .flatten(-2) or .reshape; .view refuses swapped dimensions",
        ),
    )
    check.example(
        APART,
        gives=JOINED,
        because="each token's row: its part from head 0, then its part from head 1",
    )
    check.done("2 heads, 3 tokens")
    x = torch.arange(48.0).view(2, 3, 4, 2)
    check.example(
        x,
        gives=torch.cat(x.unbind(1), dim=-1),
        because="a batch, [B, H, L, d_head], becomes [B, L, D]; count dimensions from the end",
    )
    long = normal(2, 6, 65, 4, seed=31)
    check.example(long, gives=torch.cat(long.unbind(1), dim=-1))
    check.gradients(long)
    check.done("a batch, 65 tokens with 6 heads")
    return check.passed()


@task("ex04_attention", 7)
def grouped_attention(function: Callable) -> Passed:
    """Heads whose keys and values are shared."""
    check = TensorCheck(
        "grouped_attention",
        function,
        hints=(
            "split_heads for all three: the query into n_heads, key and value into n_groups",
            "repeat_interleave(n_heads // n_groups, dim=-3) gives every query head its key head",
            "masked_shares(query, key, mask) @ value, then merge_heads",
        ),
    )
    check.example(
        *(QUERY, KEY, VALUE, 4, 2, BOTH),
        gives=[[15.0, 11.1920, 1.5, 1.8808]],
        because="heads 0 and 1 share the first columns of key and value, heads 2 and 3 the second",
    )
    second = torch.tensor([[False, True]])
    check.example(
        *(QUERY, KEY, VALUE, 4, 2, second),
        gives=[[20.0, 20.0, 2.0, 2.0]],
        because="every head gets the mask: here only the second key may be looked at",
    )
    check.done("4 heads in 2 groups by hand")
    for n_heads, n_groups, what in (
        (4, 4, "as many groups as heads: each has its own, as in BERT"),
        (4, 1, "one group: all heads share keys and values"),
        (6, 2, "heads 0, 1 and 2 share group 0, heads 3, 4 and 5 group 1"),
    ):
        query = normal(2, 66, n_heads * 5, seed=40)
        key, value = (normal(2, 70, n_groups * 5, seed=seed) for seed in (41, 42))
        mask = normal(66, 70, seed=43) > -1
        check.example(
            *(query, key, value, n_heads, n_groups, mask),
            gives=_head_by_head(query, key, value, n_heads, n_groups, mask),
            because=f"{what}; the batch is the first dimension",
        )
    check.gradients(
        *(normal(3, 4), normal(5, 2, seed=1), normal(5, 2, seed=2), 4, 2, torch.ones(3, 5) > 0)
    )
    check.done("a batch of 66 tokens, 1, 2 and 4 groups, equal to PyTorch's, gradients")
    return check.passed()


def _head_by_head(
    query: Tensor, key: Tensor, value: Tensor, n_heads: int, n_groups: int, mask: Tensor
) -> Tensor:
    """PyTorch's result for each head's columns, concatenated."""
    keys, values = (x.chunk(n_groups, dim=-1) for x in (key, value))
    group = [head * n_groups // n_heads for head in range(n_heads)]
    return torch.cat(
        [
            F.scaled_dot_product_attention(q, keys[g], values[g], mask)
            for q, g in zip(query.chunk(n_heads, dim=-1), group, strict=True)
        ],
        dim=-1,
    )
