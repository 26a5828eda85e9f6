"""Checks of exercise 5, tasks 1 to 4: a learning rate, masks, a loss and its test."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex05_transformer.scalars import NumberCheck
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck


@task("ex05_transformer", 1)
def warmup_rate(function: Callable) -> Passed:
    """A linear rise, then a fall with the square root."""
    check = NumberCheck(
        "warmup_rate",
        function,
        hints=("two curves: which one is lower before the warm-up ends?", "x**-0.5"),
    )
    check.example(  # not the statement's, in which several mistakes give 0.125
        *(2, 16, 9), gives=0.018519, because="1/4 times the smaller of 0.707 and 2 * 1/27"
    )
    check.example(1, 4, 4, gives=0.0625, because="1/2 times the smaller of 1 and 1 * 1/8")
    check.example(4, 4, 4, gives=0.25, because="the top, where both curves meet")
    check.example(16, 4, 4, gives=0.125, because="four times as many steps, half the rate")
    check.done("on the way up, at the top, on the way down")
    return check.passed()


class MaskCheck(TensorCheck):
    """A check of three masks; the rows of padding are not checked."""

    def masks(self, source: list, target: list, gives: tuple, because: str) -> None:
        """A batch, and the right one of each of the three masks."""
        ids = torch.tensor(source), torch.tensor(target)
        answer, shown = self.call(*ids, because=because), self.shown(ids)
        self.law(
            isinstance(answer, tuple)
            and len(answer) == 3
            and all(isinstance(mask, Tensor) for mask in answer),
            f"{shown}\nit must return three tensors: encoder, decoder, cross",
        )
        parts = zip(("encoder", "decoder", "cross"), answer, gives, strict=True)
        for number, (name, mask, wanted) in enumerate(parts):
            wanted = torch.tensor(wanted, dtype=torch.bool)
            place = f"{shown}, the {name} mask"
            if mask.shape == wanted.shape and mask.dtype == torch.bool:
                tokens = ids[number > 0] > 0  # the rows that count
                mask, wanted = mask & tokens[..., None], wanted & tokens[..., None]
            self.equals(mask, wanted, place, because=because)


@task("ex05_transformer", 2)
def packed_masks(function: Callable) -> Passed:
    """The attention masks if a row has several pairs."""
    check = MaskCheck(
        "packed_masks",
        function,
        hints=(
            "which tokens belong to the same pair: source[:, :, None] == source[:, None, :]",
            "only the decoder's own mask hides what comes later; that one is a triangle as well",
        ),
    )
    check.masks(
        [[1, 1, 2, 0]],
        [[1, 2, 2]],
        (
            [[[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]],
            [[[1, 0, 0], [0, 1, 0], [0, 1, 1]]],
            [[[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]],
        ),
        "as in the statement",
    )
    check.masks(
        [[1, 0], [1, 1]],
        [[1, 1, 1], [1, 0, 0]],
        (
            [[[1, 0], [0, 0]], [[1, 1], [1, 1]]],
            [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]],
            [[[1, 0], [1, 0], [1, 0]], [[1, 1], [0, 0], [0, 0]]],
        ),
        "two rows with a single pair each, padded: no token sees padding",
    )
    check.done("two pairs in a row, two rows, padding")
    return check.passed()


class LossCheck(TensorCheck):
    """A check of a loss for which PyTorch's own would need other targets."""

    ready_made = ()


# Probabilities of <pad>, 1, 2, 3 and 4; their logarithms are logits.
SHARES = torch.tensor([0.1, 0.5, 0.2, 0.1, 0.1])
OTHERS = torch.tensor([0.1, 0.2, 0.2, 0.2, 0.3])


@task("ex05_transformer", 3)
def smoothed_loss(function: Callable) -> Passed:
    """Cross-entropy with label smoothing, without <pad> as target or answer."""
    check = LossCheck(
        "smoothed_loss",
        function,
        hints=(
            "try the draft on two texts of different lengths, and on unequal probabilities",
            "V - 2 symbols share the smoothing: not <pad>, not the right one",
            "the sum over the targets without padding, divided by their number, over the whole "
            "batch",
        ),
    )
    one = SHARES.log()[None, None]
    check.example(
        one,
        torch.tensor([[1]]),
        0.3,
        gives=1.1070,
        because="as in the statement: 0.7 for the right one, 0.1 for each of the three others",
    )
    two = torch.stack([torch.stack([SHARES, SHARES, SHARES]), torch.stack([OTHERS] * 3)]).log()
    check.example(
        two,
        torch.tensor([[1, 2, 1], [4, 0, 0]]),
        0.0,
        gives=1.0499,
        because="four targets count: (0.693 + 1.609 + 0.693 + 1.204) / 4",
    )
    check.example(
        two + torch.tensor([[[3.0], [-1.0], [0.0]], [[9.0], [0.5], [2.0]]]),
        torch.tensor([[1, 2, 1], [4, 0, 0]]),
        0.0,
        gives=1.0499,
        because="logits: the same number added to all scores of a position changes nothing",
    )
    check.example(two, torch.zeros(2, 3, dtype=torch.long), 0.1, gives=0.0, because="no targets: 0")
    uneven = two[:, :2] + torch.linspace(0, 1, 20).view(2, 2, 5)
    check.gradients(uneven, torch.tensor([[1, 2], [3, 0]]), 0.1)
    check.done("smoothing, padding, texts of two lengths, no targets, gradients")
    return check.passed()


def draft(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """As in the notebook: <pad> gets a share of the smoothing, and padding counts."""
    wanted = torch.full_like(logits, smoothing / (logits.shape[-1] - 1))
    wanted.scatter_(-1, targets[..., None], 1 - smoothing)
    return -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


def unsmoothed(logits: Tensor, targets: Tensor, _smoothing: float) -> Tensor:
    """Wrong: plain cross-entropy."""
    total = F.cross_entropy(logits.mT, targets, ignore_index=0, reduction="sum")
    return total / (targets != 0).sum().clamp(min=1)


def always_the_same_share(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Wrong: the lecture's rule, which gives <pad> and the right symbol a share."""
    asked = targets != 0
    if not asked.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[asked], targets[asked], label_smoothing=smoothing)


@task("ex05_transformer", 4)
def examine_loss(function: Callable, own: Callable) -> Passed:
    """A test of `smoothed_loss`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_loss",
        function,
        hints=(
            "unequal probabilities whose logarithms you use as logits: then you can work out the "
            "loss by hand",
            "two texts of different lengths; one batch without smoothing; one of only padding",
        ),
    )
    check.needs("smoothed_loss", 3, own, torch.zeros(1, 1, 4), torch.tensor([[1]]), 0.1)
    check.passes(own, "your own `smoothed_loss`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        unsmoothed,
        "a loss without any smoothing",
        "use a smoothing that is not 0, and work out the loss by hand",
    )
    check.stops(
        always_the_same_share,
        "the lecture's rule",
        "there <pad> and the right symbol get a share of the smoothing, too",
    )
    check.done("your own loss passes, three wrong ones do not")
    return check.passed()
