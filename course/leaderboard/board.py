"""All hand-ins of exercise 13, run with each seed: `python -m course leaderboard`.

A finished run is kept, so the same command continues after an interruption, and repeats only what
has changed. `runs/` in the folder is only for the instructor: it reveals which documents are
hidden. `index.html` and `leaderboard.json` may be published.
"""

import argparse
import json
import secrets
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import torch

from bertlab._files import write_atomically
from bertlab.data import DataError
from course import ROOT
from course.grading.assignments import Assignment, grade_id, load_assignment
from course.grading.sandbox import NoSandbox
from course.grading.submissions import read_submission
from course.leaderboard.page import page
from course.leaderboard.runs import limits_of, run, sandbox_of
from course.project.texts import ProjectTexts, project_texts
from course.settings import Course, CourseError, printable

NAME = "ex13_project"
GIVEN = ("imports", "baseline")  # the cells that entries may build on
OURS = {  # not handed in, run for comparison
    "the baseline": "entry = baseline",
    "the baseline, untrained": "def entry(texts, seed, _):\n    return baseline(texts, seed, 1e-6)",
}


class Entry(NamedTuple):
    """name: as on the page; source: of its cell."""

    name: str
    source: str


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
    except (CourseError, DataError, FileNotFoundError) as error:
        print(f"python -m course leaderboard: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Finished work is kept; the same command continues from here.")
        return 130
    return 0


def make(course: Course, to: Path, options: Options, texts: ProjectTexts | None = None) -> Path:
    """Run new entries, and write the page and its numbers; returns the page's path.

    texts: instead of the project's, drawn with the folder's own number.

    Raises CourseError if the sandbox does not work here, DataError if the corpora are missing.
    """
    torch.set_num_threads(1)
    assignment = load_assignment(course.root, NAME)
    split_seed = _split_seed(to / "runs")
    texts = texts or project_texts(split_seed)
    entries = [Entry(*ours) for ours in OURS.items()]
    entries += _handed_in(course, assignment, options.names, split_seed)
    limits = limits_of(options.minutes * 60, course.limits())
    cells = {cell.id: cell.source for cell in assignment.source.cells}
    try:
        given = [{"id": id, "source": cells[id]} for id in GIVEN]
        sandbox = sandbox_of(limits, given, options.sandboxed)
    except NoSandbox as error:
        raise CourseError(f"students' code cannot be run safely here: {error}") from None
    rows: dict[str, list[dict]] = {entry.name: [] for entry in entries}
    try:
        for seed in range(options.seeds):
            for entry in entries:
                kept = _place(to / "runs", entry, cells["baseline"], options.minutes, seed)
                if kept.is_file():
                    result = json.loads(kept.read_text(encoding="utf-8"))
                else:
                    seconds = options.minutes * 60
                    result = run(sandbox, limits, entry.source, texts, seed, seconds)
                    write_atomically(kept, json.dumps(result, indent=2) + "\n")
                    print(f"{printable(entry.name)}, seed {seed}: {_told(result)}", flush=True)
                rows[entry.name].append(result)
    finally:
        sandbox.close()
    board = {
        "minutes": options.minutes,
        "seeds": options.seeds,
        "entries": ranked([summary(name, runs) for name, runs in rows.items()]),
    }
    write_atomically(to / "leaderboard.json", json.dumps(board, indent=2) + "\n")
    write_atomically(to / "index.html", page(board))
    return to / "index.html"


def summary(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """An entry's runs in one row: means over the seeds, and the spread of bits per byte."""
    row: dict[str, Any] = {"name": name, "ours": name in OURS}
    failed = [f"seed {n}: {one['failed']}" for n, one in enumerate(runs) if "failed" in one]
    if failed:
        return row | {"failed": failed}
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


def _handed_in(course: Course, assignment: Assignment, names: bool, split_seed: int) -> list[Entry]:
    """The entry's cell of each hand-in; only this cell is run."""
    entries = []
    for student in course.students(NAME):
        path, name = course.hand_in(NAME, student), student
        cells = read_submission(path, assignment, course.limits()).cells
        (cell,) = [cell for cell in cells if grade_id(cell) == "entry"]
        if not names:
            digest = sha256(f"{split_seed} {student}".encode()).hexdigest()
            name = f"entry {digest[:6]}"
            print(f"{printable(student)} is {name}")
        entries.append(Entry(name, cell.source))
    return entries


def _split_seed(folder: Path) -> int:
    """The seed that draws the hidden documents: impossible to guess, stored."""
    path = folder / "split.json"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(secrets.randbelow(2**31)) + "\n")
    return json.loads(path.read_text(encoding="utf-8"))


def _place(folder: Path, entry: Entry, baseline: str, minutes: float, seed: int) -> Path:
    """The file of a run: its name changes with the code and the budget."""
    said = "\n".join([entry.source, baseline, repr(float(minutes))])
    return folder / f"{sha256(said.encode()).hexdigest()[:20]}-{seed}.json"


def _told(result: dict[str, Any]) -> str:
    if "failed" in result:
        return printable(result["failed"])
    return f"{result['bits_per_byte']:.3f} bits per masked byte"
