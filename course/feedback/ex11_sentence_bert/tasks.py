"""Checks of exercise 11 about pooling and search."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.differences import short
from course.feedback.ex11_sentence_bert.batches import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

NAN, INFINITE = float("nan"), float("inf")
HIDDEN = torch.tensor([[[1.0, 4], [3, 2], [9, 9]], [[-2, -4], [-5, -1], [-3, -7]]])
MASK = torch.tensor([[True, True, False], [True, True, True]])
TOKENS = "each sentence gets one vector [D]: pool over its tokens, dim=1"
CHOOSE = (
    "whatever stands at padding must not get in, and infinity times 0 is nan: choose with "
    "masked_fill or torch.where, do not multiply"
)


class PoolCheck(TensorCheck):
    """A check of pooling."""

    refused = OWN_CODE

    def pooled(self, *arguments: Any, gives: Any, because: str, **more: Any) -> None:
        """A worked example; a pair of values and places is what .max(dim=1) returns."""
        answer = self.call(*arguments, because=because)
        shown = self.shown(arguments)
        self.law(
            not isinstance(answer, tuple),
            f"{shown}\nit must return one tensor; it returned {short(answer, 80)}\n→ .max(dim=1) "
            "returns the values and their places; .amax(dim=1) the values alone",
        )
        self.equals(answer, gives, shown, because=because, **more)


@task("ex11_sentence_bert", 2)
def pool(function: Callable) -> Passed:
    """One vector out of those of the tokens."""
    check = PoolCheck(
        "pool",
        function,
        hints=(
            "attention_mask.bool()[..., None] is [B, L, 1], so it fits beside hidden, [B, L, D]",
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
            ([[9.0, 9], [0, 0]], "padding counts: take the maximum over the tokens alone"),
            ([[3.0, 4], [0, 0]], "a padding of 0 is larger than -2: make it -inf instead"),
            ([[9.0, 9], [-2, -1]], "padding counts: (9, 9) is none of the tokens"),
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
    """What goes wrong with the mean of the worked example."""
    return [
        (HIDDEN.mean(dim=1), "padding counts: (9, 9) is no token of the sentence"),
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
        because='`how` is "mean", "cls" or "max"; a typing error must not be taken for one of them',
    )
    check.done("masks of 0 and 1; none; infinity at padding; another name")


def _as_alone(check: PoolCheck) -> None:
    """A sentence has the vector that it has alone."""
    hidden = normal(40, 60, 5, seed=4, dtype=torch.float64)
    lengths = 1 + torch.arange(40) * 7 % 60
    mask = torch.arange(60) < lengths[:, None]
    for how in ("mean", "max", "cls"):
        answer = check.call(hidden, mask, how)
        shown = f"pool of 40 sentences with 1 to 60 tokens, {how}"
        alone = [check.call(hidden[i : i + 1, :n], None, how) for i, n in enumerate(lengths)]
        because = "a sentence must get the vector that it gets alone, without padding"
        check.equals(answer, torch.cat(alone), shown, because=because)
    check.done("gradients; 40 sentences, each as alone")


class SearchCheck(TensorCheck):
    """A check of what a search finds."""

    refused = OWN_CODE

    def found(self, *arguments: Any, because: str = "") -> tuple[Tensor, Tensor]:
        """An answer of two tensors."""
        answer = self.call(*arguments, because=because)
        self.law(
            isinstance(answer, tuple)
            and len(answer) == 2
            and all(isinstance(part, Tensor) for part in answer),
            f"{self.shown(arguments)}\nit must return two tensors: the scores and the numbers of "
            f"the vectors, [Q, k] each; it returned {short(answer)}"
            + ("\n→ is there a `return` at the end?" if answer is None else ""),
        )
        return answer

    def search(
        self,
        *arguments: Any,
        scores: Sequence,
        numbers: Sequence,
        because: str,
        mistakes: Sequence[tuple[Any, str]] = (),
    ) -> None:
        """A worked example; mistakes are those of the scores."""
        got = self.found(*arguments, because=because)
        shown = self.shown(arguments)
        # Numbers handed over first would only be told to have the wrong dtype.
        swapped = not got[0].is_floating_point() and got[1].is_floating_point()
        self.law(not swapped, f"{shown}\nfirst the scores, then the numbers of the vectors")
        self.equals(got[0], scores, f"{shown}: scores", because=because, mistakes=mistakes)
        self.equals(got[1], torch.tensor(numbers), f"{shown}: numbers", because=because)


@task("ex11_sentence_bert", 7)
def semantic_search(function: Callable) -> Passed:
    """The k vectors that are most alike to each query."""
    check = SearchCheck(
        "semantic_search",
        function,
        hints=(
            "all cosines at once: rows of length 1, queries @ vectors.T, [Q, N]",
            "x.topk(k) gives the k largest of each row and their places, the largest first",
        ),
    )
    vectors = torch.tensor([[3.0, 4], [1, 0], [0, 10], [-1, -1]])
    queries = torch.tensor([[2.0, 0], [0, 1]])
    by_hand = "the cosines are 0.6, 1, 0, -0.71 and 0.8, 0, 1, -0.71"
    lengths = "divide by the lengths of {}: a cosine is from -1 to 1"
    check.search(
        *(queries, vectors, 3),
        scores=[[1.0, 0.6, 0], [1.0, 0.8, 0]],
        numbers=[[1, 0, 2], [2, 0, 1]],
        because=by_hand,
        mistakes=[
            ([[6.0, 2, 0], [10, 4, 0]], "those are dot products; a long vector is no better match"),
            ([[2.0, 1.2, 0], [1, 0.8, 0]], lengths.format("the queries, too")),
            ([[3.0, 1, 0], [10, 4, 0]], lengths.format("the vectors, too")),
            ([[-0.7071, 0, 0.6], [-0.7071, 0, 0.8]], "the largest cosines, not the smallest"),
            ([[0.0, 0.6, 1], [0, 0.8, 1]], "the most similar first: from large to small"),
            ([[1.0, 0.7071, 0.6], [1, 0.8, 0.7071]], "-0.71 points away: no absolute value"),
            ([[0.6, 1, 0], [0.8, 0, 1]], "sorted, the most similar first; these are unsorted"),
            ([[0.0, 0.4, 1], [0, 0.2, 1]], "cosines, not distances: 1 is the most similar"),
            ((3, 2), "a row for each query: [Q, k], not [k, Q]"),
            ((2, 4), "only k of them, not all"),
            ((4, 2), "a row for each query, not for each vector: queries @ vectors.T"),
            ((3,), "a row for each query: there are two"),
        ],
    )
    check.search(
        *(queries[:1], vectors, 1),
        scores=[[1.0]],
        numbers=[[1]],
        because="one query, one result, but [1, 1] all the same",
    )
    check.search(
        *(queries[1:], vectors, 4),
        scores=[[1.0, 0.8, 0, -0.7071]],
        numbers=[[2, 0, 1, 3]],
        because="k may be as large as N, and a cosine below 0 is a score, too",
    )
    check.done("2 queries, 4 vectors, by hand; one result; all")
    _many_vectors(check)
    return check.passed()


def _many_vectors(check: SearchCheck) -> None:
    """What must be true of any result, for 7 queries and 2,000 vectors."""
    vectors = normal(2000, 12, seed=5) * torch.linspace(0.1, 9, 2000)[:, None]
    queries, k = normal(7, 12, seed=6), 25
    scores, numbers = check.found(queries, vectors, k)
    shown = f"7 queries, 2,000 vectors of 12 dimensions, k={k}"
    check.law(
        scores.shape == numbers.shape == (7, k),
        f"{shown}: both must be [7, {k}]; got {list(scores.shape)} and {list(numbers.shape)}",
    )
    check.law(
        not numbers.is_floating_point() and bool(numbers.min() >= 0 and numbers.max() < 2000),
        f"{shown}: the numbers must be whole, from 0 to 1,999",
    )
    cosines = F.cosine_similarity(queries[:, None], vectors[None], dim=-1)
    check.equals(
        scores,
        cosines.gather(1, numbers),
        f"{shown}: the scores",
        because="scores[i, j] is the cosine of query i and vector numbers[i, j]",
    )
    check.law(
        all(len(set(row)) == k for row in numbers.tolist()), f"{shown}: a vector is found twice"
    )
    check.law(
        bool((scores.diff(dim=1) <= 1e-6).all()), f"{shown}: the scores go from large to small"
    )
    rest = cosines.scatter(1, numbers, -2).amax(dim=1)
    check.law(
        bool((rest <= scores[:, -1] + 1e-5).all()),
        f"{shown}: a vector that was left out has a larger cosine than one that was found",
    )
    check.done("7 queries, 2,000 vectors")
