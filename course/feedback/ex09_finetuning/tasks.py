"""Checks of exercise 9 about a head's features, and a tagger's loss."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.feedback.checks import Passed
from course.feedback.ex09_finetuning.tags import (
    IGNORED,
    OWN_CODE,
)
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal


class LayersCheck(TensorCheck):
    """A check of vectors from several layers."""

    refused = OWN_CODE
    ready_made = ()
    changed = (
        "`total = hidden_states[-4]` gives the tensor a second name and makes no copy, so `total "
        "+= ...` writes into the model's own output; `total = total + ...` makes a new one"
    )

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        states, how = arguments
        return f"{self.name}(hidden_states of {len(states) - 1} layers, {how!r})"


# The embeddings and five layers, one token of two components: 2 to the layer's power, its number.
FIVE = tuple(torch.tensor([[[2.0**layer, layer]]]) for layer in range(6))


@task("ex09_finetuning", 1)
def layer_features(function: Callable) -> Passed:
    """The vectors that a head reads."""
    check = LayersCheck(
        "layer_features",
        function,
        hints=(
            "hidden_states[0] are the embeddings, hidden_states[-1] is the last layer; [-4:] are "
            "the last four, [1:] all layers",
            "torch.stack(list).sum(dim=0) adds tensors up; torch.cat(list, dim=-1) concatenates "
            "vectors",
        ),
    )
    for how, gives, because in _mixes():
        check.example(FIVE, how, gives=gives, because=because)
    check.done("four mixes and two single layers, by hand")
    states = list(normal(13, 2, 7, 16, seed=9))
    sum_of_all = torch.zeros(2, 7, 16)
    for state in states[1:]:
        sum_of_all = sum_of_all + state
    rest = sum_of_all
    for state in states[1:9]:
        rest = rest - state
    because = "12 layers, as BERT-base has them: [2, 7, 16] each"
    check.example(states, "last", gives=states[12], because=because)
    check.example(states, "sum last four", gives=rest, because=because)
    check.example(states, "mean of all", gives=sum_of_all / 12, because=because)
    check.example(states, 7, gives=states[7], because=because)
    answer = check.call(states, "concat last four", because=because)
    shown = check.shown((states, "concat last four"))
    check.law(
        isinstance(answer, Tensor) and answer.shape == (2, 7, 64),
        f"{shown}\nit must return a tensor [2, 7, 64], 4 times 16 numbers for each token; it "
        f"returned {list(answer.shape) if isinstance(answer, Tensor) else answer}",
    )
    for place, part in enumerate(answer.chunk(4, dim=-1)):
        check.equals(part, states[9 + place], f"{shown}: numbers {16 * place} to {16 * place + 15}")
    check.done("12 layers, a batch of texts")
    return check.passed()


def _mixes() -> list[tuple[Any, list, str]]:
    """The five layers by hand: how, what it gives, and the rule."""
    return [
        ("last", [[[32.0, 5]]], "the output of the last layer"),
        ("sum last four", [[[60.0, 14]]], "4 + 8 + 16 + 32, and 2 + 3 + 4 + 5"),
        (
            "concat last four",
            [[[4.0, 2, 8, 3, 16, 4, 32, 5]]],
            "the vectors of layers 2, 3, 4, 5, concatenated: [B, L, 4 D]",
        ),
        (
            "mean of all",
            [[[12.4, 3]]],
            "62 / 5 and 15 / 5: all five layers, without the embeddings",
        ),
        (2, [[[4.0, 2]]], "layer 2: hidden_states begin with the embeddings, so its index is 2"),
        (0, [[[1.0, 0]]], "layer 0 are the embeddings"),
    ]


class LossCheck(TensorCheck):
    """A check of a loss: one number, with its gradient."""

    refused = OWN_CODE
    ready_made = ()

    def loss(self, logits: Tensor, targets: Tensor, gives: float, because: str) -> None:
        """A worked example."""
        self.example(*(logits, targets), gives=torch.tensor(gives), because=because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        logits, targets = arguments
        written = str(targets.tolist()) if targets.numel() <= 16 else f"{list(targets.shape)}"
        return f"{self.name}(logits {list(logits.shape)}, targets {written})"


@task("ex09_finetuning", 3)
def tagger_loss(function: Callable) -> Passed:
    """The mean over only the tokens that have a target."""
    check = LossCheck(
        "tagger_loss",
        function,
        hints=(
            "asked = targets != IGNORED is True at the tokens that count; logits[asked] are their "
            "rows, [N, C]",
            'F.cross_entropy(..., reduction="sum") of those rows, divided by their number, at '
            "least 1",
        ),
    )
    half = torch.tensor([0.5, 0.25, 0.25]).log()
    logits = half.expand(2, 4, 3).contiguous()
    targets = torch.tensor([[IGNORED, 0, IGNORED, IGNORED], [IGNORED, 1, 2, 1]])
    check.loss(
        *(logits, targets, 1.2130),
        because="the tags have the probabilities 0.5, 0.25, 0.25, 0.25: (0.6931 + 3 · 1.3863) / 4 "
        "tokens",
    )
    check.done("two texts by hand")
    _others_do_not_count(check, logits, targets)
    logits = 3 * normal(8, 50, 9, seed=4)
    asked = torch.arange(400).view(8, 50) * 7 % 5 == 0
    true = torch.arange(400).view(8, 50) * 5 % 9
    log_p = logits.double().log_softmax(dim=-1).gather(-1, true[..., None])[..., 0]
    check.loss(
        *(logits, true.masked_fill(~asked, IGNORED), float(-log_p[asked].sum() / asked.sum())),
        because="8 texts of 50 tokens, 9 tags: the mean over the 80 tokens with a target",
    )
    check.done("8 texts of 50 tokens; gradients")
    return check.passed()


def _others_do_not_count(check: LossCheck, logits: Tensor, targets: Tensor) -> None:
    other = logits.clone()
    other[targets == IGNORED] = 1000 * normal(int((targets == IGNORED).sum()), 3, seed=3)
    check.loss(
        *(other, targets, 1.2130),
        because="other scores at tokens without a target: the loss must be the same",
    )
    check.gradients(logits, targets)
    nothing = torch.full((2, 4), IGNORED)
    check.loss(
        *(logits, nothing, 0.0),
        because="no token has a target: 0, where the mean of nothing would be nan",
    )
    check.done("tokens without a target do not count; no targets at all")
