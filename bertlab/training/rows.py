"""The rows of a training, one per step: collected, shown and passed on."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from tqdm.auto import tqdm
from tqdm.std import EMA

from bertlab.model.memory import keep_freed_memory
from bertlab.training.steps import StepResult, restored_random_state

Row = dict[str, Any]  # "step", "kind" ("train" or "held-out"), and numbers by their names
SMOOTH = 0.05  # a step's weight in the running means, which cover about the last 20 steps


def gather_rows(
    rows: Iterable[Row],
    *,
    label: str,
    steps: int,
    device: torch.device,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Run a training to its end and return its rows; global random state does not change.

    rows: the training, a generator that does one step per row; label, steps: of the progress bar;
    device: of the model, whose random state does not change, like the CPU's; watch: called with
    every row as soon as it is available.
    """
    keep_freed_memory()
    bar = tqdm(total=steps, desc=label, unit="step", disable=not progress)
    gathered = []
    with restored_random_state(device), bar:
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
    """Steps done, time left, tokens per second, loss and share of correct masked words.

    steps: of the whole training; done: those of an earlier part, from which it resumes; enabled:
    without it nothing is printed. Loss and shares are running means, because those of single steps
    vary too much to be read. Gives a function to call after each step, with the number of tokens
    that the model has read in it, without padding:

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
