"""Checkpoints: training resumes from them, even after a crash while one was written.

`step-00000500-9f86d081884c7d65.safetensors` holds parameters and buffers as "model.NAME", AdamW's
state of each parameter as "optimizer.NAME.exp_avg" and so on, and as metadata the step, AdamW's
groups and the loop's own state.

A checkpoint is written completely or not at all: under a temporary name, forced onto the disk, and
renamed in one step. Disks may fail later: the name ends with the start of the file's SHA-256, so
that any changed byte is noticed. A warning names a checkpoint that has changed, and the one before
it is used.
"""

import hashlib
import json
import os
import re
import warnings
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from bertlab._files import write_atomically

NAME = re.compile(r"step-(\d{8,})-([0-9a-f]{16})\.safetensors")
MODEL, OPTIMIZER, TRAINING = "model.", "optimizer.", "training"  # two prefixes, one metadata key


class CheckpointError(RuntimeError):
    """A checkpoint could not be written, or none can be read; the message says why."""


class Checkpoint(NamedTuple):
    """The point from which a training resumes."""

    step: int
    state: dict[str, Any]  # as passed to `save_checkpoint`
    path: Path


def save_checkpoint(
    folder: str | os.PathLike,
    *,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
    keep: int = 2,
) -> Path:
    """Write a checkpoint, then remove older ones beyond `keep`; returns its path.

    state: whatever else the loop needs to resume; it must be valid JSON, which turns tuples into
    lists. Tied weights are written once. Only one training at a time may write into a folder.

    Raises ValueError if an argument is out of range, or if the folder has an intact checkpoint of
    this step or a later one: two trainings must not be mixed. Raises CheckpointError if the disk
    is full or fails; earlier checkpoints are then unchanged.
    """
    folder = Path(folder)
    if step < 0 or keep < 1:
        raise ValueError(
            "save_checkpoint: step must not be negative, and keep must be at least 1; "
            f"got step {step}, keep {keep}"
        )
    training = _as_json({"step": step, "state": state, "groups": _groups(model, optimizer)})
    _check_later(folder, step)
    sides = {MODEL: _weights(model), OPTIMIZER: _memory(model, optimizer)}
    tensors = {
        side + name: tensor.detach().cpu().contiguous()
        for side, of_side in sides.items()
        for name, tensor in of_side.items()
    }
    content = save(tensors, {TRAINING: training})
    path = folder / f"step-{step:08d}-{hashlib.sha256(content).hexdigest()[:16]}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".step-*"):  # temporary files of a training that was killed
            left.unlink()
        write_atomically(path, content)
        _sync(folder)
    except OSError as error:
        raise CheckpointError(
            f"save_checkpoint: {path} could not be written ({error.strerror or error}); earlier "
            "checkpoints are as they were: make room, then resume from them"
        ) from error
    _remove_older(path, step, keep)
    return path


