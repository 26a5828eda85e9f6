"""Attention, from one query in plain loops to BERT's multi-head attention; masks and dropout.

Rows are tokens, as everywhere in the course. Letters in shape comments:

    B  sequences in a batch     H  heads               d_head  size of one head
    L  tokens in a sequence     D  embedding size      d_attn, d_mid  where queries, values differ

A mask is boolean and `True` means "may be attended to"; it broadcasts to [B, H, L, L]. The scores
of hidden keys become -inf before the softmax, so their weight is exactly 0. L' is the number of
keys where it differs from the number of queries.

Source: Phuong & Hutter (2022), Algorithms 3 to 5 and section 6; Vaswani et al. (2017),
section 3.2.3.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.checks import (
    check_attention,
    check_heads,
    check_mask,
    check_self_attention,
    check_tensor,
    check_vectors,
    check_visible,
    values_are_at_hand,
)
from bertlab.parts import part


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """The sequence mask of a decoder: each token sees itself and the tokens before it.

    Returns a boolean [length, length]: row = query, column = key.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    """
    if length < 1:
        raise ValueError(f"causal_mask: length must be at least 1; got {length}")
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """The padding mask of a batch: every token that is not padding may be attended to.

    ids: [B, L]; returns a boolean [B, L].

    >>> padding_mask(torch.tensor([[101, 7592, 102], [101, 102, 0]]))
    tensor([[ True,  True,  True],
            [ True,  True, False]])
    """
    check_tensor("padding_mask", "ids", ids)
    if ids.dim() != 2:
        raise ValueError(f"padding_mask: ids must be [B, L]; got {list(ids.shape)}")
    return ids != pad_id


def expand_mask(mask: Tensor | None, batch: int, queries: int, keys: int) -> Tensor | None:
    """The mask as a boolean that broadcasts to [B, 1, L, L']; None if it hides nothing.

    mask: [B, L'] marks the keys that are tokens, not padding (1 or 0, as from tokenizers);
    [B, 1, L, L'] is for every query and key. Raises ValueError for any other shape or
    for numbers other than 0 and 1.
    """
    if mask is None:
        return None
    check_mask(mask, batch, queries, keys)
    mask = (mask[:, None, None, :] if mask.dim() == 2 else mask).bool()
    hides_nothing = values_are_at_hand(mask) and bool(mask.all())
    return None if hides_nothing else mask  # attention without a mask is faster


BITS = 16  # for each decision; PyTorch takes 32


def dropout(x: Tensor, rate: float) -> Tensor:
    """Set each number to 0 with probability `rate`; scale the others so that the mean is the same.

    x: any shape; rate: in [0, 1), rounded to a multiple of 1 / 65,536. The random numbers come
    from PyTorch's global generator. On a GPU, and inside `torch.compile`, PyTorch's dropout runs.

    Source: Srivastava et al. (2014); here the kept numbers are divided by 1 - rate in training,
    not multiplied by it at test time.
    """
    if rate == 0:
        return x
    if not values_are_at_hand(x):
        return F.dropout(x, rate)
    dropped = min(round(rate * 2**BITS), 2**BITS - 1)  # of all 65,536 values
    kept = random_bits(x.numel()) >= dropped - 2 ** (BITS - 1)
    return x * kept.view(x.shape).to(x.dtype).mul_(2**BITS / (2**BITS - dropped))


def random_bits(n: int) -> Tensor:
    """[n] uniform integers from -32,768 to 32,767: four from each 64-bit random number."""
    words = torch.empty(-(-n // 4), dtype=torch.int64).random_(-(2**63), None)
    return words.view(torch.int16)[:n]


class Dropout(nn.Module):
    """`dropout` in training, the identity otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return dropout(x, self.rate) if self.training else x

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"rate={self.rate}"


class HeadWeights(NamedTuple):
    """The six parameters of one attention head, W_qkv in the formal algorithms."""

    W_q: Tensor  # [D, d_attn]
    b_q: Tensor  # [d_attn]
    W_k: Tensor  # [D, d_attn]
    b_k: Tensor  # [d_attn]
    W_v: Tensor  # [D, d_mid]
    b_v: Tensor  # [d_mid]


@part("04", exercise="04", derivation=True)
def single_query_attention(e: Tensor, context: Tensor, weights: HeadWeights) -> Tensor:
    """Attend from one token to its context, in plain loops: for reading, not for speed.

    e: [D], the current token; context: [L, D], the tokens that it attends to.
    Returns [d_mid], the context as seen from the token: for one token, what `attention` gives.

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


@part("04", exercise="04", twin=True)
def row_softmax(scores: Tensor) -> Tensor:
    """Turn every row (the last dimension) into probabilities; -inf becomes exactly 0.

    Subtracting the largest score first does not change the result and prevents overflow: exp(112)
    is already too large for a 32-bit float.

    >>> row_softmax(torch.tensor([14.0, 12.0]))
    tensor([0.8808, 0.1192])
    """
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@part("04", twin=True)
def attention_probabilities(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    """How much each query attends to each key: softmax_row(Q K^T / sqrt(d_head)).

    query: [..., L, d_head]; key: [..., L', d_head]; mask: broadcasts to [..., L, L'].
    Returns [..., L, L']: row = query, column = key, every row sums to 1.
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])  # [..., L, L']
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return row_softmax(scores)


@part("04", check=check_attention)
def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention: every query's weighted mean of the values.

    query: [..., L, d_head]; key: [..., L', d_head]; value: [..., L', d_mid].
    Returns the updated vectors [..., L, d_mid] and the probabilities [..., L, L'].

    Raises ValueError if the shapes do not fit each other, or the mask hides every key of a query.

    Source: Vaswani et al. (2017), eq. 1; Phuong & Hutter (2022), Algorithm 4, lines 4 to 6.
    """
    probabilities = attention_probabilities(query, key, mask)
    return probabilities @ value, probabilities


@part("04", twin=True)
def attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    rate: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """The updated vectors alone; in training each probability is dropped with probability `rate`.

    causal: in place of a mask, hide the tokens after each token.
    """
    if causal:
        mask = causal_mask(query.shape[-2], query.device)
    if not rate:
        return attention(query, key, value, mask)[0]
    return dropout(attention_probabilities(query, key, mask), rate) @ value


@part("04", derivation=True, check=check_self_attention)
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


@part("04", derivation=True)
def multi_head_attention(
    x: Tensor, heads: list[HeadWeights], W_o: Tensor, b_o: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Several heads, one after the other, concatenated: MHATTENTION(X; W).

    x: [L, D]; W_o: [H * d_head, D]; b_o: [D]. Returns [L, D].
    `MultiHeadAttention` computes all heads at once.

    Source: Phuong & Hutter (2022), Algorithm 5.
    """
    outputs = [self_attention(x, weights, mask)[0] for weights in heads]  # H times [L, d_head]
    return torch.cat(outputs, dim=-1) @ W_o + b_o


class MultiHeadAttention(nn.Module):
    """Multi-head attention as the library runs it: all heads of all sequences in one product.

    d_model: embedding size; n_heads: heads that share it evenly; dropout: rate on the
    attention probabilities. Raises ValueError if d_model is not divisible by n_heads.

    One matrix [W_q W_k W_v] computes queries, keys and values: one large product is faster than
    three small ones.

    Source: Phuong & Hutter (2022), Algorithm 5; Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_heads("MultiHeadAttention", d_model, n_heads)
        self.d_model = d_model
        self.n_heads = n_heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        context: Tensor | None = None,
        causal: bool = False,
        output_attentions: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Update every token of x by what it attends to: x itself, or `context`.

        x: [B, L, D]; context: [B, L', D], whose tokens give the keys and values of
        cross-attention; mask: [B, L'], [B, 1, L, L'] or a shape that broadcasts to it; causal: hide
        the tokens after each token.

        Returns the updated vectors [B, L, D] and, if requested, the probabilities [B, H, L, L'].

        Raises ValueError if a shape or a dtype does not fit, or a query may not attend to any key.
        """
        query, key, value = self._project(x, context)
        mask = expand_mask(mask, len(x), query.shape[-2], key.shape[-2])
        rate = self.dropout if self.training else 0.0
        if causal and (mask is not None or output_attentions):
            mask = causal_mask(x.shape[1], x.device) & (True if mask is None else mask)
            causal = False
        check_visible(mask)
        if output_attentions:
            probabilities = attention_probabilities(query, key, mask)
            heads = dropout(probabilities, rate) @ value
        else:
            probabilities = None
            heads = attended(query, key, value, mask, rate, causal)
        return self.output(merge_heads(heads)), probabilities

    def head_weights(self) -> list[HeadWeights]:
        """The parameters of each head, as in the formal algorithm; views, not copies."""
        weight, bias = self.query_key_value.weight, self.query_key_value.bias
        heads = weight.unflatten(0, (3, self.n_heads, -1))  # [3, H, d_head, D]
        offsets = bias.unflatten(0, (3, self.n_heads, -1))  # [3, H, d_head]
        return [
            HeadWeights(*(part for i in range(3) for part in (heads[i, head].T, offsets[i, head])))
            for head in range(self.n_heads)
        ]

    def _project(self, x: Tensor, context: Tensor | None) -> tuple[Tensor, ...]:
        """Queries [B, H, L, d_head]; keys and values [B, H, L', d_head]."""
        weight, bias = self.query_key_value.weight, self.query_key_value.bias
        check_vectors("MultiHeadAttention", "x", x, "[B, L, D]", weight, self.d_model)
        if context is None:
            query, key, value = self.query_key_value(x).chunk(3, dim=-1)
        else:
            check_vectors(
                "MultiHeadAttention", "context", context, "[B, L', D]", weight, self.d_model
            )
            D = self.d_model
            query = F.linear(x, weight[:D], bias[:D])
            key, value = F.linear(context, weight[D:], bias[D:]).chunk(2, dim=-1)
        return tuple(split_heads(part, self.n_heads) for part in (query, key, value))


@part("04")
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """[B, L, D] -> [B, H, L, d_head]: head h gets columns h * d_head to (h + 1) * d_head."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


@part("04", exercise="04")
def merge_heads(x: Tensor) -> Tensor:
    """[B, H, L, d_head] -> [B, L, D]: the heads' vectors, concatenated."""
    return x.transpose(-3, -2).flatten(-2)
