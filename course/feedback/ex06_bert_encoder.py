"""Checks of exercise 6, the encoder of BERT: one per task."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab import data
from bertlab.data import DataError
from bertlab.model import Bert, load_pretrained
from bertlab.model.attention import HeadWeights
from bertlab.model.layers import EncoderLayer
from bertlab.tokenizers import WordPiece
from course.feedback.checks import Check, checks_of
from course.feedback.differences import a
from course.feedback.mutants import MutationCheck
from course.feedback.tensors import (
    READY_MADE,
    TensorCheck,
    normal,
    tensor_difference,
    written,
)

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex06_bert_encoder")


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


class EmbeddingWeights(NamedTuple):
    """Three tables, and the norm of their sum."""

    W_e: Tensor  # [V, D], a row for every token of the vocabulary
    W_p: Tensor  # [max_length, D], a row for every position
    W_s: Tensor  # [2, D], a row for sentence A and one for sentence B
    gamma: Tensor  # [D]
    beta: Tensor  # [D]


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

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}({', '.join(map(_written, arguments))})"


def numbers(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -1 and 1 without a pattern, the same on every machine.

    >>> numbers(3, seed=1)
    tensor([ 0.1563, -0.5080, -0.1528])
    """
    k = torch.arange(seed * 1009, seed * 1009 + math.prod(shape), dtype=torch.float64)
    return ((k * k * 0.7548776662 + k * 0.5698402910).frac() * 2 - 1).view(shape).to(dtype)


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


def _written(value: Any) -> str:
    if isinstance(value, EmbeddingWeights | LayerWeights | EncoderWeights):
        return "weights"
    if isinstance(value, Tensor) and value.numel() > 8 and value.is_floating_point():
        return f"a {list(value.shape)} tensor"  # twelve numbers do not help
    return written(value)


def embedding_weights(V: int, D: int, length: int, seed: int) -> EmbeddingWeights:
    """Tables for `V` words, `length` positions and two segments."""
    gamma, beta = 1 + numbers(D, seed=seed + 3) / 2, numbers(D, seed=seed + 4)
    W_e, W_p, W_s = (numbers(rows, D, seed=seed + i) for i, rows in enumerate((V, length, 2)))
    return EmbeddingWeights(W_e, W_p, W_s, gamma, beta)


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


@task(
    1,
    "four steps: the mean of each row, the differences, the mean of their squares, divide",
    "mean(dim=-1, keepdim=True) works on the last dimension and keeps it, with size 1",
)
def layer_norm(check: EncoderCheck) -> None:
    """Mean 0, variance 1, then scale and shift."""
    ones, zeros = torch.ones(4), torch.zeros(4)
    row = torch.tensor([1.0, 1.0, 7.0, 7.0])
    check.example(
        *(row, ones, zeros, 0.0),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="the mean is 4 and the variance 9: subtract 4, divide by the root, 3",
    )
    rows = torch.tensor([[2.0, 2.0, 6.0, 6.0], [1.0, 1.0, 1.0, 5.0]])
    check.example(
        *(rows, ones, zeros, 0.0),
        gives=[[-1.0, -1.0, 1.0, 1.0], [-0.5774, -0.5774, -0.5774, 1.7321]],
        because="each row by itself, along dim=-1; keepdim=True keeps the dimension, with size 1",
    )
    check.done("a row, two rows")
    gamma, beta = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.0, 10.0, 10.0])
    check.example(
        *(row, gamma, beta, 0.0),
        gives=[-1.0, -2.0, 13.0, 14.0],
        because="[-1, -1, 1, 1] times gamma, [-1, -2, 3, 4], plus beta",
    )
    check.example(
        *(row, ones, zeros, 16.0),
        gives=[-0.6, -0.6, 0.6, 0.6],
        because="eps = 16 makes the variance 9 + 16 = 25, and its root 5",
    )
    even = torch.full((2, 4), 3.0)
    check.example(
        *(even, ones, gamma),
        gives=[[1.0, 2.0, 3.0, 4.0]] * 2,
        because="a row of equal numbers has no variance: only beta is left, thanks to eps",
    )
    check.done("gamma and beta, eps, rows of equal numbers")
    blocks = numbers(2, 3, 4, seed=3)
    check.example(
        *(blocks, gamma, beta),
        gives=F.layer_norm(blocks, (4,), gamma, beta, 1e-12),
        because="x may have any number of dimensions: D is the last dimension, whatever their "
        "number: dim=-1",
    )
    far = torch.tensor([3000.3, 3000.3, 3001.7, 3001.7])
    check.example(
        *(far, ones, zeros),
        gives=[-1.0, -1.0, 1.0, 1.0],
        because="numbers far from 0: subtract the mean before you square, or digits are lost",
    )
    wide = [normal(2, 200, 768, dtype=torch.float64), *normal(2, 768, dtype=torch.float64)]
    check.example(*wide, gives=F.layer_norm(wide[0], (768,), wide[1], wide[2], 1e-12))
    check.gradients(blocks, gamma, beta)
    check.done("a batch of 200 tokens and 768 dimensions, 64 bits, gradients")


