"""The metrics log of a run: a file of JSON lines that a crash cannot spoil.

    {"step": 0, "kind": "held-out", "mlm_loss": 9.01, ...}
    {"step": 1, "kind": "train", "loss": 9.72, ...}

A process that is killed while writing leaves part of a line, without a line end: it is not a row.
JSON has no infinity and no NaN. Such a value, of a training that has diverged, is written as null
and read as NaN.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from bertlab._files import naming, write_atomically
from bertlab.training.rows import Row


class MetricsFile:
    """A file to which rows are appended, one line at a time.

    path: neither the file nor its folder need exist. If an earlier training may have written it,
    call `keep_until` before the first `append`.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, row: Row) -> None:
        """Add a row. Other programs can then read it, and it is kept if this one is killed.

        Raises ValueError if the row has no step or no kind.
        """
        for name in ("step", "kind"):
            if name not in row:
                raise ValueError(f"MetricsFile.append: row must have {name!r}; got {list(row)}")
        line = json.dumps({name: _written(value) for name, value in row.items()}) + "\n"
        with naming(self.path), open(self.path, "ab") as file:
            file.write(line.encode())

    def keep_until(self, step: int) -> None:
        """Drop the rows after a step, and part of a line at the end.

        For resuming from a checkpoint, which may be older than the last row: later rows will be
        written again. A reader sees the old file or the new one; kept lines do not change, byte by
        byte. With step -1 none is kept.

        Raises ValueError if a complete line is not a row, which a crash cannot cause.
        """
        if not self.path.exists():
            return
        lines = _whole_lines(self.path)
        kept = [line for number, line in lines if _row(self.path, number, line)["step"] <= step]
        content = b"".join(kept)
        if len(content) < self.path.stat().st_size:
            write_atomically(self.path, content)


def read_metrics(path: str | os.PathLike) -> list[Row]:
    """The rows of a metrics file, also while a training is adding to it.

    Raises FileNotFoundError if there is no such file, ValueError if a complete line is not a row.
    """
    path = Path(path)
    return [_row(path, number, line) for number, line in _whole_lines(path)]


def _whole_lines(path: Path) -> list[tuple[int, bytes]]:
    """Lines with their ends, counted from 1; text after the last line end is omitted."""
    lines = path.read_bytes().splitlines(keepends=True)
    return [(number, line) for number, line in enumerate(lines, 1) if line.endswith(b"\n")]


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        values = json.loads(line)
        if not isinstance(values["step"], int):
            raise TypeError("its step is not a whole number")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}, line {number}, is not a row of metrics ({error}); repair or delete the line"
        ) from error
    return {name: math.nan if value is None else value for name, value in values.items()}


def _written(value: Any) -> Any:
    """A value that JSON can represent."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
