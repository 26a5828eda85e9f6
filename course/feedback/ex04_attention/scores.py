"""Checks of exercise 4 about scores: shares of attention, blends of values, one head."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Passed
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
# Here every bias counts, and d_attn = 2, D = 3, L = d_mid = 4.
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
VALUE = torch.tensor([[10.0, 0], [0, 10], [10, 10]])
MASK = torch.tensor([[False, True, True], [True, True, False]])


@task("ex04_attention", 4)
def attention_probabilities(function: Callable) -> Passed:
    """How much each query attends to each key."""
    check = TensorCheck(
        "attention_probabilities",
        function,
        hints=(
            "scores: query @ key.mT, divided by the square root of query's last size",
            "where the mask is False, put -inf into the scores; only then the softmax",
        ),
    )
    check.example(
        *(QUERY, KEY),
        gives=[[0.6652, 0.2447, 0.0900], [0.1065, 0.1065, 0.7870]],
        because="the dot products are 6, 4, 2 and 2, 2, 6; d_head is 4, so divide them by 2",
        mistakes=[
            (
                [[0.8668, 0.1173, 0.0159], [0.0177, 0.0177, 0.9647]],
                "the scores are not scaled: divide by √d_head = 2 before the softmax",
            ),
            (
                [[0.5065, 0.3072, 0.1863], [0.2119, 0.2119, 0.5761]],
                "divide by the square root of d_head, √4, not by d_head itself",
            ),
            (
                [[0.7070, 0.2228, 0.0702], [0.0829, 0.0829, 0.8343]],
                "d_head is the last size of query, 4; 3 is the number of keys",
            ),
            (
                [[0.7679, 0.1867, 0.0454], [0.0529, 0.0529, 0.8943]],
                "d_head is the last size of query, 4; 2 is the number of queries",
            ),
            (
                [[0.9817, 0.0180, 0.0003], [0.0003, 0.0003, 0.9993]],
                "the scores are multiplied by √d_head; divide by it",
            ),
            (
                [[0.8808, 0.7311, 0.1192], [0.1192, 0.2689, 0.8808]],
                "here the columns sum to 1: the softmax goes along rows, dim=-1",
            ),
            (
                [[0.4334, 0.0587, 0.0079], [0.0088, 0.0088, 0.4823]],
                "scale the scores before the softmax; now the rows do not sum to 1",
            ),
            ([[3.0, 2, 1], [1, 1, 3]], "these are the scores; their softmax is missing"),
            ((3, 2), "row = query, column = key: query @ key.mT, not key @ query.mT"),
        ],
    )
    check.done("2 queries, 3 keys, by hand")
    inverted = "inverted: True means `may be attended`, and -inf goes where the mask is False"
    check.example(
        *(QUERY, KEY, MASK),
        gives=[[0, 0.7311, 0.2689], [0.5, 0.5, 0]],
        because="what the mask hides gets exactly 0, and the others share the whole 1",
        mistakes=[
            (
                [[0, 0.2447, 0.0900], [0.1065, 0.1065, 0]],
                "masked after the softmax, the share is missing from the row's sum: mask scores",
            ),
            ([[1.0, 0, 0], [0, 0, 1]], inverted),
            (
                [[0.0900, 0.6652, 0.2447], [0.4223, 0.4223, 0.1554]],
                "a score of 0 is an ordinary score, as e⁰ = 1: what is hidden becomes -inf",
            ),
            ([[0.6652, 0.2447, 0.0900], [0.1065, 0.1065, 0.7870]], "the mask is not used"),
            (
                [[0.4223, 0.4223, 0.1554], [0.2119, 0.2119, 0.5761]],
                "the mask is added to the scores as 0 and 1: use it to choose, with masked_fill",
            ),
            ([[float("nan")] * 3] * 2, "+inf goes nowhere: what is hidden becomes -inf"),
            (
                [[-INF, 0.2447, 0.0900], [0.1065, 0.1065, -INF]],
                "mask the scores, before the softmax, not the shares after it",
            ),
        ],
    )
    three = torch.cat([QUERY, torch.tensor([[0.0, 0, 2, 0]])])
    check.example(
        *(three, KEY, torch.ones(3, 3, dtype=torch.bool).tril()),
        gives=[[1, 0, 0], [0.5, 0.5, 0], [0.2119, 0.2119, 0.5761]],
        because="the mask's row is the query, its column the key, as it is given",
        mistakes=[
            (
                [[0.6652, 0.2447, 0.0900], [0, 0.1192, 0.8808], [0, 0, 1.0]],
                "rows and columns of the mask are swapped",
            ),
        ],
    )
    row = "a mask of one row, [3], hides the same keys from every query: masked_fill spreads it"
    keep = torch.tensor([True, True, False])
    check.example(QUERY, KEY, keep, gives=[[0.7311, 0.2689, 0], [0.5, 0.5, 0]], because=row)
    wins = "a hidden key gets exactly 0, whatever the scores are: -inf, not some large number"
    huge = QUERY * torch.tensor([[1e6], [-1e6]])
    check.example(huge, KEY, MASK, gives=[[0.0, 1, 0], [0.5, 0.5, 0]], because=wins)
    check.done("masks, one of a single row and against high scores included")
    front = "any number of dimensions may stand in front: turn the last two of key, key.mT"
    keep = normal(2, 1, 1, 70, seed=7) > -1
    for q, k, mask in (
        (normal(2, 64, 16, seed=5), normal(2, 70, 16, seed=6), None),
        (normal(2, 3, 64, 16, seed=5), normal(2, 3, 70, 16, seed=6), keep),
        (normal(65, 8, seed=8).double(), normal(65, 8, seed=9).double(), None),
    ):
        arguments = (q, k) if mask is None else (q, k, mask)
        answer, shown = check.call(*arguments, because=front), check.shown(arguments)
        one_hot = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
        expected = F.scaled_dot_product_attention(q, k, one_hot, mask)
        why = "" if mask is not None else scaling(q, k, answer)
        if isinstance(answer, Tensor) and answer.shape == expected.shape:
            check.rows_sum_to_one(answer, shown)
        check.equals(answer, expected, shown, because=why or front, tolerance=1e-5)
    check.gradients(normal(3, 4), normal(5, 4, seed=1))
    check.done("64 queries and 70 keys of many heads, 64-bit, gradients")
    return check.passed()


def scaling(query: Tensor, key: Tensor, probabilities: Tensor) -> str:
    """By what the scores must have been divided, in words; "" if by √d_head, or it is unclear.

    Two logarithms of a row differ by as much as their scores do, whatever the scale.
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


