"""What a training tells while it runs: a row a step, gathered, shown and passed on."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from tqdm.auto import tqdm

from bertlab.model.memory import keep_freed_memory

Row = dict[str, Any]  # "step", "kind" ("train" or "held-out"), and numbers by their names


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