def load_checkpoint(
    folder: str | os.PathLike, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Checkpoint:
    """Restore model and optimizer from the newest intact checkpoint of a folder.

    Newer ones that are damaged are skipped, with a warning that names them. Both are changed in
    place, on their device, or not at all if this fails. The optimizer's settings, such as the
    learning rate, do not change: the caller has chosen them.

    Raises CheckpointError if no checkpoint is intact (with the fault of each), ValueError if the
    newest intact one belongs to another model or optimizer (with all differences).
    """
    damaged = []
    for _, path in _checkpoints(Path(folder)):
        if fault := _fault(path):
            damaged.append(f"{path.name} {fault}")
            continue
        if damaged:
            warnings.warn(
                f"load_checkpoint: damaged in {folder}: {'; '.join(damaged)}; resuming from "
                f"{path.name} instead",
                stacklevel=2,
            )
        with safe_open(path, framework="pt") as file:
            training = json.loads(file.metadata()[TRAINING])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        _restore(path, tensors, training["groups"], model, optimizer)
        return Checkpoint(training["step"], training["state"], path)
    reasons = "; ".join(damaged) or "it holds none at all"
    raise CheckpointError(f"load_checkpoint: {folder} holds no whole checkpoint: {reasons}")


def has_checkpoint(folder: str | os.PathLike) -> bool:
    """Whether a folder holds a checkpoint, intact or damaged."""
    return bool(_checkpoints(Path(folder)))


def _checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Steps and files of intact and damaged ones, the newest first."""
    names = [(NAME.fullmatch(path.name), path) for path in folder.glob("step-*")]
    return sorted(((int(name[1]), path) for name, path in names if name), reverse=True)


def _fault(path: Path) -> str:
    """What is wrong with a file, or ""."""
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    intact = path.stem.endswith(found[:16])
    return "" if intact else "is not what was written: its SHA-256 differs"


def _check_later(folder: Path, step: int) -> None:
    """Raise ValueError if there is an intact checkpoint of the same step or a later one."""
    for saved, path in _checkpoints(folder):
        # The training has gone back behind a damaged one.
        if saved >= step and not _fault(path):
            raise ValueError(
                f"save_checkpoint: step must be after {path.name}, which {folder} holds; got "
                f"{step}; load that checkpoint and resume from it, or choose another folder"
            )


def _remove_older(newest: Path, step: int, keep: int) -> None:
    """Keep the newest up to this step; later ones are damaged and do not count."""
    others = [(saved, path) for saved, path in _checkpoints(newest.parent) if path != newest]
    older = [path for saved, path in others if saved < step][keep - 1 :]
    for path in [*older, *(path for saved, path in others if saved == step)]:  # damaged
        try:
            path.unlink()
        except OSError as error:  # the new one is safe, so training continues
            warnings.warn(f"save_checkpoint: {path} cannot be removed ({error})", stacklevel=3)


def _sync(folder: Path) -> None:
    """Force the names in a folder onto the disk."""
    if os.name == "nt":
        return  # Windows cannot open a folder for this
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _as_json(training: dict[str, Any]) -> str:
    try:
        return json.dumps(training)
    except (TypeError, ValueError) as error:
        raise ValueError(f"save_checkpoint: state must be fit for JSON: {error}") from error


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers themselves; a tied one only under its first name."""
    first: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first.setdefault(id(tensor), (name, tensor))
    return dict(first.values())


def _memory(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Moments and step counts: "bias.exp_avg", "bias.exp_avg_sq", "bias.step", ..."""
    return {
        f"{name}.{key}": tensor
        for name, parameter in model.named_parameters()
        for key, tensor in optimizer.state.get(parameter, {}).items()
    }


def _groups(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[list[str]]:
    """Names of the parameters in each group of the optimizer."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    groups = [group["params"] for group in optimizer.param_groups]
    if any(parameter not in names for parameter in chain(*groups)):
        raise ValueError("optimizer has a parameter that the model has not; make it for this model")
    return [[names[parameter] for parameter in group] for group in groups]


def _restore(
    path: Path,
    tensors: dict[str, Tensor],
    groups: list[list[str]],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
) -> None:
    saved, moments = (
        {name.removeprefix(side): tensors[name] for name in tensors if name.startswith(side)}
        for side in (MODEL, OPTIMIZER)
    )
    own = _weights(model)
    faults = _misfits(saved, own) or _regrouped(groups, _groups(model, optimizer))
    if faults:
        raise ValueError(f"load_checkpoint: {path} does not fit: {'; '.join(faults)}")
    numbers = {name: n for n, name in enumerate(chain(*groups))}
    memory: dict[int, dict[str, Tensor]] = {}
    for key, tensor in moments.items():
        name, _, part = key.rpartition(".")
        memory.setdefault(numbers[name], {})[part] = tensor.clone()
    # The optimizer first: it needs memory, and does not change if there is too little.
    optimizer.load_state_dict(optimizer.state_dict() | {"state": memory})
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def _misfits(saved: dict[str, Tensor], own: dict[str, Tensor]) -> list[str]:
    """Tensors that are missing, unexpected or of another kind."""
    faults = [f"missing: {name}" for name in own if name not in saved]
    faults += [f"unexpected: {name}" for name in saved if name not in own]
    return faults + [
        f"{name} is {_kind(saved[name])} there, {_kind(own[name])} here"
        for name in own
        if name in saved and _kind(saved[name]) != _kind(own[name])
    ]


def _kind(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"


def _regrouped(saved: list[list[str]], own: list[list[str]]) -> list[str]:
    """Parameters that are in another group of the optimizer, or in none."""
    before, now = (
        {name: n for n, group in enumerate(groups) for name in group} for groups in (saved, own)
    )
    return [
        f"{name} is in the optimizer's group {before.get(name)} there, {now.get(name)} here"
        for name in before | now
        if before.get(name) != now.get(name)
    ]
