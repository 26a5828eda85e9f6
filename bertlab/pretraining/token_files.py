"""The files of a token store: `store.json`, and plain arrays of numbers with their checksums."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bertlab._files import naming, read_json

FORMAT = 1
ARRAYS = ("ids", "sentence_starts", "document_starts")
FACTS = {  # what `store.json` says, and the type of it
    "dtype": str,
    "documents": int,
    "sentences": int,
    "tokens": int,
    "vocabulary": str,
    "arrays": str,
    "sha256": dict,
}
DTYPES = ("<u2", "<u4")  # of ids
BUFFER = 1 << 20  # bytes that are buffered per file


class ArrayWriter:
    """A growing file of numbers of one dtype, with its checksum."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.file = path.open("wb", buffering=BUFFER)
        self.length, self.checksum = 0, hashlib.sha256()

    def append(self, numbers: Sequence[int] | np.ndarray) -> None:
        """Append numbers to the file."""
        data = np.asarray(numbers, self.dtype).tobytes()
        with naming(self.path):
            self.file.write(data)
        self.checksum.update(data)
        self.length += len(numbers)

    def __enter__(self) -> "ArrayWriter":
        return self

    def __exit__(self, *error: object) -> None:
        with naming(self.path), self.file:
            self.file.flush()
            os.fsync(self.file.fileno())  # on disk before `store.json` refers to it


def array_file(arrays: Path, name: str) -> Path:
    """The path of one array of a store."""
    return arrays / f"{name}.bin"


def read_facts(folder: Path) -> dict[str, Any]:
    """The content of `store.json`, checked."""
    path = folder / "store.json"
    if not path.is_file():
        raise FileNotFoundError(f"TokenStore.open: {folder} holds no store; write_tokens makes one")
    try:
        facts = read_json(path)
    except ValueError as error:
        raise damaged(folder, "store.json is not whole JSON") from error
    if not isinstance(facts, dict):
        raise damaged(folder, "store.json does not describe a store")
    if facts.get("format") != FORMAT:
        raise ValueError(
            f"TokenStore.open: {folder} has format {facts.get('format')!r}, this bertlab reads "
            f"format {FORMAT}; write it again with write_tokens"
        )
    if missing := FACTS.keys() - facts.keys():
        raise damaged(folder, f"store.json does not say {', '.join(sorted(missing))}")
    wrong = [name for name, kind in FACTS.items() if not isinstance(facts[name], kind)]
    wrong += [] if wrong or facts["dtype"] in DTYPES else ["dtype"]
    if wrong:
        raise damaged(folder, f"store.json says {facts[wrong[0]]!r} for {wrong[0]}")
    if unsummed := [name for name in ARRAYS if name not in facts["sha256"]]:
        raise damaged(folder, f"store.json does not say the sha256 of {unsummed[0]}.bin")
    return facts


def map_array(arrays: Path, name: str, dtype: str, length: int) -> np.memmap:
    """One array, memory-mapped; its file must have its original length."""
    path, expected = array_file(arrays, name), length * np.dtype(dtype).itemsize
    found = path.stat().st_size if path.is_file() else 0
    if found != expected:
        raise damaged(arrays.parent, f"{name}.bin must have {expected:,} bytes; got {found:,}")
    return np.memmap(path, dtype, "r")


def damaged(folder: Path, what: str) -> ValueError:
    """The error for files that have changed since they were written."""
    return ValueError(f"TokenStore: {folder} is damaged: {what}; write it again with write_tokens")
