"""Checks of exercise 7 about the losses and their gradients.

Source of the worked examples: by hand, and PyTorch's own losses and autograd for large inputs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

NAN, INFINITE = float("nan"), float("inf")
NATS = "natural logarithm: torch.log"
LOG10 = f"that is the logarithm to base 10, which some slides use; a loss is in nats, the {NATS}"
LOG2 = f"that is the logarithm to base 2, in bits; a loss is in nats, the {NATS}"
SIGN = "the sign: -log p is positive, for p is below 1"
SUM = "that is the sum; divide by the number of {}"
TWICE = (
    "softmax twice: cross_entropy takes logits and does the softmax itself. Give it the logits as "
    "they are"
)
NO_SOFTMAX = "logits are not log p yet: the softmax is missing"
BY_COLUMN = "the softmax goes along each row, dim=-1: the scores of one guess sum to 1"
HUGE = (
    "exp(1000) is infinite, and so is -log(0): take the logarithm and the softmax (or "
    "sigmoid) in one step, with log_softmax, logsigmoid or logsumexp"
)


class LossCheck(TensorCheck):
    """A check of a loss or a gradient; the gradients are to be found on paper."""

    ready_made = ("attention", "binary_cross_entropy", "soft_margin", "backward")

    def examples(
        self, *arguments: Tensor, gives: Any, because: str, mistakes: Sequence[tuple[Any, str]]
    ) -> None:
        """As `example`, which also knows an answer with a dimension too many or too few."""
        none_left = "one number for the whole batch: the mean, a tensor without dimensions"
        shapes = [((len(arguments[0]),), none_left)] if _scalar(gives) else []
        self.example(*arguments, gives=gives, because=because, mistakes=[*mistakes, *shapes])

    def gradients(self, logits: Tensor, truth: Tensor) -> None:
        """A gradient must reach the logits; the truth needs none."""
        function = self.function
        self.function = lambda given: function(given, truth)
        super().gradients(logits)
        self.function = function


def _scalar(gives: Any) -> bool:
    return torch.as_tensor(gives).dim() == 0


def logits_of(*rows: Sequence[float], shifts: Sequence[float] = ()) -> Tensor:
    """Logits whose softmax has these rows; a shift of a row changes nothing about that.

    >>> logits_of([0.5, 0.5], shifts=[3.0]).softmax(dim=-1)
    tensor([[0.5000, 0.5000]])
    """
    logits = torch.tensor(rows).log()
    return logits + torch.tensor(shifts)[:, None] if shifts else logits


@task("ex07_objectives", 4)
def mlm_loss(function: Callable) -> Passed:
    """The mean of -log p over the masked positions."""
    check = LossCheck(
        "mlm_loss",
        function,
        hints=(
            "F.cross_entropy(logits, words) is the mean, and has an argument for the sum",
            "sum, divided by max(1, N): then no holes cost 0",
        ),
    )
    check.examples(
        *(logits_of([0.1, 0.6, 0.3]), torch.tensor([1])),
        gives=0.5108,
        because="dog 0.1, mat 0.6, carpet 0.3, and mat is true: -log 0.6",
        mistakes=[
            (0.2218, LOG10),
            (0.737, LOG2),
            (-0.5108, SIGN),
            (0.6, "that is p; the loss is -log p"),
            (-0.6, "that is -p; the loss is -log p"),
            (0.4, "that is 1 - p; the loss is -log p"),
            (0.8533, TWICE),
            (0.0, BY_COLUMN),
            (0.1703, "the mean over the rows, not over the words of the vocabulary"),
            (1.3391, "only the true word's log p counts, not that of all words"),
            (0.3243, "that is binary cross-entropy of each word; here one word of all is true"),
            (0.9729, "that is binary cross-entropy of each word; here one word of all is true"),
        ],
    )
    rows = logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0])
    check.examples(
        *(rows, torch.tensor([1, 0])),
        gives=1.0601,
        because="p is 0.6 and 0.2: the mean of 0.5108 and 1.6094. Logits may be any numbers",
        mistakes=[
            (2.1203, SUM.format("masked positions, N")),
            (0.9163, "that is -log of the mean p; take the mean of the -log p"),
            (1.5081, "row n has its own word: logits[arange(N), words], not logits[:, words]"),
            (0.3534, "divide by N, the number of rows, not by N times V"),
            (3.6538, BY_COLUMN),
            (5.0605, BY_COLUMN),
            (0.0601, NO_SOFTMAX),
            (0.5108, "the true word of each row is words[n], not the likeliest one"),
            (1.0519, TWICE),
        ],
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
        because="a batch without holes costs 0; 0 / 0 would be nan, and spoil every weight",
    )
    check.gradients(rows, words)
    _like_torch(check)
    return check.passed()


def _like_torch(check: LossCheck) -> None:
    logits = 3 * normal(300, 80, dtype=torch.float64)
    words = torch.arange(300) * 7 % 80
    because = "as F.cross_entropy says, for 300 positions and 80 words"
    check.example(logits, words, gives=F.cross_entropy(logits, words), because=because)
    check.done("huge logits, no holes, gradients, 300 positions")


@task("ex07_objectives", 5)
def nsp_loss(function: Callable) -> Passed:
    """The published form: a softmax over IsNext and NotNext."""
    check = LossCheck(
        "nsp_loss",
        function,
        hints=(
            "two classes are a small vocabulary: what did `mlm_loss` do?",
            "F.cross_entropy(logits, next_sentence)",
        ),
    )
    column = "column 0 is IsNext, and next_sentence is the column that is true: 0 where B follows A"
    each = "the two columns share one whole: a softmax along dim=-1, not a sigmoid of each"
    check.examples(
        *(logits_of([0.7, 0.3]), torch.tensor([0])),
        gives=0.3567,
        because="B follows A, believed with 0.7: -log 0.7",
        mistakes=[
            (1.204, column),
            (0.0, BY_COLUMN),
            *[(0.1549, LOG10), (0.5146, LOG2), (-0.3567, SIGN), (0.513, TWICE)],
            *[(0.5748, each), (0.8873, each), (0.2624, each), (0.5306, each)],
            (0.1783, "the mean over the pairs, not over pairs and columns"),
            (0.7, "that is p; the loss is -log p"),
        ],
    )
    logits = logits_of([0.9, 0.1], [0.2, 0.8], [0.6, 0.4], shifts=[5.0, -3.0, 2.0])
    truth = torch.tensor([0, 1, 0])
    check.examples(
        *(logits, truth),
        gives=0.2798,
        because="(0.105 + 0.223 + 0.511) / 3",
        mistakes=[
            (1.6094, column),
            (0.8393, SUM.format("pairs")),
            (3.1918, BY_COLUMN),
            (0.2054, "pairs that do not follow count, too: -log p of column 1"),
            *[(0.1215, LOG10), (0.4036, LOG2), (0.4689, TWICE), (-1.0536, NO_SOFTMAX)],
        ],
    )
    check.done("the slide's three pairs")
    huge = torch.tensor([[1000.0, 0.0], [0.0, 1000.0]])
    check.example(huge, torch.tensor([1, 1]), gives=500.0, because=HUGE)
    check.gradients(logits, truth)
    many = 5 * normal(400, 2, dtype=torch.float64)
    truth = torch.arange(400) * 7 // 3 % 2
    because = "400 pairs, as F.cross_entropy says"
    check.example(many, truth, gives=F.cross_entropy(many, truth), because=because)
    check.done("huge logits, gradients, 400 pairs")
    return check.passed()


@task("ex07_objectives", 5)
def nsp_sigmoid_loss(function: Callable) -> Passed:
    """With one logit: binary cross-entropy."""
    check = LossCheck(
        "nsp_sigmoid_loss",
        function,
        hints=(
            "two terms, one for y = 1 and one for y = 0; for each pair one of them is 0",
            "log p is F.logsigmoid(logit), and log(1 - p) is F.logsigmoid(-logit)",
        ),
    )
    check.examples(
        *(torch.tensor([0.7]).logit(), torch.tensor([1.0])),
        gives=0.3567,
        because="p = sigmoid(logit) = 0.7 and B follows A: -log 0.7",
        mistakes=[
            *[(0.1549, LOG10), (0.5146, LOG2), (-0.3567, SIGN)],
            (1.204, "y is 1 where B follows A: 1 belongs to log p, 0 to log(1 - p)"),
            (0.1657, "logits are not p yet: the sigmoid is missing"),
            (0.4032, "sigmoid twice: logsigmoid takes the logit and does the sigmoid itself"),
            (0.09, "that is the squared error; the loss is -log p"),
        ],
    )
    logit, is_next = torch.tensor([0.9, 0.2, 0.6]).logit(), torch.tensor([1.0, 0.0, 1.0])
    check.examples(
        *(logit, is_next),
        gives=0.2798,
        because="(0.105 + 0.223 + 0.511) / 3; the second pair does not follow: -log(1 - 0.2)",
        mistakes=[
            (0.8393, SUM.format("pairs")),
            (0.2054, "the second term is missing: (1 - y) * log(1 - p), for pairs with y = 0"),
            (0.3081, "pairs that do not follow count, too: (1 - y) * log(1 - p)"),
            (0.131, "the sign of the second term: -(y log p + (1 - y) log(1 - p))"),
            (0.7419, "y must choose: y * log p + (1 - y) * log(1 - p)"),
            (-0.6644, "1 - log p is not log(1 - p): 1 - sigmoid(z) = sigmoid(-z)"),
            (0.07, "that is the squared error; the loss is -log p"),
        ],
    )
    wrong = "a confident mistake: p = 0.01 where B follows A costs -log 0.01"
    check.examples(
        *(torch.tensor([0.01]).logit(), torch.tensor([1.0])),
        gives=4.6052,
        because=wrong,
        mistakes=[(0.0101, "y is 1 where B follows A")],
    )
    check.done("the slide's four pairs")
    for y, cost in ((0.0, 1000.0), (1.0, 0.0)):
        huge, truth = torch.tensor([1000.0, -1000.0]), torch.tensor([y, 1 - y])
        check.example(huge, truth, gives=cost, because=HUGE)
    check.gradients(logit, is_next)
    check.done("huge logits, gradients")
    logits = 5 * normal(400, 2, dtype=torch.float64)
    truth = torch.arange(400) * 7 // 3 % 2
    check.example(
        *(logits[:, 0] - logits[:, 1], 1.0 - truth.double()),
        gives=F.cross_entropy(logits, truth),
        because="the softmax over two logits is the sigmoid of their difference, so both losses "
        "agree",
    )
    check.done("it equals nsp_loss on 400 pairs")
    return check.passed()


@task("ex07_objectives", 6)
def mlm_gradient(function: Callable) -> Passed:
    """(softmax - one-hot) / N."""
    check = LossCheck(
        "mlm_gradient",
        function,
        hints=(
            "each row: what the model said, minus what was true",
            "softmax, then subtract 1 at [torch.arange(N), words], then divide by N",
        ),
    )
    scale = "the loss is a mean over N rows, so its gradient is divided by N"
    turned = "turned round: softmax - one-hot. The true word's gradient is negative: it must go up"
    said = "subtract the one-hot row of the true word: 1 at words[n], 0 elsewhere"
    check.example(
        *(logits_of([0.1, 0.6, 0.3], [0.2, 0.2, 0.6], shifts=[5.0, -3.0]), torch.tensor([1, 0])),
        gives=[[0.05, -0.2, 0.15], [-0.4, 0.1, 0.3]],
        because="([0.1, 0.6, 0.3] - [0, 1, 0]) / 2 and ([0.2, 0.2, 0.6] - [1, 0, 0]) / 2",
        mistakes=[
            ([[0.1, -0.4, 0.3], [-0.8, 0.2, 0.6]], scale),
            ([[-0.05, 0.2, -0.15], [0.4, -0.1, -0.3]], turned),
            ([[-0.1, 0.4, -0.3], [0.8, -0.2, -0.6]], f"{turned}; and {scale}"),
            *[(found, said) for found in ([[0.05, 0.3, 0.15], [0.1, 0.1, 0.3]],)],
            ([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], said),
            ([[0.0333, -0.1333, 0.1], [-0.2667, 0.0667, 0.2]], "divide by N, the rows, not by V"),
            (
                [[0.0167, -0.0667, 0.05], [-0.1333, 0.0333, 0.1]],
                "divide by N, the rows, not by N times V",
            ),
            ([[0.4997, -0.0001, 0.4997], [-0.4997, 0.0001, 0.0003]], BY_COLUMN),
            ([[0.9993, -0.0001, 0.9993], [-0.9993, 0.0001, 0.0007]], BY_COLUMN),
            (
                [[-0.45, -0.2, 0.15], [-0.4, -0.4, 0.3]],
                "row n has its own word: gradient[arange(N), words] -= 1; [:, words] takes 1 from "
                "the words of all rows",
            ),
            ([[1.3487, 1.7446, 1.898], [-2.8047, -2.3047, -1.7554]], NO_SOFTMAX),
            (
                [[-1.1513, -0.7554, -0.602], [-1.3047, -0.8047, -0.2554]],
                "the softmax itself, not its logarithm",
            ),
            (
                [[0.0, -0.2, 0.0], [-0.4, 0.0, 0.0]],
                "the other words have a gradient, too: each must go down by its p",
            ),
            (
                [[0.0, -0.8333, 0.0], [-2.5, 0.0, 0.0]],
                "-1 / p is the slope by p; by the logits it is softmax - one-hot",
            ),
        ],
    )
    check.done("two guesses")
    huge = torch.tensor([[1000.0, -1000.0], [0.0, 1000.0]])
    check.example(
        *(huge, torch.tensor([1, 1])),
        gives=[[0.5, -0.5], [0.0, 0.0]],
        because="exp(1000) is infinite: torch.softmax subtracts the largest logit first",
    )
    none = torch.zeros(0, dtype=torch.long)
    check.example(
        *(torch.zeros(0, 3), none), gives=torch.zeros(0, 3), because="no holes, no rows: [0, V]"
    )
    logits, words = 3 * normal(300, 80, dtype=torch.float64), torch.arange(300) * 7 % 80
    expected = _slope(F.cross_entropy, logits, words)
    check.equals(
        *(check.call(logits, words), expected, "300 positions and 80 words"),
        because="autograd says so, in 64 bits",
        tolerance=1e-8,
    )
    check.done("huge logits, no holes, 300 positions against autograd")
    return check.passed()


def _slope(loss: Callable, logits: Tensor, truth: Tensor) -> Tensor:
    """What autograd says about one of PyTorch's losses."""
    logits = logits.clone().requires_grad_()
    return torch.autograd.grad(loss(logits, truth), logits)[0]


