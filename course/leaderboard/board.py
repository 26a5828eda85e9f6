"""All hand-ins of exercise 13, run with each seed: `python -m course leaderboard`.

A finished run is kept, so the same command continues after an interruption, and repeats only what
has changed. `runs/` in the folder is only for the instructor: it reveals which documents are
hidden, and who has which pseudonym. `index.html` and `leaderboard.json` may be published.
"""

import argparse
import hmac
import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import torch

from bertlab._files import read_json, write_atomically
from bertlab.data import DataError
from course import ROOT
from course.gradebook.notes import UNREADABLE
from course.grading.assignments import Assignment, grade_id, load_assignment
from course.grading.outputs import one_line
from course.grading.sandbox import NoSandbox, Sandbox
from course.grading.submissions import Unreadable, read_submission
from course.leaderboard.page import page
from course.leaderboard.runs import run, sandbox_of
from course.project.texts import ProjectTexts, project_texts
from course.settings import Course, CourseError, printable

NAME = "ex13_project"
GIVEN = ("imports", "baseline")  # the cells that entries may build on
OURS = {  # not handed in, run for comparison
    "the baseline": "entry = baseline",
    "the baseline, untrained": "def entry(texts, seed, _):\n    return baseline(texts, seed, 1e-6)",
}


class Entry(NamedTuple):
    """name: as on the page; source: of its cell; fault: why it cannot be run; ours: no hand-in."""

    name: str
    source: str
    fault: str = ""
    ours: bool = False


class Options(NamedTuple):
    """minutes: the budget, of processor time; seeds: runs of each entry; names: students' own."""

    minutes: float
    seeds: int
    names: bool = False
    sandboxed: bool = True


def main(arguments: Sequence[str]) -> int:
    """The command; 0 if the page is written."""
    parser = argparse.ArgumentParser(prog="python -m course leaderboard", description=__doc__)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="of the page")
    parser.add_argument("--budget", type=float, default=10, metavar="MINUTES", help="of processor")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each entry")
    parser.add_argument("--names", action="store_true", help="students' ids, not pseudonyms")
    parser.add_argument("--root", type=Path, default=ROOT, help="the course's folder")
    asked = parser.parse_args(arguments)
    if not asked.budget > 0 or asked.seeds < 1:
        parser.error("--budget must be above 0, and --seeds at least 1")
    try:
        options = Options(asked.budget, asked.seeds, asked.names)
        print(make(Course(asked.root), asked.to, options))
    except (DataError, FileNotFoundError) as error:
        raise CourseError(str(error)) from error
    return 0


def make(course: Course, to: Path, options: Options, texts: ProjectTexts | None = None) -> Path:
    """Run new entries, and write the page and its numbers; returns the page's path.

    texts: instead of the project's, drawn with the folder's own secret.

    Raises CourseError if the sandbox does not work here, DataError if the corpora are missing.
    """
    torch.set_num_threads(1)
    assignment = load_assignment(course.root, NAME)
    secret = _secret(to / "runs")
    split_seed = int.from_bytes(_derived(secret, "split"), "big")
    texts = texts or project_texts(split_seed)
    entries = [Entry(*ours, ours=True) for ours in OURS.items()]
    entries += _handed_in(course, assignment, None if options.names else _derived(secret, "names"))
    cells = {cell.id: cell.source for cell in assignment.source.cells}
    given = [{"id": id, "source": cells[id]} for id in GIVEN]
    limits, seconds = course.limits(), options.minutes * 60

    def place(entry: Entry, seed: int) -> Path:
        """The file of a run: its name changes with the code, the budget, and the hidden texts."""
        said = [entry.source, cells["baseline"], repr(float(options.minutes)), str(split_seed)]
        return to / "runs" / f"{sha256(repr(said).encode()).hexdigest()[:20]}-{seed}.json"

    results = _run_all(
        entries,
        options.seeds,
        place,
        start=lambda: sandbox_of(limits, seconds, given, options.sandboxed),
        once=lambda sandbox, source, seed: run(sandbox, limits, source, texts, seed, seconds),
    )
    rows = [summary(entry, runs) for entry, runs in zip(entries, results, strict=True)]
    board = {"minutes": options.minutes, "seeds": options.seeds, "entries": ranked(rows)}
    write_atomically(to / "leaderboard.json", json.dumps(board, indent=2) + "\n")
    write_atomically(to / "index.html", page(board))
    return to / "index.html"


