"""Checks of exercise 11, Sentence-BERT: one per task."""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Check, checks_of
from course.feedback.differences import difference, short
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import TensorCheck, normal

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex11_sentence_bert")

OWN_CODE = (
    "uses code that contains the answer to this task, bertlab's or sentence-transformers'. So it "
    "cannot be the answer: write the steps yourself, with Python and PyTorch"
)
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


@task(
    1,
    "attention_mask.bool()[..., None] is [B, L, 1], so it broadcasts to hidden, [B, L, D]",
    "mean: padding becomes 0, then the sum, divided by each row's own number of tokens",
    "max: padding becomes -inf, which is never the largest",
)
def pool(check: PoolCheck) -> None:
    """One vector from those of the tokens."""
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
    # Numbers for a mask, none at all, infinity at padding, another name.
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
    check.gradients(HIDDEN, MASK, "mean")
    check.gradients(HIDDEN, MASK, "max")
    # A sentence has the same vector as alone.
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


@task(
    6,
    "all cosines first: [Q, N, Lq, L], a row for each token of the query",
    "padding of the text becomes -inf before the maximum over the last dimension",
    "then a mean over the query's own tokens: its padding becomes 0, and is not counted",
)
def late_scores(check: PlainCheck) -> None:
    """Every token of a query with its best token of a text."""
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


@task(
    7,
    "centred = vectors - vectors.mean(dim=0)",
    "torch.linalg.svd(centred, full_matrices=False) returns U, S, Vh: the rows of Vh are "
    "directions of length 1, the widest first",
    "centred @ common.T are the shares in k directions, [N, k]; times `common`, [k, D], "
    "they are vectors again: subtract those",
)
def without_common(check: PlainCheck) -> None:
    """Without the mean and the directions of largest spread."""
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


@task(8, "write `return` and a whole number")
def predict_found(check: Check) -> None:
    """A number of questions, of the student's choice."""
    answer = check.call()
    whole = isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer <= 100
    check.law(whole, f"it must be a whole number from 0 to 100; it returned {short(answer)}")
    check.done(f"you predict {answer} of 100; now measure")


class BatchesCheck(Check):
    """A check of batches, which are lists of numbers of texts."""

    refused = OWN_CODE

    def batches(self, lengths: list[int], most: int, gives: list[list[int]], because: str) -> None:
        """A worked example."""
        answer = self.lists(lengths, most, because=because)
        if found := difference(gives, answer):
            because = self.in_general(lengths, answer) or because
        self.compared(found, answer, self.shown((lengths, most)), because)

    def lists(self, *arguments: Any, because: str = "") -> list[list[int]]:
        """An answer of the right form: a list of lists of whole numbers."""
        answer = self.call(*arguments, because=because)
        self.law(
            isinstance(answer, list)
            and all(isinstance(batch, list) for batch in answer)
            and all(isinstance(number, Integral) for batch in answer for number in batch),
            f"{self.shown(arguments)}\nit must return a list of batches, each a list of the "
            f"numbers of its texts, such as [[1, 3], [0, 2]]; it returned {short(answer)}"
            + ("\n→ is there a `return` at the end?" if answer is None else ""),
        )
        return answer

    def in_general(self, lengths: list[int], answer: list[list[int]]) -> str:
        """General errors of batches, independent of the rules."""
        found = [number for batch in answer for number in batch]
        if sorted(found) == sorted(lengths) and sorted(found) != list(range(len(lengths))):
            return "those are lengths; return the texts' numbers, counted from 0"
        if lost := sorted(set(range(len(lengths))) - set(found)):
            last = "; is the current batch kept when the loop ends?" if len(lost) < 4 else ""
            return f"each text is in one batch: {short(lost, 40)} is in none{last}"
        if len(found) > len(lengths):
            return "each text is in one batch, and only once"
        if [] in answer:
            return "no batch is empty: at the first text there is no batch yet, so it opens one"
        return ""


