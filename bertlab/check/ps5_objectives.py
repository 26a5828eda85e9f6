"""Checks of assignment 5, the objectives: a step of Adam, and the way to all other checks.

Those about masking stand in `ps5_masking.py`, those about losses and gradients in `ps5_losses.py`;
how one checks what chance decides, in `ps5_chance.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from bertlab.check.differences import short
from bertlab.check.feedback import Passed
from bertlab.check.ps5_losses import (
    mlm_gradient,
    mlm_loss,
    nsp_loss,
    nsp_sigmoid_gradient,
    nsp_sigmoid_loss,
)
from bertlab.check.ps5_masking import choose_tokens, choose_words, hide
from bertlab.check.tensors import TensorCheck, normal, written
from bertlab.training.adam import Moments

__all__ = [
    "adam_step",
    "choose_tokens",
    "choose_words",
    "hide",
    "mlm_gradient",
    "mlm_loss",
    "nsp_loss",
    "nsp_sigmoid_gradient",
    "nsp_sigmoid_loss",
]

NAN = float("nan")
DEFAULT_BETAS = (0.9, 0.999)


class AdamCheck(TensorCheck):
    """A check of an optimizer's step, which returns a parameter and its new moments."""

    ready_made = ("adam", "rmsprop", "adagrad", "backward")

    def step(
        self, *arguments: Any, because: str = "", mistakes: Sequence[tuple[Any, str]] = ()
    ) -> tuple[Tensor, Moments]:
        """One step that must be PyTorch's, given the same memory; the answer of the function."""
        answer = self.call(*arguments, because=because)
        shown = self._shown(arguments)
        if not (isinstance(answer, tuple) and len(answer) == 2 and _two(answer[1])):
            self.fail(
                f"{shown}\nit must return two things: the moved parameter and its Moments(mean, "
                f"square); it returned {_what(answer)}"
            )
        moved, (mean, square) = answer
        expected = by_torch(*arguments)
        self.equals(moved, expected[0], shown, because=because, mistakes=mistakes)
        kept = "what Adam remembers is m and v as they are; only the step uses the corrected ones"
        old = "the moments of before: return the new ones"
        b1, b2 = arguments[5] if len(arguments) > 5 else DEFAULT_BETAS
        step, before = arguments[3], arguments[2]
        self.equals(
            *(mean, expected[1].mean, f"{shown}: the new moments.mean"),
            because="m = b1 * m + (1 - b1) * gradient",
            mistakes=[
                (expected[1].mean / (1 - b1**step), kept),
                (expected[1].square, "first the mean, then the square: Moments(mean, square)"),
                (before.mean, old),
            ],
        )
        self.equals(
            *(square, expected[1].square, f"{shown}: the new moments.square"),
            because="v = b2 * v + (1 - b2) * gradient squared",
            mistakes=[(expected[1].square / (1 - b2**step), kept), (before.square, old)],
        )
        return answer

    def _shown(self, arguments: tuple) -> str:
        shown = ("moments" if hasattr(a, "_fields") else written(a) for a in arguments)
        return f"{self.name}({', '.join(shown)})"


def _two(moments: Any) -> bool:
    return isinstance(moments, tuple) and len(moments) == 2


def _what(answer: Any) -> str:
    return f"a tensor {written(answer)}" if isinstance(answer, Tensor) else short(answer)


def by_torch(
    parameter: Tensor,
    gradient: Tensor,
    moments: Moments,
    step: int,
    learning_rate: float,
    betas: tuple[float, float] = DEFAULT_BETAS,
    eps: float = 1e-8,
) -> tuple[Tensor, Moments]:
    """What `torch.optim.Adam` does in its step number `step`, with these moments."""
    weight = parameter.clone().requires_grad_()
    weight.grad = gradient.clone()
    optimizer = torch.optim.Adam([weight], lr=learning_rate, betas=betas, eps=eps)
    optimizer.state[weight] = {
        "step": torch.tensor(float(step - 1)),
        "exp_avg": moments.mean.clone(),
        "exp_avg_sq": moments.square.clone(),
    }
    optimizer.step()
    state = optimizer.state[weight]
    return weight.detach(), Moments(state["exp_avg"], state["exp_avg_sq"])


