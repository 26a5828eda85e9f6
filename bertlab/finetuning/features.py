"""Features: which of the encoder's vectors a head reads, from one layer or a mix of layers.

Source: Devlin et al. (2019), section 5.3 and table 7.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.model.config import BertConfig

FOUR = 4  # last layers that are mixed
MIXES = ("last", "sum last four", "concat last four", "mean of all")

Features = str | int  # the name of a mix, or the number of a layer


def layer_features(hidden_states: Sequence[Tensor], how: Features = "last") -> Tensor:
    """For every token the vector that a head reads: [B, L, D], or [B, L, 4 D] if concatenated.

    hidden_states: embeddings, then every layer's output, [B, L, D] each, as `Bert` gives them
    with output_hidden_states=True; how: "last" (layer), "sum last four", "concat last four",
    "mean of all" (layers, without the embeddings), or a number: 0 for the embeddings, 1 for the
    first layer, and so on.

    Raises ValueError if there is no such mix or layer, if a mix needs more layers than there are,
    or if the model was not asked for its hidden states.

    Source: Devlin et al. (2019), table 7, which calls its sums weighted and does not say how;
    here all layers have equal weight.

    >>> states = [torch.full((1, 1, 1), float(layer)) for layer in range(6)]
    >>> [layer_features(states, how).item() for how in ("last", "sum last four", "mean of all", 0)]
    [5.0, 14.0, 3.0, 0.0]
    """
    check_states(hidden_states, how)
    if how == "last":
        return hidden_states[-1]
    if how == "sum last four":
        return torch.stack(tuple(hidden_states[-FOUR:])).sum(dim=0)
    if how == "concat last four":
        return torch.cat(tuple(hidden_states[-FOUR:]), dim=-1)
    if how == "mean of all":
        return torch.stack(tuple(hidden_states[1:])).mean(dim=0)
    return hidden_states[how]  # type: ignore[index]  # a number: other names were rejected


def feature_size(config: BertConfig, how: Features = "last") -> int:
    """How many numbers `layer_features` gives for a token.

    Raises ValueError as `layer_features` does.

    >>> feature_size(BertConfig.base(), "concat last four")
    3072
    """
    check_features(how, config.n_layers)
    return config.d_model * (FOUR if how == "concat last four" else 1)


def check_states(hidden_states: Sequence[Tensor], how: Features) -> None:
    """Raise ValueError unless these are a model's hidden states, and have these features."""
    listed = isinstance(hidden_states, Sequence) and len(hidden_states) > 0
    if not listed or not all(isinstance(state, Tensor) for state in hidden_states):
        raise ValueError(
            "layer_features: hidden_states must be a list of tensors, the embeddings and every "
            f"layer's output; got {type(hidden_states).__name__}; did the model run with "
            "output_hidden_states=True, and is it output.hidden_states?"
        )
    check_features(how, n_layers=len(hidden_states) - 1)


def check_features(how: Features, n_layers: int) -> None:
    """Raise ValueError unless a model of this many layers has these features."""
    if isinstance(how, str):
        if how not in MIXES:
            raise ValueError(
                f"features must be one of {', '.join(map(repr, MIXES))}, or the number of a "
                f"layer; got {how!r}"
            )
        if "four" in how and n_layers < FOUR:
            raise ValueError(
                f"features {how!r} need a model of at least four layers; got {n_layers}; take "
                "'mean of all' or the number of a layer"
            )
    elif not 0 <= how <= n_layers:
        raise ValueError(
            f"features must be a layer from 0, the embeddings, to {n_layers}, the last one; "
            f"got {how}"
        )
