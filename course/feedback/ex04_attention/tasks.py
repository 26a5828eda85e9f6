"""Checks of exercise 4 about one query, the softmax and masks."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Passed
from course.feedback.ex04_attention.scores import (
    BIASED,
    INF,
    WEIGHTS,
    X,
)
from course.feedback.progress import task
from course.feedback.tensors import READY_MADE, TensorCheck, normal

CONTEXT = torch.tensor([[1.0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]])


@task("ex04_attention", 1)
def single_query_attention(function: Callable) -> Passed:
    """Attention from one token, in loops."""
    check = TensorCheck(
        "single_query_attention",
        function,
        hints=(
            "q once; then for each e_t of the context a key, a score and a value",
            "alpha_t = exp(score_t) / sum of all exp(score); the result is the sum of alpha_t v_t",
        ),
    )
    check.example(
        *(X[2], X, WEIGHTS),
        gives=[0.9100, 0.6652],
        because="the scores are 3, 2, 1, their shares 0.665, 0.245, 0.090; each value counts "
        "as much as its share",
    )
    check.done("the lecture's example")
    check.example(
        *(torch.tensor([1.0, 0, 0]), CONTEXT, BIASED),
        gives=[2.0914, 0.5457, -0.6345, 2.9111],
        because="the biases matter here, and d_attn = 2, d_mid = 4, four tokens of context",
    )
    check.done("biases, d_attn, D and d_mid that differ")
    e, context = normal(24, seed=1), normal(80, 24, seed=2)
    sizes = [(24, 8), (8,), (24, 8), (8,), (24, 5), (5,)]
    weights = HeadWeights(*(normal(*size, seed=3 + i) for i, size in enumerate(sizes)))
    q, k, v = (x @ weights[i] + weights[i + 1] for x, i in ((e, 0), (context, 2), (context, 4)))
    expected = F.scaled_dot_product_attention(q[None], k, v)[0]
    check.example(e, context, weights, gives=expected, because="80 tokens of context")
    check.done("80 tokens, equal to PyTorch's")
    return check.passed()


@task("ex04_attention", 2)
def row_softmax(function: Callable) -> Passed:
    """Shares of each row."""
    check = TensorCheck(
        "row_softmax",
        function,
        hints=(
            "exp of everything, then divide each row by its own sum: .sum(dim=-1, keepdim=True)",
            "before exp, subtract each row's largest score: .amax(dim=-1, keepdim=True)",
        ),
    )
    check.ready_made = ("attention", "softmax", "softmin")
    check.refused = f"{READY_MADE} (from task 4 on you may use PyTorch's softmax)"
    check.example(
        torch.tensor([[3.0, 2, 1], [0, 0, 0], [1, 1, 2]]),
        gives=[[0.6652, 0.2447, 0.0900], [0.3333] * 3, [0.2119, 0.2119, 0.5761]],
        because="each row is normalised by itself: e³, e², e¹ divided by their sum, 30.19",
    )
    check.done("an example by hand")
    largest = "exp(1000) is inf, and inf / inf is nan: first subtract the row's largest score"
    check.example(torch.tensor([[1000.0, 998]]), gives=[[0.8808, 0.1192]], because=largest)
    own = "subtract each row's own largest score, not one for all: exp(-1000) is 0, and 0 / 0 nan"
    check.example(torch.tensor([[1000.0, 998], [0, -2]]), gives=[[0.8808, 0.1192]] * 2, because=own)
    check.done("scores of 1,000")
    hidden = "a score of -inf gets a share of exactly 0, and the others share the whole 1"
    scores = torch.tensor([[1.0, -INF, 1], [0, 2, -INF]])
    check.example(scores, gives=[[0.5, 0, 0.5], [0.1192, 0.8808, 0]], because=hidden)
    check.law(bool((check.call(scores)[scores == -INF] == 0).all()), f"not exactly 0; {hidden}")
    check.done("-inf")
    check.example(
        torch.tensor([3.0, 2, 1]), gives=[0.6652, 0.2447, 0.0900], because="a single row, [3]"
    )
    for shape, dtype in (((2, 3, 5, 7), torch.float32), ((2, 64, 70), torch.float64)):
        scores = 4 * normal(*shape, seed=4, dtype=dtype)
        shown = check.shown((scores,))
        answer = check.call(scores, because="the row is the last dimension, dim=-1")
        if isinstance(answer, Tensor) and answer.shape == scores.shape:
            check.rows_sum_to_one(answer, shown)
        check.equals(answer, scores.softmax(dim=-1), shown)
    check.gradients(normal(3, 5))
    check.done("one to four dimensions, 64-bit, long rows, gradients")
    return check.passed()


@task("ex04_attention", 3)
def causal_mask(function: Callable) -> Passed:
    """Which keys each token may attend to if it must not look ahead."""
    check = TensorCheck(
        "causal_mask",
        function,
        hints=(
            "row = query, column = key: column j is allowed in row i if j <= i",
            "torch.ones(length, length, dtype=torch.bool) is all True; tril keeps a triangle",
        ),
    )
    true, no = True, False
    check.example(
        3,
        gives=[[true, no, no], [true, true, no], [true, true, true]],
        because="row i says where token i may look: at itself and at what is before it",
    )
    check.example(1, gives=[[True]], because="a single token may look at itself")
    check.done("3 tokens, 1 token")
    answer = check.call(64)
    check.equals(answer, torch.arange(64)[:, None] >= torch.arange(64), "causal_mask(64)")
    check.done("64 tokens")
    return check.passed()


@task("ex04_attention", 3)
def padding_mask(function: Callable) -> Passed:
    """Which positions are tokens, and which are padding."""
    check = TensorCheck("padding_mask", function, hints=("compare ids with pad_id: `!=`",))
    ids = torch.tensor([[2, 15, 7, 3], [2, 9, 3, 0]])
    check.example(
        ids,
        gives=[[True] * 4, [True, True, True, False]],
        because="True wherever the id is not that of the padding",
    )
    one = "here 1 is the id of the padding, and 0 an ordinary token: look at pad_id"
    check.example(
        *(torch.tensor([[0, 5, 0, 1, 1]]), 1), gives=[[True] * 3 + [False] * 2], because=one
    )
    check.example(
        *(torch.tensor([[5, 0, 9, 9]]), 9),
        gives=[[True, True, False, False]],
        because="padding is what equals pad_id, not what is smaller or larger",
    )
    check.done("padding of 0, 1 and 9")
    ids = torch.arange(200).view(2, 100)
    check.equals(check.call(ids, 150), ids.ne(150), "padding_mask(a [2, 100] tensor, 150)")
    check.done("100 tokens")
    return check.passed()
