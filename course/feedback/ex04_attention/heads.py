"""Checks of exercise 4 about many heads: cutting, joining, and measuring what they look at."""

from collections.abc import Callable

import torch
from torch.nn import functional as F

from bertlab.model.attention import HeadWeights
from course.feedback.checks import Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

# Two heads of two columns each: tens tell the head.
JOINED = torch.tensor([[1, 2, 11, 12], [3, 4, 13, 14], [5, 6, 15, 16]])
APART = torch.tensor([[[1, 2], [3, 4], [5, 6]], [[11, 12], [13, 14], [15, 16]]])

# Two heads for tokens of four components; the second looks everywhere alike.
TOKENS = torch.tensor([[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]])
HEADS = [
    HeadWeights(
        W_q=torch.tensor([[0.0, 0], [2, 0], [0, 0], [0, 2]]),
        b_q=torch.tensor([0.0, 1]),
        W_k=torch.tensor([[1.0, 0], [0, 1], [1, 0], [0, 0]]),
        b_k=torch.tensor([0.0, 0]),
        W_v=torch.tensor([[1.0, 0], [0, 2], [0, 0], [0, 1]]),
        b_v=torch.tensor([0.0, 1]),
    ),
    HeadWeights(
        W_q=torch.zeros(4, 2),
        b_q=torch.zeros(2),
        W_k=torch.zeros(4, 2),
        b_k=torch.zeros(2),
        W_v=torch.tensor([[3.0, 0], [0, 3], [0, 0], [0, 0]]),
        b_v=torch.zeros(2),
    ),
]
W_O = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 2]])
B_O = torch.tensor([0.0, 0, 0, 1])


@task("ex04_attention", 7)
def split_heads(function: Callable) -> Passed:
    """One tensor into heads."""
    check = TensorCheck(
        "split_heads",
        function,
        hints=(
            "first cut the last dimension in two, D into n_heads and d_head; then swap dimensions",
            "x.unflatten(-1, (n_heads, -1)) gives [..., L, H, d_head]; swap L and H",
        ),
    )
    check.example(
        *(JOINED, 2),
        gives=APART,
        because="head 0 gets the first two columns, head 1 the last two, each with all 3 tokens",
        mistakes=[
            (
                [[[1, 2], [11, 12], [3, 4]], [[13, 14], [5, 6], [15, 16]]],
                "tokens and heads are mixed up: a plain view or reshape to [H, L, d_head] goes "
                "through the rows; cut D first, then swap L and H",
            ),
            (
                [[[1, 11], [3, 13], [5, 15]], [[2, 12], [4, 14], [6, 16]]],
                "the columns are dealt out in turns: head 0 gets columns 0 to d_head - 1",
            ),
            ((3, 2, 2), "[L, H, d_head]: now swap L and H, heads come before tokens"),
            ((2, 2, 3), "[H, d_head, L]: each head has one row a token, [H, L, d_head]"),
        ],
    )
    check.done("3 tokens, 2 heads")
    x = torch.arange(48.0).view(2, 4, 6)
    heads = torch.stack([x[..., 0:2], x[..., 2:4], x[..., 4:6]], dim=1)
    check.example(
        *(x, 3),
        gives=heads,
        because="a batch, [B, L, D], becomes [B, H, L, d_head]; count dimensions from the end",
        mistakes=[
            ((3, 2, 4, 2), "the batch stays in front: [B, H, L, d_head]"),
        ],
    )
    check.example(x, 1, gives=x[:, None], because="one head keeps all columns: [B, 1, L, D]")
    long = normal(2, 65, 24, seed=30)
    parts = torch.stack(long.split(4, dim=-1), dim=1)
    check.example(long, 6, gives=parts)
    check.gradients(long, 6)
    check.done("a batch, one head, 65 tokens with 6 heads")
    return check.passed()


