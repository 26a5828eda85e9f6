"""Checks of exercise 11, tasks 2 to 4: batches without padding, and their vectors."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Check, Passed
from course.feedback.differences import difference, short
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

OWN_CODE = (
    "uses code that contains the answer to this task, bertlab's or sentence-transformers'. So it "
    "cannot be the answer: write the steps yourself, with Python and PyTorch"
)


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


@task("ex11_sentence_bert", 2)
def batches_of_one_length(function: Callable) -> Passed:
    """Texts of one length together."""
    check = BatchesCheck(
        "batches_of_one_length",
        function,
        hints=(
            "sorted(range(len(lengths)), key=lambda number: -lengths[number]) keeps ties in order",
            "batches[-1] is the current batch; the length of its first text is its longest",
            "full: (len(batch) + 1) * longest > most; another length: lengths[number] < longest "
            "and 4 * len(batch) * longest >= most",
        ),
    )
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
    _edges(check)
    _many_texts(check)
    return check.passed()


def _edges(check: BatchesCheck) -> None:
    """Batches that are exactly full, a quarter full, too long, and none at all."""
    check.batches(
        *([4, 4, 4, 4], 16, [[0, 1, 2, 3]]), because="4 times 4 is 16, and 16 tokens are allowed"
    )
    check.batches(
        *([5, 5, 5, 5], 16, [[0, 1, 2], [3]]), because="a fourth text would make it 20 tokens"
    )
    check.batches(
        *([4, 3], 16, [[0], [1]]),
        because="4 tokens are a quarter of 16, not less than a quarter",
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


def _many_texts(check: BatchesCheck) -> None:
    """The rules, one by one, on 600 texts."""
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


@task("ex11_sentence_bert", 3)
def collect(function: Callable) -> Passed:
    """From batches back to the vectors of the texts, in order."""
    check = CollectCheck(
        "collect",
        function,
        hints=(
            "try the draft with the texts in batches [2, 0] and [1]: whose vector comes first?",
            "vectors[numbers] = ... writes row after row to the places in `numbers`; to read them "
            "from there is the opposite",
        ),
    )
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
    return check.passed()


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


@task("ex11_sentence_bert", 4)
def examine_collect(function: Callable, own: Callable) -> Passed:
    """A test of `collect`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_collect",
        function,
        hints=(
            "three texts in two batches, so that the order is not just a swap; one has padding",
            "work the means out by hand, divide them by their lengths, and compare all rows",
        ),
    )
    check.needs("collect", 3, own, CIRCLE)
    check.passes(own, "your own `collect`")
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
    return check.passed()
