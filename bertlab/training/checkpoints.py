"""Checkpoints: training resumes from them, even after a crash while one was written.

    step-00000500/model.safetensors      parameters and buffers, by name
    step-00000500/optimizer.safetensors  AdamW's state of each parameter, by name
    step-00000500/state.json             the step, AdamW's groups, the loop's own state
    step-00000500/manifest.json          sizes and checksums of the files

A checkpoint is written completely or not at all: under a temporary name beside its final place,
forced onto the disk, and renamed in one step. Disks may fail later: its `manifest.json` has the
size and SHA-256 of each file, and its own, so that any changed byte is noticed. A warning names a
checkpoint that has changed, and the one before it is used.
"""

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

VERSION = 1  # of the file format
MANIFEST = "manifest.json"
UNFINISHED = ".unfinished"  # suffix of the temporary name


class DamagedFolderError(RuntimeError):
    """A folder has changed since it was written; the message names the file."""


def write_sealed(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a folder with these files (name, content); an existing one is replaced.

    files: read one at a time, so that a generator need not hold all of them in memory. Only one
    program at a time may write beside `path`.

    Raises OSError if the disk is full or fails. An existing folder at `path` is removed just
    before the new one, then complete, is renamed.
    """
    unfinished = path.parent / UNFINISHED
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(unfinished, ignore_errors=True)  # left by a program that was killed
    try:
        unfinished.mkdir()
        seals = {}
        for name, content in files:
            _write(unfinished / name, content)
            seals[name] = _seal(content)
        _write(unfinished / MANIFEST, _manifest({"version": VERSION, "files": seals}))
        _sync(unfinished)
        if path.exists():
            shutil.rmtree(path)
        unfinished.rename(path)
        _sync(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def read_sealed(path: Path) -> dict[str, bytes]:
    """The content of each file, exactly as it was written.

    Raises DamagedFolderError if a file is missing, unreadable, cut or changed, or if the folder
    was written with another version.
    """
    manifest = _read(path / MANIFEST)
    try:
        values = json.loads(manifest)
        del values["sha256"]
        written, seals = values["version"], values["files"]
    except (ValueError, KeyError, TypeError):
        raise DamagedFolderError(f"{MANIFEST} cannot be understood") from None
    if _manifest(values) != manifest:
        raise DamagedFolderError(f"{MANIFEST} is not what was written")
    if written != VERSION:
        raise DamagedFolderError(f"{MANIFEST} says version {written}; this bertlab reads {VERSION}")
    files = {}
    for name, seal in seals.items():
        files[name] = content = _read(path / name)
        if len(content) != seal["bytes"]:
            raise DamagedFolderError(f"{name} has {len(content):,} bytes, not {seal['bytes']:,}")
        if _seal(content) != seal:
            raise DamagedFolderError(f"{name} is not what was written: its SHA-256 differs")
    return files


def _write(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # a power failure must not leave a name without its content


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DamagedFolderError(f"{path.name} is missing") from None
    except OSError as error:
        raise DamagedFolderError(f"{path.name} cannot be read ({error.strerror})") from error


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows cannot open a folder for this
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _seal(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _manifest(values: dict[str, Any]) -> bytes:
    """JSON with its own SHA-256, so that any change is detected."""
    return (json.dumps(values | {"sha256": checksum(values)}, indent=1) + "\n").encode()


def checksum(values: dict[str, Any]) -> str:
    """The SHA-256 of values as JSON."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
NAME = re.compile(r"step-(\d{8,})")


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
    """Write `folder/step-00000500`, then remove older checkpoints beyond `keep`; returns its path.

    state: whatever else the loop needs to resume; it must be valid JSON, which turns tuples into
    lists. Tied weights are written once. Only one training at a time may write into a folder.

    Raises ValueError if an argument is out of range, or if the folder has an intact checkpoint of
    this step or a later one: two trainings must not be mixed. Raises CheckpointError if the disk
    is full or fails; earlier checkpoints are then unchanged.
    """
    folder = Path(folder)
    path = folder / f"step-{step:08d}"
    if step < 0 or keep < 1:
        raise ValueError(
            "save_checkpoint: step must not be negative, and keep must be at least 1; "
            f"got step {step}, keep {keep}"
        )
    settings = _settings(step, state, _groups(model, optimizer))
    _check_later(folder, step)
    try:
        write_sealed(path, _files(model, optimizer, settings))
    except OSError as error:
        raise CheckpointError(
            f"save_checkpoint: {path} could not be written ({error.strerror or error}); earlier "
            "checkpoints are as they were: make room, then resume from them"
        ) from error
    _remove_older(folder, step, keep)
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
        try:
            files = read_sealed(path)
        except DamagedFolderError as error:
            damaged.append(f"{path.name}: {error}")
            continue
        if damaged:
            warnings.warn(
                f"load_checkpoint: damaged in {folder}: {'; '.join(damaged)}; resuming from "
                f"{path.name} instead",
                stacklevel=2,
            )
        saved = json.loads(files[STATE])
        _restore(path, files, saved["groups"], model, optimizer)
        return Checkpoint(saved["step"], saved["state"], path)
    reasons = "; ".join(damaged) or "it holds none at all"
    raise CheckpointError(f"load_checkpoint: {folder} holds no whole checkpoint: {reasons}")


def has_checkpoint(folder: str | os.PathLike) -> bool:
    """Whether a folder holds a checkpoint, intact or damaged."""
    return bool(_checkpoints(Path(folder)))


def _checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Steps and folders of intact and damaged ones, the newest first."""
    names = [(NAME.fullmatch(path.name), path) for path in folder.glob("step-*")]
    return sorted(((int(name[1]), path) for name, path in names if name), reverse=True)


def _check_later(folder: Path, step: int) -> None:
    """Raise ValueError if there is an intact checkpoint of the same step or a later one."""
    for saved, path in _checkpoints(folder):
        if saved < step:
            return
        try:
            read_sealed(path)
        except DamagedFolderError:
            continue  # the training has gone back behind it
        raise ValueError(
            f"save_checkpoint: step must be after {path.name}, which {folder} holds; got {step}; "
            "load that checkpoint and resume from it, or choose another folder"
        )


def _remove_older(folder: Path, step: int, keep: int) -> None:
    """Keep the newest up to this step; later ones are damaged and do not count."""
    for path in [path for saved, path in _checkpoints(folder) if saved <= step][keep:]:
        try:
            shutil.rmtree(path)
        except OSError as error:  # the new one is safe, so training continues
            warnings.warn(f"save_checkpoint: {path} cannot be removed ({error})", stacklevel=3)


def _files(
    model: nn.Module, optimizer: torch.optim.Optimizer, settings: bytes
) -> Iterator[tuple[str, bytes]]:
    yield MODEL, save(_on_cpu(_tensors(model)))
    yield OPTIMIZER, save(_on_cpu(_memory(model, optimizer)))
    yield STATE, settings


def _settings(step: int, state: dict[str, Any], groups: list[list[str]]) -> bytes:
    try:
        return json.dumps({"step": step, "state": state, "groups": groups}, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"save_checkpoint: state must be fit for JSON: {error}") from error


def _on_cpu(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers themselves; a tied one only under its first name."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not any(tensor is other for other in tensors.values()):
            tensors[name] = tensor
    return tensors


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
    files: dict[str, bytes],
    groups: list[list[str]],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
) -> None:
    saved, own = load(files[MODEL]), _tensors(model)
    faults = _misfits(saved, own) or _regrouped(groups, _groups(model, optimizer))
    if faults:
        raise ValueError(f"load_checkpoint: {path} does not fit: {'; '.join(faults)}")
    numbers = {name: n for n, name in enumerate(chain(*groups))}
    memory: dict[int, dict[str, Tensor]] = {}
    for key, tensor in load(files[OPTIMIZER]).items():
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
