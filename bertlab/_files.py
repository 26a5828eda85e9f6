"""Read JSON, and write files atomically; used by every floor."""

import json
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as short
from typing import Any


def write_atomically(path: str | os.PathLike, content: str | bytes, mode: int = 0o644) -> Path:
    """Write `content` to `path` in one step: a reader sees the old file or the new one.

    The content goes to a temporary file in the same folder, which then takes the file's name.
    mode: who may read it; the default is everybody.
    Raises OSError, with the path, if the folder is missing or the disk is full; the old file is
    then untouched.
    """
    path = check_no_folder(path)
    data = content.encode() if isinstance(content, str) else content
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with naming(path), os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)  # mkstemp's 0600 would prevent sharing the file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


@contextmanager
def naming(path: str | os.PathLike) -> Iterator[None]:
    """Let an error of the system say which file it is about; of a full disk it does not."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise


def check_no_folder(path: str | os.PathLike) -> Path:
    """The path; raises IsADirectoryError if it is a folder where a file belongs."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file, such as one in it")
    return path


def read_json(path: str | os.PathLike) -> Any:
    """The content of a JSON file, with or without a byte-order mark; the caller checks its type.

    Raises FileNotFoundError, or ValueError if the file is not valid JSON: truncated, not UTF-8,
    nested too deeply, or with a number of thousands of digits.
    """
    try:
        return json.loads(check_no_folder(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged: it is not whole JSON ({error}); save or fetch it again"
        ) from error


def read_object(path: str | os.PathLike) -> dict[str, Any]:
    """The names and values of a JSON file; empty if there is no such file."""
    said = read_json(path) if Path(path).is_file() else {}
    if not isinstance(said, dict):
        raise ValueError(f'{path} must hold one JSON object, {{"name": value}}; got {short(said)}')
    return said


def check_options(
    path: str | os.PathLike, said: Mapping[str, Any], options: Mapping[str, Collection[Any] | None]
) -> None:
    """Raise ValueError, with file and name, unless each option that a file has is supported.

    options: name -> the supported values; None means any.
    """
    for name, value in said.items():
        values = options.get(name, ())
        if values is None or any(value == one and type(value) is type(one) for one in values):
            continue
        must = " or ".join(map(json.dumps, values)) if values else "omitted"
        raise ValueError(f"{path}: {name} must be {must}; got {short(value)}")
