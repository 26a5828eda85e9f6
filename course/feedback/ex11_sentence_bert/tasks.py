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
        mistakes=_of_the_mean(),
    )
    padded = torch.tensor([[[1.0, 4], [3, 2], [9, 9]], [[-2, -4], [-5, -1], [0, 0]]])
    both = MASK & MASK.flip(0)
    check.pooled(
        *(padded, both, "max"),
        gives=[[3.0, 4], [-2, -1]],
        because="both have two tokens; the second one's numbers are all below 0",
        mistakes=[
            ([[9.0, 9], [0, 0]], "padding is included: take the maximum only over the tokens"),
            ([[3.0, 4], [0, 0]], "a padding of 0 is larger than -2: make it -inf instead"),
            ([[9.0, 9], [-2, -1]], "padding is included: (9, 9) is not a token"),
            ([[INFINITE] * 2] * 2, "+inf is always the largest: padding becomes -inf"),
            ([[1.0, 2], [-5, -4]], "that is the smallest"),
            ([[2.0, 3], [-3.5, -2.5]], 'that is the mean; `how` is "max"'),
            ((2, 3), TOKENS),
            ((3, 2), TOKENS),
            ((2, 1, 2), f"{TOKENS}, without keepdim"),
        ],
    )
    check.pooled(
        *(HIDDEN, MASK, "cls"),
        gives=[[1.0, 4], [-2, -4]],
        because="[CLS] is the first token of every sentence: hidden[:, 0]",
        mistakes=[
            ([[9.0, 9], [-3, -7]], "that is the last token; [CLS] is the first: hidden[:, 0]"),
            ([[2.0, 3], [-10 / 3, -4]], 'that is the mean; `how` is "cls"'),
            ((3, 2), "hidden[0] is the first sentence; the first token of each is hidden[:, 0]"),
            ((2, 3), "hidden[..., 0] is one dimension; the first token of each is hidden[:, 0]"),
            ((2, 1, 2), "hidden[:, :1] keeps a dimension; hidden[:, 0] does not"),
        ],
    )
    check.done("mean, max and cls, by hand")
    _padding_and_none(check)
    check.gradients(HIDDEN, MASK, "mean")
    check.gradients(HIDDEN, MASK, "max")
    _as_alone(check)
    return check.passed()


def _of_the_mean() -> list[tuple[Any, str]]:
    """Mistakes with the mean of the worked example."""
    return [
        (HIDDEN.mean(dim=1), "padding is included: (9, 9) is not a token of the sentence"),
        (
            [[4 / 3, 2], [-10 / 3, -4]],
            "padding is left out of the sum, but counted: divide by each row's own tokens, not L",
        ),
        ([[4.0, 6], [-10, -12]], "that is the sum: divide by the number of tokens"),
        (
            [[0.8, 1.2], [-2, -2.4]],
            "5 is the number of all tokens of the batch; each sentence has its own: sum(dim=1)",
        ),
        (
            [[2.0, 2], [-5, -4]],
            "the numbers of tokens, [B], divide columns here; as [B, 1] they divide rows: "
            "sum(dim=1, keepdim=True)",
        ),
        ([[3.0, 2], [-4, -4]], "[CLS] and [SEP] are tokens like others: all of them count"),
        ([[1.0, 4], [-2, -4]], 'that is [CLS]; `how` is "mean"'),
        ([[3.0, 4], [-2, -1]], 'that is the largest; `how` is "mean"'),
        ([[9.0, 9], [NAN, NAN]], "the other way round: True marks tokens, False padding"),
        ((2, 3), TOKENS),
        ((3, 2), f"{TOKENS}; dim=0 runs over sentences"),
        ((2,), TOKENS),
        ((2, 1, 2), f"{TOKENS}, without keepdim"),
    ]


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
        *(queries, asked, texts, there),
        gives=[[0.8, 0.5], [-0.8, -0.6]],
        because=by_hand,
        mistakes=_of_late_scores(),
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


