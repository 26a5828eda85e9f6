"""Contestants that take turns, each turn in a fresh process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.contests import Entry

ROOT = Path(__file__).resolve().parent.parent
Turns = list[dict[str, Any]]  # what the process said, turn by turn


def is_installed(entry: Entry) -> bool:
    """Whether the package that an entry needs is there."""
    return find_spec(entry.package) is not None


def take(entry: Entry, module: str, given: dict[str, Any]) -> dict[str, Any]:
    """Let one contestant do its job once, in a process of its own.

    module: runs the job, and prints its answer as the last line; given: what the job gets besides
    its options. Raises RuntimeError if it fails, or keeps more cores busy than it was given.
    """
    task = {"job": entry.job, "options": entry.options, **given}
    environment = {
        **os.environ,
        "RAYON_NUM_THREADS": str(entry.cores),
        "TOKENIZERS_PARALLELISM": "true" if entry.cores > 1 else "false",
        "OMP_NUM_THREADS": str(entry.cores),
        **entry.environment,
    }
    command = [sys.executable, "-m", module, json.dumps(task)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{entry.name}, {entry.job} {entry.options}:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    for cpu, seconds in zip(answer["cpu"], answer["seconds"], strict=True):
        if cpu > entry.cores * seconds * 1.1 + 0.1:
            raise RuntimeError(
                f"{entry.name}, {entry.job}: {cpu:.2f} s of processor time in {seconds:.2f} s is "
                f"more than {entry.cores} at a time"
            )
    return answer


def take_turns(
    entries: Iterable[Entry], runs: int, turn: Callable[[Entry], dict[str, Any]]
) -> list[Turns]:
    """The turns of each entry, who alternate; none for a peer that is not installed."""
    entries = list(entries)
    turns: list[Turns] = [[] for _ in entries]
    for _ in range(runs):
        for entry, own in zip(entries, turns, strict=True):
            if is_installed(entry):
                own.append(turn(entry))
    return turns