@task(
    2,
    "sorted(range(len(lengths)), key=lambda number: -lengths[number]) keeps ties in order",
    "batches[-1] is the current batch; the length of its first text is its longest",
    "full: (len(batch) + 1) * longest > most; another length: lengths[number] < longest "
    "and 4 * len(batch) * longest >= most",
)
def batches_of_one_length(check: BatchesCheck) -> None:
    """Texts of one length together."""
    check.batches(
        *([5, 7, 5, 7, 5], 16, [[1, 3], [0, 2, 4]]),
        because="7 and 7 first, 14 tokens; then 5, 5 and 5, 15 tokens",
    )
    check.batches(
        *([3, 12, 4, 3, 3], 64, [[1, 2], [0, 3, 4]]),
        because="12 tokens are less than a quarter of 64, so the 4 joins them; the batch then has "
        "24, padding included, no less than a quarter, and the 3 begins the next",
    )
    check.done("texts of two lengths; a single long text")
    # Batches that are exactly full, a quarter full, too long, and none at all.
    check.batches(
        *([4, 4, 4, 4], 16, [[0, 1, 2, 3]]), because="4 times 4 is 16, and 16 tokens are allowed"
    )
    check.batches(
        *([5, 5, 5, 5], 16, [[0, 1, 2], [3]]), because="a fourth text would make it 20 tokens"
    )
    check.batches(
        *([4, 3], 16, [[0], [1]]), because="4 tokens are a quarter of 16, not less than a quarter"
    )
    check.batches(
        *([6, 3, 3], 40, [[0, 1], [2]]),
        because="6 and 3 are 2 texts times 6 = 12 tokens, no less than a quarter of 40",
    )
    check.batches(
        *([2, 40, 3], 16, [[1], [2, 0]]),
        because="a text with more than `most` tokens is a batch of its own",
    )
    check.batches([], 16, [], because="no texts, no batches")
    check.done("exactly full, a quarter full, too long, none")
    # The rules, one by one, on 600 texts.
    lengths, most = [3 + n * n * 7 % 53 for n in range(600)], 512
    answer = check.lists(lengths, most)
    shown = f"600 texts of 3 to 55 tokens, most={most}"
    numbers = [number for batch in answer for number in batch]
    check.law(
        sorted(numbers) == list(range(600)),
        f"{shown}\n→ {check.in_general(lengths, answer) or 'each text is in one batch'}",
    )
    order = [(-lengths[number], number) for number in numbers]
    check.law(order == sorted(order), f"{shown}\nfrom long to short, ties in the given order")
    for batch, after in zip(answer, [*answer[1:], []], strict=True):
        longest, tokens = lengths[batch[0]], len(batch) * lengths[batch[0]]
        said = f"{shown}\na batch of lengths {short([lengths[n] for n in batch], 60)}"
        check.law(
            tokens <= most or len(batch) == 1, f"{said} has {tokens} tokens, padding included"
        )
        before = [n for n, number in enumerate(batch) if lengths[number] < longest]
        late = before and 4 * before[-1] * longest >= most
        check.law(
            not late, f"{said} takes another length although it already has a quarter of `most`"
        )
        if after:
            full = tokens + longest > most
            other = lengths[after[0]] < longest and 4 * tokens >= most
            check.law(full or other, f"{said} is closed too early: {lengths[after[0]]} should join")
    check.done("600 texts")


# A batch after the model: the numbers of its texts, [B, L, D], and the mask [B, L].
Batch = tuple[list[int], Tensor, Tensor]
CIRCLE: list[Batch] = [
    (
        [2, 0],
        torch.tensor([[[9.0, 1], [-3, 7], [3, 4]], [[1, 9], [9, -9], [50, -40]]]),
        torch.tensor([[True, True, True], [True, True, False]]),
    ),
    ([1], torch.tensor([[[0.0, -2], [0, -7]]]), torch.tensor([[True, True]])),
]


class CollectCheck(TensorCheck):
    """A check of a function of batches."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it, with only the texts of each batch."""
        return f"{self.name} of batches with the texts {short([b[0] for b in arguments[0]], 60)}"


@task(
    3,
    "try the draft with the texts in batches [2, 0] and [1]: whose vector comes first?",
    "vectors[numbers] = ... writes row after row to the places in `numbers`; to read them "
    "from there is the opposite",
)
def collect(check: CollectCheck) -> None:
    """From batches back to the vectors of the texts, in order."""
    check.example(
        CIRCLE,
        gives=[[1.0, 0], [0, -1], [0.6, 0.8]],
        because="the mean of text 0 is (5, 0), of text 1 (0, -4.5), of text 2 (3, 4)",
    )
    check.done("three texts in two batches, by hand")
    texts = [normal(1 + 7 * n % 11, 5, seed=n) + 0.2 for n in range(40)]
    alone = F.normalize(torch.stack([text.mean(dim=0) for text in texts]), dim=-1)
    numbers = [n * 17 % 40 for n in range(40)]
    for size in (1, 7, 40):
        batches = [_padded(texts, numbers[start : start + size]) for start in range(0, 40, size)]
        check.example(
            batches,
            gives=alone,
            because="a text must get the vector that it gets alone, in its own row",
        )
    check.done("40 texts in batches of 1, 7 and 40, each as if it were alone")