def _of_late_scores() -> list[tuple[Any, str]]:
    """Mistakes with the worked example of `late_scores`."""
    return [
        ([[0.8, 0.5], [-0.8, 0.9899]], "(-1, -1) is padding of text 1 and must not match"),
        (
            [[0.8, 0.5], [-0.8, 0]],
            "a cosine of 0 is larger than -0.6: a text's padding becomes -inf",
        ),
        ([[0.8, 0.5], [0.0950, -0.2293]], "(1, 7) is padding of query 1 and must not count"),
        ([[0.8, 0.5], [-0.4, -0.3]], "divide by the query's own tokens, not by K"),
        ([[1.6, 1.0], [-0.8, -0.6]], "the mean over the query's tokens, not the sum"),
        ([[0.6, 0.5], [-0.9, -0.6]], "the largest over the text's tokens, not the mean"),
        ([[0.4, 0.5], [-1, -0.6]], "the largest over the text's tokens, not the smallest"),
        ([[5.5, 2.5], [-4, -15]], "cosines, not dot products: divide by all lengths"),
        ([[1.3, 0.5], [-4, -3]], "divide by the lengths of the queries' tokens, too"),
        ([[3.5, 2.5], [-0.8, -3]], "divide by the lengths of the texts' tokens, too"),
        (
            [[0.9, 1.0], [-0.9, -0.6]],
            "the other way round: for each token of the *query* its best token of the text",
        ),
        (
            [[0.9971, 0.4472], [-0.9947, -0.6]],
            "that compares means: compare tokens with tokens, not one vector per sentence",
        ),
        (
            [[1.0, 1.0], [-0.8, -0.6]],
            "the largest over the text, but then the mean over the query, not the largest",
        ),
        ([[0.8, 0.5], [1, 0.6]], "the sign counts: -0.8 is no good match"),
        ([[0.8, -0.8], [0.5, -0.6]], "a row for each query, a column for each text"),
        ((2, 1), "a row for each query, a column for each text"),
    ]


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
        mistakes=[
            ([[0.9701, 0.2425], [0.9701, -0.2425], [0, 1], [0, -1]], "the mean is not subtracted"),
            (
                [[0.7071, -0.7071], [0.7071, -0.7071], [-0.7071, 0.7071], [0.7071, -0.7071]],
                "the mean over the vectors, dim=0, not over the numbers of each",
            ),
            (
                [[1.0, 0], [0.8321, -0.5547], [-1, 0], [-0.4472, -0.8944]],
                "the mean over the vectors, dim=0: a vector of D numbers",
            ),
            ([[2.0, 1], [2, -1], [-2, 1], [-2, -1]], "at the end scale every vector to length 1"),
            (
                [[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, -0.5]],
                "scale every vector to length 1, not every column: dim=-1",
            ),
            (
                [[a, b], [a, -b], [-0.4364, 0.8997], [-0.4364, -0.8997]],
                "scaling to length 1 is the last step: take the mean of the vectors as they are",
            ),
            ([[0.0, 0]] * 4, "that is what they share: remove it, do not keep it"),
            (
                [[0.0, 1], [0, -1], [0, 1], [0, -1]],
                "k=0: subtract only the mean, and no direction",
            ),
        ],
    )
    check.example(
        *(vectors, 1),
        gives=[[0.0, 1], [0, -1], [0, 1], [0, -1]],
        because="without the mean, (±2, ±1): they spread most along the first axis. A share times "
        "its direction is a vector: subtract that",
        mistakes=[
            (
                [[1.0, 0], [1, 0], [-1, 0], [-1, 0]],
                "that is the widest direction, which has to go: the widest directions come first, "
                "directions[:k]",
            ),
            ([[a, b], [a, -b], [-a, b], [-a, -b]], "remove k of them, and the mean as well"),
        ],
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
