"""A published BERT's `model.safetensors` as tensors under our names, checked before reading.

The file's header gives every tensor's name, shape and dtype. They are compared with the
configuration first, so that wrong sizes cost neither memory nor time.
"""

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.model.weight_names import (
    COPIES,
    ENCODER,
    LAYER_TENSORS,
    POSITION_IDS,
    REPLACEABLE,
    Kind,
    present_name,
    tensor_names,
    tensor_shapes,
)

DTYPES = ("F16", "BF16", "F32", "F64")  # as safetensors calls them
HEADLESS = (
    ": it was saved without the head that guesses words; load_pretrained(folder) reads the encoder"
)
SHOWN = 3  # faults that a message names


def read_weights(path: Path, config: BertConfig, kind: Kind) -> dict[str, Tensor]:
    """The file's tensors under our names, stacked, float32.

    A checkpoint for another task may lack the pooler or the head for next sentences; then ours are
    not among the tensors either, and a warning says so.

    Raises ValueError if the file is damaged, or if tensors are missing, unexpected, of another
    shape or not floating-point numbers: the message names the first three and counts the others;
    or if a second copy of a tied weight differs from the weight itself.
    """
    try:
        with safe_open(path, framework="pt") as file:
            stored = stored_names(path, file.keys(), kind)
            copies = {c: o for c, o in COPIES.items() if c in stored and o in stored}
            found = {name: file.get_slice(stored[name]) for name in stored if name not in copies}
            lacking = lacking_parts(found, kind)
            check_tensors(path, found, config, kind, lacking)
            for copy, original in copies.items():
                one, other = file.get_tensor(stored[copy]), file.get_tensor(stored[original])
                if one.dtype != other.dtype or not torch.equal(one, other):
                    raise ValueError(
                        f"load_pretrained: {copy} must equal {original}, as in BERT, whose "
                        f"unembedding is tied to its embeddings; in {path} they differ"
                    )
            if lacking:
                warnings.warn(
                    f"load_pretrained: {path} has no {' and no '.join(lacking)}; drawn at random "
                    "instead, so train it before you use what it computes",
                    stacklevel=3,
                )
            return {
                ours: torch.cat([file.get_tensor(stored[name]).float() for name in theirs])
                for ours, theirs in tensor_names(config.n_layers, kind).items()
                if not any(part in theirs[0] for part in lacking)
            }
    except SafetensorError as error:
        raise ValueError(
            f"load_pretrained: {path} cannot be read ({error}); is the file whole? Fetch it again"
        ) from error


def stored_names(path: Path, names: Iterable[str], kind: Kind) -> dict[str, str]:
    """Today's name of each tensor that is a weight of this kind -> its name in the file.

    For `Bert`, the heads that stand beside an encoder's "bert." are not among them.

    Raises ValueError if two tensors of the file would be the same weight.
    """
    present = {name: present_name(name) for name in names}
    beside = kind is Bert and any(name.startswith("bert.") for name in present.values())
    stored: dict[str, str] = {}
    for in_file, name in present.items():
        if name.endswith(POSITION_IDS) or (beside and not name.startswith(ENCODER)):
            continue
        name = name.removeprefix("bert.") if kind is Bert else name
        if name in stored:
            raise ValueError(
                f"load_pretrained: {path} must hold each weight once; got {stored[name]} and "
                f"{in_file}"
            )
        stored[name] = in_file
    return stored


def lacking_parts(found: Collection[str], kind: Kind) -> list[str]:
    """The parts of a model of this kind that a file may lack, and does."""
    parts = REPLACEABLE if kind is BertForPreTraining else REPLACEABLE[:1]
    return [part for part in parts if not any(part in name for name in found)]


def check_tensors(
    path: Path, found: dict[str, Any], config: BertConfig, kind: Kind, lacking: Sequence[str]
) -> None:
    """Raise ValueError unless names, shapes and dtypes are those of the configuration.

    found: name -> `get_slice`, which has shape and dtype without reading the numbers; lacking:
    parts that need not be there.
    """
    # Not for a million layers: each has several tensors, and the file has fewer.
    n_layers = min(config.n_layers, len(found) + 1)
    shapes = tensor_shapes(replace(config, n_layers=n_layers), kind)
    expected = {x: shapes[x] for x in shapes if not any(part in x for part in lacking)}
    uncounted = (config.n_layers - n_layers) * LAYER_TENSORS
    faults = [f"missing: {name}" for name in expected if name not in found]
    faults += [f"unexpected: {name}" for name in found if name not in expected]
    for name in [name for name in expected if name in found]:
        shape, dtype = found[name].get_shape(), found[name].get_dtype()
        if shape != expected[name]:
            faults.append(f"shape of {name}: expected {expected[name]}, got {shape}")
        if dtype not in DTYPES:
            faults.append(f"dtype of {name}: expected one of {', '.join(DTYPES)}, got {dtype}")
    if faults:
        more = len(faults) + uncounted - SHOWN
        raise ValueError(
            f"load_pretrained: {path} does not fit the model; {'; '.join(faults[:SHOWN])}"
            + (f"; and {more:,} more" if more > 0 else "")
            + ("" if kind is Bert or any(name.startswith("cls.p") for name in found) else HEADLESS)
        )
