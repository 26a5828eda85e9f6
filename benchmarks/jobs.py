"""One job in one fresh process, so that caches are cold and memory is its own.

`python -m benchmarks.jobs '{"job": ..., "texts": ..., "options": {...}, "calls": 1}'` prints one
line of JSON: the wall and processor seconds of each call, and what is known of the result.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import encoding_jobs, training_jobs


def find(job: str) -> Any:
    """The function of a job's name."""
    return getattr(training_jobs if job.startswith("train_") else encoding_jobs, job)


def cpu_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    return sum(os.times()[:4])


def clock(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Do some work: its wall seconds, its processor seconds and its result."""
    gc.collect()
    cpu_before, before = cpu_seconds(), perf_counter()
    result = work()
    wall = perf_counter() - before
    return wall, cpu_seconds() - cpu_before, result


def measure(job: str, texts: str, options: dict[str, Any], calls: int) -> dict[str, Any]:
    """Do a job `calls` times: the first call finds its caches empty, the second finds them full."""
    strings = json.loads(Path(texts).read_text(encoding="utf-8"))
    work, note = find(job)(strings, **options)
    seconds, cpu, notes = [], [], []
    for _ in range(calls):
        wall, processor, result = clock(work)
        seconds.append(wall)
        cpu.append(processor)
        notes.append(note(result))
        del result
    if any(other != notes[0] for other in notes):
        raise RuntimeError(f"{job} {options}: the second call gave something else than the first")
    return {"seconds": seconds, "cpu": cpu, "note": notes[0]}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
