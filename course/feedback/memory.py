"""What the course remembers from one day to the next: `progress.json` beside the exercises.

The file is the student's own. It can be read, nothing is graded by it, and whoever deletes it loses
only memory: what has passed, tries, hints, what was answered in a page. It is kept where a notebook
runs in its own folder, `exercises/ex01_bpe`; anywhere else, as in grading, there is none.
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
ANSWERS = "in the pages"  # beside the exercises' names: an answer's key -> what the page keeps
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
    return _record(_read(file), assignment, name) if file else _record({}, assignment, name)


def everything(folder: Path) -> dict[str, dict[str, Record]]:
    """All that the file in a folder of exercises knows: assignment -> function -> record."""
    return {key: of for key, of in _read(folder / FILE).items() if key != ANSWERS}


def answers(folder: Path) -> dict[str, str]:
    """What was answered in pages, as they keep it: a key -> a text."""
    return _read(folder / FILE).get(ANSWERS, {})


def note_answers(folder: Path, given: dict[str, str]) -> None:
    """Keep answers, each in place of an earlier one with the same key."""
    _change(folder / FILE, lambda known: known.setdefault(ANSWERS, {}).update(given))


def note(assignment: str, name: str, change: Callable[[Record], Any]) -> None:
    """Change what is known of a function."""

    def of_function(known: dict[str, dict]) -> None:
        record = _record(known, assignment, name)
        change(record)
        known.setdefault(assignment, {})[name] = record

    if (file := file_of(assignment)) is not None:
        _change(file, of_function)


def _record(known: dict[str, dict], assignment: str, name: str) -> Record:
    return {"tries": 0, "failures": 0, **known.get(assignment, {}).get(name, {})}  # type: ignore[typeddict-item]


def _change(file: Path, change: Callable[[dict[str, dict]], Any]) -> None:
    """Change what the file knows; programs that do so at once wait for each other.

    If the file cannot be written, this says so once, and the session goes on without it.
    """
    try:
        with FileLock(file.with_name(f".{FILE}.lock"), timeout=SECONDS):
            known = _read(file)
            change(known)
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


def _read(file: Path) -> dict[str, dict[str, Any]]:
    """The file's content; a damaged one is put aside, where nothing of it is lost."""
    try:
        known = read_json(file)
        if all(map(_is_known, known.items())):
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


def _is_known(item: tuple[str, object]) -> bool:
    key, of = item
    if not isinstance(of, dict):
        return False
    if key == ANSWERS:
        return all(isinstance(text, str) for text in of.values())
    return all(map(_is_record, of.values()))


def _is_record(record: object) -> bool:
    forms = {"tries": int, "failures": int, "passed": str, "on": str, "mistakes": dict}
    return isinstance(record, dict) and all(
        key in forms and isinstance(value, forms[key]) for key, value in record.items()
    )


def _say(what: str) -> None:
    if what not in _told:
        _told.add(what)
        print(what)