def _run_all(
    entries: list[Entry],
    seeds: int,
    place: Callable[[Entry, int], Path],
    start: Callable[[], Sandbox],
    once: Callable[[Sandbox, str, int], dict[str, Any]],
) -> list[list[dict[str, Any]]]:
    """The results of each entry, one per seed; those in their places are not run again."""
    results: list[list[dict[str, Any]]] = [[] for _ in entries]
    sandbox = _started(start)
    try:
        for seed, number in product(range(seeds), range(len(entries))):
            entry = entries[number]
            if entry.fault:
                continue
            kept, name = place(entry, seed), printable(entry.name)
            if (result := _kept(kept)) is None:
                try:
                    result = once(sandbox, entry.source, seed)
                except Exception as error:  # of our own, and not kept: the next command tries again
                    print(f"{name}, seed {seed}: {printable(str(error))}", file=sys.stderr)
                    result = {"failed": f"it could not be run ({type(error).__name__})"}
                    sandbox.close()
                    sandbox = _started(start)
                else:
                    write_atomically(kept, json.dumps(result, indent=2) + "\n")
                print(f"{name}, seed {seed}: {_told(result)}", flush=True)
            results[number].append(result)
    finally:
        sandbox.close()
    return results


def _started(start: Callable[[], Sandbox]) -> Sandbox:
    try:
        return start()
    except NoSandbox as error:
        raise CourseError(f"students' code cannot be run safely here: {error}") from None


def summary(entry: Entry, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """An entry's runs in one row: means over the seeds, and the spread of bits per byte."""
    row: dict[str, Any] = {"name": entry.name, "ours": entry.ours}
    failed = [f"seed {n}: {one['failed']}" for n, one in enumerate(runs) if "failed" in one]
    if entry.fault or failed:
        return row | {"failed": [entry.fault] if entry.fault else failed}
    bits = [one["bits_per_byte"] for one in runs]
    return row | {
        "bits_per_byte": mean(bits),
        "sd": stdev(bits) if len(bits) > 1 else None,
        "probes": {key: mean(one["probes"][key] for one in runs) for key in runs[0]["probes"]},
        "majority": runs[0]["majority"],
        "parameters": runs[0]["parameters"],
        "processor_seconds": mean(one["processor_seconds"] for one in runs),
        "runs": runs,
    }


def ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fewest bits first, then failed ones; only students' entries have a rank."""
    rows = sorted(rows, key=lambda row: (row.get("bits_per_byte", float("inf")), row["name"]))
    students = [row for row in rows if not row["ours"] and "failed" not in row]
    for rank, row in enumerate(students, start=1):
        row["rank"] = rank
    return rows


def _handed_in(course: Course, assignment: Assignment, key: bytes | None) -> list[Entry]:
    """The entry's cell of each hand-in; only this cell is run.

    key: of the pseudonyms; None: students' own ids.
    """
    entries = []
    for student in course.students(NAME):
        id = printable(student)
        name = id if key is None else f"entry {_derived(key, student).hex()[:8]}"
        if key is not None:
            print(f"{id} is {name}")
        source = fault = ""
        try:
            source = _source(course, assignment, student)
        except Unreadable as error:
            fault = f"its notebook cannot be read: {one_line(str(error))}"
        except Exception as error:  # its text may name a folder of this machine, and the student
            print(f"{id}: {one_line(f'{type(error).__name__}: {error}')}", file=sys.stderr)
            fault = f"its notebook cannot be read ({type(error).__name__})"
        entries.append(Entry(name, source, fault))
    return entries


def _source(course: Course, assignment: Assignment, student: str) -> str:
    """The source of a hand-in's entry; raises Unreadable, or anything else."""
    handed_in = read_submission(course.hand_in(NAME, student), assignment, course.limits())
    for note in handed_in.notes:
        if note.text.startswith(UNREADABLE):
            raise Unreadable(note.text.removeprefix(UNREADABLE))
    sources = [cell.source for cell in handed_in.cells if grade_id(cell) == "entry"]
    if len(sources) != 1:
        raise Unreadable(f"it has {len(sources)} cells `entry`; expected one")
    return sources[0]


def _derived(key: bytes, label: str) -> bytes:
    """256 bits that reveal neither the key nor those of another label."""
    return hmac.digest(key, os.fsencode(label), "sha256")


def _secret(folder: Path) -> bytes:
    """The term's secret of 256 bits, made at the first call; only its owner may read the file."""
    path = folder / "secret.txt"
    if not path.is_file():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, secrets.token_hex(32) + "\n", mode=0o600)
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise CourseError(
            f"{path} must hold 64 hexadecimal digits; it does not. Restore it from a copy. Or "
            "delete it: then other documents are hidden, pseudonyms change, and all runs start "
            "from scratch."
        )
    return bytes.fromhex(text)


def _kept(path: Path) -> dict[str, Any] | None:
    """The result of an earlier run; None if there is none, or a damaged one."""
    try:
        found = read_json(path)
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _told(result: dict[str, Any]) -> str:
    if "failed" in result:
        return printable(result["failed"])
    return f"{result['bits_per_byte']:.3f} bits per masked byte"
