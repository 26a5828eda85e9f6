"""What surrounds attention in an encoder layer: normalisation, the feed-forward network, residuals.

Source: Phuong & Hutter (2022), Algorithms 6 (layer norm) and 9 (encoder); Devlin et al. (2019).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.attention import MultiHeadAttention
from bertlab.model.config import BertConfig


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
    """`layer_norm` with its two learned vectors, through PyTorch's fused kernel."""

    def __init__(self, d_model: int, eps: float = 1e-12) -> None:
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        return F.layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.eps)


class FeedForward(nn.Module):
    """Each token by itself: D -> d_ff, GELU, d_ff -> D."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[..., D] -> [..., D]."""
        return self.contract(F.gelu(self.expand(x)))


class EncoderLayer(nn.Module):
    """One encoder layer: attention, then feed-forward; each is added to its input, then normed.

    Source: Phuong & Hutter (2022), Algorithm 9, lines 6 to 9 ("post-norm", as BERT has it).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.n_heads, config.dropout)
        self.attention_norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.feed_forward_norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, *, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """x: [B, L, D] -> the same shape, and the probabilities [B, H, L, L] if asked for."""
        attended, probabilities = self.attention(x, mask, output_attentions=output_attentions)
        x = self.attention_norm(x + self.dropout(attended))
        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x, probabilities
