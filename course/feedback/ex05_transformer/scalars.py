"""A check of functions that return one number."""

from typing import Any

import torch

from course.feedback.checks import REFUSED
from course.feedback.differences import short
from course.feedback.tensors import TensorCheck


class NumberCheck(TensorCheck):
    """A check whose examples give a plain number, right to about four digits."""

    refused = REFUSED
    ready_made = ()

    def example(self, *arguments: Any, gives: float, because: str = "") -> None:
        """A worked example."""
        answer, shown = self.call(*arguments, because=because), self.shown(arguments)
        self.law(
            isinstance(answer, int | float),
            f"{shown}\nit must return a number; it returned {short(answer)}",
        )
        got, wanted = (torch.tensor(x, dtype=torch.float64) for x in (answer, gives))
        self.equals(got, wanted, shown, because=because)
