"""What a training tells while it runs: one row per step, gathered, shown and passed on."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from tqdm.auto import tqdm
from tqdm.std import EMA

from bertlab.model.memory import keep_freed_memory
from bertlab.training.steps import StepResult

Row = dict[str, Any]  # "step", "kind" ("train" or "held-out"), and numbers by their names
SMOOTH = 0.05  # a step's weight in the running means: the last 20 steps or so count


def gather_rows(
    rows: Iterable[Row],
    *,
    label: str,
    steps: int,
    device: torch.device,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Let a training run to its end and return its rows; global random state is left alone.

    rows: the training, a generator that takes a step when it is asked for a row; label, steps: of
    the progress bar; device: of the model, its random state is kept as well as the CPU's; watch:
    called with every row as soon as it is there.
    """
    keep_freed_memory()
    others = [] if device.type == "cpu" else [device]
    bar = tqdm(total=steps, desc=label, unit="step", disable=not progress)
    gathered = []
    with torch.random.fork_rng(others), bar:
        for row in rows:
            gathered.append(row)
            if watch:
                watch(row)
            if row["kind"] == "train":
                bar.set_postfix_str(f"loss {row['loss']:.3f}", refresh=False)
                bar.update()
    return gathered


@contextmanager
def progress_bar(
    steps: int, done: int = 0, *, enabled: bool = True
) -> Iterator[Callable[[StepResult, int], None]]:
    """Steps done, time left, tokens a second, loss and share of masked words guessed right.

    steps: of the whole training; done: those of an earlier part, from which it resumes; enabled:
    without it nothing is printed. Loss and shares are running means, for those of single steps
    jump too much to be read. Gives a function to call after each step, with the tokens that the
    model has read in it, padding not counted:

        with progress_bar(config.steps, done) as update:
            ...
            update(result, tokens)
    """
    bar = tqdm(
        total=steps,
        initial=done,
        disable=not enabled,
        desc="pretraining",
        unit="step",
        mininterval=0.5,
        smoothing=0.02,  # an evaluation between two steps must not distort the time left
        dynamic_ncols=True,
    )
    loss, words_right, words, read, seconds = (EMA(SMOOTH) for _ in range(5))
    last = perf_counter()

    def update(result: StepResult, tokens: int) -> None:
        nonlocal last
        now = perf_counter()
        speed = read(tokens) / max(seconds(now - last), 1e-9)
        right = words_right(result.mlm_correct) / max(words(result.n_words), 1e-9)
        last = now
        bar.set_postfix_str(
            f"loss {loss(result.loss):.3f}, {right:.1%} of words, {speed:,.0f} tokens/s",
            refresh=False,
        )
        bar.update()

    with bar:
        yield update if enabled else lambda _result, _tokens: None
