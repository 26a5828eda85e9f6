"""How the checks of exercise 7 handle randomness.

Random results have no worked example, so these checks count: the share of an event of probability p
may differ from p by five standard deviations. A right solution exceeds that once in a hundred
thousand times; and since the seeds are fixed, it passes always or never.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from course.feedback.tensors import TensorCheck, written


class Seed(int):
    """A placeholder for a generator among arguments: each run gets a new one in this state."""


class MaskingCheck(TensorCheck):
    """A check of a function that must draw only from its generator."""

    def _run(self, arguments: tuple, because: str) -> tuple[Any, Exception | None]:
        before = torch.get_rng_state()
        answer = super()._run(tuple(map(_generator, arguments)), because)
        if not torch.equal(before, torch.get_rng_state()):
            torch.set_rng_state(before)
            self.fail(
                "draws from PyTorch's global generator, which all code shares",
                "pass on yours: torch.rand(..., generator=generator); otherwise no training could "
                "be repeated",
            )
        return answer

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        shown = ("generator" if isinstance(a, Seed) else written(a) for a in arguments)
        return f"{self.name}({', '.join(shown)})"

    def drawn(self, *arguments: Any, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """An answer of this form; with the same generator, the function must repeat it."""
        answer = self.call(*arguments)
        if not isinstance(answer, Tensor) or answer.dtype != dtype or answer.shape != shape:
            self.equals(answer, torch.zeros(shape, dtype=dtype), self.shown(arguments))
        if not torch.equal(answer, self.call(*arguments)):
            self.fail(
                "gave two answers for the same input, with generators in the same state",
                "every random number must come from the generator: generator=generator",
            )
        return answer

    def heeds(self, *arguments: Any) -> None:
        """The generator, which comes last, makes a difference to the answer."""
        one, other = (self.call(*arguments[:-1], Seed(arguments[-1] + n)) for n in (0, 1000))
        if torch.equal(one, other):
            self.fail(
                "gives the same answer for every generator",
                "draw from the generator that you are given; do not create one",
            )

    def share(
        self,
        event: Tensor,
        probability: float,
        what: str,
        because: str = "",
    ) -> None:
        """The share of True in `event`, which mistakes are recognised by."""
        found = ""
        share = event.double().mean().item()
        if off(event, probability):
            found = f"expected about {probability:.1%}, got {share:.1%} of {event.numel():,}"
        self.compared(found, share, what, because, 5 * spread(share, event.numel()))


def _generator(argument: Any) -> Any:
    return torch.Generator().manual_seed(argument) if isinstance(argument, Seed) else argument


def off(event: Tensor, probability: float) -> bool:
    """Whether a share differs from a probability by five standard deviations or more.

    >>> off(torch.arange(1000) < 160, 0.15), off(torch.arange(1000) < 260, 0.15)
    (False, True)
    """
    furthest = 5 * spread(probability, event.numel()) + 1e-9
    return abs(event.double().mean().item() - probability) > furthest


def spread(probability: float, n: int) -> float:
    """The standard deviation of a share of n draws."""
    return sqrt(probability * (1 - probability) / n)
