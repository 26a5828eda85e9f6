"""Checks of exercise 7 about the losses, a test of one of them, and a gradient.

Source of the worked examples: by hand, and PyTorch's own losses and autograd for large inputs.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

NAN, INFINITE = float("nan"), float("inf")
SUM = "that is the sum; divide by the number of {}"
HUGE = (
    "exp(1000) is infinite, and so is -log(0): take the logarithm and the softmax (or "
    "sigmoid) in one step, with log_softmax, logsigmoid or logsumexp"
)


class LossCheck(TensorCheck):
    """A check of a loss or a gradient; the gradients must be derived on paper."""

    ready_made = ("attention", "binary_cross_entropy", "soft_margin", "backward")

    def gradients(self, logits: Tensor, *truth: Tensor) -> None:
        """A gradient must reach the logits; the truth needs none."""
        function = self.function
        self.function = lambda given: function(given, *truth)
        super().gradients(logits)
        self.function = function


def logits_of(*rows: Sequence[float], shifts: Sequence[float] = ()) -> Tensor:
    """Logits whose softmax has these rows; a shift of a row does not change that.

    >>> logits_of([0.5, 0.5], shifts=[3.0]).softmax(dim=-1)
    tensor([[0.5000, 0.5000]])
    """
    logits = torch.tensor(rows).log()
    return logits + torch.tensor(shifts)[:, None] if shifts else logits


@task("ex07_objectives", 3)
def mlm_loss(function: Callable) -> Passed:
    """The mean of -log p over the masked positions."""
    check = LossCheck(
        "mlm_loss",
        function,
        hints=(
            "F.cross_entropy(logits, words) is the mean, and has an argument for the sum",
            "sum, divided by max(1, N): then a batch without masked words costs 0",
        ),
    )
    check.example(
        *(logits_of([0.1, 0.6, 0.3]), torch.tensor([1])),
        gives=0.5108,
        because="dog 0.1, mat 0.6, carpet 0.3, and mat is true: -log 0.6",
    )
    rows = logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0])
    check.example(
        *(rows, torch.tensor([1, 0])),
        gives=1.0601,
        because="p is 0.6 and 0.2: the mean of 0.5108 and 1.6094. Logits may be any numbers",
    )
    check.done("one guess, two guesses")
    words = torch.tensor([1, 0])
    for dtype in (torch.float32, torch.float64):
        huge = torch.tensor([[1000.0, -1000.0], [0.0, 1000.0]], dtype=dtype)
        check.example(
            *(huge, words),
            gives=torch.tensor(1500.0, dtype=dtype),
            because=HUGE,
        )
    check.example(
        *(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)),
        gives=0.0,
        because="a batch without masked words costs 0; 0 / 0 would be nan, and spoil every weight",
    )
    check.gradients(rows, words)
    _like_torch(check)
    return check.passed()


def _like_torch(check: LossCheck) -> None:
    logits = 3 * normal(300, 80, dtype=torch.float64)
    words = torch.arange(300) * 7 % 80
    because = "as F.cross_entropy computes it, for 300 positions and 80 words"
    check.example(logits, words, gives=F.cross_entropy(logits, words), because=because)
    check.done("huge logits, no masked words, gradients, 300 positions")


@task("ex07_objectives", 4)
def padded_loss(function: Callable) -> Passed:
    """The mean over only the slots in use."""
    check = LossCheck(
        "padded_loss",
        function,
        hints=(
            "try the draft with a filler slot that has its own logits",
            "logits[weights > 0] has a row for each slot in use, [N, V]: `mlm_loss` does the rest",
        ),
    )
    logits = torch.stack([TWO, logits_of([0.5, 0.25, 0.25], [0.1, 0.1, 0.8], shifts=[2.0, -1.0])])
    words = torch.tensor([[1, 0], [0, 1]])
    check.example(
        *(logits, words, torch.ones(2, 2)),
        gives=1.279,
        because="all slots in use: the mean of 0.511, 1.609, 0.693 and 2.303",
    )
    check.example(
        *(logits, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]])),
        gives=1.1688,
        because="three slots in use: the mean of 0.511, 0.693 and 2.303",
    )
    check.done("slots in use and filler")
    spoiled = logits.clone()
    spoiled[0, 1] = INFINITE
    check.example(
        *(spoiled, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]])),
        gives=1.1688,
        because="the filler's logits are inf now, its cost is nan, and nan * 0 is nan: leave it "
        "out before you sum",
    )
    check.example(
        *(logits, words, torch.zeros(2, 2)),
        gives=0.0,
        because="no slot is in use: the loss is 0; 0 / 0 would be nan, and spoil every weight",
    )
    huge = torch.tensor([[[1000.0, -1000.0], [0.0, 1000.0]]])
    check.example(*(huge, torch.tensor([[1, 0]]), torch.ones(1, 2)), gives=1500.0, because=HUGE)
    check.gradients(logits, words, torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    check.done("inf in filler, no slot in use, huge logits, gradients")
    return check.passed()


# Two guesses among three words, of p = 0.6 and 0.2 where the words are 1 and 0.
TWO = logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0])


def draft(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """As in the notebook: wrong if a slot is filler."""
    cost = F.cross_entropy(logits.flatten(0, 1), words.flatten())
    return (cost * weights).sum() / (weights.sum() + 1e-8)


def by_sequence(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Wrong: the mean of each sequence's own mean."""
    costs = -logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]
    costs = torch.where(weights > 0, costs, 0.0)
    return (costs.sum(1) / weights.sum(1).clamp(min=1)).mean()


