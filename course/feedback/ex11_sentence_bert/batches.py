"""Checks of exercise 11 about work: what pairs cost, and batches without padding."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

from course.feedback.checks import Check, Passed
from course.feedback.differences import difference, short
from course.feedback.progress import task

OWN_CODE = (
    "uses code that holds the answer to this task, bertlab's or sentence-transformers'. So it "
    "cannot be the answer: write the steps yourself, with Python and PyTorch"
)
LARGE = 200_000_003  # n (n - 1) / 2 is odd, and too large for a float


class BillCheck(Check):
    """A check of three numbers: pairs, hours, seconds."""

    refused = OWN_CODE

    def bill(
        self,
        *arguments: Any,
        gives: tuple[int, float, float],
        because: Sequence[str],
        mistakes: Sequence[Sequence[tuple[float, str]]] = ((), (), ()),
    ) -> None:
        """A worked example, one sentence for each of the three numbers."""
        answer = self.call(*arguments, because=because[0])
        shown = self.shown(arguments)
        self.law(
            isinstance(answer, tuple | list)
            and len(answer) == 3
            and all(isinstance(number, Real) for number in answer),
            f"{shown}\nit must return three numbers: pairs, hours, seconds; it returned "
            f"{short(answer)}",
        )
        names = ("pairs", "hours", "seconds")
        for name, got, right, reason, known in zip(
            names, answer, gives, because, mistakes, strict=True
        ):
            # Pairs are counted, so they must be exact; hours and seconds are measured.
            equal = got == right if name == "pairs" else near(got, right)
            found = "" if equal else f"expected {_number(right)}\ngot      {_number(got)}"
            self.compared(found, got, f"{shown}: {name}", reason, known, near)
        self.law(
            isinstance(answer[0], Integral),
            f"{shown}: pairs\nexpected {gives[0]}\ngot      {answer[0]}\n→ pairs are counted, so "
            "they are a whole number: // divides whole numbers, / makes decimals",
        )


def near(one: float, other: float) -> bool:
    """Whether two numbers agree to four digits.

    >>> near(64.895, 64.8949), near(6, 6.1)
    (True, False)
    """
    return abs(one - other) <= 1e-4 * abs(other)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, Integral) else f"{value:.6g}"


@task("ex11_sentence_bert", 1)
def bill(function: Callable) -> Passed:
    """How many pairs there are, and what they cost."""
    check = BillCheck(
        "bill",
        function,
        hints=(
            "each of n sentences meets n - 1 others, and so every pair is counted twice",
            "hours: the pairs, divided by how many of them are read in an hour, 3600 seconds",
        ),
    )
    check.bill(
        *(4, 0.001, 2),
        gives=(6, 6000 / 3600, 2.0),
        because=(
            "A, B, C, D: AB, AC, AD, BC, BD, CD",
            "6 pairs, each takes 1000 seconds: 6000 seconds",
            "4 sentences, 2 a second",
        ),
        mistakes=(
            [
                (16, "that is every sentence with every one, itself included, and in both orders"),
                (12, "A with B and B with A are one pair: that is each of them twice"),
                (10, "no sentence makes a pair with itself: n - 1, not n + 1"),
                (
                    8,
                    "no sentence makes a pair with itself: n times n - 1, not n times n",
                ),
                (4, "multiply before you halve: n (n - 1) is always even, n - 1 need not be"),
                (3, "those are the pairs of one sentence alone, or of neighbours: A meets C, too"),
                (2, "how many *different* two of them: A meets B, C and D"),
            ],
            [
                (6000, "those are seconds; an hour has 3600 of them"),
                (100, "those are minutes; an hour has 60 of them"),
                (0.006 / 3600, "the rate is pairs a second: divide the pairs by it"),
                (6000 * 3600, "an hour has 3600 seconds: divide them by 3600, do not multiply"),
                (6 / 2 / 3600, "pairs go with pairs_a_second, sentences with sentences_a_second"),
                (4000 / 3600, "a cross-encoder reads pairs, not sentences"),
            ],
            [
                (8.0, "the rate is sentences a second: divide the sentences by it"),
                (3.0, "a bi-encoder reads every sentence once: sentences, not pairs"),
                (4000.0, "sentences go with sentences_a_second, pairs with pairs_a_second"),
                (2 / 3600, "seconds, not hours"),
                (0.5, "upside down: sentences, divided by the rate"),
            ],
        ),
    )
    check.bill(
        *(10_000, 214, 2000),
        gives=(49_995_000, 49_995_000 / 214 / 3600, 5.0),
        because=(
            "the paper's number: 49,995,000",
            "the paper's number: about 65 hours",
            "the paper's number: about 5 seconds",
        ),
    )
    check.done("4 sentences; the paper's 10,000")
    check.bill(
        *(5, 5, 4),
        gives=(10, 10 / 18_000, 1.25),
        because=("5 sentences, an odd number: 4 pairs with A, 3 with B, 2 with C, 1 with D",) * 3,
        mistakes=([(8, "n is odd here: multiply before you halve")], [], []),
    )
    for n in (0, 1, 2):
        check.bill(
            *(n, 5, 4),
            gives=(n // 2, (n // 2) / 18_000, n / 4),
            because=("two sentences are one pair; fewer are none",) * 3,
        )
    check.bill(
        *(LARGE, 1e12, 1e9),
        gives=(LARGE * (LARGE - 1) // 2, LARGE * (LARGE - 1) / 7.2e15, LARGE / 1e9),
        because=(
            "a float has 16 digits, and the last one is lost: // divides whole numbers exactly",
            "hours of very many pairs",
            "seconds of very many sentences",
        ),
    )
    check.done("none, one, two and 200 million sentences")
    return check.passed()


class BatchesCheck(Check):
    """A check of batches, which are lists of numbers of texts."""

    refused = OWN_CODE

    def batches(
        self,
        lengths: list[int],
        most: int,
        gives: list[list[int]],
        because: str,
        mistakes: Sequence[tuple[list[list[int]], str]] = (),
    ) -> None:
        """A worked example."""
        answer = self.lists(lengths, most, because=because)
        if found := difference(gives, answer):
            because = self.in_general(lengths, answer) or because
        self.compared(found, answer, self.shown((lengths, most)), because, mistakes)

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
        """What is wrong with batches whatever the rules are."""
        found = [number for batch in answer for number in batch]
        if sorted(found) == sorted(lengths) and sorted(found) != list(range(len(lengths))):
            return "those are lengths; what is asked for are the texts' numbers, counted from 0"
        if lost := sorted(set(range(len(lengths))) - set(found)):
            last = "; is the batch at hand kept when the loop ends?" if len(lost) < 4 else ""
            return f"each text is in one batch: {short(lost, 40)} is in none{last}"
        if len(found) > len(lengths):
            return "each text is in one batch, and only once"
        if [] in answer:
            return "no batch is empty: the first text finds no batch and opens one"
        return ""


@task("ex11_sentence_bert", 3)
def batches_of_one_length(function: Callable) -> Passed:
    """Texts of one length together."""
    check = BatchesCheck(
        "batches_of_one_length",
        function,
        hints=(
            "sorted(range(len(lengths)), key=lambda number: -lengths[number]) keeps ties in order",
            "batches[-1] is the batch at hand; the length of its first text is its longest",
            "full: (len(batch) + 1) * longest > most; another length: lengths[number] < longest "
            "and 4 * len(batch) * longest >= most",
        ),
    )
    check.batches(
        *([5, 7, 5, 7, 5], 16, [[1, 3], [0, 2, 4]]),
        because="7 and 7 first, 14 tokens; then 5, 5 and 5, 15 tokens",
        mistakes=[
            ([[0, 2, 4], [1, 3]], "the longest first: what does not fit the memory fails at once"),
            ([[3, 1], [4, 2, 0]], "texts of one length keep the order in which they were given"),
            ([[1, 3, 0, 2, 4]], "`most` is a number of tokens: texts times the longest of them"),
            ([[1, 3, 0, 2], [4]], "`most` is a number of tokens: texts times the longest of them"),
            ([[0, 1, 2], [3], [4]], "sort first: here texts of 5 and of 7 share a batch"),
            ([[0, 1], [2, 3], [4]], "sort first: here texts of 5 and of 7 share a batch"),
            ([[1], [3], [0], [2], [4]], "7 and 7 are 14 tokens: they fit into one batch"),
            (
                [[1, 3], [0, 2], [4]],
                "5, 5 and 5 are 15 tokens: they fit. Count the tokens of this batch alone, its "
                "longest text has 5",
            ),
        ],
    )
    check.batches(
        *([3, 12, 4, 3, 3], 64, [[1, 2], [0, 3, 4]]),
        because="12 tokens are less than a quarter of 64, so the 4 joins them; the batch then has "
        "24, padding included, no less than a quarter, and the 3 begins the next",
        mistakes=[
            (
                [[1], [2], [0, 3, 4]],
                "a batch with less than a quarter of `most` takes texts of the next length, too: "
                "12 tokens are less than 16",
            ),
            (
                [[1, 2, 0, 3, 4]],
                "that pads every text to 12: once a batch has a quarter of `most`, a text of "
                "another length begins a new one",
            ),
            (
                [[1, 2, 0], [3, 4]],
                "count padding, too: the 12 and the 4 are 2 texts times 12 = 24 tokens, more than "
                "a quarter of 64",
            ),
            (
                [[1], [2, 0, 3, 4]],
                "a quarter of `most` decides: 12 tokens are less than 16, so the 4 joins them",
            ),
        ],
    )
    check.done("texts of two lengths; a lonely long text")
    _edges(check)
    _many_texts(check)
    return check.passed()


def _edges(check: BatchesCheck) -> None:
    """Batches that are exactly full, a quarter full, too long, and none at all."""
    check.batches(
        *([4, 4, 4, 4], 16, [[0, 1, 2, 3]]),
        because="4 times 4 is 16, and 16 tokens are allowed",
        mistakes=[([[0, 1, 2], [3]], "`most` itself is allowed: full is what would be *more*")],
    )
    check.batches(
        *([5, 5, 5, 5], 16, [[0, 1, 2], [3]]),
        because="a fourth text would make it 20 tokens",
        mistakes=[([[0, 1, 2, 3]], "ask before the text joins: with it, there are 20 tokens")],
    )
    check.batches(
        *([4, 3], 16, [[0], [1]]),
        because="4 tokens are a quarter of 16, not less than a quarter",
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
    check.law(order == sorted(order), f"{shown}\nfrom long to short, ties as they were given")
    for batch, after in zip(answer, [*answer[1:], []], strict=True):
        longest, tokens = lengths[batch[0]], len(batch) * lengths[batch[0]]
        said = f"{shown}\na batch of lengths {short([lengths[n] for n in batch], 60)}"
        check.law(
            tokens <= most or len(batch) == 1, f"{said} has {tokens} tokens, padding included"
        )
        before = [n for n, number in enumerate(batch) if lengths[number] < longest]
        late = before and 4 * before[-1] * longest >= most
        check.law(not late, f"{said} takes another length though it has a quarter of `most`")
        if after:
            full = tokens + longest > most
            other = lengths[after[0]] < longest and 4 * tokens >= most
            check.law(full or other, f"{said} is closed too early: {lengths[after[0]]} should join")
    check.done("600 texts")