@task("ex04_attention", 7)
def merge_heads(function: Callable) -> Passed:
    """Heads back into one tensor."""
    check = TensorCheck(
        "merge_heads",
        function,
        hints=(
            "backwards: first swap H and L, then make one dimension of the last two",
            "x.transpose(-3, -2), then .flatten(-2) or .reshape; .view refuses swapped dimensions",
        ),
    )
    check.example(
        APART,
        gives=JOINED,
        because="each token's row: its part from head 0, then its part from head 1",
        mistakes=[
            (
                [[1, 2, 3, 4], [5, 6, 11, 12], [13, 14, 15, 16]],
                "tokens and heads are mixed up: swap H and L first, then join",
            ),
            (
                [[1, 11, 2, 12], [3, 13, 4, 14], [5, 15, 6, 16]],
                "the heads' columns alternate; they stand side by side: head 0, then head 1",
            ),
            (
                [[11, 12, 1, 2], [13, 14, 3, 4], [15, 16, 5, 6]],
                "the heads are in the wrong order: head 0 comes first",
            ),
            ((2, 6), "that joins L and d_head; swap H and L first"),
            ((6, 2), "that puts the heads below each other; side by side is [L, D]"),
            ((3, 2), "heads are put side by side, not summed or averaged"),
        ],
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


@task("ex04_attention", 8)
def multi_head_attention(function: Callable) -> Passed:
    """Several heads, mixed."""
    check = TensorCheck(
        "multi_head_attention",
        function,
        hints=(
            "your self_attention once for each head; of its two answers, take the first",
            "torch.cat(outputs, dim=-1), then @ W_o + b_o",
        ),
    )
    arguments = (TOKENS, HEADS, W_O, B_O)
    last = [3.0, 3.0, 3.0]
    bias = "b_o is added once, at the end"
    check.example(
        *arguments,
        gives=_rows([1.0967, 1.4011, 1.0967], [1.0] * 3, [2.8066, 2.1978, 2.8066], last),
        because="each head's vectors side by side, [L, H · d_head], then @ W_o + b_o",
        mistakes=[
            (
                _rows([1.0967, 1.4011, 1.0967], [1.0] * 3, [2.8066, 2.1978, 2.8066], [2.0] * 3),
                f"b_o is missing: {bias}",
            ),
            (
                _rows([1.0967, 1.4011, 1.0967], [1.0] * 3, [2.8066, 2.1978, 2.8066], [4.0] * 3),
                bias,
            ),
            (
                _rows([0.0967, 0.4011, 0.0967], [2.8066, 2.1978, 2.8066], [1.0] * 3, [1.0] * 3),
                "W_o is missing: it mixes the heads",
            ),
            (
                _rows([0.0967, 0.4011, 0.0967], [2.8066, 2.1978, 2.8066], [1.0] * 3, [2.0] * 3),
                "W_o is missing: it mixes the heads",
            ),
            (
                _rows([0.0967, 0.4011, 0.0967], [1.0] * 3, [2.9033, 2.5989, 2.9033], last),
                "W_o is turned around: rows are tokens here, so @ W_o, without .T",
            ),
            (
                _rows([1.0967, 1.4011, 1.0967], [0.0967, 0.4011, 0.0967], [1.0] * 3, _OTHER),
                "the heads are in the wrong order: head 0 comes first",
            ),
            (
                _rows([2.9033, 2.5989, 2.9033], [2.8066, 2.1978, 2.8066], [1.0] * 3, last),
                "the heads' columns alternate; they stand side by side: head 0, then head 1",
            ),
            (
                _rows([0.1934, 0.8022, 0.1934], [0.0967, 0.4011, 0.0967], _FIRST, _OTHER),
                "the first head is used twice; each has weights of its own",
            ),
            (
                _rows([2.0] * 3, [1.0] * 3, [1.0] * 3, last),
                "the last head is used twice; each has weights of its own",
            ),
            (
                [[0.4978, 0.4011, 2.8066, 5.3956], [1.0967, 1, 2.8066, 3], [2.0, 1, 1, 3]],
                "tokens and heads are mixed up: join the heads side by side, with dim=-1",
            ),
            (
                _rows([1.0453, 1.4223, 1.0453], [1.0] * 3, [2.9094, 2.1554, 2.9094], last),
                "the scores are not scaled: each head divides by √d_head",
            ),
            (
                _rows([1.1543, 1.3837, 1.1543], [1.0] * 3, [2.6914, 2.2327, 2.6914], last),
                "each head divides by √d_head = √2, the size of its own queries, not by √D",
            ),
            ((3, 2), "put the heads side by side, torch.cat(..., dim=-1), before W_o mixes them"),
        ],
    )
    check.done("2 heads by hand")
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    check.example(
        *(*arguments, mask),
        gives=[[4.0, 3, 2, 1], [2.1698, 1.5, 2.3302, 4], [1.0967, 1, 2.8066, 3]],
        because="every head gets the mask",
    )
    check.done("a causal mask")
    for n_heads, d_head, D in ((3, 4, 12), (5, 6, 16)):
        x = normal(66, D, seed=40)
        sizes = [(D, d_head), (d_head,)] * 3
        heads = [
            HeadWeights(*(normal(*size, seed=41 + 6 * h + i) for i, size in enumerate(sizes)))
            for h in range(n_heads)
        ]
        W_o, b_o = normal(n_heads * d_head, D, seed=90), normal(D, seed=91)
        query, key, value = (
            torch.stack([x @ head[i] + head[i + 1] for head in heads]) for i in (0, 2, 4)
        )
        together = F.scaled_dot_product_attention(query, key, value)
        check.example(x, heads, W_o, b_o, gives=torch.cat(together.unbind(), -1) @ W_o + b_o)
        check.gradients(x, heads, W_o, b_o)
    check.done("66 tokens with 3 and 5 heads, equal to PyTorch's, gradients")
    return check.passed()


_FIRST, _OTHER = [2.8066, 2.1978, 2.8066], [6.6132, 5.3956, 6.6132]


def _rows(*columns: list[float]) -> list[list[float]]:
    return [list(row) for row in zip(*columns, strict=True)]


@task("ex04_attention", 9)
def offset_share(function: Callable) -> Passed:
    """Attention to a neighbour."""
    check = TensorCheck(
        "offset_share",
        function,
        hints=(
            "row = query i, column = key i + offset: these numbers stand on a diagonal",
            "attention.diagonal(offset, -2, -1) picks them; .mean(dim=-1) for each head",
        ),
    )
    A = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.2, 0.6, 0.2]])
    check.example(
        *(A, -1),
        gives=0.75,
        because="rows 1 and 2 have a token before them and give it 0.9 and 0.6; row 0 has none",
        mistakes=[
            (0.15, "that is the next token: row = query, column = key, so look at A[i, i - 1]"),
            (0.5, "row 0 has no token before it: the mean runs over the other two rows"),
            (1.5, "take the mean over the rows, not the sum"),
            (0.1667, "the mean runs over the numbers on the diagonal alone"),
            (0.2667, "that is the share on the token itself; the offset is not used"),
            (0.3333, "that is the mean of all numbers; pick the pairs (i, i + offset) first"),
            ((2,), "take the mean over the rows: one number for a head"),
        ],
    )
    check.example(A, 1, gives=0.15, because="the next token: 0.3 and 0.0")
    check.example(A, 0, gives=0.2667, because="the token itself: 0.5, 0.1 and 0.2")
    check.example(A, 2, gives=0.2, because="two ahead: only row 0 has such a token")
    check.done("one head, four offsets")
    every = torch.stack([torch.stack([A, A.T]), torch.stack([A[[2, 1, 0]], A])])
    check.example(
        *(every, -1),
        gives=[[0.75, 0.15], [0.6, 0.75]],
        because="[layers, H, L, L] gives [layers, H], a number for each head",
        mistakes=[((), "the mean runs over the rows of each head, not over all heads")],
    )
    A = normal(2, 3, 70, 70, seed=50).softmax(dim=-1)
    place = torch.arange(70)
    ahead = A[..., place[:-3], place[3:]]
    check.example(A, 3, gives=ahead.mean(dim=-1))
    check.done("many heads, 70 tokens")
    return check.passed()


