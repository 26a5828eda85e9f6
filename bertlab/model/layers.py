"""What surrounds attention in an encoder layer: norms, GELU, the feed-forward network, residuals.

Source: Hendrycks & Gimpel (2016), section 2, and Phuong & Hutter (2022), section 4, for GELU.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.attention import Dropout, MultiHeadAttention
from bertlab.model.checks import check_layer_norm
from bertlab.parts import part


@part("06", exercise="06", twin=True)
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


@part("06", exercise="06", twin=True, check=check_layer_norm)
def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-12) -> Tensor:
    """Give every row mean 0 and variance 1, then scale and shift it.

    x: [..., D]; gamma, beta: [D]. The variance divides by D, not D - 1. The formal algorithm
    has no `eps`; published BERTs add 1e-12 so that a constant row does not divide by zero.

    Source: Phuong & Hutter (2022), Algorithm 6; Ba et al. (2016).
    """
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gamma + beta


class LayerNorm(nn.Module):
    """`layer_norm` with its two learned vectors."""

    def __init__(self, d_model: int, eps: float = 1e-12) -> None:
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        return layer_norm(x, self.gamma, self.beta, self.eps)


class FeedForward(nn.Module):
    """For each token separately: D -> d_ff, the activation, d_ff -> D.

    activation: "gelu" as in BERT, or "relu" as in the first Transformer.

    Source: Vaswani et al. (2017), section 3.3; Phuong & Hutter (2022), Algorithm 9, line 8.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "gelu") -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"FeedForward: activation must be one of {sorted(ACTIVATIONS)}; got {activation!r}"
            )
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    @part("06")
    def forward(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        return self.contract(self.activation(self.expand(x)))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": gelu, "relu": F.relu}


class EncoderLayer(nn.Module):
    """One encoder layer: attention, then feed-forward, each with a residual connection and a norm.

    d_model, n_heads, d_ff: sizes; dropout: rate on the probabilities and on each half's output;
    activation: "gelu" or "relu"; pre_norm: normalise the input of each half instead of the sum,
    which makes training of many layers easier (BERT and the first Transformer normalise the sum).

    Source: Phuong & Hutter (2022), Algorithm 9, lines 6 to 9; Devlin et al. (2019); pre-norm:
    Xiong et al. (2020).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        eps: float = 1e-12,
        activation: str = "gelu",
        pre_norm: bool = False,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.attention_norm = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.feed_forward_norm = LayerNorm(d_model, eps)
        self.dropout = Dropout(dropout)
        self.pre_norm = pre_norm

    @part("06")
    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        output_attentions: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """x: [B, L, D] -> the same shape, and the probabilities [B, H, L, L] if requested.

        mask and causal: as in `MultiHeadAttention`.
        """
        asked = {"causal": causal, "output_attentions": output_attentions}
        if self.pre_norm:
            attended, probabilities = self.attention(self.attention_norm(x), mask, **asked)
            x = x + self.dropout(attended)
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        else:
            attended, probabilities = self.attention(x, mask, **asked)
            x = self.attention_norm(x + self.dropout(attended))
            x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x, probabilities
