"""Checks of exercise 6 about a layer, its test, its parts."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex06_bert_encoder.weights import (
    EncoderCheck,
    LayerWeights,
    as_torch_layer,
    layer_weights,
    numbers,
)
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task
from course.feedback.tensors import normal


@task("ex06_bert_encoder", 3)
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
    )
    check.example(
        *(torch.tensor([[[2.0, 2.0, 6.0, 6.0]]]), quiet(weights)),
        gives=[[[-1.0, -1.0, 1.0, 1.0]]],
        because="with W_o, b_o, W_mlp2 and b_mlp2 all 0, only the residual and the norms are left",
    )
    check.done("three tokens, and weights of 0")
    _with_padding(check, weights)
    return check.passed()


def quiet(weights: LayerWeights) -> LayerWeights:
    """The layer whose halves add nothing, and whose norms neither scale nor shift."""
    nothing: Any = {name: getattr(weights, name) * 0 for name in ("W_o", "b_o", "W_mlp2", "b_mlp2")}
    plain = {"gamma_1": 1, "beta_1": 0, "gamma_2": 1, "beta_2": 0}
    norms: Any = {
        name: torch.full_like(getattr(weights, name), value) for name, value in plain.items()
    }
    return weights._replace(**nothing, **norms)


def _with_padding(check: EncoderCheck, weights: LayerWeights) -> None:
    """Masks, and inputs for which PyTorch's own layer is the reference."""
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


@task("ex06_bert_encoder", 4)
def examine_encoder_layer(function: Callable, own: Callable) -> Passed:
    """A test of `encoder_layer`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_encoder_layer",
        function,
        hints=(
            "compare with check.as_torch_layer(weights), for weights that are all different",
            "two sequences, one with padding: once with a mask, once without",
        ),
    )
    check.needs("encoder_layer", 3, own, torch.zeros(1, 1, 4), layer_weights(4, 2, 6, seed=1))
    check.passes(own, "your own `encoder_layer`")
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(without_mask, "a layer that forgets the mask", "hide a part of one sequence")
    check.stops(
        adds_the_input,
        "a layer that adds its own input after the feed-forward network",
        "it shows as soon as both halves add something",
    )
    check.done("your own encoder_layer passes, three wrong ones do not")
    return check.passed()


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


@task("ex06_bert_encoder", 5)
def partial_layer(function: Callable) -> Passed:
    """A layer without some of its parts."""
    check = PartsCheck(
        "partial_layer",
        function,
        hints=(
            'two blocks, one for each half: `if "attention" in parts:` ...',
            "in each: compute; x + made or made; layer_norm of it, or not",
        ),
    )
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
    return check.passed()