@task("ex07_objectives", 6)
def nsp_sigmoid_gradient(function: Callable) -> Passed:
    """(sigmoid - y) / B."""
    check = LossCheck(
        "nsp_sigmoid_gradient",
        function,
        hints=("what the model said, minus what was true", "(p - y) / B, with p the sigmoid"),
    )
    slope = (
        "that has the slope of the sigmoid, p (1 - p), in it. In cross-entropy it cancels: p - y"
    )
    scale = "the loss is a mean over B pairs, so its gradient is divided by B"
    turned = "turned round: p - y. Where B follows A the logit must go up: its gradient is negative"
    check.example(
        *(torch.tensor([0.9, 0.2]).logit(), torch.tensor([1.0, 0.0])),
        gives=[-0.05, 0.1],
        because="(0.9 - 1) / 2 and (0.2 - 0) / 2",
        mistakes=[
            ([-0.1, 0.2], scale),
            ([0.05, -0.1], turned),
            ([0.1, -0.2], f"{turned}; and {scale}"),
            ([-0.0045, 0.016], slope),
            ([-0.009, 0.032], slope),
            ([0.045, 0.08], slope),
            ([0.09, 0.16], slope),
            ([0.5986, -0.6931], "logits are not p yet: the sigmoid is missing"),
            ([0.45, 0.1], "subtract the truth: p - y"),
            ([0.45, -0.4], "y is 1 where B follows A"),
            ([-0.5556, 0.0], "-1 / p is the slope by p; by the logit it is p - y"),
            ((), "a number for each pair: [B], not their mean"),
        ],
    )
    huge, truth = torch.tensor([1000.0, -1000.0]), torch.tensor([0.0, 1.0])
    check.example(huge, truth, gives=[0.5, -0.5], because="p is 1 and 0, both wrong")
    check.done("two pairs, huge logits")
    logit, truth = 5 * normal(400, dtype=torch.float64), torch.arange(400.0).double() % 2
    expected = _slope(F.binary_cross_entropy_with_logits, logit, truth)
    check.equals(
        *(check.call(logit, truth), expected, "400 pairs"),
        because="autograd says so, in 64 bits; the mean is over all pairs, so divide by B",
        tolerance=1e-8,
    )
    check.done("400 pairs against autograd")
    return check.passed()
