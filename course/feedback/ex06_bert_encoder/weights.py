"""The weights for the checks of exercise 6, under their formal names: small and published ones.

The names are those of the formal algorithms, for rows as tokens: `x @ W + b`.

Source: Phuong & Hutter (2022), Algorithm 9.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab import data
from bertlab.model import Bert, load_pretrained
from bertlab.model.attention import HeadWeights
from bertlab.model.layers import EncoderLayer
from bertlab.tokenizers import WordPiece
from course.feedback.tensors import TOLERANCE, TensorCheck, written


class EmbeddingWeights(NamedTuple):
    """Three tables, and the norm of their sum."""

    W_e: Tensor  # [V, D], a row for every token of the vocabulary
    W_p: Tensor  # [max_length, D], a row for every position
    W_s: Tensor  # [2, D], a row for sentence A and one for sentence B
    gamma: Tensor  # [D]
    beta: Tensor  # [D]


class LayerWeights(NamedTuple):
    """One encoder layer."""

    heads: list[HeadWeights]  # W_q, b_q, W_k, b_k, W_v, b_v each
    W_o: Tensor  # [D, D]
    b_o: Tensor  # [D]
    gamma_1: Tensor  # [D], of the norm after attention
    beta_1: Tensor  # [D]
    W_mlp1: Tensor  # [D, d_ff]
    b_mlp1: Tensor  # [d_ff]
    W_mlp2: Tensor  # [d_ff, D]
    b_mlp2: Tensor  # [D]
    gamma_2: Tensor  # [D], of the norm after the feed-forward network
    beta_2: Tensor  # [D]


class EncoderWeights(NamedTuple):
    """A whole encoder."""

    embeddings: EmbeddingWeights
    layers: list[LayerWeights]


class Sizes(NamedTuple):
    """The sizes of a `BertConfig`, under the same names."""

    vocab_size: int = 30_522
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_head: int = 64
    d_ff: int = 3072
    max_length: int = 512
    n_segments: int = 2


class EncoderCheck(TensorCheck):
    """A check of exercise 6, where attention is given, and norm and GELU must be written."""

    ready_made: tuple[str, ...] = (
        *("attention", "transformer", "gelu"),
        *("layer_norm", "group_norm", "batch_norm", "instance_norm", "rms_norm"),
    )

    def example(
        self,
        *arguments: Any,
        gives: Any,
        because: str = "",
        tolerance: float = TOLERANCE,
    ) -> None:
        """As in `TensorCheck`, with a tolerance of its own."""
        answer = self.call(*arguments, because=because)
        self.equals(
            answer,
            gives,
            self.shown(arguments),
            because=because,
            tolerance=tolerance,
        )

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}({', '.join(map(_written, arguments))})"


def _written(value: Any) -> str:
    if isinstance(value, EmbeddingWeights | LayerWeights | EncoderWeights):
        return "weights"
    if isinstance(value, Tensor) and value.numel() > 8 and value.is_floating_point():
        return f"a {list(value.shape)} tensor"  # twelve numbers do not help
    return written(value)


def numbers(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -1 and 1 without a pattern, the same on every machine.

    >>> numbers(3, seed=1)
    tensor([ 0.1563, -0.5080, -0.1528])
    """
    k = torch.arange(seed * 1009, seed * 1009 + math.prod(shape), dtype=torch.float64)
    return ((k * k * 0.7548776662 + k * 0.5698402910).frac() * 2 - 1).view(shape).to(dtype)


def embedding_weights(V: int, D: int, length: int, seed: int) -> EmbeddingWeights:
    """Tables for `V` words, `length` positions and two segments."""
    gamma, beta = 1 + numbers(D, seed=seed + 3) / 2, numbers(D, seed=seed + 4)
    W_e, W_p, W_s = (numbers(rows, D, seed=seed + i) for i, rows in enumerate((V, length, 2)))
    return EmbeddingWeights(W_e, W_p, W_s, gamma, beta)


