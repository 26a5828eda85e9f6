"""Checks of exercise 6 about a layer, the head that guesses words, and counting parameters."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.feedback.checks import Check, Passed
from course.feedback.ex06_bert_encoder.weights import (
    EncoderCheck,
    LayerWeights,
    MLMHeadWeights,
    Sizes,
    as_torch_layer,
    layer_weights,
    numbers,
)
from course.feedback.progress import task
from course.feedback.tensors import READY_MADE, normal


@task("ex06_bert_encoder", 5)
def encoder_layer(function: Callable) -> Passed:
    """Attention and feed-forward, each with a residual connection and a norm."""
    check = EncoderCheck(
        "encoder_layer",
        function,
        hints=(
            "two lines of the form x = layer_norm(x + ..., gamma, beta)",
            "the first one has attention, gamma_1 and beta_1; the second one works on its result",
        ),
    )
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
        starts=[
            (
                [-5.122, -8.19],
                "you norm what goes into each half, which is called pre-norm; BERT norms the sum",
            ),
            ([-1.0831, -1.9412], "both residual connections are missing: x + ..."),
            ([-0.8321, -2.3303], "the residual connection around attention is missing: x + ..."),
            (
                [-1.08, -1.9629],
                "the residual connection around the feed-forward network is missing: x + ...",
            ),
            (
                [-1.1327, -1.8793],
                "the second residual adds what the first norm made, not the layer's input",
            ),
            (
                [-0.7367, -2.3666],
                "the feed-forward network works on what the first norm made, not on the input",
            ),
            ([-0.7315, -2.4643], "the residual is added twice: x once, in each half"),
            ([-0.4313, -3.2], "the sum is normed: layer_norm(x + ...), not x + layer_norm(...)"),
            ([-0.8306, -2.3608], "the first norm is missing, after attention"),
            ([-2.9804, -5.5647], "the second norm is missing, after the feed-forward network"),
            ([-0.5993, -1.2392], "the second norm has weights of its own: gamma_2 and beta_2"),
            ([-0.774, -1.175], "the two norms are swapped: gamma_1 and beta_1 follow attention"),
            ([-1.4533, -0.6872], "attention comes first, then the feed-forward network"),
            ([0.8521, -1.4146], "the second half is missing: the feed-forward network"),
        ],
    )
    nothing: Any = {name: getattr(weights, name) * 0 for name in ("W_o", "b_o", "W_mlp2", "b_mlp2")}
    plain = {"gamma_1": 1, "beta_1": 0, "gamma_2": 1, "beta_2": 0}
    norms: Any = {name: torch.full((4,), float(value)) for name, value in plain.items()}
    check.example(
        *(torch.tensor([[[2.0, 2.0, 6.0, 6.0]]]), weights._replace(**nothing, **norms)),
        gives=[[[-1.0, -1.0, 1.0, 1.0]]],
        because="with W_o, b_o, W_mlp2 and b_mlp2 all 0 only the residual is left, and the norms",
    )
    check.done("three tokens, and weights of 0")
    _with_padding(check, weights)
    return check.passed()


def _with_padding(check: EncoderCheck, weights: LayerWeights) -> None:
    """Masks, and inputs for which PyTorch's own layer is the reference."""
    mask = torch.tensor([[True, True, False], [True, True, True]])
    x = numbers(2, 3, 4, seed=91)
    reference = as_torch_layer(weights)
    check.example(
        *(x, weights, mask),
        gives=reference(x, src_key_padding_mask=~mask).detach(),
        because="the last token of the first sequence is padding: hand the mask on to attention",
        starts=[([-0.8099, -2.3754], "True may be attended, False may not: do not turn it round")],
    )
    x = normal(2, 200, 24, dtype=torch.float64)
    wide = LayerWeights(*(_double(part) for part in layer_weights(24, 3, 50, seed=2)))
    mask = torch.arange(200) < torch.tensor([[200], [120]])
    expected = as_torch_layer(wide)(x, src_key_padding_mask=~mask).detach()
    check.example(x, wide, mask, gives=expected, because="a batch of 200 tokens with padding")
    check.done("padding, a batch of 200 tokens, 64 bits")


def _double(weights: Any) -> Any:
    if isinstance(weights, Tensor):
        return weights.double()
    return [type(head)(*map(_double, head)) for head in weights]