def _padded(texts: list[Tensor], numbers: list[int]) -> Batch:
    """Some texts as a batch whose padding is not 0."""
    longest = max(len(texts[n]) for n in numbers)
    hidden = torch.full((len(numbers), longest, texts[0].shape[1]), 3.0)
    for row, n in enumerate(numbers):
        hidden[row, : len(texts[n])] = texts[n]
    lengths = torch.tensor([len(texts[n]) for n in numbers])
    return numbers, hidden, torch.arange(longest) < lengths[:, None]


def draft(batches: list[Batch]) -> Tensor:
    """As in the notebook: wrong with padding, and for most orders."""
    order = [number for numbers, _, _ in batches for number in numbers]
    pooled = torch.cat([hidden.mean(dim=1) for _, hidden, _ in batches])
    return F.normalize(pooled, dim=-1)[order]


def _sums(batches: list[Batch]) -> Tensor:
    """The sums over tokens, in the order of the batches."""
    return torch.cat([(hidden * mask[..., None]).sum(dim=1) for _, hidden, mask in batches])


def in_batch_order(batches: list[Batch]) -> Tensor:
    """Wrong: leaves the vectors in the order of the batches."""
    return F.normalize(_sums(batches), dim=-1)


def of_any_length(batches: list[Batch]) -> Tensor:
    """Wrong: in the right order, but sums without normalisation."""
    order = [number for numbers, _, _ in batches for number in numbers]
    return _sums(batches)[torch.tensor(order).argsort()]


@task(
    4,
    "three texts in two batches, so that the order is not just a swap; one has padding",
    "work the means out by hand, divide them by their lengths, and compare all rows",
)
def examine_collect(check: MutationCheck, own: Callable) -> None:
    """A test of `collect`, tried on the student's own and on three wrong ones."""
    check.passes(own, "collect", 3, CIRCLE)
    check.stops(draft, "the draft", "which batches show what you have repaired?")
    check.stops(
        in_batch_order,
        "a function that leaves the vectors in the order of the batches",
        "use batches that do not hold the texts in the order 0, 1, 2",
    )
    check.stops(
        of_any_length,
        "a function that gives vectors of any length",
        "a vector must have the length 1: compare numbers, not only directions",
    )
    check.done("your own collect passes, three wrong ones do not")


class LossCheck(TensorCheck):
    """A check of a loss whose scale is given by name; the gradient must reach all vectors."""

    refused = OWN_CODE

    def scaled(self, *arguments: Any, scale: float, **more: Any) -> None:
        """An example with a scale."""
        function = self.function
        self.function = lambda u, v, hard, texts, scale: function(u, v, hard, texts, scale=scale)
        self.example(*arguments, scale, **more)
        self.function = function

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        if len(arguments) < 5:
            return super().shown(arguments)
        return f"{super().shown(arguments[:4])[:-1]}, scale={arguments[4]})"