@task(2, "x times (1 + erf(...)) divided by 2", "inside: torch.erf(x / math.sqrt(2))")
def gelu(check: EncoderCheck) -> None:
    """The exact form."""
    check.example(
        SOME,
        gives=EXACT,
        because="x Φ(x), number by number; torch.erf takes a tensor, math.erf only one number",
        tolerance=1e-5,
    )
    check.done("negative numbers, 0, positive numbers")
    blocks = 3 * numbers(2, 3, 4, seed=5)
    check.example(blocks, gives=F.gelu(blocks), because="x may have any shape", tolerance=1e-5)
    double = 4 * normal(40, 50, dtype=torch.float64)
    check.example(double, gives=F.gelu(double), tolerance=1e-6)
    check.gradients(blocks)
    check.done("other shapes, 64 bits, gradients")


# Functions similar to GELU at five points, to six decimals.
SOME = torch.tensor([-2.3, -1.0, 0.0, 1.0, 2.3])
EXACT = [-0.024665, -0.158655, 0.0, 0.841345, 2.275335]


class StretchCheck(EncoderCheck):
    """A check of interpolation, which must be written, not taken from PyTorch."""

    ready_made = (*EncoderCheck.ready_made, "interpolate", "upsample")


@task(
    7,
    "point number i is at i * (M - 1) / (length - 1)",
    "(1 - share) * W_p[below] + share * W_p[above], and share is a column",
)
def stretched_positions(check: StretchCheck) -> None:
    """A learned table, interpolated to more or fewer positions."""
    check.example(
        *(torch.tensor([[0.0, 4.0], [2.0, 0.0]]), 5),
        gives=[[0.0, 4.0], [0.5, 3.0], [1.0, 2.0], [1.5, 1.0], [2.0, 0.0]],
        because="five points from the first row to the last: at 0, 0.25, 0.5, 0.75 and 1",
    )
    table = torch.tensor([[0.0], [10.0], [40.0], [20.0]])
    check.example(table, 4, gives=table, because="M points on M rows: nothing changes")
    check.example(
        table, 3, gives=[[0.0], [25.0], [20.0]], because="fewer points than rows: 0, 1.5 and 3"
    )
    check.example(table, 1, gives=[[0.0]], because="a single point is at the first row")
    check.example(table[:1] + 7, 3, gives=[[7.0]] * 3, because="with one row all are that row")
    check.gradients(numbers(4, 3, seed=8), 9)
    wide = normal(512, 24, dtype=torch.float64)
    stretched = F.interpolate(wide.T[None], 1700, mode="linear", align_corners=True)[0].T
    check.example(wide, 1700, gives=stretched, because="1,700 points on 512 rows, in 64 bits")
    check.done("more points, fewer, one; a table of 512 rows, 64 bits, gradients")


