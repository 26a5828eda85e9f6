"""Checks of functions that take and return tensors: shapes, dtypes, numbers, gradients."""

import random
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course.feedback.checks import Check
from course.feedback.differences import a, short

READY_MADE = (
    "uses code that contains the answer to this task: bertlab's own, or a ready-made function of "
    "PyTorch. So it cannot be the answer: write the steps yourself, with plain operations such as "
    "@, exp and sum"
)
OWN_CODE = (
    "uses bertlab's own code, which contains the answer to this task: write the steps yourself, "
    "with Python and PyTorch"
)
CUT = (
    "stay with tensors: .item(), .tolist(), .detach(), .data, math.exp and torch.tensor(...) cut "
    "off the gradient, and a model that contains this function would not learn"
)
# The worked examples state four decimals.
TOLERANCE = 2e-4
NUMBERS = {2: "two", 3: "three"}


class TensorCheck(Check):
    """A check whose examples are tensors; `gives` may be written as a nested list.

    The function gets copies; a change of them is detected, as in `Check`.
    """

    refused = READY_MADE
    ready_made: tuple[str, ...] = ("attention",)
    changed = (
        "work on a copy, x.clone() or list(...): operations that end in _ (exp_, masked_fill_), += "
        "and x[...] = write into what you were given, as .sort() and .pop() of a list do"
    )

    def example(
        self,
        *arguments: Any,
        gives: Any,
        because: str = "",
        tolerance: float = TOLERANCE,
    ) -> None:
        """A worked example: shape, dtype and every number must be right."""
        answer = self.call(*arguments, because=because)
        self.equals(answer, gives, self.shown(arguments), because=because, tolerance=tolerance)

    def equals(
        self,
        answer: Any,
        gives: Any,
        shown: str,
        *,
        because: str = "",
        tolerance: float = TOLERANCE,
    ) -> None:
        """An answer, or one part of it, must be `gives`; `shown` is its call."""
        expected = gives if isinstance(gives, Tensor) else torch.tensor(gives)
        found = tensor_difference(expected, answer, tolerance)
        self.compared(found, answer, shown, because, tolerance)

    def rows_sum_to_one(self, probabilities: Tensor, shown: str) -> None:
        """A law of attention: each row (the last dimension) sums to 1."""
        sums = probabilities.sum(dim=-1)
        wrong = ((sums - 1).abs() > 1e-4) | sums.isnan()
        if not wrong.any():
            return
        place = wrong.nonzero()[0].tolist()
        message = f"{shown}\nrow {place} sums to {sums[tuple(place)]:.4g}, not to 1"
        for dim in range(-2, -probabilities.dim() - 1, -1):
            if ((probabilities.sum(dim=dim) - 1).abs() < 1e-4).all():
                message += f"; the sums along dim={dim} are 1, but a row is dim=-1"
                break
        self.fail(message, "every row of shares must sum to 1")

    def gradients(self, *arguments: Any, constant: Sequence[int] = ()) -> None:
        """Every tensor of decimals among the arguments must receive a gradient.

        constant: the numbers of those that need none, from 1.
        """
        given = [
            x.detach().clone().requires_grad_(x.is_floating_point() and number not in constant)
            if isinstance(x, Tensor)
            else x
            for number, x in enumerate(arguments, start=1)
        ]
        answer, error = self._run(tuple(given), "")
        result = answer[0] if isinstance(answer, tuple) else answer
        shown = f"{self.shown(arguments)} with requires_grad=True"
        if error is not None or not isinstance(result, Tensor) or not result.requires_grad:
            reason = f"raised {type(error).__name__}: {error}" if error else "has lost the gradient"
            self.fail(f"{shown}\n{reason}", CUT)
        # Not the plain sum: that of a softmax is always 1, with gradient 0.
        weights = torch.linspace(0.5, 2, result.numel(), dtype=result.dtype).view_as(result)
        (result * weights).sum().backward()
        for number, x in enumerate(given, start=1):
            if isinstance(x, Tensor) and x.requires_grad:
                if x.grad is None or not x.grad.any():
                    self.fail(f"{shown}\nno gradient reaches argument {number}", CUT)
                if not x.grad.isfinite().all():
                    self.fail(f"{shown}\nthe gradient of argument {number} holds nan or inf")

    def several(
        self, number: int, *arguments: Any, what: str, because: str = ""
    ) -> tuple[Tensor, ...]:
        """The tensors of an answer; the check fails if it is something else than this many."""
        answer = self.call(*arguments, because=because)
        is_all = isinstance(answer, tuple) and len(answer) == number
        self.law(
            is_all and all(isinstance(each, Tensor) for each in answer),
            f"{self.shown(arguments)}\nit must return {NUMBERS[number]} tensors, {what}; it "
            f"returned {described(answer)}",
        )
        return answer

    def _same(self, given: tuple, arguments: tuple) -> bool:
        return same(given, arguments)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}({', '.join(map(written, arguments))})"