@task(
    5,
    "torch.cat([v, hard]) has all candidates, so one matrix product gives [B, B + H]",
    "texts[:, None] == texts is a table [B, B] of equal texts; the diagonal must stay in",
    "a score of -inf has the share 0; F.cross_entropy with the true columns "
    "torch.arange(B) does the rest",
)
def ranking_loss(check: LossCheck) -> None:
    """In-batch negatives with hard ones, and without right answers."""
    one = torch.eye(2)
    check.scaled(
        *(one, one, one[:1], torch.tensor([5, 6])),
        scale=1.0,
        gives=0.7067,
        because="the first row has the scores 1, 0 and 1, as the hard one is as near to u_0 as its "
        "own answer; the second row has 0, 1 and 0",
    )
    u = torch.tensor([[2.0, 0], [0, 1], [3, 4]])
    v = torch.tensor([[3.0, 4], [0, 5], [3, 4]])
    hard = torch.tensor([[4.0, 3]])
    texts = torch.tensor([7, 8, 7])
    check.scaled(
        *(u, v, hard, texts),
        scale=2.0,
        gives=1.0020,
        because="the cosines with v_0, v_1, v_2 and the hard one are 0.6, 0, 0.6, 0.8 for u_0; "
        "0.8, 1, 0.8, 0.6 for u_1; 1, 0.8, 1, 0.96 for u_2. v_0 and v_2 are the same text",
    )
    check.example(
        *(u, v, hard, texts),
        gives=1.4794,
        because="without a scale it is 20, as in the function's first line",
    )
    check.done("two and three pairs and a hard negative, by hand")
    # The same answer for all, no hard negative, huge scales, other lengths.
    one, none = torch.eye(2), torch.empty(0, 2)
    check.example(
        *(one, one[:1].expand(2, 2), none, torch.tensor([5, 5])),
        gives=0.0,
        because="both questions have the same answer: no wrong one is left, and the right p is 1",
    )
    check.scaled(
        *(one, one, none, torch.tensor([5, 6])),
        scale=1.0,
        gives=0.3133,
        because="no hard negative, all texts different: this is the lecture's loss",
    )
    check.scaled(
        *(one, one.flip(0), none, torch.tensor([5, 6])),
        scale=1000.0,
        gives=1000.0,
        because="exp(1000) is infinite: take the logarithm and the softmax in one step, with "
        "log_softmax, logsumexp or cross_entropy",
    )
    check.scaled(
        *(0.01 * one, 300 * one, 7 * one[:1], torch.tensor([5, 6])),
        scale=1.0,
        gives=0.7067,
        because="a longer vector points the same way: cosines do not depend on lengths",
    )
    check.done("no wrong answer; no hard one; a huge scale; other lengths")
    # 64 pairs: as the lecture's loss, and each pair as alone with all its wrong answers.
    u, hard = normal(64, 16, seed=1, dtype=torch.float64), normal(9, 16, seed=2).double()
    texts = torch.arange(64) * 7 % 50
    v = (u + normal(64, 16, seed=3))[texts]
    check.gradients(u, v, hard, texts)
    scores = 20 * torch.stack([F.cosine_similarity(row[None], v) for row in u])
    check.example(
        *(u, v, hard[:0], torch.arange(64)),
        gives=F.cross_entropy(scores, torch.arange(64)),
        because="64 different texts, no hard negative: as PyTorch computes the lecture's loss",
    )
    alone = []
    for i, text in enumerate(texts):
        wrong = torch.cat([hard, v[texts != text]])
        alone.append(check.call(u[i : i + 1], v[i : i + 1], wrong, texts[i : i + 1]))
    check.equals(
        check.call(u, v, hard, texts),
        torch.stack(alone).mean(),
        "64 pairs of 50 texts, 9 hard negatives",
        because="the mean of each pair's loss alone, with all its wrong answers in `hard`",
    )
    check.done("gradients; 64 pairs, each as if it were alone")


@task(
    10,
    "three tensors [N, M, D]: u of each pair, v of each pair, the absolute difference",
    "u[:, None].expand(N, M, D) and v[None].expand(N, M, D), then torch.cat(..., dim=-1)",
)
def pair_features(check: PlainCheck) -> None:
    """(u, v, |u - v|) of all pairs."""
    check.example(
        *(torch.tensor([[1.0, 0]]), torch.tensor([[0.6, 0.8], [1, 0]])),
        gives=[[[1, 0, 0.6, 0.8, 0.4, 0.8], [1.0, 0, 1, 0, 0, 0]]],
        because="one premise with two hypotheses: [1, 2, 6]",
    )
    check.example(
        *(torch.tensor([[1.0], [5]]), torch.tensor([[2.0], [3]])),
        gives=[[[1.0, 2, 1], [1, 3, 2]], [[5, 2, 3], [5, 3, 2]]],
        because="[i, j] is premise i with hypothesis j: 1 with 2, 1 with 3; 5 with 2, 5 with 3",
    )
    check.done("two small examples")
    u, v = normal(40, 16, seed=1), normal(25, 16, seed=2)
    answer = check.call(u, v)
    shown = "40 premises, 25 hypotheses of 16 dimensions"
    form = list(answer.shape) if isinstance(answer, Tensor) else short(answer, 80)
    check.law(form == [40, 25, 48], f"{shown}: expected a tensor [40, 25, 48], got {form}")
    parts = answer.split(16, dim=-1)
    for i, j in ((0, 0), (39, 0), (0, 24), (17, 9)):
        for part, wanted in zip(parts, (u[i], v[j], (u[i] - v[j]).abs()), strict=True):
            check.equals(part[i, j], wanted, f"{shown}, at [{i}, {j}]")
    check.gradients(u[:3], v[:2])
    check.done("40 by 25 sentences; gradients")


