"""Early checks, with clear messages, of errors that PyTorch reports late or not at all."""

from typing import Any

import torch
from torch import Tensor

from bertlab._checks import check_ids as check_ids  # "as": re-exported
from bertlab._checks import check_tensor as check_tensor
from bertlab._checks import values_are_at_hand as values_are_at_hand


def check_vectors(where: str, name: str, x: Tensor, shape: str, weight: Tensor, size: int) -> None:
    """Raise ValueError unless `x` are vectors of `size` numbers, of the weights' dtype.

    shape: the expected one, such as "[B, L, D]"; the number of letters is the number of
    dimensions, or at least one if it starts with "...".
    """
    dimensions = None if "..." in shape else shape.count(",") + 1
    if (dimensions not in (None, x.dim())) or not x.dim() or x.shape[-1] != size:
        raise ValueError(f"{where}: {name} must be {shape} with D = {size}; got {list(x.shape)}")
    same = x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type)
    if not x.is_floating_point() or not same:
        raise ValueError(
            f"{where}: {name} must be of the weights' dtype, {weight.dtype}; got {x.dtype}"
            + ("" if x.is_floating_point() else "; ids become vectors in Embeddings")
        )


def check_self_attention(x: Tensor, weights: Any, *_others: Any, **_options: Any) -> None:
    """Raise ValueError unless `x` are vectors of a head's input size."""
    check_vectors("self_attention", "x", x, "[..., L, D]", weights.W_q, len(weights.W_q))


def check_layer_norm(x: Tensor, gamma: Tensor, *_others: Any, **_options: Any) -> None:
    """Raise ValueError unless `x` are vectors of the norm's size."""
    check_vectors("layer_norm", "x", x, "[..., D]", gamma, len(gamma))


def check_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> None:
    """Raise ValueError if queries, keys, values and mask do not fit, or a query sees no key."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_tensor("attention", name, x)
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
    if not query.dtype == key.dtype == value.dtype or not query.is_floating_point():
        raise ValueError(
            "attention: query, key and value must be floating-point numbers of one dtype; "
            f"got {query.dtype}, {key.dtype} and {value.dtype}"
        )
    if mask is None:
        return
    check_tensor("attention", "mask", mask)
    if mask.dtype != torch.bool:
        raise ValueError(
            f"attention: mask must be boolean, True = may be attended to; got {mask.dtype}"
        )
    scores = (*query.shape[:-1], key.shape[-2])
    if mask.dim() > len(scores) or any(
        size not in (1, full)
        for size, full in zip(reversed(mask.shape), reversed(scores), strict=False)
    ):
        raise ValueError(
            f"attention: mask must broadcast to the scores, {list(scores)}; got {list(mask.shape)}"
        )
    check_visible(mask)


def check_visible(mask: Tensor | None) -> None:
    """Raise ValueError if a query may not attend to any key: its softmax would be 0 / 0."""
    if mask is not None and values_are_at_hand(mask) and not mask.any(dim=-1).all():
        raise ValueError(
            "attention: mask leaves a query nothing to attend to; True (or 1) marks tokens that "
            "may be attended to, False (or 0) padding, which a causal model wants on the right"
        )


def check_guesses(where: str, logits: Tensor, name: str, true: Tensor) -> None:
    """Raise ValueError unless there is one true class for each row of scores.

    logits: [N, C]; true: [N], integers from 0 to C - 1; name: of `true`, for the message. PyTorch's
    cross-entropy skips -100 silently, and a mean over N rows would then divide by too large an N.
    """
    if logits.dim() != 2 or true.shape != logits.shape[:1]:
        raise ValueError(
            f"{where}: logits must be [N, C] and {name} [N], one for each row; "
            f"got {list(logits.shape)} and {list(true.shape)}"
        )
    if not logits.is_floating_point() or true.dtype != torch.int64:
        raise ValueError(
            f"{where}: logits must be floating-point numbers and {name} integers, torch.long; "
            f"got {logits.dtype} and {true.dtype}"
        )
    if values_are_at_hand(true) and len(true):
        low, high = true.min().item(), true.max().item()
        if low < 0 or high >= logits.shape[1]:
            raise ValueError(
                f"{where}: {name} must be from 0 to {logits.shape[1] - 1}; "
                f"got {low if low < 0 else high}; omit rows without a target"
            )


def check_tokens_mask(where: str, name: str, mask: Tensor | None, shape: tuple[int, ...]) -> None:
    """A token mask must be boolean (or 0 and 1), [B, L], True at each sequence's first token."""
    if mask is None:
        return
    check_tensor(where, name, mask)
    if mask.shape != shape:
        raise ValueError(
            f"{where}: {name} must be [B, L] = {list(shape)}, as the ids are; "
            f"got {list(mask.shape)}"
        )
    if mask.is_floating_point():
        raise ValueError(
            f"{where}: {name} must be boolean, True for tokens and False for padding; "
            f"got {mask.dtype}"
        )
    if values_are_at_hand(mask) and not mask[:, 0].bool().all():
        raise ValueError(
            f"{where}: {name} must be True at the first token of each sequence; got False; "
            "padding belongs at the end"
        )


def check_memory(where: str, memory: Tensor, batch: int, d_model: int) -> None:
    """The memory must be the output of `encode`, [B, L, D], with one sequence per target."""
    if memory.dim() != 3 or memory.shape[0] != batch or memory.shape[2] != d_model:
        raise ValueError(
            f"{where}: memory must be [B, L, D] with B = {batch}, one for each target, and "
            f"D = {d_model}; got {list(memory.shape)}"
        )
