"""The optimizer of pre-training: AdamW without weight decay for biases and norms."""

import torch
from torch import nn


def adamw(model: nn.Module, learning_rate: float, weight_decay: float = 0.01) -> torch.optim.AdamW:
    """AdamW with betas (0.9, 0.999) and weight decay for matrices only.

    Biases and the scales and shifts of the norms are vectors: decaying them to zero would not make
    the model simpler. Each parameter is in one group, a tied one once.

    Source: Devlin et al. (2019), appendix A.2; `optimization.py` in BERT's repository, which
    excludes LayerNorm and biases, has eps 1e-6 and omits Adam's bias correction.
    """
    groups = parameter_groups(model, weight_decay)
    return torch.optim.AdamW(groups, lr=learning_rate, eps=1e-6, fused=True)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Two groups for an optimizer: matrices with weight decay, vectors without."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
