"""Checks of exercise 4 about scores: shares under a mask, and a test of them."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Passed
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

INF = float("inf")
# "animal", "street", "it" of the lecture, and its weights.
X = torch.tensor([[1.0, 1, 0], [1, 0, 0], [0, 0, 1]])
WEIGHTS = HeadWeights(
    W_q=torch.tensor([[0.0, 0, 2, 0], [0, 0, 2, 0], [2, 2, 0, 0]]),
    b_q=torch.tensor([0.0, 0, 0, 2]),
    W_k=torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
    b_k=torch.tensor([0.0, 0, 0, 1]),
    W_v=torch.tensor([[1.0, 0], [0, 1], [0, 0]]),
    b_v=torch.tensor([0.0, 0]),
)
# Here every bias matters, and d_attn = 2, D = 3, L = d_mid = 4.
BIASED = HeadWeights(
    W_q=torch.tensor([[1.0, 0], [0, 1], [1, 1]]),
    b_q=torch.tensor([1.0, -1]),
    W_k=torch.tensor([[0.0, 1], [1, 0], [1, -1]]),
    b_k=torch.tensor([1.0, 2]),
    W_v=torch.tensor([[2.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]]),
    b_v=torch.tensor([1.0, 0, -1, 2]),
)
# The lecture's queries of "it" and "animal", its keys, and their dot products 6 4 2 and 2 2 6.
QUERY = torch.tensor([[2.0, 2, 0, 2], [0, 0, 4, 2]])
KEY = torch.tensor([[1.0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]])
MASK = torch.tensor([[False, True, True], [True, True, False]])


@task("ex04_attention", 4)
def masked_shares(function: Callable) -> Passed:
    """How much each query attends to each key that it may attend to."""
    check = TensorCheck(
        "masked_shares",
        function,
        hints=(
            "try the draft with a mask that hides a key from a row, and add that row up; try it "
            "with 3 keys of size 4",
            "where the mask is False, put -inf into the scores, before the softmax; a row with "
            "nothing else then becomes nan, and must be zeros",
        ),
    )
    all_keys = torch.ones(2, 3, dtype=torch.bool)
    check.example(
        *(QUERY, KEY, all_keys),
        gives=[[0.6652, 0.2447, 0.0900], [0.1065, 0.1065, 0.7870]],
        because="the dot products are 6, 4, 2 and 2, 2, 6; d_head is 4, so divide them by 2",
    )
    check.done("2 queries, 3 keys, by hand")
    check.example(
        *(QUERY, KEY, MASK),
        gives=[[0, 0.7311, 0.2689], [0.5, 0.5, 0]],
        because="what the mask hides gets exactly 0, and the others share the whole 1",
    )
    three = torch.cat([QUERY, torch.tensor([[0.0, 0, 2, 0]])])
    check.example(
        *(three, KEY, torch.ones(3, 3, dtype=torch.bool).tril()),
        gives=[[1, 0, 0], [0.5, 0.5, 0], [0.2119, 0.2119, 0.5761]],
        because="the mask's row is the query, its column the key, as it is given",
    )
    nobody = torch.tensor([[True, True, False], [False, False, False]])
    check.example(
        *(QUERY, KEY, nobody),
        gives=[[0.7311, 0.2689, 0], [0, 0, 0]],
        because="a query that may look at no key gives 0 to each",
    )
    row = "a mask of one row, [3], hides the same keys from every query: masked_fill broadcasts it"
    keep = torch.tensor([True, True, False])
    check.example(QUERY, KEY, keep, gives=[[0.7311, 0.2689, 0], [0.5, 0.5, 0]], because=row)
    wins = "a hidden key gets exactly 0, whatever the scores are: -inf, not some large number"
    huge = QUERY * torch.tensor([[1e6], [-1e6]])
    check.example(huge, KEY, MASK, gives=[[0.0, 1, 0], [0.5, 0.5, 0]], because=wins)
    check.done("masks, one of a single row, one that leaves nothing, one against high scores")
    front = "any number of dimensions may come first: transpose the last two of key, key.mT"
    keep = normal(2, 1, 1, 70, seed=7) > -1
    for q, k, mask in (
        (normal(2, 64, 16, seed=5), normal(2, 70, 16, seed=6), torch.ones(64, 70) > 0),
        (normal(2, 3, 64, 16, seed=5), normal(2, 3, 70, 16, seed=6), keep),
        (normal(65, 8, seed=8).double(), normal(65, 8, seed=9).double(), torch.ones(65, 65) > 0),
    ):
        arguments = (q, k, mask)
        answer, shown = check.call(*arguments, because=front), check.shown(arguments)
        one_hot = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
        expected = F.scaled_dot_product_attention(q, k, one_hot, mask)
        why = scaling(q, k, answer) if mask.all() else ""
        if isinstance(answer, Tensor) and answer.shape == expected.shape:
            check.rows_sum_to_one(answer, shown)
        check.equals(answer, expected, shown, because=why or front, tolerance=1e-5)
    check.gradients(normal(3, 4), normal(5, 4, seed=1), torch.ones(3, 5) > 0)
    check.done("64 queries and 70 keys of many heads, 64-bit, gradients")
    return check.passed()


def scaling(query: Tensor, key: Tensor, probabilities: Tensor) -> str:
    """The apparent divisor of the scores, in words; "" if it is √d_head or unclear.

    Two log-probabilities of a row have the same difference as their scaled scores.
    """
    dots = (query @ key.mT).double()
    if not isinstance(probabilities, Tensor) or probabilities.shape != dots.shape:
        return ""
    logs = probabilities.detach().double().clamp_min(1e-30).log()
    dots, logs = (x - x.mean(dim=-1, keepdim=True) for x in (dots, logs))
    divisor = ((dots * dots).sum() / (dots * logs).sum()).item()
    d_head = query.shape[-1]
    if divisor <= 0 or abs(divisor / d_head**0.5 - 1) < 0.01:
        return ""
    return (
        f"the scores look as if divided by {divisor:.3g}; d_head is query's last size, {d_head}, "
        f"so divide by √{d_head} = {d_head**0.5:.3g}"
    )


def draft(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """As in the notebook: masks too late, and uses the number of keys as d_head."""
    scores = query @ key.mT / key.shape[-2] ** 0.5
    return scores.softmax(dim=-1) * mask


def too_late(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Wrong: hidden keys still take their share of the 1."""
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) * mask


def without_keys(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Wrong: nan for a query that may not attend to any key."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~mask, -INF).softmax(dim=-1)


@task("ex04_attention", 5)
def examine_masked_shares(function: Callable, own: Callable) -> Passed:
    """A test of `masked_shares`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_masked_shares",
        function,
        hints=(
            "one call whose shares you have worked out by hand, with a mask that hides something",
            "one call for each sentence of task 4, compared by torch.allclose(..., atol=1e-4)",
        ),
    )
    one = torch.ones(1, 1)
    check.needs("masked_shares", 4, own, one, one, one > 0)
    check.passes(own, "your own `masked_shares`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        too_late,
        "a function that masks after the softmax",
        "what do its rows sum to where a key is hidden?",
    )
    check.stops(
        without_keys,
        "a function that gives nan to a query without a key",
        "call it with a row of the mask that is False everywhere",
    )
    check.done("your own masked_shares passes, three wrong ones do not")
    return check.passed()
