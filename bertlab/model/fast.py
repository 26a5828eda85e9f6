"""The fast twins of the model's parts: PyTorch's kernels. `bertlab.parts` says when they run."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.attention import causal_mask, dropout

gelu = F.gelu


def row_softmax(scores: Tensor) -> Tensor:
    """PyTorch's softmax."""
    return scores.softmax(dim=-1)


def attention_probabilities(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """With PyTorch's softmax, in two thirds of the time.

    It scales the L queries instead of the L x L' scores.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT  # [..., L, L']
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


def attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    rate: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """By PyTorch's fused kernel, which need not store the [L, L'] matrix.

    On a CPU it is slow in training with dropout or in bfloat16, so these cases are computed here.
    """
    slow = rate > 0 or (torch.is_grad_enabled() and torch.is_autocast_enabled("cpu"))
    if not slow or query.device.type != "cpu":
        return F.scaled_dot_product_attention(
            query, key, value, mask, dropout_p=rate, is_causal=causal
        )
    if causal:
        mask = causal_mask(query.shape[-2], query.device)
    return dropout(attention_probabilities(query, key, mask), rate) @ value


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-12) -> Tensor:
    """PyTorch's layer norm."""
    return F.layer_norm(x, gamma.shape, gamma, beta, eps)
