"""Adam by hand, for reading: training runs PyTorch's Adam; a test compares both.

Source: Kingma & Ba (2015), "Adam: A Method for Stochastic Optimization", Algorithm 1.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Moments(NamedTuple):
    """Adam's running means of a parameter's gradients."""

    mean: Tensor  # m, a running mean of the gradient
    square: Tensor  # v, a running mean of the squared gradient

    @classmethod
    def start(cls, parameter: Tensor) -> "Moments":
        """Zeros in the parameter's shape."""
        return cls(torch.zeros_like(parameter), torch.zeros_like(parameter))


def adam_step(
    parameter: Tensor,
    gradient: Tensor,
    moments: Moments,
    step: int,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> tuple[Tensor, Moments]:
    """One step of Adam: the new parameter and the new moments; nothing is changed in place.

    parameter, gradient and both moments: tensors of the same shape; step: counted from 1, needed
    because the running means start at zero and are too small at first.
    """
    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient
    square = betas[1] * moments.square + (1 - betas[1]) * gradient**2
    unbiased_mean = mean / (1 - betas[0] ** step)
    unbiased_square = square / (1 - betas[1] ** step)
    moved = parameter - learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps)
    return moved, Moments(mean, square)
