"""Folders that are written completely or not at all, and that detect any changed byte.

A folder is written under a temporary name beside its final place, forced onto the disk, and renamed
in one step. Its `manifest.json` has the size and SHA-256 of each file, and its own.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
UNFINISHED = ".unfinished"  # suffix of the temporary name


class DamagedFolderError(RuntimeError):
    """A folder has changed since it was written; the message names the file."""


def write_sealed(path: Path, files: Iterable[tuple[str, bytes]], version: int) -> None:
    """Write a folder with these files (name, content); an existing one is replaced.

    files: read one at a time, so that a generator need not hold all of them in memory; version: of
    the file format. Only one program at a time may write beside `path`.

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
        _write(unfinished / MANIFEST, _manifest({"version": version, "files": seals}))
        _sync(unfinished)
        if path.exists():
            shutil.rmtree(path)
        unfinished.rename(path)
        _sync(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def read_sealed(path: Path, version: int) -> dict[str, bytes]:
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
    if written != version:
        raise DamagedFolderError(f"{MANIFEST} says version {written}; this bertlab reads {version}")
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
