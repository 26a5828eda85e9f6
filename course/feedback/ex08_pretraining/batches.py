"""Checks of exercise 8 about the data: truncation of a pair, a batch, and a test of it."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from course.feedback.checks import Check, Passed
from course.feedback.differences import short
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck

OWN_CODE = (
    "uses bertlab's own code, which contains the answer to this task: write the steps yourself, "
    "with Python and PyTorch"
)


class LengthsCheck(Check):
    """A check of two numbers of tokens."""

    refused = OWN_CODE

    def kept(self, *arguments: int, because: str = "") -> tuple[int, int]:
        """An answer of the right form: two whole numbers."""
        answer = self.call(*arguments, because=because)
        whole = isinstance(answer, tuple | list) and all(isinstance(n, Integral) for n in answer)
        self.law(
            whole and len(answer) == 2,
            f"{self.shown(arguments)}\nit must return two whole numbers, of A and of B; it "
            f"returned {short(answer)}"
            + "\n→ // gives whole numbers, / gives decimals"
            * (isinstance(answer, tuple | list) and any(isinstance(n, float) for n in answer)),
        )
        return int(answer[0]), int(answer[1])

    def pair(self, *arguments: int, gives: tuple[int, int], because: str) -> None:
        """A worked example."""
        answer = self.kept(*arguments, because=because)
        found = f"expected {gives}\ngot      {answer}" if answer != gives else ""
        self.compared(found, answer, self.shown(arguments), because)


@task("ex08_pretraining", 1)
def kept_lengths(function: Callable) -> Passed:
    """How many tokens of A and of B are kept."""
    check = LengthsCheck(
        "kept_lengths",
        function,
        hints=(
            "a loop is enough: while both together are too long, the longer one loses a token",
            "`if a_length > b_length:` A loses one, `else:` B does",
        ),
    )
    fits = "both fit: nothing is lost"
    check.pair(*(3, 4, 11), gives=(3, 4), because=fits)
    one = (
        "18 tokens, 7 too many, in turns: B loses the first, since B loses a token if both are "
        "equal, and the last"
    )
    check.pair(*(9, 9, 11), gives=(6, 5), because=one)
    check.pair(
        *(2, 20, 11), gives=(2, 9), because="B is longer all the time, so only B loses tokens"
    )
    check.pair(
        *(20, 1, 11), gives=(10, 1), because="A is longer all the time, so only A loses tokens"
    )
    check.done("pairs that fit, equal ones, a short A, a short B")
    _fair(check)
    long = "long documents: the loop removes token by token, and two lines could compute the result"
    check.pair(30_000, 20_000, 509, gives=(255, 254), because=long)
    check.done("all lengths up to 14")
    return check.passed()


def _fair(check: LengthsCheck) -> None:
    """For short lengths, conditions for any algorithm."""
    for a in range(1, 15, 2):
        for b in range(1, 15):
            for room in (2, 7, 12):
                a_kept, b_kept = check.kept(a, b, room)
                shown = f"kept_lengths({a}, {b}, {room})\ngot {(a_kept, b_kept)}: "
                check.law(0 <= a_kept <= a and 0 <= b_kept <= b, f"{shown}out of range")
                total = min(a + b, room)
                check.law(
                    a_kept + b_kept == total, f"{shown}together {a_kept + b_kept}, not {total}"
                )
                fair = (a_kept == a or a_kept >= b_kept) and (b_kept == b or b_kept >= a_kept - 1)
                check.law(fair, f"{shown}the shorter one has lost a token while it was shorter")


class LayoutCheck(TensorCheck):
    """A check of three tensors: ids, segment ids and the attention mask."""

    refused = OWN_CODE

    def laid_out(self, *arguments: Any, because: str = "") -> tuple[Tensor, Tensor, Tensor]:
        """An answer of three tensors."""
        answer = self.call(*arguments, because=because)
        three = isinstance(answer, tuple) and len(answer) == 3
        self.law(
            three and all(isinstance(part, Tensor) for part in answer),
            f"{self.shown(arguments)}\nit must return three tensors: ids, segment ids and the "
            f"attention mask; it returned {short(answer)}",
        )
        return answer


@task("ex08_pretraining", 2)
def lay_out(function: Callable) -> Passed:
    """Pairs as rows, with segments, padding and the mask."""
    check = LayoutCheck(
        "lay_out",
        function,
        hints=(
            "create all three as for padding only, then fill in row by row",
            "a row is [cls_id, *a, sep_id, *b, sep_id]; A's part is len(a) + 2 long",
        ),
    )
    arguments = ([([11, 12, 13], [21, 22]), ([14], [24])], 9, 5, 6, 9)
    shown = check.shown(arguments)
    ids, segment_ids, attention_mask = check.laid_out(*arguments)
    check.equals(
        *(ids, [[5, 11, 12, 13, 6, 21, 22, 6, 9], [5, 14, 6, 24, 6, 9, 9, 9, 9]]),
        f"{shown}: ids",
        because="[CLS] A [SEP] B [SEP], then padding",
    )
    check.equals(
        *(segment_ids, [[0, 0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0]]),
        f"{shown}: segment ids",
        because="0 up to the first [SEP], 1 from there up to the second one, 0 at padding",
    )
    right = torch.arange(9) < torch.tensor([[8], [5]])
    check.equals(
        *(attention_mask, right),
        f"{shown}: attention mask",
        because="True may be attended to, False is padding",
    )
    check.done("two pairs, by hand")
    _many_pairs(check)
    return check.passed()


def _many_pairs(check: LayoutCheck) -> None:
    """Full rows, words with the id of a special token elsewhere, 300 pairs."""
    full = ([([7, 8], [7])], 6, 1, 2, 0)
    parts = check.laid_out(*full, because="a row without padding")
    expected = ([[1, 7, 8, 2, 7, 2]], [[0, 0, 0, 0, 1, 1]], torch.ones(1, 6, dtype=torch.bool))
    for name, part, gives in zip(("ids", "segment ids", "mask"), parts, expected, strict=True):
        check.equals(part, gives, f"{check.shown(full)}: {name}", because="a row without padding")
    lengths = [(1 + n * 7 % 60, 1 + n * 11 % 60) for n in range(300)]
    many = [(list(range(10, 10 + a)), list(range(80, 80 + b))) for a, b in lengths]
    ids, segment_ids, attention_mask = check.laid_out(many, 128, 1, 2, 0)
    shown = "300 pairs of 5 to 123 tokens, 128 columns"
    check.law(
        ids.shape == segment_ids.shape == attention_mask.shape == (300, 128),
        f"{shown}: all three tensors must be [300, 128]",
    )
    check.equals(attention_mask.sum(dim=1), torch.tensor([a + b + 3 for a, b in lengths]), shown)
    check.equals(segment_ids.sum(dim=1), torch.tensor([b + 1 for _, b in lengths]), shown)
    check.equals(ids.sum(dim=1), torch.tensor([sum(a) + sum(b) + 5 for a, b in many]), shown)
    check.done("a full row, 300 pairs")


Layout = tuple[Tensor, Tensor, Tensor]


def draft(segments: list, _length: int, cls_id: int, sep_id: int, pad_id: int) -> Layout:
    """As in the notebook: wrong if a row is not full, or if [PAD] is not 0."""
    rows = [torch.tensor([cls_id, *a, sep_id, *b, sep_id]) for a, b in segments]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    ends = (ids == sep_id).long()
    return ids, ends.cumsum(dim=1) - ends, ids != pad_id


def one_segment(segments: list, length: int, cls_id: int, sep_id: int, pad_id: int) -> Layout:
    """Wrong: every token has segment 0."""
    rows = [[cls_id, *a, sep_id, *b, sep_id] for a, b in segments]
    ids = torch.tensor([row + [pad_id] * (length - len(row)) for row in rows])
    return ids, torch.zeros_like(ids), ids != pad_id


def sees_padding(*arguments: Any) -> Layout:
    """Wrong: the mask is True everywhere, and there is one segment."""
    ids, segment_ids, attention_mask = one_segment(*arguments)
    return ids, segment_ids, torch.ones_like(attention_mask)


@task("ex08_pretraining", 3)
def examine_lay_out(function: Callable, own: Callable) -> Passed:
    """A test of `lay_out`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_lay_out",
        function,
        hints=(
            "rows of different lengths, none of them full, and all three tensors by hand",
            "ids.tolist() == [[...], [...]], the same for segments and mask",
        ),
    )
    check.needs("lay_out", 2, own, [([7], [8])], 5, 1, 2, 0)
    check.passes(own, "your own `lay_out`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        sees_padding,
        "a function with one segment and a mask of only True",
        "compare all three tensors, number by number, not only the ids",
    )
    check.stops(
        one_segment,
        "a function that gives every token the segment 0",
        "compare the segment ids, too, number by number",
    )
    check.done("your own lay_out passes, three wrong ones do not")
    return check.passed()
