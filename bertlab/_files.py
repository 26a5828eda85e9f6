"""Read JSON, and write files atomically; used by every floor."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def write_atomically(path: str | os.PathLike, content: str | bytes, mode: int = 0o644) -> Path:
    """Write `content` to `path` in one step: a reader sees the old file or the new one.

    The content goes to a temporary file in the same folder, which then takes the file's name.
    mode: who may read it; the default is everybody.
    Raises OSError, with the path, if the folder is missing or the disk is full; the old file is
    then untouched.
    """
    path = Path(path)
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


def read_json(path: str | os.PathLike) -> Any:
    """The content of a JSON file; the caller must check its type.

    Raises FileNotFoundError, or ValueError if the file is not valid JSON: truncated, not UTF-8,
    nested too deeply, or with a number of thousands of digits.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged: it is not whole JSON ({error}); save or fetch it again"
        ) from error
