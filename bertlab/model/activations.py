"""GELU, BERT's activation: exact, and the two approximations of the paper.

Source: Hendrycks & Gimpel (2016), section 2; Phuong & Hutter (2022), section 4.
"""

import math

import torch
from torch import Tensor

from bertlab.parts import part


@part("06", twin=True)
def gelu(x: Tensor) -> Tensor:
    """x * Phi(x), where Phi is the distribution function of the standard normal.

    x: any shape; elementwise. Published BERTs use this exact form.

    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


@part("06", derivation=True)
def gelu_tanh(x: Tensor) -> Tensor:
    """GELU with tanh, as in GPT-2 and, since 2019, Google's BERT code; off by under 0.0005.

    >>> gelu_tanh(torch.tensor([1.0]))
    tensor([0.8412])
    """
    return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


@part("06", derivation=True)
def gelu_sigmoid(x: Tensor) -> Tensor:
    """GELU with a sigmoid, x * sigma(1.702 x); off by up to 0.0203.

    >>> gelu_sigmoid(torch.tensor([1.0]))
    tensor([0.8458])
    """
    return x * torch.sigmoid(1.702 * x)
