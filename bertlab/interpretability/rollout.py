"""From the last layer back to the words: attention over all layers at once.

A head of layer 5 attends to vectors in which layers 0 to 4 have already mixed the words. Rollout
and flow trace the attentions back to the words; both add the residual connection, and assume that
half of each vector comes through it, from the vector's own position.

Source: Abnar & Zuidema (2020), "Quantifying Attention Flow in Transformers", section 3.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from bertlab.interpretability.checks import check_attentions

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

UNITS = 10**9  # a capacity of 1, as an integer for SciPy's flow


def with_residual(attention: Tensor) -> Tensor:
    """How one layer mixes tokens: half the mean of its heads, half the residual.

    attention: [H, L, L]. Returns [L, L], 0.5 A + 0.5 I; every row sums to 1.

    Source: Abnar & Zuidema (2020), section 3.

    >>> with_residual(torch.tensor([[[0.2, 0.8], [0.6, 0.4]]]))
    tensor([[0.6000, 0.4000],
            [0.3000, 0.7000]])
    """
    mixed = 0.5 * attention.mean(dim=0) + 0.5 * torch.eye(attention.shape[-1])
    return mixed / mixed.sum(dim=-1, keepdim=True)


def attention_rollout(attentions: Sequence[Tensor]) -> Tensor:
    """How much of each word reaches each token of the last layer, summed over all paths.

    attentions: one [H, L, L] per layer, the first layer first; rollout up to layer i is that of
    `attentions[: i + 1]`. Returns [L, L]: row = token at the top, column = word; rows sum to 1.
    Raises ValueError if a shape does not fit or a row does not sum to 1.

    Source: Abnar & Zuidema (2020), section 3, eq. 1.

    >>> swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    >>> attention_rollout([swap, swap])
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    layers = check_attentions("attention_rollout", attentions)
    rollout = torch.eye(layers[0].shape[-1])
    for attention in layers:
        rollout = with_residual(attention) @ rollout  # [L, L]
    return rollout


def attention_flow(attentions: Sequence[Tensor], query: int) -> Tensor:
    """How much could flow from one token at the top to each word, if attentions were pipes.

    attentions: one [H, L, L] per layer, first layer first; query: the token at the top, counted
    from 0. Returns [L]: for each word the maximum flow from the query, where an edge of layer i
    has the capacity that `with_residual` gives it. A flow is at most 1, what leaves the query.
    Each word's flow is computed separately, so they need not sum to 1 (the paper's code divides
    by the sum, which does not change their order).

    Raises ValueError as `attention_rollout`, or if there is no such token.

    Source: Abnar & Zuidema (2020), section 3. Their code computes the flow with NetworkX; SciPy is
    faster and uses integers, so it is exact to about 1e-8.

    >>> swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    >>> attention_flow([swap, swap], query=0)
    tensor([1., 1.])
    """
    layers = check_attentions("attention_flow", attentions)
    length = layers[0].shape[-1]
    if not 0 <= query < length:
        raise ValueError(
            f"attention_flow: query must be a token from 0 to {length - 1}; got {query}"
        )
    from scipy.sparse.csgraph import maximum_flow

    pipes = _pipes(layers)
    top = len(layers) * length + query
    flows = [maximum_flow(pipes, top, word).flow_value / UNITS for word in range(length)]
    return torch.tensor(flows, dtype=torch.float32)


def _pipes(layers: Sequence[Tensor]) -> "csr_matrix":
    """Capacities between (layer, token) and (layer below, token); node = layer * L + token."""
    from scipy.sparse import csr_matrix

    length = layers[0].shape[-1]
    rows, columns, capacities = [], [], []
    for number, attention in enumerate(layers):
        mixed = with_residual(attention).double()
        above, below = torch.cartesian_prod(torch.arange(length), torch.arange(length)).T
        rows.append((number + 1) * length + above)
        columns.append(number * length + below)
        capacities.append((mixed.flatten() * UNITS).round().int())
    size = (len(layers) + 1) * length
    edges = (torch.cat(rows).numpy(), torch.cat(columns).numpy())
    return csr_matrix((torch.cat(capacities).numpy(), edges), shape=(size, size))
