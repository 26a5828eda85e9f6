"""The input of pictures of attention: the probabilities of one sequence, checked."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from bertlab.interpretability.checks import OUTPUT_THEM, TOLERANCE


def check_tokens(caller: str, tokens: Sequence[str], name: str = "tokens") -> list[str]:
    """The tokens as a list; raises ValueError unless they are strings, at least one."""
    single = isinstance(tokens, str) or not isinstance(tokens, Iterable)
    listed: list[Any] = [tokens] if single else list(tokens)
    if single or not all(isinstance(token, str) for token in listed):
        wrong = next((token for token in listed if not isinstance(token, str)), tokens)
        raise ValueError(f"{caller}: {name} must be a list of strings; got {wrong!r}")
    if not listed:
        raise ValueError(f"{caller}: {name} must hold at least one token; got none")
    return listed


def check_layers(
    caller: str,
    attentions: Sequence[Tensor] | Tensor,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
) -> list[Tensor]:
    """The attentions of all layers as a list of [H, L, L]; see `check_heads`.

    key_tokens: those of the columns, if they differ from those of the rows: [H, L, L'].

    Raises ValueError if there is no layer or if the layers differ in their number of heads.
    """
    if not isinstance(attentions, Iterable):
        raise ValueError(
            f"{caller}: attentions must be one tensor per layer, for example output.attentions; "
            f"got {_kind(attentions)}"
        )
    if isinstance(attentions, Tensor) and attentions.dim() < 4:
        raise ValueError(
            f"{caller}: attentions must be one tensor per layer, for example "
            f"output.attentions; got a single tensor {list(attentions.shape)}; "
            "put one layer in a list: [attention]"
        )
    layers = [check_heads(caller, layer, tokens, key_tokens) for layer in attentions]
    if not layers:
        raise ValueError(
            f"{caller}: attentions must hold at least one layer; got none; {OUTPUT_THEM}"
        )
    if len({layer.shape for layer in layers}) > 1:
        raise ValueError(
            f"{caller}: every layer must have the same shape; "
            f"got {[list(layer.shape) for layer in layers]}"
        )
    return layers


def check_heads(
    caller: str,
    attention: Tensor,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
) -> Tensor:
    """The attention of one layer, [1, H, L, L] or [H, L, L], as [H, L, L] on the CPU."""
    _check_tensor(caller, attention, " [H, L, L]")
    if attention.dim() == 4 and attention.shape[0] != 1:
        raise ValueError(
            f"{caller}: attention must be of one sequence, [1, H, L, L]; got "
            f"{list(attention.shape)}, a batch of {attention.shape[0]}; choose one: attention[:1]"
        )
    heads = attention[0] if attention.dim() == 4 else attention
    if heads.dim() != 3:
        raise ValueError(
            f"{caller}: attention must be [1, H, L, L] or [H, L, L]; got {list(attention.shape)}"
        )
    return check_matrix(caller, heads, tokens, tokens if key_tokens is None else key_tokens)


def check_matrix(
    caller: str, attention: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> Tensor:
    """Check [..., L, L']: one row per query token, one column per key token, rows sum to 1."""
    _check_tensor(caller, attention)
    expected = (len(query_tokens), len(key_tokens))
    if attention.dim() < 2 or tuple(attention.shape[-2:]) != expected or not attention.numel():
        raise ValueError(
            f"{caller}: attention must end in {list(expected)}, a row for each query token and "
            f"a column for each key token; got {list(attention.shape)}"
        )
    values = attention.detach().float().cpu()
    sums = values.sum(dim=-1)
    if not torch.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"{caller}: attention must be probabilities; got numbers from "
            f"{values.min():.3g} to {values.max():.3g}; scores become probabilities by row_softmax"
        )
    if (sums - 1).abs().max() > TOLERANCE:
        raise ValueError(
            f"{caller}: every row of attention must sum to 1; got sums from {sums.min():.3g} "
            f"to {sums.max():.3g}; are rows and columns swapped, or a softmax missing?"
        )
    return values


def check_index(caller: str, name: str, value: int, size: int) -> int:
    """The number of a layer, a head or a token; raises ValueError unless it is below `size`."""
    try:
        number = operator.index(value)  # also of NumPy and PyTorch
    except TypeError:
        number = -1
    if not 0 <= number < size:
        raise ValueError(f"{caller}: {name} must be from 0 to {size - 1}; got {value!r}")
    return number


def _check_tensor(caller: str, attention: Tensor, shape: str = "") -> None:
    if not isinstance(attention, Tensor):
        raise ValueError(
            f"{caller}: attention must be a torch tensor{shape}; got {_kind(attention)}"
        )


def _kind(value: object) -> str:
    """The name of its type; None is what a model returns that was not asked for attentions."""
    return f"None; {OUTPUT_THEM}" if value is None else type(value).__name__


def is_causal(layers: Tensor) -> bool:
    """Whether no query attends to a later key, as in a decoder. layers: [n_layers, H, L, L]."""
    return layers.shape[-1] > 1 and not layers.triu(diagonal=1).any()
