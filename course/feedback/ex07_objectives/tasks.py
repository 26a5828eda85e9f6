"""Checks of exercise 7 about a step of Adam with some of its parts, and a prediction."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from bertlab.training.steps import Moments
from course.feedback.checks import Check, Passed
from course.feedback.differences import short
from course.feedback.ex06_bert_encoder.weights import numbers
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, written

NAN = float("nan")
BETAS = (0.9, 0.999)
PARTS = frozenset({"mean", "square", "correction"})


class AdamCheck(TensorCheck):
    """A check of an optimizer's step, which returns a parameter and its new moments."""

    # Every optimizer of PyTorch calls the last one at its creation.
    ready_made = ("adam", "rmsprop", "adagrad", "backward", "patch_step_function")

    def step(
        self,
        *arguments: Any,
        gives: tuple[Sequence[float], Sequence[float], Sequence[float]],
        because: str = "",
    ) -> None:
        """One step by hand; `gives`: the new parameter and the new moments, m and v."""
        moved, (mean, square) = self.taken(*arguments, because=because)
        shown, expected = self.shown(arguments), list(map(torch.tensor, gives))
        self.equals(moved, expected[0], shown, because=because)
        b1, b2 = arguments[6]
        self.equals(
            *(mean, expected[1], f"{shown}: the new moments.mean"),
            because=f"m = b1 * m + (1 - b1) * gradient, with b1 = betas[0] = {b1}",
        )
        self.equals(
            *(square, expected[2], f"{shown}: the new moments.square"),
            because=f"v = b2 * v + (1 - b2) * gradient squared, with b2 = betas[1] = {b2}",
        )

    def taken(self, *arguments: Any, because: str = "") -> tuple[Tensor, Moments]:
        """The answer of a step, if its form is right."""
        answer = self.call(*arguments, because=because)
        if not (isinstance(answer, tuple) and len(answer) == 2 and _two(answer[1])):
            self.fail(
                f"{self.shown(arguments)}\nit must return two things: the moved parameter and its "
                f"Moments(mean, square); it returned {_what(answer)}"
            )
        return answer

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        shown = (
            "moments"
            if hasattr(a, "_fields")
            else _set(a)
            if isinstance(a, frozenset)
            else written(a)
            for a in arguments
        )
        return f"{self.name}({', '.join(shown)})"


def _set(parts: frozenset[str]) -> str:
    return f"{{{', '.join(map(repr, sorted(parts)))}}}" if parts else "set()"


def _two(moments: Any) -> bool:
    return isinstance(moments, tuple) and len(moments) == 2


def _what(answer: Any) -> str:
    return f"a tensor {written(answer)}" if isinstance(answer, Tensor) else short(answer)


@task("ex07_objectives", 7)
def adam_step(function: Callable) -> Passed:
    """One step of Adam."""
    check = AdamCheck(
        "adam_step",
        function,
        hints=(
            "m and v first; then corrected or not, along m or along the gradient, divided or not",
            "a running mean is beta * old + (1 - beta) * new; corrected, it is / (1 - beta**step)",
        ),
    )
    _first_steps(check)
    _later_step(check)
    _without_parts(check)
    _hundred_steps(check)
    return check.passed()


def _first_steps(check: AdamCheck) -> None:
    one, gradient = torch.ones(2), torch.tensor([0.5, -2.0])
    memory = ([0.05, -0.2], [0.00025, 0.004])
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, PARTS, BETAS, 0.0),
        gives=([0.9, 1.1], *memory),
        because="m = [0.05, -0.2], corrected [0.5, -2]; v corrected [0.25, 4], its root [0.5, 2]: "
        "the first step is the learning rate, whatever the gradient's size",
    )
    check.step(
        *(one, gradient, Moments.start(one), 1, 0.1, PARTS, BETAS, 0.5),
        gives=([0.95, 1.08], *memory),
        because="with eps = 0.5: 0.1 * 0.5 / (0.5 + 0.5) and 0.1 * -2 / (2 + 0.5)",
    )
    check.done("the first step, by hand")


def _later_step(check: AdamCheck) -> None:
    memory = Moments(torch.tensor([0.2, -0.1]), torch.tensor([0.09, 0.01]))
    check.step(
        *(torch.ones(2), torch.tensor([0.5, -2.0]), memory, 3, 0.1, PARTS, (0.5, 0.75), 0.0),
        gives=([0.9156, 1.0909], [0.35, -1.05], [0.13, 1.0075]),
        because="m = [0.35, -1.05] / (1 - 0.5**3), v = [0.13, 1.0075] / (1 - 0.75**3)",
    )
    check.done("the third step, by hand")


def _without_parts(check: AdamCheck) -> None:
    """The third step again, with one part missing, and with none or one left."""
    memory = Moments(torch.tensor([0.2, -0.1]), torch.tensor([0.09, 0.01]))
    for parts, moved, because in (
        (
            PARTS - {"mean"},
            [0.8946, 1.1515],
            "along the gradient of this step, divided by the root of the corrected v",
        ),
        (
            PARTS - {"square"},
            [0.96, 1.12],
            "along the corrected m, [0.4, -1.2], and not divided",
        ),
        (
            PARTS - {"correction"},
            [0.9029, 1.1046],
            "m and v as they are, [0.35, -1.05] and [0.13, 1.0075]",
        ),
        (frozenset(), [0.95, 1.2], "no part is left: plain gradient descent"),
        (frozenset({"mean"}), [0.965, 1.105], "m as it is, and not divided"),
    ):
        check.step(
            *(torch.ones(2), torch.tensor([0.5, -2.0]), memory, 3, 0.1, parts, (0.5, 0.75), 0.0),
            gives=(moved, [0.35, -1.05], [0.13, 1.0075]),
            because=because,
        )
    check.done("without each of the parts, with none and with one")


def _hundred_steps(check: AdamCheck) -> None:
    """Each step on the moments of the one before, with betas and eps left out."""
    gradients = numbers(100, 3, seed=5, dtype=torch.float64)
    gradients = gradients * torch.logspace(-3, 1, 100, dtype=torch.float64)[:, None]
    parameter = torch.ones(3, dtype=torch.float64)
    moments = Moments.start(parameter)
    for step, gradient in enumerate(gradients, start=1):
        parameter, moments = check.taken(parameter, gradient, Moments(*moments), step, 0.01, PARTS)
        if step in WAY:
            check.equals(
                *(parameter, torch.tensor(WAY[step], dtype=torch.float64)),
                f"after {step} steps of 0.01 from [1, 1, 1]",
                because="each step starts from the moments of the one before; betas and eps have "
                "the values of the first line if they are not given",
                tolerance=1e-5,
            )
    check.done("a hundred steps, as torch.optim.Adam takes them")


@task("ex07_objectives", 8)
def predict_first_step(function: Callable) -> Passed:
    """A number above 0, of the student's choice."""
    check = Check("predict_first_step", function, hints=("write `return` and a number",))
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(
        number and isfinite(answer) and answer > 0,
        f"it must be a number above 0, in learning rates; it returned {answer!r}",
    )
    check.done(f"you predict {answer:.3g} learning rates; now measure")
    return check.passed()


# The path of torch.optim.Adam: the number of steps, and the three weights after them.
WAY = {
    1: [1.01, 1.01, 0.99],
    2: [1.012007, 1.019537, 0.989525],
    10: [0.990767, 1.061983, 0.985416],
    100: [0.827608, 0.964672, 0.981232],
}
