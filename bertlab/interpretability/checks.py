"""Checks of the arguments of all measures."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from bertlab.model.bert import Bert

TOLERANCE = 1e-2  # rows of half-precision probabilities sum to 1 only this closely
OUTPUT_THEM = (  # otherwise a model returns None
    "did the model run with output_attentions=True? A transformers model also needs "
    "attn_implementation='eager'"
)


def check_attentions(where: str, attentions: Sequence[Tensor]) -> list[Tensor]:
    """One text's attentions, one tensor per layer, each as float32 [H, L, L] on the CPU.

    A leading batch axis of 1 is dropped; layers may differ in their number of heads, as after
    pruning. Raises ValueError if there is no layer, a shape does not fit or rows do not sum to 1.
    """
    if not isinstance(attentions, Sequence) or not attentions:
        got = list(attentions.shape) if isinstance(attentions, Tensor) else repr(attentions)
        raise ValueError(
            f"{where}: attentions must be a list with one tensor [H, L, L] per layer; got {got}; "
            f"trace(...).attentions is such a list; {OUTPUT_THEM}"
        )
    if not all(isinstance(layer, Tensor) and layer.dim() for layer in attentions):
        raise ValueError(
            f"{where}: attentions must hold tensors [H, L, L]; got "
            f"{sorted({type(layer).__name__ for layer in attentions})}; {OUTPUT_THEM}"
        )
    layers = [layer[0] if layer.dim() == 4 and len(layer) == 1 else layer for layer in attentions]
    length = layers[0].shape[-1]
    for number, layer in enumerate(layers):
        if layer.dim() != 3 or layer.shape[1:] != (length, length) or not layer.numel():
            raise ValueError(
                f"{where}: attentions must be [H, L, L] of one text, with L = {length} as in "
                f"layer 0; layer {number} is {list(attentions[number].shape)}"
            )
        sums = layer.float().sum(dim=-1)
        if not (sums - 1).abs().max() <= TOLERANCE or (layer < 0).any():  # also if some are nan
            raise ValueError(
                f"{where}: attentions must be probabilities, every row summing to 1; in layer "
                f"{number} the sums range from {sums.min():.3g} to {sums.max():.3g}"
            )
    return [layer.detach().float().cpu() for layer in layers]


def encoder_of(where: str, model: nn.Module) -> Bert:
    """The encoder inside a model: the model itself, or its `bert`.

    Raises ValueError if there is none.
    """
    for candidate in (model, getattr(model, "bert", None)):
        if isinstance(candidate, Bert):
            return candidate
    raise ValueError(
        f"{where}: model must be a Bert, or have one named `bert`; got {type(model).__name__}"
    )


def heads_by_layer(where: str, encoder: Bert, heads: Iterable[tuple[int, int]]) -> list[set[int]]:
    """(layer, head) pairs as one set of heads per layer.

    Raises ValueError if an entry is not a pair, or names a head that the encoder does not have.
    """
    chosen: list[set[int]] = [set() for _ in encoder.layers]
    for pair in heads:
        if not isinstance(pair, Sequence | Tensor) or len(pair) != 2:
            raise ValueError(
                f"{where}: heads must be pairs (layer, head), such as [(0, 3), (2, 1)]; got {pair}"
            )
        layer, head = map(int, pair)
        if not 0 <= layer < len(chosen):
            raise ValueError(
                f"{where}: heads must name layers from 0 to {len(chosen) - 1}; got {layer}"
            )
        n_heads = encoder.layers[layer].attention.n_heads
        if not 0 <= head < n_heads:
            raise ValueError(
                f"{where}: heads must name heads of layer {layer} from 0 to {n_heads - 1}; "
                f"got {head}"
            )
        chosen[layer].add(head)
    return chosen


def same_number_of_heads(where: str, encoder: Bert) -> tuple[int, int]:
    """(layers, heads per layer). Raises ValueError if the layers differ, as after pruning."""
    counts = [layer.attention.n_heads for layer in encoder.layers]
    if len(set(counts)) != 1:
        raise ValueError(
            f"{where}: every layer of the model must have the same number of heads; got {counts}; "
            "measure before pruning"
        )
    return len(counts), counts[0]


def check_one_text(where: str, name: str, ids: Tensor | Sequence[int]) -> Tensor:
    """Ids of one text, [L] or [1, L], as [1, L]. Raises ValueError for anything else."""
    ids = torch.as_tensor(ids)
    if ids.dim() not in (1, 2) or not ids.numel() or (ids.dim() == 2 and len(ids) != 1):
        raise ValueError(
            f"{where}: {name} must be of one text, [L]; got {list(ids.shape)}"
            + (f"; choose one: {name}[0]" if ids.dim() == 2 and ids.numel() else "")
        )
    return ids.reshape(1, -1)
