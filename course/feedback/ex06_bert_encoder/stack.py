"""The check of exercise 6 about the whole encoder, small ones first and then MiniLM's."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertlab.data import DataError
from course.feedback.checks import Passed
from course.feedback.differences import a
from course.feedback.ex06_bert_encoder.weights import (
    EncoderCheck,
    EncoderWeights,
    as_torch_layer,
    encoder_weights,
    published,
    read,
)
from course.feedback.progress import task
from course.feedback.tensors import tensor_difference


@task("ex06_bert_encoder", 6)
def encode(function: Callable) -> Passed:
    """Embeddings and all layers; then MiniLM's weights, whose numbers are known."""
    check = EncoderCheck(
        "encode",
        function,
        hints=(
            "the list starts with the embeddings; each layer works on its last entry",
            "for layer in weights.layers: ...append(partial_layer(..., layer, parts, mask))",
        ),
    )
    ids, segments = torch.tensor([[1, 5, 3], [2, 6, 4]]), torch.tensor([[0, 0, 1], [0, 1, 1]])
    for n_layers, mask in ((1, None), (3, None), (3, ids != 3)):
        weights = encoder_weights(n_layers)
        states = _hidden_states(check, ids, segments, weights, mask)
        _embeddings_come_first(check, states[0])
        for number in range(1, n_layers + 1):
            _layer_works_on_the_one_before(check, states, number, weights, mask)
    check.done("small encoders of one and of three layers, with padding and without")
    _parts(check, ids, segments)
    _minilm(check)
    return check.passed()


def _parts(check: EncoderCheck, ids: Tensor, segments: Tensor) -> None:
    """Without both halves no layer changes anything; without one of them it does."""
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


def _minilm(check: EncoderCheck) -> None:
    """The published weights: the student's numbers against those of another implementation."""
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