@task("ex04_attention", 9)
def entropy_bits(function: Callable) -> Passed:
    """How widely a head looks."""
    check = TensorCheck(
        "entropy_bits",
        function,
        hints=(
            "for each row -Σ p log2 p, then the mean over the rows",
            "log2(0) is -inf, and 0 times -inf is nan: replace p by 1 in the logarithm where it "
            "is 0, or use torch.xlogy",
        ),
    )
    A = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    even = torch.full((2, 8), 1 / 8)
    check.example(
        even,
        gives=3.0,
        because="an even split over 8 keys needs log2(8) = 3 bits, in every row",
        mistakes=[
            (2.0794, "these are nats, of the natural logarithm: bits need log2"),
            (-3.0, "the sign is wrong: log2 of a share is negative, entropy is not"),
            (6.0, "take the mean over the rows, not the sum"),
            (0.375, "sum within a row; the mean runs over the rows alone"),
            ((2,), "take the mean over the rows: one number for a head"),
            ((8,), "sum along a row, dim=-1, then the mean over the rows"),
        ],
    )
    check.example(
        A,
        gives=1.0,
        because="the rows have 0, 1 and 2 bits",
        mistakes=[
            (float("nan"), "0 · log2(0) counts as 0, not as nan: a share of 0 adds nothing"),
            (1.5511, "that is the entropy of the mean row; take each row's entropy, then the mean"),
        ],
    )
    check.done("an even split, shares of 0")
    every = torch.stack([A, A.flip(0), A[[0, 0, 0]]])
    check.example(
        every,
        gives=[1.0, 1.0, 0.0],
        because="[H, L, L'] gives [H], a number for each head",
        mistakes=[((), "the mean runs over the rows of each head, not over all heads")],
    )
    A = (3 * normal(2, 3, 64, 70, seed=51)).softmax(dim=-1)
    bits = torch.distributions.Categorical(probs=A).entropy().mean(dim=-1)
    check.example(A, gives=bits / torch.tensor(2.0).log())
    check.done("many heads, 70 keys")
    return check.passed()
