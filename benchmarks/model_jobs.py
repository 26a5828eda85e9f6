"""One model job in one fresh process.

`python -m benchmarks.model_jobs '{"job": ..., "options": {...}, "calls": 3}'` prints one line of
JSON: for each lap the median of the seconds of its calls, memory, and numbers to compare.
"""

import ctypes
import gc
import json
import os
import sys
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks import encoder_jobs, pretraining_jobs
from benchmarks.jobs import clock
from benchmarks.model_setup import SQUARE, Laps
from bertlab.training.fast import keep_freed_memory

SHORT = 3.0  # seconds that the calls of one lap may take together, if one call is short
MOST = 40  # calls of one lap


def matmul() -> Laps:
    """The limit: a product of two square matrices, as large as the processor likes them."""
    a = torch.randn(SQUARE, SQUARE, generator=torch.Generator().manual_seed(0))
    return [lambda: a @ a], []


def find(job: str) -> Any:
    """The function of a job's name."""
    if job == "matmul":
        return matmul
    return getattr(encoder_jobs if job.startswith("encoder_") else pretraining_jobs, job)


def resident(which: str = "VmRSS") -> float | None:
    """Megabytes of memory that the process holds, or with "VmHWM" held at most; Linux tells."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    facts = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return int(facts[which].split()[0]) / 1024


def give_back_freed() -> None:
    """Return freed memory to the system, or what loading left behind would pass for the model."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim:
        trim(0)


def measure(job: str, options: dict[str, Any], calls: int) -> dict[str, Any]:
    """Each lap: once to warm up, then `calls` times, or more often if it is short."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    keep_freed_memory()  # everybody's, as our trainings ask for it
    laps, numbers = find(job)(**options)
    give_back_freed()
    loaded = resident()
    if loaded is not None:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak until now
    warm, seconds, cpu = [], [], []
    for lap in laps:
        warm.append(clock(lap)[0])
        often = max(calls, min(MOST, int(SHORT / warm[-1])))
        clocked = [clock(lap)[:2] for _ in range(often)]
        seconds.append(median(wall for wall, _ in clocked))
        cpu.append(median(processor for _, processor in clocked))
    memory = {"loaded_mb": loaded, "peak_mb": resident("VmHWM") if loaded else None}
    return {"seconds": seconds, "cpu": cpu, "warm": warm, "numbers": numbers, **memory}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