def not_of_nothing(logits: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Wrong: PyTorch's mean of no slots at all is nan."""
    return F.cross_entropy(logits[weights > 0], words[weights > 0])


@task("ex07_objectives", 5)
def examine_padded_loss(function: Callable, own: Callable) -> Passed:
    """A test of `padded_loss`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_padded_loss",
        function,
        hints=(
            "two sequences, three slots in use: -log p of each, and their mean, by hand",
            "one call for each rule of task 4: filler, nan, no slot in use, logits of 1,000",
        ),
    )
    example = torch.zeros(1, 1, 2), torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1)
    check.needs("padded_loss", 4, own, *example)
    check.passes(own, "your own `padded_loss`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_sequence,
        "a loss that averages the means of the sequences",
        "two sequences with different numbers of slots in use show it",
    )
    check.stops(
        not_of_nothing, "a loss that is nan if no slot is in use", "what if every slot is filler?"
    )
    check.done("your own padded_loss passes, three wrong ones do not")
    return check.passed()


@task("ex07_objectives", 6)
def smoothed_gradient(function: Callable) -> Passed:
    """(softmax - smoothed target) / N."""
    check = LossCheck(
        "smoothed_gradient",
        function,
        hints=(
            "each row: the model's probabilities minus the target",
            "softmax, minus smoothing / V everywhere, minus 1 - smoothing at "
            "[torch.arange(N), words]; then divide by N",
        ),
    )
    check.example(
        *(TWO, torch.tensor([1, 0]), 0.0),
        gives=[[0.05, -0.2, 0.15], [-0.4, 0.1, 0.3]],
        because="([0.1, 0.6, 0.3] - [0, 1, 0]) / 2 and ([0.2, 0.2, 0.6] - [1, 0, 0]) / 2",
    )
    check.done("two guesses")
    check.example(
        *(TWO, torch.tensor([1, 0]), 0.3),
        gives=[[0.0, -0.1, 0.1], [-0.3, 0.05, 0.25]],
        because="the targets are [0.1, 0.8, 0.1] and [0.8, 0.1, 0.1]",
    )
    check.done("smoothed targets")
    huge = torch.tensor([[1000.0, -1000.0], [0.0, 1000.0]])
    check.example(
        *(huge, torch.tensor([1, 1]), 0.0),
        gives=[[0.5, -0.5], [0.0, 0.0]],
        because="exp(1000) is infinite: torch.softmax subtracts the largest logit first",
    )
    none = torch.zeros(0, dtype=torch.long)
    check.example(
        *(torch.zeros(0, 3), none, 0.1),
        gives=torch.zeros(0, 3),
        because="no masked words, no rows: [0, V]",
    )
    logits, words = 3 * normal(300, 80, dtype=torch.float64), torch.arange(300) * 7 % 80
    expected = _slope(logits, words, 0.2)
    check.equals(
        *(check.call(logits, words, 0.2), expected, "300 positions and 80 words"),
        because="as autograd computes it, in 64 bits",
        tolerance=1e-8,
    )
    check.done("huge logits, no masked words, 300 positions against autograd")
    return check.passed()


def _slope(logits: Tensor, words: Tensor, smoothing: float) -> Tensor:
    """Autograd's gradient of PyTorch's loss."""
    logits = logits.clone().requires_grad_()
    loss = F.cross_entropy(logits, words, label_smoothing=smoothing)
    return torch.autograd.grad(loss, logits)[0]
