"""Checks that values have the declared type and ids are in range; used by all floors."""

from collections.abc import Collection
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

# A field's declared type -> the types it accepts (NumPy's numbers too), and the message's words.
KINDS = {int: (Integral, "an integer"), float: (Real, "a number"), bool: (bool, "True or False")}


def check_fields(config: Any) -> None:
    """Raise ValueError if a dataclass field declared int, float or bool has another type.

    Python would store `n_layers=1.5` or `causal="no"` and fail much later, or treat it as True.
    """
    for field in fields(config):
        if field.type in KINDS:
            value = getattr(config, field.name)
            check_kind(type(config).__name__, field.name, value, field.type)


def check_kind(where: str, name: str, value: Any, kind: type) -> None:
    """Raise ValueError unless the value is of the kind: int, float (or an integer) or bool."""
    allowed, words = KINDS[kind]
    # In Python, True is also the integer 1.
    if not isinstance(value, allowed) or isinstance(value, bool) != (kind is bool):
        raise ValueError(f"{where}: {name} must be {words}; got {value!r}")


def require(config: Any, name: str, holds: bool, words: str) -> None:
    """Raise ValueError with the field's name and `words`, such as "must be above 0", if false."""
    if not holds:
        raise ValueError(f"{type(config).__name__}: {name} {words}; got {getattr(config, name)}")


def check_choice(config: Any, name: str, choices: Collection[str]) -> None:
    """Raise ValueError unless the field's value is one of the choices."""
    where, value = type(config).__name__, getattr(config, name)
    if value not in choices:
        raise ValueError(f"{where}: {name} must be one of {', '.join(choices)}; got {value!r}")


def check_tensor(where: str, name: str, value: Any) -> None:
    """Raise TypeError unless the value is a tensor; a list has neither shape nor dtype."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{where}: {name} must be a tensor; got a {type(value).__name__}; torch.tensor({name}) "
            "makes one of a list of numbers"
        )


def check_ids(
    where: str, name: str, ids: Tensor, vocab_size: int, max_length: int | None = None
) -> None:
    """Ids must be integers [B, L], 0 to vocab_size - 1, at most max_length tokens per sequence."""
    check_tensor(where, name, ids)
    if ids.dim() != 2 or not ids.numel():
        raise ValueError(f"{where}: {name} must be [B, L] and not empty; got {list(ids.shape)}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{where}: {name} must be integers, torch.long; got {ids.dtype}")
    if max_length is not None and ids.shape[1] > max_length:
        raise ValueError(
            f"{where}: {name} must hold at most max_length={max_length} tokens per sequence; "
            f"got {ids.shape[1]}"
        )
    if values_are_at_hand(ids):
        low, high = ids.min().item(), ids.max().item()
        if low < 0 or high >= vocab_size:
            raise ValueError(
                f"{where}: {name} must be from 0 to {vocab_size - 1}; "
                f"got {low if low < 0 else high}; do vocabulary and model belong together?"
            )


def values_are_at_hand(tensor: Tensor) -> bool:
    """Whether the tensor's numbers can be read at no cost.

    On another device, reading makes the program wait; inside `torch.compile` it splits the graph.
    There, only shapes and dtypes are checked.
    """
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()