class NumberCheck(TensorCheck):
    """A check whose examples give a number, right to about four digits.

    The number may be a tensor without dimensions, as in hidden tests.
    """

    ready_made = ()

    def example(
        self, *arguments: Any, gives: float, because: str = "", tolerance: float = TOLERANCE
    ) -> None:
        """A worked example."""
        answer, shown = self.call(*arguments, because=because), self.shown(arguments)
        if isinstance(answer, Tensor) and answer.shape == () and not answer.is_complex():
            answer = answer.item()
        self.law(
            isinstance(answer, Real),
            f"{shown}\nit must return a number; it returned {short(answer)}",
        )
        got, wanted = (torch.tensor(float(x), dtype=torch.float64) for x in (answer, gives))
        self.equals(got, wanted, shown, because=because, tolerance=tolerance)


class GradientsCheck(TensorCheck):
    """A check of several gradients, derived on paper; `by` names what each is by, in order."""

    ready_made: tuple[str, ...] = ("backward",)
    by: tuple[str, ...] = ()

    def by_hand(self, *arguments: Any, gives: Sequence[Any], because: str) -> None:
        """A worked example: each gradient must be right."""
        *first, last = self.by
        what = f"the gradients by {', '.join(first)} and {last}"
        answer = self.several(len(self.by), *arguments, what=what, because=because)
        shown = self.shown(arguments)
        for name, one, wanted in zip(self.by, answer, gives, strict=True):
            self.equals(one, wanted, f"{shown}: the gradient by {name}", because=because)


def described(answer: Any) -> str:
    """What a function returned, in words."""
    return f"a tensor {written(answer)}" if isinstance(answer, Tensor) else short(answer)


def written(value: Any) -> str:
    """A value as a student would write it; for a large tensor its shape.

    >>> written(torch.tensor([[14.0, 0.25]])), written(torch.ones(2, 70))
    ('[[14, 0.25]]', 'a [2, 70] tensor')
    """
    if isinstance(value, Tensor):
        if value.numel() > 16:
            return f"a {list(value.shape)} tensor"
        return _nested(value.tolist())
    if hasattr(value, "_fields"):
        return "weights"
    if isinstance(value, list) and value and hasattr(value[0], "_fields"):
        return f"{len(value)} heads"
    return short(value)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def same(one: Any, other: Any) -> bool:
    """Whether two arguments are equal, tensors inside them included.

    >>> same((torch.ones(2), 3), (torch.ones(2), 3)), same([torch.ones(2)], [torch.zeros(2)])
    (True, False)
    """
    if isinstance(one, Tensor):
        return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def tensor_difference(expected: Tensor, got: Any, tolerance: float = TOLERANCE) -> str:
    """One or more lines that describe how `got` differs from a tensor, or "" if it does not.

    >>> print(tensor_difference(torch.ones(2, 3), torch.ones(3, 2)))
    it must return a tensor of shape [2, 3]; it returned one of shape [3, 2]
    >>> print(tensor_difference(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.7])))
    expected [0.5, 0.5]
    got      [0.5, 0.7]
    """
    wanted = f"it must return a tensor of shape {list(expected.shape)}"
    if got is None:
        return f"{wanted}; it returned None. Is there a `return` at the end?"
    if not isinstance(got, Tensor):
        return f"{wanted}; it returned {short(got, limit=80)}, {a(got)}"
    if got.shape != expected.shape:
        return f"{wanted}; it returned one of shape {list(got.shape)}"
    if got.dtype != expected.dtype:
        return f"its dtype must be {expected.dtype}; it returned {got.dtype}"
    one, other = expected.double(), got.detach().double()
    close = torch.isclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)
    if close.all():
        return ""
    if expected.numel() <= 16:
        return f"expected {written(expected)}\ngot      {written(got.detach())}"
    place = (~close).nonzero()[0].tolist()
    here = tuple(place)
    return (
        f"at {place}: expected {one[here]:.4g}, got {other[here]:.4g}; "
        f"{(~close).sum():,} of {close.numel():,} numbers differ"
    )


def global_generators() -> tuple:
    """The states of Python's, NumPy's and PyTorch's global generators of random numbers."""
    state: Any = np.random.get_state()
    kind, numbers, *place = state
    return random.getstate(), kind, numbers.tobytes(), place, torch.get_rng_state().tolist()


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Random numbers for long inputs, the same in every session."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
