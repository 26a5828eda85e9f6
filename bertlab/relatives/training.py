"""One loop for all relatives: what tells them apart is the loss of a batch.

They read the very batches that BERT reads, so that they can be compared with it.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from bertlab.pretraining.batches import Batch, Batches
from bertlab.training.config import TrainingConfig
from bertlab.training.optimizers import adamw
from bertlab.training.schedule import linear_schedule
from bertlab.training.steps import seed_dropout

Row = dict[str, Any]  # {"step", "kind": "train" or "held-out", and numbers by their names}
Losses = dict[str, Tensor]  # of a batch: "loss", which is made small, and what else is reported
OF_PRETRAINING = ("accumulate", "precision", "compile")  # what this short loop leaves out


def train(
    model: nn.Module,
    losses: Callable[[Batch], Losses],
    data: Batches,
    config: TrainingConfig,
    *,
    evaluate: Callable[[], dict[str, float]] | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Make `losses(batch)["loss"]` small, step after step; the model is changed in place.

    model: whose parameters move, on the device where it is to be trained; losses: of a batch on
    that device, other numbers than "loss" are only reported; evaluate: called before the first
    step, every `config.evaluate_every` steps and after the last; watch: called with every row.

    Returns the rows: {"step", "kind": "train" or "held-out", "loss", ...}. The same seed on the
    same machine gives the same weights; the global random state is left alone. Raises ValueError
    for settings that only `pretrain` knows, FloatingPointError if the loss is no number any more.
    """
    _check(config)
    device = next(model.parameters()).device
    optimizer = adamw(model, config.learning_rate, config.weight_decay)
    batches, rows = data.batches(), []

    def report(step: int, kind: str, numbers: dict[str, float]) -> None:
        rows.append({"step": step, "kind": kind, **numbers})
        if watch is not None:
            watch(rows[-1])

    with torch.random.fork_rng([] if device.type == "cpu" else [device]):
        if evaluate is not None:
            report(0, "held-out", evaluate())
        for step in tqdm(range(1, config.steps + 1), desc="training", disable=not progress):
            _, batch = next(batches)
            numbers = update(model.train(), optimizer, losses, batch.to(device), step, config)
            report(step, "train", numbers)
            if not math.isfinite(numbers["loss"]):
                raise FloatingPointError(
                    f"train: the loss of step {step} is {numbers['loss']}; train with a learning "
                    f"rate below {config.learning_rate}, or with more warm-up"
                )
            if evaluate and (step % config.evaluate_every == 0 or step == config.steps):
                report(step, "held-out", evaluate())
    model.eval()
    return rows


def update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: Callable[[Batch], Losses],
    batch: Batch,
    step: int,
    config: TrainingConfig,
) -> dict[str, float]:
    """One step, counted from 1, as in `pretrain`: schedule, gradients, clipping, AdamW."""
    rate = config.learning_rate * linear_schedule(step, config.steps, config.warmup_steps)
    for group in optimizer.param_groups:
        group["lr"] = rate
    seed_dropout(config.seed, step)
    parts = losses(batch)
    optimizer.zero_grad()
    parts["loss"].backward()
    nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    optimizer.step()
    return {name: part.item() for name, part in parts.items()} | {"learning_rate": rate}


def without_holes(batch: Batch) -> Tensor:
    """The ids [B, L] as they were before words were masked."""
    ids = batch.ids.clone()
    ids[batch.predict] = batch.words
    return ids


def _check(config: TrainingConfig) -> None:
    for name in OF_PRETRAINING:
        usual = TrainingConfig.__dataclass_fields__[name].default
        if getattr(config, name) != usual:
            raise ValueError(
                f"train: config.{name} must be {usual!r}, for only `pretrain` knows others; "
                f"got {getattr(config, name)!r}"
            )