@task("ex06_bert_encoder", 7)
def mlm_logits(function: Callable) -> Passed:
    """Scores of all words, at the positions asked for."""
    check = EncoderCheck(
        "mlm_logits",
        function,
        hints=(
            "first pick: x = hidden[predict] is [N, D]",
            "product with W_f, bias, GELU, layer norm, product with W_e.T, bias",
        ),
    )
    shapes = [(4, 4), (4,), (4,), (4,), (4,), (2, 3, 4), (4, 4)]
    *values, hidden, W_e = (numbers(*shape, seed=70 + i) for i, shape in enumerate(shapes))
    values[2] = 1 + values[2] / 2  # gamma
    weights = MLMHeadWeights(*values)
    predict = torch.tensor([[False, True, False], [True, False, True]])
    only = "only the positions that are asked for: [N, V], not [B, L, V]"
    right = [
        [-1.9992, 2.523, 0.6607, 2.1005],
        [-0.2771, 0.5658, -1.2395, 0.3264],
        [-2.4052, 3.1562, 1.2433, 2.587],
    ]
    check.example(
        *(hidden, predict, weights, W_e),
        gives=right,
        because="product with W_f, bias, GELU, norm, product with W_e.T, bias",
        mistakes=[((2, 3, 4), only), ((6, 4), only)],
        starts=[
            ([-1.081, 0.8318], "True marks the positions to guess: you took the others"),
            (
                [-1.3166, 0.618],
                "product, GELU and norm come before the unembedding: they are missing",
            ),
            ([-2.7128, 2.7785], "GELU is missing, after the product with W_f"),
            ([-1.2973, 1.6555], "layer norm is missing, after GELU"),
            ([-1.9999, 2.6462], "first GELU, then the norm"),
            ([-0.5713, 0.4012], "W_f is transposed; it is [in, out] already"),
            ([-0.7, 2.3959], "W_e must be transposed: a word's score is its row times the vector"),
            ([-1.2522, 1.8373], "b_u is not added, the bias of each word"),
            ([-3.8536, 4.3535], "b_f is not added"),
            ([0.006, 0.549], "these are probabilities: return the scores, without a softmax"),
            (right[1], "sequence by sequence, from left to right: as hidden[predict] gives them"),
        ],
    )
    ones, zeros = torch.ones(4), torch.zeros(4)
    plain = MLMHeadWeights(torch.eye(4), zeros, ones, zeros, torch.tensor([0.5, 0, -1]))
    words = torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, -1, 1, -1]])
    check.example(
        *(torch.tensor([[[9.0, -9, 9, -9]]]), torch.ones(1, 1, dtype=torch.bool), plain, words),
        gives=[[0.5, 1.0, 2.0]],
        because="the vector becomes [1, -1, 1, -1]; the words score 0, 1 and 3, plus b_u",
    )
    nowhere = torch.zeros(2, 3, dtype=torch.bool)
    nothing = "nothing is asked for, so there are no rows: [0, V]"
    check.example(hidden, nowhere, weights, W_e, gives=torch.zeros(0, 4), because=nothing)
    check.done("three positions of six, none")
    _large_vocabulary(check)
    return check.passed()


def _large_vocabulary(check: EncoderCheck) -> None:
    """More words than dimensions, and asking for more positions changes nothing at the others."""
    shapes = [(16, 16), (16,), (16,), (16,), (90,), (2, 200, 16), (90, 16)]
    values = [normal(*shape, seed=i, dtype=torch.float64) for i, shape in enumerate(shapes)]
    *values, hidden, W_e = values
    weights, predict = MLMHeadWeights(*values), (torch.arange(400) % 7 == 0).view(2, 200)
    shown = "2 sequences of 200 tokens, 90 words, 64 bits"
    logits = check.call(hidden, predict, weights, W_e, because="W_e is [V, D]")
    everywhere = check.call(hidden, torch.ones_like(predict), weights, W_e)
    expected = f"it must return a tensor of shape {[int(predict.sum()), 90]}"
    shape = f"{shown}: {expected}; got {list(logits.shape)}"
    check.law(logits.shape == (int(predict.sum()), 90), shape)
    because = "a position's scores do not depend on which others are asked for"
    check.equals(logits, everywhere[predict.flatten()], shown, because=because)
    check.done(shown)


@task("ex06_bert_encoder", 8)
def n_parameters(function: Callable) -> Passed:
    """The exact number for every size."""
    check = _Count(
        "n_parameters",
        function,
        hints=(
            "embeddings + n_layers * layer + pooler; write each as a sum of shapes",
            "a layer: four matrices [D, D] with biases, two norms, [D, d_ff] and [d_ff, D] with "
            "biases",
        ),
    )
    check.example(
        Sizes(100, 10, 3, n_heads=2, d_head=5, d_ff=7, max_length=41, n_segments=10),
        gives=3_551,
        because="the exact number, of three tables, norms, matrices and biases",
        mistakes=[
            (3_370, "the biases are missing: every matrix has one"),
            (3_431, "the biases of attention are missing"),
            (3_500, "the biases of the feed-forward network are missing"),
            (3_521, "the feed-forward network has two biases"),
            (3_411, "the norms are missing"),
            (3_481, "a norm has gamma and beta, two vectors"),
            (3_491, "a layer has two norms, one after each half"),
            (3_531, "the norm behind the embeddings is missing"),
            (3_441, "the pooler is missing"),
            (3_451, "the table of segments is missing"),
            (3_141, "the table of positions is missing"),
            (3_221, "W_o and b_o are missing, the output of attention"),
            (
                4_541,
                "the heads share the D columns: side by side their W_q are [D, D], however many",
            ),
            (3_056, "every head has W_q, W_k and W_v of its own"),
            (2_277, "one layer is not all: there are n_layers of them"),
            (3_781, "the head that guesses words does not count here"),
            (4_551, "the unembedding is the table of tokens once more"),
            (196_646, "d_ff is config.d_ff, not always 3072"),
            (5_630, "d_ff is config.d_ff: it need not be 4 times D"),
            (9_284, "n_layers is config.n_layers, not always 12"),
            (8_261, "max_length is config.max_length, not always 512"),
            (3_471, "n_segments is config.n_segments, not always 2"),
        ],
    )
    check.done("a crooked size")
    for name, (n_layers, d_model, n_heads, number) in PUBLISHED.items():
        sizes = Sizes(30_522, d_model, n_layers, n_heads, d_model // n_heads, 4 * d_model)
        check.example(sizes, gives=number, because=f"this is BERT-{name}")
    check.done("tiny, mini, small, medium, base and large as published")
    return check.passed()


class _Count(Check):
    """A check of whole numbers; what is refused is what the tensor checks refuse."""

    refused = READY_MADE


# Layers, dimensions, heads, and the parameters without the heads of pre-training.
PUBLISHED = {
    "tiny": (2, 128, 2, 4_385_920),
    "mini": (4, 256, 4, 11_170_560),
    "small": (4, 512, 8, 28_763_648),
    "medium": (8, 512, 8, 41_373_184),
    "base": (12, 768, 12, 109_482_240),
    "large": (24, 1024, 16, 335_141_888),
}