def adam_step(function: Callable) -> Passed:
    """Task 7: one step of Adam."""
    check = AdamCheck(
        "adam_step",
        function,
        hints=(
            "five lines, as in the algorithm: m, v, m corrected, v corrected, the step",
            "a running mean is beta * old + (1 - beta) * new; corrected, it is / (1 - beta**step)",
        ),
    )
    _first_steps(check)
    _later_step(check)
    _hundred_steps(check)
    return check.passed()


def _first_steps(check: AdamCheck) -> None:
    one, gradient = torch.ones(2), torch.tensor([0.5, -2.0])
    bias = "the running means start at 0 and are too small at first: divide by 1 - beta**step"
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, DEFAULT_BETAS, 0.0),
        because="m = [0.05, -0.2], corrected [0.5, -2]; v corrected [0.25, 4], its root [0.5, 2]: "
        "the first step is the learning rate, whatever the gradient's size",
        mistakes=[
            ([1.1, 0.9], "against the gradient: parameter minus the step"),
            *[([0.6838, 1.3162], bias), ([0.99, 1.01], bias), ([-2.1623, 4.1623], bias)],
            ([0.9256, 1.0744], "step is counted from 1 already: beta**step, not beta**(step + 1)"),
            ([NAN, NAN], "step is counted from 1 already: beta**(step - 1) would divide by 0"),
            ([0.8, 1.05], "divide by the root of v"),
            ([0.9293, NAN], "v is a mean of squares: gradient**2"),
            ([0.0, 2.0], "divide by 1 - beta**step, do not multiply"),
            ([0.95, 1.2], "that is plain gradient descent: divide by the root of v"),
            ([-0.1, 0.1], "the step is taken from the parameter: parameter - ..."),
            (
                [0.9684, 1.0316],
                "the new gradient counts with 1 - beta: beta * old + (1 - beta) * new",
            ),
            (
                [0.9715, 1.0285],
                "turned round: the old mean counts with beta, the new gradient with 1 - beta",
            ),
        ],
    )
    after = "eps is added to the root of the corrected v: sqrt(v) + eps"
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, DEFAULT_BETAS, 0.5),
        because="with eps = 0.5: 0.1 * 0.5 / (0.5 + 0.5) and 0.1 * -2 / (2 + 0.5)",
        mistakes=[
            ([0.9423, 1.0943], "eps stands outside the root: sqrt(v) + eps, not sqrt(v + eps)"),
            ([0.9, 1.1], "eps is not used, or not the one that was given"),
            ([0.9969, 1.0112], f"{after}; first correct v, then take its root, then add eps"),
        ],
    )
    check.done("the first step, by hand")


def _later_step(check: AdamCheck) -> None:
    memory = Moments(torch.tensor([0.2, -0.1]), torch.tensor([0.09, 0.01]))
    check.step(
        *(torch.ones(2), torch.tensor([0.5, -2.0]), memory, 3, 0.1, (0.5, 0.75), 0.0),
        because="m = [0.35, -1.05] / (1 - 0.5**3), v = [0.13, 1.0075] / (1 - 0.75**3)",
        mistakes=[
            ([0.8921, 1.0657], "betas[0] belongs to m, betas[1] to v"),
            ([0.9845, 1.0495], "use the betas that were given, not always 0.9 and 0.999"),
            ([NAN, NAN], "beta to the power of step: beta**step, not beta * step"),
            ([0.8946, 1.1515], "the step goes along m, the running mean, not the last gradient"),
            ([0.9029, 1.1046], "the running means are too small at first: / (1 - beta**step)"),
            ([0.9144, 1.0923], "step is counted from 1 already: take it as it is"),
        ],
    )
    check.done("the third step, by hand")


def _hundred_steps(check: AdamCheck) -> None:
    gradients = normal(100, 3, 4, dtype=torch.float64) * torch.logspace(-3, 1, 100)[:, None, None]
    start = torch.ones(3, 4, dtype=torch.float64)
    ours = reference = (start, Moments.start(start))
    for step, gradient in enumerate(gradients, start=1):
        ours = check.call(ours[0], gradient, Moments(*ours[1]), step, 0.01)
        reference = by_torch(reference[0], gradient, reference[1], step, 0.01)
        check.equals(
            *(ours[0], reference[0], f"step {step} of 100, learning rate 0.01"),
            because="each step starts from the moments of the one before",
            tolerance=1e-7,
        )
    check.done("a hundred steps as torch.optim.Adam takes them")
