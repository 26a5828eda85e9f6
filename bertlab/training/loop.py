"""The training loop, step after step, and all its numbers in one place.

`runs.py` wraps it from outside: evaluation, checkpoints, progress.

Source: Phuong & Hutter (2022), Algorithm 12 (ETraining), lines 2 and 3.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from bertlab.model.checks import check_choice, check_fields, require
from bertlab.parts import part
from bertlab.pretraining.batches import Batch, Position
from bertlab.training.steps import StepResult, linear_schedule, seed_dropout, training_step

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class TrainingConfig:
    """How to train; the batch size is `PretrainingData`'s.

    steps: weight updates; learning_rate: at the end of the warm-up; warmup: its share of all
    steps; weight_decay: of matrices; clip: the largest norm of all gradients together; accumulate:
    pieces of a batch that the model reads one after the other, for less memory and the same
    result; precision: "float32", or "bfloat16" for the matrix products only; compile: let
    `torch.compile` make kernels for this model, which is faster on a GPU in long runs; seed: of
    dropout; evaluate_every, save_every: steps between evaluations on held-out text, and between
    checkpoints, the last step always included; keep: checkpoints to keep.

    BERT itself: 1,000,000 steps of 256 sequences, learning rate 1e-4, 10,000 steps of warm-up.
    A small model learns faster with a larger rate.

    Raises ValueError if a value has the wrong type or is out of range.
    """

    steps: int
    learning_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    precision: str = "float32"
    compile: bool = False
    seed: int = 0
    evaluate_every: int = 500
    save_every: int = 500
    keep: int = 2

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("steps", "accumulate", "evaluate_every", "save_every", "keep"):
            require(self, name, getattr(self, name) >= 1, "must be at least 1")
        check_rates(self)
        check_choice(self, "precision", PRECISIONS)

    @property
    def warmup_steps(self) -> int:
        """Steps of the warm-up."""
        return round(self.warmup * self.steps)


def check_rates(config: Any) -> None:
    """Raise ValueError if a training's rates, its clipping or its seed are impossible."""
    rate, decay = config.learning_rate, config.weight_decay
    require(config, "learning_rate", 0 < rate < math.inf, "must be above 0 and finite")
    share = "must be a share of all steps, from 0 to below 1"
    require(config, "warmup", 0 <= config.warmup < 1, share)
    require(config, "weight_decay", 0 <= decay < math.inf, "must be at least 0 and finite")
    require(config, "clip", config.clip > 0, "must be above 0")  # infinity: no clipping
    require(config, "seed", config.seed >= 0, "must be at least 0")


class Step(NamedTuple):
    """A step that is done."""

    number: int  # counted from 1
    position: Position  # of the next batch
    batch: Batch
    rate: float  # the learning rate
    result: StepResult


@part("08")
def training_loop(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Position, Batch]],
    config: TrainingConfig,
    *,
    done: int = 0,
    step: Callable[..., StepResult] = training_step,
    rank: int = 0,
) -> Iterator[Step]:
    """Train, step after step; yield each when it is done.

    batches: with the position of the next one, as from `Batches.batches`; done: steps of an
    earlier part, from which it continues; step: does one; rank: of this process among several.

    The random numbers of a step depend only on its number, so that they need not be saved.
    """
    device = next(model.parameters()).device
    for number, (position, batch) in zip(range(done + 1, config.steps + 1), batches, strict=False):
        rate = config.learning_rate * linear_schedule(number, config.steps, config.warmup_steps)
        seed_dropout(config.seed, number, rank)
        result = step(model.train(), optimizer, batch.to(device), rate=rate, clip=config.clip)
        yield Step(number, position, batch, rate, result)