@task(
    3,
    "two lines of the form x = layer_norm(x + ..., gamma, beta)",
    "the first one has attention, gamma_1 and beta_1; the second one works on its result",
)
def encoder_layer(check: EncoderCheck) -> None:
    """Attention and feed-forward, each with a residual connection and a norm."""
    weights = layer_weights(4, 2, 6, seed=1)
    check.example(
        *(numbers(1, 3, 4, seed=90), weights),
        gives=[
            [
                [-0.8521, -2.3259, 1.1364, 0.2422],
                [-0.8823, -2.2903, 1.1286, 0.2618],
                [-0.909, -2.2564, 1.1233, 0.2768],
            ]
        ],
        because="norm(x + attention(x)), then norm(x + feed_forward(x)) with that new x",
    )
    check.example(
        *(torch.tensor([[[2.0, 2.0, 6.0, 6.0]]]), quiet(weights)),
        gives=[[[-1.0, -1.0, 1.0, 1.0]]],
        because="with W_o, b_o, W_mlp2 and b_mlp2 all 0, only the residual and the norms are left",
    )
    check.done("three tokens, and weights of 0")
    # Masks, and inputs for which PyTorch's own layer is the reference.
    mask = torch.tensor([[True, True, False], [True, True, True]])
    x = numbers(2, 3, 4, seed=91)
    reference = as_torch_layer(weights)
    check.example(
        *(x, weights, mask),
        gives=reference(x, src_key_padding_mask=~mask).detach(),
        because="the last token of the first sequence is padding: pass the mask to attention",
    )
    x = normal(2, 200, 24, dtype=torch.float64)
    wide = LayerWeights(*(_double(part) for part in layer_weights(24, 3, 50, seed=2)))
    mask = torch.arange(200) < torch.tensor([[200], [120]])
    expected = as_torch_layer(wide)(x, src_key_padding_mask=~mask).detach()
    check.example(x, wide, mask, gives=expected, because="a batch of 200 tokens with padding")
    check.done("padding, a batch of 200 tokens, 64 bits")


def quiet(weights: LayerWeights) -> LayerWeights:
    """The layer whose halves add nothing, and whose norms neither scale nor shift."""
    nothing: Any = {name: getattr(weights, name) * 0 for name in ("W_o", "b_o", "W_mlp2", "b_mlp2")}
    plain = {"gamma_1": 1, "beta_1": 0, "gamma_2": 1, "beta_2": 0}
    norms: Any = {
        name: torch.full_like(getattr(weights, name), value) for name, value in plain.items()
    }
    return weights._replace(**nothing, **norms)


def _double(weights: Any) -> Any:
    if isinstance(weights, Tensor):
        return weights.double()
    return [type(head)(*map(_double, head)) for head in weights]


def draft(x: Tensor, weights: LayerWeights, mask: Tensor | None = None) -> Tensor:
    """As in the notebook: ignores the mask, and adds the layer's input a second time."""
    return _by_torch(x, weights, _everything(mask), add_input=True)


def without_mask(x: Tensor, weights: LayerWeights, mask: Tensor | None = None) -> Tensor:
    """Wrong: padding is attended to."""
    return _by_torch(x, weights, _everything(mask))


def adds_the_input(x: Tensor, weights: LayerWeights, mask: Tensor | None = None) -> Tensor:
    """Wrong: the second residual is the layer's input."""
    return _by_torch(x, weights, mask, add_input=True)