def layer_weights(D: int, n_heads: int, d_ff: int, seed: int) -> LayerWeights:
    """One layer whose parameters are all different."""
    size = D // n_heads
    heads = [
        HeadWeights(
            *(
                numbers(*shape, seed=seed + 6 * h + i)
                for i, shape in enumerate([(D, size), (size,)] * 3)
            )
        )
        for h in range(n_heads)
    ]
    seed += 6 * n_heads
    shapes = [(D, D), (D,), (D,), (D,), (D, d_ff), (d_ff,), (d_ff, D), (D,), (D,), (D,)]
    values = [numbers(*shape, seed=seed + i) for i, shape in enumerate(shapes)]
    for gamma in (2, 8):  # around 1, as in a trained model
        values[gamma] = 1 + values[gamma] / 2
    return LayerWeights(heads, *values)


def encoder_weights(n_layers: int, D: int = 4, seed: int = 1) -> EncoderWeights:
    """A small encoder: 7 words, 300 positions, 2 heads, d_ff = 6."""
    layers = [layer_weights(D, 2, 6, seed + 50 * number) for number in range(1, n_layers + 1)]
    return EncoderWeights(embedding_weights(7, D, 300, seed), layers)


def as_torch_layer(weights: LayerWeights) -> nn.TransformerEncoderLayer:
    """PyTorch's own encoder layer with these weights: the reference for long inputs."""
    D, d_ff = weights.W_mlp1.shape
    layer = nn.TransformerEncoderLayer(
        D, len(weights.heads), d_ff, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True
    ).to(weights.W_o.dtype)
    for part in (0, 2, 4):  # queries, keys, values: one below the other
        rows = slice(part // 2 * D, (part // 2 + 1) * D)
        weight = torch.cat([head[part] for head in weights.heads], dim=1).T
        layer.self_attn.in_proj_weight.data[rows] = weight
        bias = torch.cat([head[part + 1] for head in weights.heads])
        layer.self_attn.in_proj_bias.data[rows] = bias
    for ours, theirs in (
        (weights.W_o.T, layer.self_attn.out_proj.weight),
        (weights.b_o, layer.self_attn.out_proj.bias),
        (weights.gamma_1, layer.norm1.weight),
        (weights.beta_1, layer.norm1.bias),
        (weights.W_mlp1.T, layer.linear1.weight),
        (weights.b_mlp1, layer.linear1.bias),
        (weights.W_mlp2.T, layer.linear2.weight),
        (weights.b_mlp2, layer.linear2.bias),
        (weights.gamma_2, layer.norm2.weight),
        (weights.beta_2, layer.norm2.bias),
    ):
        theirs.data.copy_(ours)
    return layer


@cache
def published(name: str = "minilm") -> EncoderWeights:
    """The weights of a published model, from the cache, under the formal algorithm's names."""
    model = load_pretrained(data.weights(name), kind=Bert).requires_grad_(False)
    tables = model.embeddings
    return EncoderWeights(
        EmbeddingWeights(
            tables.token.weight,
            tables.position.weight,
            tables.segment.weight,
            tables.norm.gamma,
            tables.norm.beta,
        ),
        [_layer_of(layer) for layer in model.layers],
    )


def _layer_of(layer: EncoderLayer) -> LayerWeights:
    """PyTorch keeps matrices as [out, in]; ours are [in, out], so they are transposed."""
    expand, contract = layer.feed_forward.expand, layer.feed_forward.contract
    return LayerWeights(
        layer.attention.head_weights(),
        *(layer.attention.output.weight.T, layer.attention.output.bias),
        *(layer.attention_norm.gamma, layer.attention_norm.beta),
        *(expand.weight.T, expand.bias),
        *(contract.weight.T, contract.bias),
        *(layer.feed_forward_norm.gamma, layer.feed_forward_norm.beta),
    )


def read(*pairs: tuple[str, str] | tuple[str]) -> tuple[Tensor, Tensor, Tensor]:
    """Texts, or pairs of texts, as MiniLM's input: ids, segments and the mask, [B, L] each.

    Shorter ones are padded with [PAD]; the mask is True at tokens.
    """
    tokenizer = WordPiece.from_vocab(data.weights("minilm") / "vocab.txt")
    encoded = [tokenizer.encode(*texts) for texts in pairs]
    longest = max(map(len, encoded))
    ids = [encoding.ids + [0] * (longest - len(encoding)) for encoding in encoded]
    segments = [encoding.segment_ids + [0] * (longest - len(encoding)) for encoding in encoded]
    mask = torch.arange(longest) < torch.tensor([[len(encoding)] for encoding in encoded])
    return torch.tensor(ids), torch.tensor(segments), mask