class MergeCheck(TensorCheck):
    """A check of one step of a clustering."""

    refused = OWN_CODE
    ready_made = ()

    def merger(
        self, distances: list | Tensor, sizes: list[int], *, gives: tuple, because: str
    ) -> None:
        """A worked example: the pair, the new distances, the new sizes."""
        given = distances if isinstance(distances, Tensor) else torch.tensor(distances)
        answer = self.call(given, sizes, because=because)
        shown, (pair, left, rest) = self.shown((given, sizes)), gives
        self.law(
            isinstance(answer, tuple | list) and len(answer) == 3,
            f"{shown}\nit must return three things: the pair, the new distances, the new sizes; "
            f"it returned {short(answer)}",
        )
        found = difference(pair, answer[0])
        self.compared(found, answer[0], f"{shown}: the pair", because)
        self.equals(answer[1], left, f"{shown}: the new distances", because=because)
        found = difference(rest, answer[2])
        self.compared(found, answer[2], f"{shown}: the new sizes", because)


@task(
    11,
    "the nearest pair is the smallest number off the diagonal; its first place has i < j",
    "write the new row into row i and column i of a clone, 0 where they cross; then keep "
    "all rows and columns but j",
)
def merge_nearest(check: MergeCheck) -> None:
    """One step of average linkage, from distances between clusters."""
    check.merger(
        [[0, 3.5, 11.5], [3.5, 0, 8], [11.5, 8, 0]],
        [2, 1, 1],
        gives=((0, 1), [[0, 10.3333], [10.3333, 0]], [3, 1]),
        because="{0, 1}, {4} and {12}: 3.5 is smallest, and (2 · 11.5 + 1 · 8) / 3 = 10.33",
    )
    check.merger(
        [[0.0, 9, 6, 7], [9, 0, 8, 2], [6, 8, 0, 4], [7, 2, 4, 0]],
        [1, 1, 5, 3],
        gives=((1, 3), [[0.0, 7.5, 6], [7.5, 0, 5], [6, 5, 0]], [1, 4, 5]),
        because="1 and 3 are nearest, at 2: (1 · 9 + 3 · 7) / 4 = 7.5 to cluster 0 and "
        "(1 · 8 + 3 · 4) / 4 = 5 to cluster 2. The new cluster takes place 1",
    )
    check.done("three clusters, four clusters")
    two = "two clusters become one, [[0]]"
    check.merger([[0.0, 5], [5, 0]], [4, 2], gives=((0, 1), [[0.0]], [6]), because=two)
    check.merger(
        [[0.0, 3, 2, 2], [3, 0, 2, 5], [2, 2, 0, 4], [2, 5, 4, 0]],
        [1, 1, 1, 1],
        gives=((0, 2), [[0.0, 2.5, 3], [2.5, 0, 5], [3, 5, 0]], [2, 1, 1]),
        because="three pairs are at 2: (0, 2), (0, 3) and (1, 2). The first is (0, 2)",
    )
    check.done("two clusters, equal distances")
    # Places on a line, each twice as far as the one before: they are merged from the left.
    places = 2.0 ** torch.arange(12)
    distances, sizes = (places - places[:, None]).abs(), [1] * 12
    for step in range(1, 12):
        alone = places[step + 1 :]
        members = places[: step + 1]
        left = (places[step:] - places[step:, None]).abs()
        left[0, 1:] = left[1:, 0] = alone - members.mean()
        rest = [step + 1] + [1] * len(alone)
        check.merger(
            distances,
            sizes,
            gives=((0, 1), left, rest),
            because=f"step {step} of the tree of 12 points, 1, 2, 4, 8, ... on a line",
        )
        distances, sizes = left, rest
    check.done("all eleven steps of a tree")
