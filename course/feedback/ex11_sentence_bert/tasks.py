"""Checks of exercise 11, tasks 1 and 6 to 8: pooling, late scores, shared parts, a prediction."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from course.feedback.checks import Check, Passed
from course.feedback.differences import short
from course.feedback.ex11_sentence_bert.batches import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

NAN, INFINITE = float("nan"), float("inf")
HIDDEN = torch.tensor([[[1.0, 4], [3, 2], [9, 9]], [[-2, -4], [-5, -1], [-3, -7]]])
MASK = torch.tensor([[True, True, False], [True, True, True]])
TOKENS = "each sentence gets one vector [D]: pool over its tokens, dim=1"
CHOOSE = (
    "padding must not enter the result, and infinity times 0 is nan: select with masked_fill or "
    "torch.where, do not multiply"
)


class PoolCheck(TensorCheck):
    """A check of pooling."""

    refused = OWN_CODE

    def pooled(self, *arguments: Any, gives: Any, because: str, **more: Any) -> None:
        """A worked example; also recognises the pair that .max(dim=1) returns."""
        answer = self.call(*arguments, because=because)
        shown = self.shown(arguments)
        self.law(
            not isinstance(answer, tuple),
            f"{shown}\nit must return one tensor; it returned {short(answer, 80)}"
            + "\n→ .max(dim=1) returns the values and their places; .amax(dim=1) only the values"
            * (arguments[-1] == "max"),
        )
        self.equals(answer, gives, shown, because=because, **more)


@task("ex11_sentence_bert", 1)
def pool(function: Callable) -> Passed:
    """One vector from those of the tokens."""
    check = PoolCheck(
        "pool",
        function,
        hints=(
            "attention_mask.bool()[..., None] is [B, L, 1], so it broadcasts to hidden, [B, L, D]",
            "mean: padding becomes 0, then the sum, divided by each row's own number of tokens",
            "max: padding becomes -inf, which is never the largest",
        ),
    )
    check.pooled(
        *(HIDDEN, MASK, "mean"),
        gives=[[2.0, 3], [-10 / 3, -4]],
        because="the first sentence has two tokens, (1, 4) and (3, 2), and its third is padding",
    )
    padded = torch.tensor([[[1.0, 4], [3, 2], [9, 9]], [[-2, -4], [-5, -1], [0, 0]]])
    both = MASK & MASK.flip(0)
    check.pooled(
        *(padded, both, "max"),
        gives=[[3.0, 4], [-2, -1]],
        because="both have two tokens; the second one's numbers are all below 0",
    )
    check.pooled(
        *(HIDDEN, MASK, "cls"),
        gives=[[1.0, 4], [-2, -4]],
        because="[CLS] is the first token of every sentence: hidden[:, 0]",
    )
    check.done("mean, max and cls, by hand")
    _padding_and_none(check)
    check.gradients(HIDDEN, MASK, "mean")
    check.gradients(HIDDEN, MASK, "max")
    _as_alone(check)
    return check.passed()


def _padding_and_none(check: PoolCheck) -> None:
    """Numbers for a mask, none at all, infinity at padding, another name."""
    means = [[2.0, 3], [-10 / 3, -4]]
    whole = "0 and 1 are a mask, too: attention_mask.bool() makes it True and False"
    check.pooled(HIDDEN, MASK.long(), "mean", gives=means, because=whole)
    check.pooled(HIDDEN, MASK.long(), "max", gives=[[3.0, 4], [-2, -1]], because=whole)
    none = "attention_mask is None: nothing is padding, every token counts"
    for how, gives in (
        ("mean", [[13 / 3, 5], [-10 / 3, -4]]),
        ("max", [[9.0, 9], [-2, -1]]),
        ("cls", [[1.0, 4], [-2, -4]]),
    ):
        check.pooled(HIDDEN, None, how, gives=gives, because=none)
    for what in (INFINITE, -INFINITE):
        hidden = HIDDEN.masked_fill(~MASK[..., None], what)
        check.pooled(hidden, MASK, "mean", gives=means, because=CHOOSE)
        check.pooled(hidden, MASK, "max", gives=[[3.0, 4], [-2, -1]], because=CHOOSE)
    check.raises(
        ValueError,
        *(HIDDEN, MASK, "sum"),
        because='`how` is "mean", "cls" or "max"; a typo must not be taken for one of them',
    )
    check.done("masks of 0 and 1; none; infinity at padding; another name")


def _as_alone(check: PoolCheck) -> None:
    """A sentence has the same vector as alone."""
    hidden = normal(40, 60, 5, seed=4, dtype=torch.float64)
    lengths = 1 + torch.arange(40) * 7 % 60
    mask = torch.arange(60) < lengths[:, None]
    for how in ("mean", "max", "cls"):
        answer = check.call(hidden, mask, how)
        shown = f"pool of 40 sentences with 1 to 60 tokens, {how}"
        alone = [check.call(hidden[i : i + 1, :n], None, how) for i, n in enumerate(lengths)]
        because = "a sentence must get the vector that it gets alone, without padding"
        check.equals(answer, torch.cat(alone), shown, because=because)
    check.done("gradients; 40 sentences, each as if it were alone")


class PlainCheck(TensorCheck):
    """A check whose solution is not in bertlab, but may not call bertlab either."""

    refused = OWN_CODE


@task("ex11_sentence_bert", 6)
def late_scores(function: Callable) -> Passed:
    """Every token of a query with its best token of a text."""
    check = PlainCheck(
        "late_scores",
        function,
        hints=(
            "all cosines first: [Q, N, Lq, L], a row for each token of the query",
            "padding of the text becomes -inf before the maximum over the last dimension",
            "then a mean over the query's own tokens: its padding becomes 0, and is not counted",
        ),
    )
    queries = torch.tensor([[[1.0, 0], [0, 2]], [[-3, -4], [1, 7]]])
    asked = torch.tensor([[True, True], [True, False]])
    texts = torch.tensor([[[3.0, 4], [0, 1]], [[5, 0], [-1, -1]]])
    there = torch.tensor([[True, True], [True, False]])
    by_hand = (
        "text 0: (1, 0) has 0.6 with (3, 4) and 0 with (0, 1), (0, 2) has 0.8 and 1; the mean of "
        "0.6 and 1 is 0.8. The second tokens of query 1 and of text 1 are padding"
    )
    check.example(
        *(queries, asked, texts, there), gives=[[0.8, 0.5], [-0.8, -0.6]], because=by_hand
    )
    check.done("2 queries, 2 texts, by hand")
    queries, texts = normal(7, 6, 4, seed=1), normal(9, 11, 4, seed=2) * 3
    asked = torch.arange(6) < 1 + torch.arange(7)[:, None] % 6
    there = torch.arange(11) < 1 + torch.arange(9)[:, None] * 5 % 11
    answer = check.call(queries, asked, texts, there)
    alone = torch.empty(7, 9)
    for i in range(7):
        for j in range(9):
            query, text = queries[i, asked[i]][None], texts[j, there[j]][None]
            nothing_padded = [torch.ones(x.shape[:2], dtype=torch.bool) for x in (query, text)]
            alone[i, j] = check.call(query, nothing_padded[0], text, nothing_padded[1])
    check.equals(
        answer,
        alone,
        "7 queries of 1 to 6 tokens, 9 texts of 1 to 11",
        because="each pair must have the score that it has alone, without padding",
    )
    check.gradients(queries, asked, texts, there)
    check.done("7 queries, 9 texts, each pair as if it were alone; gradients")
    return check.passed()


@task("ex11_sentence_bert", 7)
def without_common(function: Callable) -> Passed:
    """Without the mean and the directions of largest spread."""
    check = PlainCheck(
        "without_common",
        function,
        hints=(
            "centred = vectors - vectors.mean(dim=0)",
            "torch.linalg.svd(centred, full_matrices=False) returns U, S, Vh: the rows of Vh are "
            "directions of length 1, the widest first",
            "centred @ common.T are the shares in k directions, [N, k]; times `common`, [k, D], "
            "they are vectors again: subtract those",
        ),
    )
    vectors = torch.tensor([[4.0, 1], [4, -1], [0, 1], [0, -1]])
    a, b = 2 / 5**0.5, 1 / 5**0.5
    check.example(
        *(vectors, 0),
        gives=[[a, b], [a, -b], [-a, b], [-a, -b]],
        because="the mean is (2, 0); without it the vectors are (±2, ±1), with the length √5",
    )
    check.example(
        *(vectors, 1),
        gives=[[0.0, 1], [0, -1], [0, 1], [0, -1]],
        because="without the mean, (±2, ±1): they spread most along the first axis. A share times "
        "its direction is a vector: subtract that",
    )
    check.done("four vectors, by hand")
    # Waves have the mean 0 and are orthogonal, so the widths belong to the directions.
    places, waves = torch.arange(60.0)[:, None], torch.arange(1.0, 9)
    widths = torch.tensor([9.0, 1, 7, 3, 2, 8, 5, 4])
    parts = (math.pi * (2 * places + 1) * waves / 120).cos() * widths  # [60, 8]
    directions = torch.linalg.qr(normal(8, 8, seed=3)).Q
    for k in (1, 2, 5):
        narrow = parts * (widths < widths.sort(descending=True).values[k - 1])
        check.example(
            *(parts @ directions + 3, k),
            gives=F.normalize(narrow @ directions, dim=-1),
            because="60 vectors that are sums of 8 parts: without the mean and all of the "
            f"{k} widest",
        )
    check.done("60 vectors of 8 dimensions")
    return check.passed()


@task("ex11_sentence_bert", 8)
def predict_found(function: Callable) -> Passed:
    """A number of questions, of the student's choice."""
    check = Check("predict_found", function, hints=("write `return` and a whole number",))
    answer = check.call()
    whole = isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer <= 100
    check.law(whole, f"it must be a whole number from 0 to 100; it returned {short(answer)}")
    check.done(f"you predict {answer} of 100; now measure")
    return check.passed()
