"""One contestant of `bench_pretraining` at work in one fresh process.

`python -m benchmarks.learner_jobs '{"job": "speed", "who": "ours", "setting": {...}, ...}'` prints
one line of JSON.
"""

import copy
import json
import os
import sys
from importlib import import_module
from time import perf_counter
from typing import Any

import torch

from benchmarks.jobs import clock, cpu_seconds
from benchmarks.learners import Learner, Setting, held_out

MODULES = {"ours": "learner_ours", "theirs": "learner_transformers", "book": "learner_book"}
WARMUP = 0.1  # the share of the time in which the learning rate rises
SQUARE = {"cpu": 2048, "cuda": 8192}  # rows of the matrices that show the device's limit


def start(who: str, setting: Setting, **options: Any) -> Learner:
    """A contestant before its first step; only its own module is imported."""
    torch.manual_seed(setting.seed)
    return getattr(import_module(f"benchmarks.{MODULES[who]}"), who)(setting, **options)


def speed(who: str, setting: Setting, seconds: float, warm: int, **options: Any) -> dict[str, Any]:
    """Train for so many seconds after `warm` steps; numbers: both losses before the first step."""
    learner = start(who, setting, **options)
    untrained = copy.deepcopy(learner.model)
    shapes, drawing = [], 0.0
    for _ in range(warm):
        learner.step(next(learner.batches))
    wait(setting.device)
    begun, cpu = perf_counter(), cpu_seconds()
    while perf_counter() - begun < seconds:
        before = perf_counter()
        batch = next(learner.batches)
        drawing += perf_counter() - before
        learner.step(batch)
        shapes.append(learner.shape(batch))
    wait(setting.device)
    took, cpu = perf_counter() - begun, cpu_seconds() - cpu
    found = judge(learner, untrained, setting, batches=1)
    return {
        "seconds": [took],
        "cpu": [cpu],
        "drawing": drawing,
        "shapes": shapes,
        "numbers": [found["mlm_loss"], found["nsp_loss"]],
    }


def learn(
    who: str,
    setting: Setting,
    seconds: float,
    batches: int | None,
    short_first: float = 0,
    **options: Any,
) -> dict[str, Any]:
    """Train for so many seconds from scratch, then guess the held-out words.

    short_first: the share of the time in which sequences are short, if the contestant can do it.
    """
    if short_first:
        options["short_seconds"] = short_first * seconds
    learner = start(who, setting, **options)
    rate, tokens, steps = setting.rate, 0, 0
    begun, cpu = perf_counter(), cpu_seconds()
    while (elapsed := perf_counter() - begun) < seconds:
        for group in learner.optimizer.param_groups:
            group["lr"] = rate * factor(elapsed / seconds)
        batch = next(learner.batches)
        learner.step(batch)
        tokens, steps = tokens + learner.shape(batch).tokens, steps + 1
    wait(setting.device)
    took, cpu = perf_counter() - begun, cpu_seconds() - cpu
    found = judge(learner, learner.model, setting, batches)
    return {"seconds": [took], "cpu": [cpu], "steps": steps, "tokens": tokens, "found": found}


def factor(progress: float) -> float:
    """The learning rate's factor after a share of the time: up for a tenth of it, then down to 0.

    >>> [factor(progress) for progress in (0, 0.05, 0.1, 0.55)]
    [0.0, 0.5, 1.0, 0.5]
    """
    return progress / WARMUP if progress < WARMUP else (1 - progress) / (1 - WARMUP)


def judge(
    learner: Learner, model: torch.nn.Module, setting: Setting, batches: int | None
) -> dict[str, float]:
    """What our `evaluate` says; it is imported when the clock has stopped."""
    from bertlab.training.evaluation import evaluate

    return evaluate(learner.scorer(model), held_out(setting.folder), batches).as_dict()


def wait(device: str) -> None:
    """A GPU is told what to do long before it has done it."""
    if device == "cuda":
        torch.cuda.synchronize()


def write_examples(folder: str) -> dict[str, Any]:
    """The book's preparation."""
    module = import_module("benchmarks.learner_book")
    seconds, cpu, made = clock(lambda: module.write_examples(folder))
    return {"seconds": [seconds], "cpu": [cpu], "examples": made}


def limit(device: str, calls: int = 10) -> dict[str, Any]:
    """The product of two large square matrices: what no step can beat.

    On a CPU they are float32, on a GPU bfloat16, as the training is there.
    """
    side = SQUARE[device]
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    a = torch.randn(side, side, device=device, dtype=kind)
    seconds, cpu = [], []
    for _ in range(1 + calls):
        wall, processor, _ = clock(lambda: (a @ a, wait(device)))
        seconds.append(wall)
        cpu.append(processor)
    flops = 2 * side**3 / min(seconds[1:])
    return {"seconds": seconds[1:], "cpu": cpu[1:], "flops": flops, "device": name(device)}


def name(device: str) -> str:
    """The GPU's name; of the processor `report.machine` tells."""
    return torch.cuda.get_device_name() if device == "cuda" else ""


JOBS = {"speed": speed, "learn": learn, "write_examples": write_examples, "limit": limit}


def main(job: str, options: dict[str, Any]) -> None:
    """Do a job and print what came of it."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if "setting" in options:
        options["setting"] = Setting(**options["setting"])
    print(json.dumps(JOBS[job](**options)))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
