"""Dropout, with random numbers that cost a quarter of the usual.

A BERT draws one for every number that a layer adds and for every attention probability: on a
processor, PyTorch's own took 7 % of a BERT-mini's training.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.checks import values_are_at_hand

BITS = 16  # for each decision; PyTorch takes 32


def dropout(x: Tensor, rate: float) -> Tensor:
    """Set each number to 0 with probability `rate`; the others grow, so that the mean stays.

    x: any shape; rate: in [0, 1), taken to the nearest multiple of 1 / 65,536. The numbers come
    from PyTorch's global generator. On a GPU, and inside `torch.compile`, PyTorch's own runs.

    Source: Srivastava et al. (2014); what is kept is divided by 1 - rate in training instead of
    multiplied by it in use.
    """
    if rate == 0:
        return x
    if not values_are_at_hand(x):
        return F.dropout(x, rate)
    dropped = min(round(rate * 2**BITS), 2**BITS - 1)  # of all 65,536 values
    kept = random_bits(x.numel()) >= dropped - 2 ** (BITS - 1)
    return x * kept.view(x.shape).to(x.dtype).mul_(2**BITS / (2**BITS - dropped))


def random_bits(n: int) -> Tensor:
    """[n] numbers from -32,768 to 32,767, evenly: four of them from one of 64 bits."""
    words = torch.empty(-(-n // 4), dtype=torch.int64).random_(-(2**63), None)
    return words.view(torch.int16)[:n]


class Dropout(nn.Module):
    """`dropout` in training, nothing otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return dropout(x, self.rate) if self.training else x

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"rate={self.rate}"
