"""Checks of exercise 4, attention: one per task, by worked examples, laws and PyTorch's results."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Check, checks_of
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import READY_MADE, TensorCheck, normal

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex04_attention")

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
CONTEXT = torch.tensor([[1.0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]])


@task(
    1,
    "q once; then for each e_t of the context a key, a score and a value",
    "alpha_t = exp(score_t) / sum of all exp(score); the result is the sum of alpha_t v_t",
)
def single_query_attention(check: TensorCheck) -> None:
    """Attention from one token, in loops."""
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


@task(
    2,
    "exp of everything, then divide each row by its own sum: .sum(dim=-1, keepdim=True)",
    "before exp, subtract each row's largest score: .amax(dim=-1, keepdim=True)",
)
def row_softmax(check: TensorCheck) -> None:
    """Shares of each row."""
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


@task(
    3,
    "row = query, column = key: column j is allowed in row i if j <= i",
    "torch.ones(length, length, dtype=torch.bool) is all True; tril keeps a triangle",
)
def causal_mask(check: TensorCheck) -> None:
    """Which keys each token may attend to if it must not look ahead."""
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


@task(3, "compare ids with pad_id: `!=`")
def padding_mask(check: TensorCheck) -> None:
    """Which positions are tokens, and which are padding."""
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


# The lecture's queries of "it" and "animal", its keys, and their dot products 6 4 2 and 2 2 6.
QUERY = torch.tensor([[2.0, 2, 0, 2], [0, 0, 4, 2]])
KEY = torch.tensor([[1.0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]])
MASK = torch.tensor([[False, True, True], [True, True, False]])


@task(
    4,
    "try the draft with a mask that hides a key from a row, and add that row up; try it "
    "with 3 keys of size 4",
    "where the mask is False, put -inf into the scores, before the softmax; a row with "
    "nothing else then becomes nan, and must be zeros",
)
def masked_shares(check: TensorCheck) -> None:
    """How much each query attends to each key that it may attend to."""
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


@task(
    5,
    "one call whose shares you have worked out by hand, with a mask that hides something",
    "one call for each sentence of task 4, compared by torch.allclose(..., atol=1e-4)",
)
def examine_masked_shares(check: MutationCheck, own: Callable) -> None:
    """A test of `masked_shares`, tried on the student's own and on three wrong ones."""
    one = torch.ones(1, 1)
    check.passes(own, "masked_shares", 4, one, one, one > 0)
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


# Two heads of two columns each: the tens digit is the head.
JOINED = torch.tensor([[1, 2, 11, 12], [3, 4, 13, 14], [5, 6, 15, 16]])
APART = torch.tensor([[[1, 2], [3, 4], [5, 6]], [[11, 12], [13, 14], [15, 16]]])
# One query, two keys; four heads of one number, in two groups.
ONE_QUERY = torch.tensor([[0.0, 2, 0, 2]])
TWO_KEYS = torch.tensor([[1.0, 0], [0, 1]])
VALUE = torch.tensor([[10.0, 1], [20, 2]])
BOTH = torch.tensor([[True, True]])


@task(
    6,
    "work backwards: first swap H and L, then merge the last two dimensions",
    "x.transpose(-3, -2), then .flatten(-2) or .reshape; .view refuses swapped dimensions",
)
def merge_heads(check: TensorCheck) -> None:
    """Heads back into one tensor."""
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


@task(
    7,
    "split_heads for all three: the query into n_heads, key and value into n_groups",
    "repeat_interleave(n_heads // n_groups, dim=-3) gives every query head its key head",
    "masked_shares(query, key, mask) @ value, then merge_heads",
)
def grouped_attention(check: TensorCheck) -> None:
    """Heads whose keys and values are shared."""
    check.example(
        *(ONE_QUERY, TWO_KEYS, VALUE, 4, 2, BOTH),
        gives=[[15.0, 11.1920, 1.5, 1.8808]],
        because="heads 0 and 1 share the first columns of key and value, heads 2 and 3 the second",
    )
    second = torch.tensor([[False, True]])
    check.example(
        *(ONE_QUERY, TWO_KEYS, VALUE, 4, 2, second),
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


@task(8, "write `return [...]` with three numbers")
def predict_bits(check: Check) -> None:
    """Three entropies, of the student's choice."""
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


@task(
    9,
    "add up all parts except `gone`; apply norm to the sum; then compute query and key",
    "row_softmax(query @ key.T / math.sqrt(d_head)), as before",
)
def shares_without(check: PartsCheck) -> None:
    """A head without a part of its input."""
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


def _by_pytorch(x: Tensor, weights: HeadWeights) -> Tensor:
    """PyTorch's attention to each token."""
    query, key = (x @ weights[i] + weights[i + 1] for i in (0, 2))
    return F.scaled_dot_product_attention(query, key, torch.eye(len(x)))