@task("ex04_attention", 5)
def attention(function: Callable) -> Passed:
    """Every query's blend of the values."""
    check = TensorCheck(
        "attention",
        function,
        hints=(
            "attention_probabilities gives the shares; multiply them with the values",
            "return two things: probabilities @ value, and probabilities",
        ),
    )
    shares = [[0.6652, 0.2447, 0.0900], [0.1065, 0.1065, 0.7870]]
    updated, probabilities = check.pair(QUERY, KEY, VALUE)
    shown = f"{check.shown((QUERY, KEY, VALUE))}, first answer"
    check.equals(
        *(updated, [[7.5527, 3.3476], [8.9349, 8.9349]], shown),
        because="each query takes home the values, each as much as its share",
        mistakes=[
            (shares, "swapped: first the updated vectors, then the probabilities"),
            ([[40.0, 30], [40, 40]], "multiply the probabilities with the values, not the scores"),
            ([[8.8269, 1.3319], [9.8233, 9.8233]], "the scores are not scaled"),
            ((2, 4), "blend the values, not the keys"),
        ],
    )
    second = shown.replace("first", "second")
    check.equals(probabilities, shares, second, because="the shares of each query, as from task 4")
    check.done("2 queries, 3 keys and values, by hand")
    three = torch.cat([QUERY, torch.tensor([[0.0, 0, 2, 0]])])
    updated, _ = check.pair(three, KEY, VALUE)
    check.equals(
        *(updated, [[7.5527, 3.3476], [8.9349, 8.9349], [7.8806, 7.8806]]),
        f"{check.shown((three, KEY, VALUE))}, first answer",
        mistakes=[
            (
                [[8.7718, 3.1845], [4.5667, 3.1845], [6.6615, 13.6310]],
                "the probabilities are turned around: row = query, so probabilities @ value",
            )
        ],
    )
    updated, probabilities = check.pair(QUERY, KEY, VALUE, MASK)
    shown = f"{check.shown((QUERY, KEY, VALUE, MASK))}, first answer"
    check.equals(
        *(updated, [[2.6894, 10.0], [5.0, 5.0]], shown),
        because="a value whose key is hidden adds nothing",
        mistakes=[
            ([[7.5527, 3.3476], [8.9349, 8.9349]], "hand the mask on to attention_probabilities"),
            ([[0.9003, 3.3476], [1.0651, 1.0651]], "mask the scores before the softmax"),
        ],
    )
    check.equals(probabilities, [[0, 0.7311, 0.2689], [0.5, 0.5, 0]], shown.replace("first", "2nd"))
    check.done("a mask")
    q, k, v = normal(2, 4, 64, 8, seed=10), normal(2, 4, 70, 8, seed=11), normal(2, 4, 70, 5)
    mask = normal(2, 1, 1, 70, seed=12) > -1
    updated, probabilities = check.pair(q, k, v, mask, because="[batch, heads, tokens, d_head]")
    expected = F.scaled_dot_product_attention(q, k, v, mask)
    check.equals(updated, expected, f"{check.shown((q, k, v, mask))}, first answer")
    check.rows_sum_to_one(probabilities, check.shown((q, k, v, mask)))
    check.gradients(normal(3, 4), normal(5, 4, seed=1), normal(5, 2, seed=2))
    check.done("64 queries and 70 keys of many heads, gradients")
    return check.passed()


