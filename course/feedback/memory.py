"""What the checks remember from one day to the next: `progress.json` beside the exercises.

The file is the student's own. It can be read, nothing is graded by it, and whoever deletes it loses
only memory: what has passed, tries, hints. It is kept where a notebook runs in its own folder,
`exercises/ex01_bpe`; anywhere else, as in grading, there is none.
"""

import json
import os
import sys
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from inspect import getsource
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from filelock import FileLock, Timeout

from bertlab._files import read_json, write_atomically

FILE, DAMAGED = "progress.json", "progress-damaged.json"
SWITCH = "BERTLAB_PROGRESS"  # "off": nothing is read or written, as by `make check`
SECONDS = 2.0  # how long to wait for another notebook that writes

_told: set[str] = set()  # what has been said in this session about the file


class Record(TypedDict):
    """What is known of one function; failures: since it passed last; passed: the source's hash."""

    tries: int
    failures: int
    passed: NotRequired[str]
    on: NotRequired[str]  # the day, such as 2026-11-27
    mistakes: NotRequired[dict[str, int]]  # the sentences of recognised mistakes, and how often


def file_of(assignment: str) -> Path | None:
    """The file for a notebook that runs now; None if it is not in the folder of its exercise."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    folder = Path.cwd()
    placed = folder.name == assignment and folder.parent.name == "exercises"
    if getattr(shell, "kernel", None) is None or not placed or os.environ.get(SWITCH) == "off":
        return None
    return folder.parent / FILE


def recall(assignment: str, name: str) -> Record:
    """What is known of a function of an exercise; of a new one that there was no try."""
    file = file_of(assignment)
    known = _read(file).get(assignment, {}) if file else {}
    return {"tries": 0, "failures": 0, **known.get(name, {})}  # type: ignore[typeddict-item]


def everything(folder: Path) -> dict[str, dict[str, Record]]:
    """All that the file in a folder of exercises knows: assignment -> function -> record."""
    return _read(folder / FILE)


def note(assignment: str, name: str, change: Callable[[Record], Any]) -> None:
    """Change what is known of a function; notebooks that do so at once wait for each other.

    If the file cannot be written, this says so once, and the session goes on without it.
    """
    file = file_of(assignment)
    if file is None:
        return
    try:
        with FileLock(file.with_name(f".{FILE}.lock"), timeout=SECONDS):
            record = recall(assignment, name)
            change(record)
            known = _read(file)
            known.setdefault(assignment, {})[name] = record
            write_atomically(file, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    except (OSError, Timeout) as error:
        _say(f"{FILE} cannot be written ({error}); what passes is remembered only in this session.")


def passes(function: Callable) -> Callable[[Record], Any]:
    """The change of a record by a function that passed."""

    def change(record: Record) -> None:
        record["tries"] += 1
        record["failures"] = 0
        record["passed"] = source_of(function)
        record["on"] = date.today().isoformat()

    return change


def fails(mistake: str) -> Callable[[Record], Any]:
    """The change of a record by a failure; mistake: the sentence if it was recognised, or ""."""

    def change(record: Record) -> None:
        record["tries"] += 1
        record["failures"] += 1
        if mistake:
            seen = record.setdefault("mistakes", {})
            seen[mistake] = seen.get(mistake, 0) + 1

    return change


def source_of(function: object) -> str:
    """A hash of a function's source, by which a later change is seen; "" if there is no source."""
    try:
        text = getsource(function)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
    return sha256(text.strip().encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _read(file: Path) -> dict[str, dict[str, Record]]:
    """The file's content; a damaged one is put aside, where nothing of it is lost."""
    try:
        known = read_json(file)
        if all(isinstance(of, dict) and all(map(_is_record, of.values())) for of in known.values()):
            return known
    except FileNotFoundError:
        return {}
    except OSError as error:
        _say(f"{FILE} cannot be read ({error}); what passed before is not shown.")
        return {}
    except (ValueError, AttributeError):
        pass  # put aside below, as is a file of another form
    try:
        os.replace(file, file.with_name(DAMAGED))
        _say(f"{FILE} was damaged and is now {DAMAGED}; a new one begins.")
    except OSError as error:
        _say(f"{FILE} is damaged and cannot be put aside ({error}).")
    return {}


def _is_record(record: object) -> bool:
    forms = {"tries": int, "failures": int, "passed": str, "on": str, "mistakes": dict}
    return isinstance(record, dict) and all(
        key in forms and isinstance(value, forms[key]) for key, value in record.items()
    )


def _say(what: str) -> None:
    if what not in _told:
        _told.add(what)
        print(what)
