"""Mistakes that PyTorch would report late, or not at all, said early and by name."""

import torch
from torch import Tensor


def values_are_at_hand(tensor: Tensor) -> bool:
    """Whether reading numbers out of the tensor costs nothing.

    On another device it would make the program wait, and inside `torch.compile` it would cut the
    graph in two; there, only shapes and dtypes are checked.
    """
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def check_vectors(where: str, name: str, x: Tensor, shape: str, weight: Tensor, size: int) -> None:
    """Raise ValueError unless `x` are vectors of `size` numbers, of the weights' dtype.

    shape: what was expected, such as "[B, L, D]"; its number of letters is the number of
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


def check_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """Raise ValueError if queries, keys, values and mask do not fit each other."""
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
    if mask.dtype != torch.bool:
        raise ValueError(
            f"attention: mask must be boolean, True = may be attended; got {mask.dtype}"
        )
    scores = (*query.shape[:-1], key.shape[-2])
    if mask.dim() > len(scores) or any(
        size not in (1, full)
        for size, full in zip(reversed(mask.shape), reversed(scores), strict=False)
    ):
        raise ValueError(
            f"attention: mask must broadcast to the scores, {list(scores)}; got {list(mask.shape)}"
        )
