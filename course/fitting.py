"""What exercises ask for, fitted to the parts of the library.

Some functions of exercises are parts as they are: same name, same arguments. Others ask for more
than the lecture shows (a share to choose, parts of Adam to leave out), or for less (the library's
`merge_pair` can join in another way, too). `asked` lists both, each with the function that gives it
the part's arguments. What a function was not asked for, the library's own does in its place.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.model.attention import attention_probabilities, merge_heads
from bertlab.model.layers import EncoderLayer, gelu
from bertlab.parts import Part, parts
from bertlab.pretraining.batches import Batch
from bertlab.pretraining.masking import MASKED_SHARE, RANDOM_SHARE
from bertlab.training.runs import batch_sums
from bertlab.training.steps import StepResult
from course.feedback.ex06_bert_encoder import LayerWeights
from course.feedback.ex07_objectives import PARTS


class Asked(NamedTuple):
    """A part of the library that students write.

    exercise: its number; function: its name there; fit: makes the part of a student's function and
    of the library's own.
    """

    part: Part
    exercise: str
    function: str
    fit: Callable[[Callable, Callable], Callable] = lambda yours, _: yours

    def fitted(self, yours: Callable) -> Callable:
        """A student's function, to be called as the part is."""
        return self.fit(yours, self.part.function)


def asked() -> list[Asked]:
    """All of them that BERT runs, in the order of their lectures."""
    return [
        Asked(one, *FITTED.get(one.name, (one.exercise, one.name)))
        for one in parts()
        if (one.exercise or one.name in FITTED) and not one.derivation
    ]


# Each makes a part of the student's function; what that was not asked for, the library's does.


def _merge_pair(yours: Callable, library: Callable) -> Callable:
    def merge_pair(symbols: tuple, pair: tuple, join: Callable = operator.add) -> tuple:
        return yours(symbols, pair) if join is operator.add else library(symbols, pair, join)

    return merge_pair


def _gain(yours: Callable, library: Callable) -> Callable:
    def gain(n_ab: int, n_a: int, n_b: int, n: int, n_made: int = 0, same: bool = False) -> float:
        if n_made or same:
            return library(n_ab, n_a, n_b, n, n_made, same)
        return yours(n_ab, n_a, n_b, n)

    return gain


def _masked_shares(yours: Callable, _: Callable) -> Callable:
    def probabilities(query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is None:
            mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
        return yours(query, key, mask)

    return probabilities


def _encoder_layer(yours: Callable, library: Callable) -> Callable:
    # The exercise gives a `multi_head_attention`; this one runs the parts of lecture 4.
    yours.__globals__["multi_head_attention"] = _multi_head_attention

    def forward(
        layer: EncoderLayer, x: Tensor, mask: Tensor | None = None, **options: bool
    ) -> tuple[Tensor, Tensor | None]:
        drops = layer.training and layer.dropout.rate
        unusual = layer.pre_norm or layer.feed_forward.activation is not gelu
        if any(options.values()) or drops or unusual or (mask is not None and mask.dim() != 2):
            return library(layer, x, mask, **options)
        return yours(x, layer_weights(layer), None if mask is None else mask.bool()), None

    return forward


def _multi_head_attention(
    x: Tensor, heads: list, W_o: Tensor, b_o: Tensor, mask: Tensor | None = None
) -> Tensor:
    """x: [B, L, D]; mask: [B, L]. As in exercise 6, by the parts of lecture 4."""
    query, key, value = (
        torch.stack([x @ head[i] + head[i + 1] for head in heads], dim=-3) for i in (0, 2, 4)
    )  # [B, H, L, d_head]
    seen = None if mask is None else mask[:, None, None, :]
    return merge_heads(attention_probabilities(query, key, seen) @ value) @ W_o + b_o


def layer_weights(layer: EncoderLayer) -> LayerWeights:
    """The weights of an encoder layer, as exercise 6 takes them; views, not copies."""
    attention, between = layer.attention, layer.feed_forward
    return LayerWeights(
        heads=attention.head_weights(),
        W_o=attention.output.weight.T,
        b_o=attention.output.bias,
        gamma_1=layer.attention_norm.gamma,
        beta_1=layer.attention_norm.beta,
        W_mlp1=between.expand.weight.T,
        b_mlp1=between.expand.bias,
        W_mlp2=between.contract.weight.T,
        b_mlp2=between.contract.bias,
        gamma_2=layer.feed_forward_norm.gamma,
        beta_2=layer.feed_forward_norm.beta,
    )


def _replace_chosen(yours: Callable, _: Callable) -> Callable:
    def replace_chosen(
        ids: Tensor,
        predict: Tensor,
        mask_id: int,
        ordinary_ids: Tensor,
        generator: torch.Generator,
    ) -> Tensor:
        shares = MASKED_SHARE, RANDOM_SHARE
        return yours(ids.contiguous(), predict, mask_id, ordinary_ids, shares, generator)

    return replace_chosen


def _adam_step(yours: Callable, _: Callable) -> Callable:
    def adam_step(
        parameter: Tensor,
        gradient: Tensor,
        moments: Any,
        step: int,
        learning_rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> tuple[Tensor, Any]:
        return yours(parameter, gradient, moments, step, learning_rate, PARTS, betas, eps)

    return adam_step


def _accumulate_gradients(yours: Callable, _: Callable) -> Callable:
    def accumulate_gradients(
        model: nn.Module, pieces: Iterable[Batch], n_words: float, n_pairs: float
    ) -> Tensor:
        pieces = list(pieces)
        with _outputs(model) as outputs:
            yours(model, pieces, n_words, n_pairs)
        return _sums(outputs, pieces)

    return accumulate_gradients


def _training_step(yours: Callable, _: Callable) -> Callable:
    def training_step(
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        batch: Batch,
        *,
        rate: float | None = None,
        clip: float = 1.0,
    ) -> StepResult:
        rate = optimizer.param_groups[0]["lr"] if rate is None else rate
        with _outputs(model) as outputs:
            yours(model, optimizer, [batch], rate, clip)
        return StepResult.of(_sums(outputs, [batch]), batch)

    return training_step


@contextmanager
def _outputs(model: nn.Module) -> Iterator[list]:
    """Inside, a list of all that a model gives."""
    given: list = []
    hook = model.register_forward_hook(lambda _model, _inputs, output: given.append(output))
    try:
        yield given
    finally:
        hook.remove()


@torch.no_grad()
def _sums(outputs: list, pieces: list[Batch]) -> Tensor:
    """What the library notes of a step, which the exercise does not ask for: four sums, [4]."""
    sums = [batch_sums(*pair) for pair in zip(outputs, pieces, strict=True)]
    return torch.stack(sums).sum(dim=0)[:4]


FITTED = {
    "merge_pair": ("01", "merge_pair", _merge_pair),
    "gain": ("02", "gain", _gain),
    "attention_probabilities": ("04", "masked_shares", _masked_shares),
    "EncoderLayer.forward": ("06", "encoder_layer", _encoder_layer),
    "replace_chosen": ("07", "replace_chosen", _replace_chosen),
    "adam_step": ("07", "adam_step", _adam_step),
    "accumulate_gradients": ("08", "accumulate_gradients", _accumulate_gradients),
    "training_step": ("08", "training_step", _training_step),
}
