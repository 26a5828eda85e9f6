"""Attention, from one query in plain loops to the many heads that BERT runs.

Rows are tokens, as everywhere in the course. Letters in shape comments:

    B  sequences in a batch     H  heads               d_head  size of one head
    L  tokens in a sequence     D  embedding size

A mask is boolean and `True` means "may be attended"; it broadcasts to [B, H, L, L].

Source: Phuong & Hutter (2022), Algorithms 3 to 5; Vaswani et al. (2017), section 3.2.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class HeadWeights(NamedTuple):
    """The six parameters of one attention head, W_qkv in the formal algorithms."""

    W_q: Tensor  # [D, d_head]
    b_q: Tensor  # [d_head]
    W_k: Tensor  # [D, d_head]
    b_k: Tensor  # [d_head]
    W_v: Tensor  # [D, d_head]
    b_v: Tensor  # [d_head]


def single_query_attention(e: Tensor, context: Tensor, weights: HeadWeights) -> Tensor:
    """Attend from one token to its context, written out in loops: for reading, not for speed.

    e: [D], the current token; context: [L, D], the tokens it looks at.
    Returns [d_head], the context as seen from the token.

    Source: Phuong & Hutter (2022), Algorithm 3.
    """
    d_attn = weights.W_q.shape[1]
    q = e @ weights.W_q + weights.b_q
    scores, values = [], []
    for e_t in context:
        k_t = e_t @ weights.W_k + weights.b_k
        scores.append(q @ k_t / math.sqrt(d_attn))
        values.append(e_t @ weights.W_v + weights.b_v)
    total = sum(math.exp(score) for score in scores)
    return sum(math.exp(score) / total * v_t for score, v_t in zip(scores, values, strict=True))


def row_softmax(scores: Tensor) -> Tensor:
    """Turn every row (the last dimension) into probabilities; -inf becomes exactly 0.

    Subtracting the largest score first changes nothing in the result and keeps exp from
    overflowing: exp(112) is already beyond a 32-bit float.

    >>> row_softmax(torch.tensor([14.0, 12.0]))
    tensor([0.8808, 0.1192])
    """
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def attention_probabilities(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """How much each query attends to each key: softmax_row(Q K^T / sqrt(d_head)).

    query: [..., L, d_head]; key: [..., L', d_head]; mask: broadcasts to [..., L, L'].
    Returns [..., L, L']: row = query, column = key, every row sums to 1.
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # [..., L, L']
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return row_softmax(scores)


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention: every query's weighted mean of the values.

    query: [..., L, d_head]; key: [..., L', d_head]; value: [..., L', d_mid].
    Returns the updated vectors [..., L, d_mid] and the probabilities [..., L, L'].

    Raises ValueError if the shapes do not fit each other.

    Source: Vaswani et al. (2017), eq. 1; Phuong & Hutter (2022), Algorithm 4, lines 4 to 6.
    """
    check_shapes(query, key, value, mask)
    probabilities = attention_probabilities(query, key, mask)
    return probabilities @ value, probabilities


def self_attention(
    x: Tensor, weights: HeadWeights, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One head of self-attention: ATTENTION(X; W_qkv).

    x: [L, D]. Returns the updated vectors [L, d_head] and the probabilities [L, L].

    Source: Phuong & Hutter (2022), Algorithm 4 with Z = X and, without a mask, bidirectional.
    """
    query = x @ weights.W_q + weights.b_q  # [L, d_head]
    key = x @ weights.W_k + weights.b_k  # [L, d_head]
    value = x @ weights.W_v + weights.b_v  # [L, d_head]
    return attention(query, key, value, mask)


def multi_head_attention(
    x: Tensor, heads: list[HeadWeights], W_o: Tensor, b_o: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Several heads side by side, one after the other: MHATTENTION(X; W).

    x: [L, D]; W_o: [H * d_head, D]; b_o: [D]. Returns [L, D].
    `MultiHeadAttention` computes the same for all heads at once.

    Source: Phuong & Hutter (2022), Algorithm 5.
    """
    outputs = [self_attention(x, weights, mask)[0] for weights in heads]  # H times [L, d_head]
    return torch.cat(outputs, dim=-1) @ W_o + b_o


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention as BERT runs it: all heads of all sequences in one product.

    d_model: embedding size; n_heads: heads that share it evenly; dropout: rate on the
    attention probabilities. Raises ValueError if d_model is not divisible by n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                f"MultiHeadAttention: d_model must be divisible by n_heads; "
                f"got d_model={d_model}, n_heads={n_heads}"
            )
        self.n_heads = n_heads
        self.dropout = dropout
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, *, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """x: [B, L, D]; mask: [B, L], [B, 1, L, L] or what broadcasts to it.

        Returns the updated vectors [B, L, D] and, if asked for, the probabilities [B, H, L, L].
        Without them PyTorch's fused kernel runs, which never stores the [L, L] matrix.
        """
        query = split_heads(self.query(x), self.n_heads)  # [B, H, L, d_head]
        key = split_heads(self.key(x), self.n_heads)  # [B, H, L, d_head]
        value = split_heads(self.value(x), self.n_heads)  # [B, H, L, d_head]
        mask = expand_mask(mask, x.shape[0], x.shape[1])
        rate = self.dropout if self.training else 0.0
        if output_attentions:
            probabilities = attention_probabilities(query, key, mask)
            heads = F.dropout(probabilities, rate) @ value
        else:
            probabilities = None
            heads = F.scaled_dot_product_attention(query, key, value, mask, dropout_p=rate)
        return self.output(merge_heads(heads)), probabilities


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """[B, L, D] -> [B, H, L, d_head]: head h gets columns h * d_head to (h + 1) * d_head."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """[B, H, L, d_head] -> [B, L, D]: the heads' vectors side by side again."""
    return x.transpose(-3, -2).flatten(-2)


def expand_mask(mask: Tensor | None, batch: int, length: int) -> Tensor | None:
    """Bring a mask to a boolean [B, 1, L, L] or [B, 1, 1, L]; `True` may be attended.

    mask: [B, L] marks the keys that are tokens, not padding (as tokenizers give it, 1 or 0);
    [B, 1, L, L] says it for every query and key. Raises ValueError for any other shape, or if
    a sequence may attend to nothing.
    """
    if mask is None:
        return None
    if mask.shape == (batch, length):
        mask = mask[:, None, None, :]
    elif mask.dim() != 4 or any(
        size not in (1, full)
        for size, full in zip(mask.shape, (batch, 1, length, length), strict=True)
    ):
        raise ValueError(
            f"attention: mask must be [B, L] or [B, 1, L, L]; got {list(mask.shape)} "
            f"for {batch} sequences of {length} tokens"
        )
    mask = mask.bool()
    if mask.device.type == "cpu" and not mask.any(dim=-1).all():  # elsewhere it would cost a wait
        raise ValueError(
            "attention: mask leaves a query nothing to attend to; True (or 1) marks tokens that "
            "may be attended, False (or 0) padding"
        )
    return mask


def check_shapes(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """Raise ValueError if queries, keys, values and mask do not fit each other."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"attention: query and key must have the same last size, d_head; "
            f"got query {list(query.shape)} and key {list(key.shape)}"
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"attention: there must be one value for each key; "
            f"got key {list(key.shape)} and value {list(value.shape)}"
        )
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(
            f"attention: mask must be boolean, True = may be attended; got {mask.dtype}"
        )
    scores = (*query.shape[:-1], key.shape[-2])
    if mask.dim() > len(scores) or any(
        size not in (1, full)
        for size, full in zip(reversed(mask.shape), reversed(scores), strict=False)
    ):
        raise ValueError(
            f"attention: mask must broadcast to the scores, {list(scores)}; got {list(mask.shape)}"
        )
