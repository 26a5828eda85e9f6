"""Read JSON, and write files atomically; used by every floor."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_atomically(path: str | os.PathLike, content: str | bytes, mode: int = 0o644) -> Path:
    """Write `content` to `path` in one step: a reader sees the old file or the new one.

    The content goes to a temporary file in the same folder, which then takes the file's name.
    mode: who may read it; the default is everybody.
    Raises OSError if the folder is missing or the disk is full; the old file is then untouched.
    """
    path = check_no_folder(path)
    data = content.encode() if isinstance(content, str) else content
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)  # mkstemp's 0600 would prevent sharing the file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def check_no_folder(path: str | os.PathLike) -> Path:
    """The path; raises IsADirectoryError if it is a folder where a file belongs."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file, such as one in it")
    return path


def read_json(path: str | os.PathLike) -> Any:
    """The content of a JSON file; the caller must check its type.

    Raises FileNotFoundError, or ValueError if the file is not valid JSON: truncated, not UTF-8,
    nested too deeply, or with a number of thousands of digits.
    """
    try:
        return json.loads(check_no_folder(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged: it is not whole JSON ({error}); save or fetch it again"
        ) from error