@task("ex04_attention", 6)
def self_attention(function: Callable) -> Passed:
    """One head."""
    check = TensorCheck(
        "self_attention",
        function,
        hints=(
            "queries, keys and values are made from the same x, each by its own W and b",
            "then hand them to your attention, in the order query, key, value, mask",
        ),
    )
    shares = [[0.1065, 0.1065, 0.7870], [0.2119, 0.2119, 0.5761], [0.6652, 0.2447, 0.0900]]
    updated, probabilities = check.pair(X, WEIGHTS)
    shown = f"{check.shown((X, WEIGHTS))}, first answer"
    check.equals(
        *(updated, [[0.2130, 0.1065], [0.4239, 0.2119], [0.9100, 0.6652]], shown),
        because="the lecture's three tokens: `it`, the last row, is 0.91 noun and 0.67 alive",
        mistakes=[
            (shares, "swapped: first the updated vectors, then the probabilities"),
            ((3, 3), "the values are made, too: x @ W_v + b_v, not x itself"),
            ((3, 4), "the values have a matrix of their own, W_v, not W_q or W_k"),
            (
                [[0.0353, 0.0177], [0.2130, 0.1065], [0.9841, 0.8668]],
                "the scores are not scaled: your attention does it, from the size of query",
            ),
            (
                [[0.1657, 0.0829], [0.3866, 0.1933], [0.9298, 0.7070]],
                "scale by √d_head = √4, W_q's columns, not by the size of x, 3",
            ),
            (
                [[0.9997, 0.9817], [0.9841, 0.8668], [0.0353, 0.0177]],
                "the keys are made by W_k and b_k, not by those of the queries",
            ),
            (
                [[0.8137, 0.5065], [0.7673, 0.3837], [0.5481, 0.2741]],
                "the queries are made by W_q and b_q, not by those of the keys",
            ),
        ],
    )
    check.equals(probabilities, shares, shown.replace("first", "second"))
    check.done("the lecture's head")
    x = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    shown = f"{check.shown((x, BIASED))}, first answer"
    updated, probabilities = check.pair(x, BIASED)
    no_query_bias = [[0.2483, 0.5035, 0.2483], [0.5035, 0.2483, 0.2483], [0.3333] * 3]
    check.equals(
        *(
            probabilities,
            [[0.0879, 0.7337, 0.1784], [0.2483, 0.5035, 0.2483], [0.14, 0.576, 0.284]],
        ),
        shown.replace("first", "second"),
        because="here every bias counts, and W_q and W_k are not alike",
        mistakes=[
            (no_query_bias, "the queries' bias b_q is missing"),
            (
                [[0.1784, 0.7337, 0.0879], [0.4458, 0.4458, 0.1084], [0.2840, 0.5760, 0.1400]],
                "W_q and W_k are swapped",
            ),
        ],
    )
    check.equals(
        updated,
        [[1.1759, 0.7337, -1, 2.0879], [1.4965, 0.5035, -1, 2.2483], [1.2801, 0.5760, -1, 2.1400]],
        shown,
        mistakes=[
            (
                [
                    [0.1759, 0.7337, 0, 0.0879],
                    [0.4965, 0.5035, 0, 0.2483],
                    [0.2801, 0.576, 0, 0.14],
                ],
                "the values' bias b_v is missing",
            )
        ],
    )
    check.done("biases, W_q unlike W_k")
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    _, probabilities = check.pair(x, BIASED, mask)
    check.equals(
        *(probabilities, [[1.0, 0, 0], [0.3302, 0.6698, 0], [0.1400, 0.5760, 0.2840]]),
        f"{check.shown((x, BIASED, mask))}, second answer",
        because="the mask is passed on to attention",
    )
    check.done("a causal mask")
    x = normal(66, 24, seed=20)
    sizes = [(24, 8), (8,)] * 2 + [(24, 5), (5,)]
    weights = HeadWeights(*(normal(*size, seed=21 + i) for i, size in enumerate(sizes)))
    q, k, v = (x @ weights[i] + weights[i + 1] for i in (0, 2, 4))
    updated, probabilities = check.pair(x, weights)
    shown = f"{check.shown((x, weights))}, first answer"
    check.equals(
        updated,
        F.scaled_dot_product_attention(q, k, v),
        shown,
        because=scaling(q, k, probabilities),
    )
    check.gradients(x, weights)
    check.done("66 tokens, equal to PyTorch's, gradients")
    return check.passed()