def _everything(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else torch.ones_like(mask)


def _by_torch(
    x: Tensor, weights: LayerWeights, mask: Tensor | None, add_input: bool = False
) -> Tensor:
    """PyTorch's layer; add_input: its second residual is the layer's input."""
    layer, padding = as_torch_layer(weights), None if mask is None else ~mask
    if not add_input:
        return layer(x, src_key_padding_mask=padding).detach()
    attended = layer.self_attn(x, x, x, key_padding_mask=padding, need_weights=False)[0]
    network = layer.linear2(F.gelu(layer.linear1(layer.norm1(x + attended))))
    return layer.norm2(x + network).detach()


@task(
    4,
    "compare with check.as_torch_layer(weights), for weights that are all different",
    "two sequences, one with padding: once with a mask, once without",
)
def examine_encoder_layer(check: MutationCheck, own: Callable) -> None:
    """A test of `encoder_layer`, tried on the student's own and on three wrong ones."""
    check.passes(own, "encoder_layer", 3, torch.zeros(1, 1, 4), layer_weights(4, 2, 6, seed=1))
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(without_mask, "a layer that forgets the mask", "hide a part of one sequence")
    check.stops(
        adds_the_input,
        "a layer that adds its own input after the feed-forward network",
        "it shows as soon as both halves add something",
    )
    check.done("your own encoder_layer passes, three wrong ones do not")


ALL = frozenset({"attention", "feed_forward", "residual", "norm"})


class PartsCheck(EncoderCheck):
    """A check of a layer with an argument for its parts."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        parts = ", ".join(map(repr, sorted(arguments[2])))
        given = [
            super().shown(arguments[:2]).removesuffix(")"),
            f"{{{parts}}}" if parts else "set()",
        ]
        return ", ".join([*given, *(["mask"] if len(arguments) > 3 else [])]) + ")"


@task(
    5,
    'two blocks, one for each half: `if "attention" in parts:` ...',
    "in each: compute; x + made or made; layer_norm of it, or not",
)
def partial_layer(check: PartsCheck) -> None:
    """A layer without some of its parts."""
    weights = layer_weights(4, 2, 6, seed=1)
    row = torch.tensor([[[2.0, 2.0, 6.0, 6.0]]])
    for parts, vector, because in (
        (ALL, [-1.0, -1.0, 1.0, 1.0], "both halves add nothing: the norms are left"),
        (ALL - {"norm"}, [2.0, 2.0, 6.0, 6.0], "nothing is added or normalised"),
        (ALL - {"residual"}, [0.0] * 4, "a half computes 0 and does not add what was there"),
        (
            frozenset({"residual", "norm"}),
            [2.0, 2.0, 6.0, 6.0],
            "both halves are skipped, and their norms with them",
        ),
    ):
        check.example(row, quiet(weights), parts, gives=[[vector]], because=because)
    check.done("a layer that adds nothing")
    x = numbers(1, 3, 4, seed=90)
    for parts, gives, because in (
        (
            ALL,
            [
                [-0.8521, -2.3259, 1.1364, 0.2422],
                [-0.8823, -2.2903, 1.1286, 0.2618],
                [-0.909, -2.2564, 1.1233, 0.2768],
            ],
            "all parts: it is the encoder layer of task 3",
        ),
        (
            ALL - {"attention"},
            [
                [-1.1851, -1.5523, 1.5888, -0.0967],
                [-1.1861, -1.642, 1.4929, 0.017],
                [-1.2265, -1.5656, 1.4478, 0.0462],
            ],
            "only the feed-forward network, with its residual and its norm",
        ),
        (
            ALL - {"feed_forward"},
            [
                [0.8521, -1.4146, 0.3469, 0.641],
                [0.7114, -1.4187, 0.3659, 0.7467],
                [0.5722, -1.4164, 0.3836, 0.8421],
            ],
            "only attention, with its residual and its norm",
        ),
        (
            ALL - {"residual"},
            [
                [-1.0831, -1.9412, 1.3412, 0.1657],
                [-1.0831, -1.9412, 1.3411, 0.1658],
                [-1.0831, -1.9412, 1.3411, 0.1658],
            ],
            "each half passes on what it computes",
        ),
        (
            ALL - {"norm"},
            [
                [-2.8164, -5.752, 1.4962, 1.3308],
                [-3.5001, -6.4342, 1.6151, 1.4069],
                [-3.1953, -5.9218, 1.621, 1.7394],
            ],
            "sums, and no norm",
        ),
        (
            frozenset({"attention", "feed_forward"}),
            [
                [-3.6536, -3.9449, 0.9209, 0.3255],
                [-3.6543, -3.9459, 0.9212, 0.3255],
                [-3.6546, -3.9464, 0.9217, 0.3253],
            ],
            "neither residuals nor norms",
        ),
    ):
        check.example(*(x, weights, parts), gives=[gives], because=because)
    check.example(x, weights, frozenset(), gives=x, because="no parts: x stays as it is")
    check.done("three tokens without each of the parts")
    mask = torch.tensor([[True, True, False], [True, True, True]])
    x = numbers(2, 3, 4, seed=91)
    expected = as_torch_layer(weights)(x, src_key_padding_mask=~mask).detach()
    because = "the last token of the first sequence is padding: pass the mask to attention"
    check.example(x, weights, ALL, mask, gives=expected, because=because)
    check.gradients(x, weights, ALL)
    check.done("padding, gradients")


@task(
    6,
    "the list starts with the embeddings; each layer works on its last entry",
    "for layer in weights.layers: ...append(partial_layer(..., layer, parts, mask))",
)
def encode(check: EncoderCheck) -> None:
    """Embeddings and all layers; then MiniLM's weights, whose numbers are known."""
    ids, segments = torch.tensor([[1, 5, 3], [2, 6, 4]]), torch.tensor([[0, 0, 1], [0, 1, 1]])
    for n_layers, mask in ((1, None), (3, None), (3, ids != 3)):
        weights = encoder_weights(n_layers)
        states = _hidden_states(check, ids, segments, weights, mask)
        _embeddings_come_first(check, states[0])
        for number in range(1, n_layers + 1):
            _layer_works_on_the_one_before(check, states, number, weights, mask)
    check.done("small encoders of one and of three layers, with padding and without")
    # Without both halves no layer changes anything; without one of them it does.
    weights, idle = encoder_weights(3), {"residual", "norm"}
    states = _hidden_states(check, ids, segments, weights, None, idle)
    for number, state in enumerate(states[1:]):
        check.equals(
            state,
            states[0],
            f"the output of layer {number} (of layers 0 to 2), with only residual and norm",
            because="pass `parts` to every layer: without both halves it changes nothing",
        )
    states = _hidden_states(check, ids, segments, weights, None, {*idle, "attention"})
    check.law(
        not torch.equal(states[0], states[-1]),
        "with the parts residual, norm and attention the layers change nothing\n→ pass on the "
        "`parts` that were given",
    )
    check.done("missing parts")
    # The published weights: the student's numbers against those of another implementation.
    try:
        weights = published("minilm")
    except DataError as error:
        check.fail(f"MiniLM's weights are needed for the last step\n{error}")
    ids, segments, mask = read(*TEXTS)
    states = _hidden_states(check, ids, segments, weights, mask)
    furthest = 0.0
    for number, (state, known) in enumerate(zip(states, MINILM, strict=True)):
        shown = f"MiniLM, hidden state {number}"
        check.law(state.shape == (2, 23, 384), f"{shown}: shape {list(state.shape)}")
        got = torch.stack([state[place] for place in PLACES]).detach()
        because = "small encoders are right: does your function depend on sizes, or on lengths?"
        check.equals(got, known, shown, because=because, tolerance=1e-4)
        furthest = max(furthest, (got - torch.tensor(known)).abs().max().item())
    check.done(
        "with MiniLM's weights your functions compute what Hugging Face's BertModel does, in all "
        f"6 layers, to {furthest:.0e}"
    )


def _hidden_states(check: EncoderCheck, *arguments: Any) -> list[Tensor]:
    """The answer, if it is a list with the right number of tensors."""
    states = check.call(*arguments, because="embed takes first the ids, then the segments")
    n_layers = len(arguments[2].layers)
    if not isinstance(states, list) or not all(isinstance(x, Tensor) for x in states):
        check.fail(
            "it must return a list with the embeddings and the output of every layer; "
            f"it returned {'None' if states is None else a(states)}"
        )
    if len(states) != n_layers + 1:
        name = "MiniLM" if n_layers == 6 else "this encoder"
        layers = f"{n_layers} layer" + ("s" if n_layers > 1 else "")
        embedded = states and not tensor_difference(torch.tensor(EMBEDDED), states[0][0])
        check.fail(
            f"{name} has {layers}, so there are {n_layers + 1} hidden states; got {len(states)}",
            "the last layer's output is missing"
            if embedded and len(states) == n_layers
            else "the embeddings are the first entry, the last layer's output is the last one",
        )
    return states


def _embeddings_come_first(check: EncoderCheck, state: Tensor) -> None:
    """Entry 0, whose first sequence is known."""
    because = "embed(ids, segment_ids, weights.embeddings) comes first"
    if state.dim() == 3:
        state = state[0]
    shown = "hidden state 0, the embeddings, first sequence"
    check.equals(state, EMBEDDED, shown, because=because)


# By hand, from `encoder_weights`: the ids 1, 5, 3 in the segments 0, 0, 1.
EMBEDDED = [
    [-1.8387, -1.4091, 0.3849, 1.6562],
    [-0.6956, -0.2337, -1.3807, 1.1116],
    [0.9881, -1.1495, -0.7456, 0.3662],
]


def _layer_works_on_the_one_before(
    check: EncoderCheck,
    states: list[Tensor],
    number: int,
    weights: EncoderWeights,
    mask: Tensor | None,
) -> None:
    """Entry `number` must be PyTorch's layer of the entry before, with these weights."""

    def through(layer: int, state: int, shown: Tensor | None = mask) -> Tensor:
        padding = None if shown is None else ~shown
        reference = as_torch_layer(weights.layers[layer - 1])
        return reference(states[state].detach(), src_key_padding_mask=padding).detach()

    last = len(weights.layers)
    check.equals(
        states[number],
        through(number, number - 1),
        f"the output of layer {number - 1} (of layers 0 to {last - 1})"
        + ("" if mask is None else ", with padding"),
        because="it is partial_layer(the entry before, that layer's weights, parts, mask)",
    )


TEXTS = (
    ("My dog is cute.", "He likes playing, and he sleeps on the sofa whenever nobody is looking."),
    ("To be, or not to be?",),
)
# (sequence, token, dimension), and what transformers 4 and 5 compute there, layer by layer.
PLACES = ((0, 0, 0), (0, 8, 100), (0, 22, 383), (1, 1, 7), (1, 8, 200))
MINILM = (
    [-0.17657, 0.15642, -0.11023, -0.20441, -0.74899],
    [-0.00017, 0.1131, 0.0829, -0.1063, -0.76344],
    [-0.04199, 0.35965, 0.36024, -0.06716, -0.74772],
    [-0.01767, 0.73531, 0.18002, -0.10856, -0.57154],
    [-0.00587, 0.53757, 0.39489, 0.12419, -1.11309],
    [-0.03214, 0.27841, 0.25239, -0.66567, -0.74134],
    [0.64553, 0.18352, 0.16626, -1.03138, -0.61195],
)


class _Count(Check):
    """A check of whole numbers, with the restrictions of the tensor checks."""

    refused = READY_MADE


@task(
    8,
    "embeddings + n_layers * layer + pooler; write each as a sum of shapes",
    "a layer: four matrices [D, D] with biases, two norms, [D, d_ff] and [d_ff, D] with biases",
)
def n_parameters(check: _Count) -> None:
    """The exact number for every size."""
    check.example(
        Sizes(100, 10, 3, n_heads=2, d_head=5, d_ff=7, max_length=41, n_segments=10),
        gives=3_551,
        because="the exact number, of three tables, norms, matrices and biases",
    )
    check.done("sizes that are not round numbers")
    for name, (n_layers, d_model, n_heads, number) in PUBLISHED.items():
        sizes = Sizes(30_522, d_model, n_layers, n_heads, d_model // n_heads, 4 * d_model)
        check.example(sizes, gives=number, because=f"this is BERT-{name}")
    check.done("tiny, mini, small, medium, base and large as published")
    crooked = Sizes(100, 10, 3, n_heads=2, d_head=5, d_ff=7, max_length=41, n_segments=10)
    check.example(
        *(crooked, 4),
        gives=2_683,
        because="tables of 4 columns, a norm of 4, a matrix [4, 10] with a bias; then three layers",
    )
    check.example(
        *(crooked, 4, True), gives=1_409, because="and the three layers share their weights"
    )
    check.example(crooked, None, True, gives=2_277, because="shared layers, tables as in BERT")
    same = "the matrix is there even if E is as large as D: only None means no matrix, as in BERT"
    check.example(crooked, 10, gives=3_661, because=same)
    for name, (n_layers, d_model, n_heads, number) in ALBERT.items():
        sizes = Sizes(30_000, d_model, n_layers, n_heads, d_model // n_heads, 4 * d_model)
        check.example(sizes, 128, True, gives=number, because=f"this is ALBERT-{name}")
    check.done("ALBERT-base and ALBERT-large as published")


# Layers, dimensions, heads, and the parameters without the heads of pre-training.
PUBLISHED = {
    "tiny": (2, 128, 2, 4_385_920),
    "mini": (4, 256, 4, 11_170_560),
    "small": (4, 512, 8, 28_763_648),
    "medium": (8, 512, 8, 41_373_184),
    "base": (12, 768, 12, 109_482_240),
    "large": (24, 1024, 16, 335_141_888),
}
ALBERT = {"base": (12, 768, 12, 11_683_584), "large": (24, 1024, 16, 17_683_968)}


@task(9, "write `return` and a whole number")
def predict_right(check: Check) -> None:
    """A whole number from 0 to 32, of the student's choice."""
    answer = check.call()
    number = isinstance(answer, int) and not isinstance(answer, bool)
    check.law(
        number and 0 <= answer <= 32,
        f"it must be a whole number from 0 to 32; it returned {answer!r}",
    )
    check.done(f"you predict {answer} of 32; now measure")
