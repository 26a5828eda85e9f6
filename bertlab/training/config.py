"""All numbers of a training in one place."""

import math
from dataclasses import dataclass

from bertlab._checks import check_choice, check_fields, require

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
        require(
            self, "learning_rate", 0 < self.learning_rate < math.inf, "must be above 0 and finite"
        )
        require(self, "clip", self.clip > 0, "must be above 0")  # infinity: no clipping
        require(self, "warmup", 0 <= self.warmup < 1, "is a share of all steps, from 0 to below 1")
        require(
            self,
            "weight_decay",
            0 <= self.weight_decay < math.inf,
            "must not be negative, and must be finite",
        )
        require(self, "seed", self.seed >= 0, "must not be negative")
        check_choice(self, "precision", PRECISIONS)

    @property
    def warmup_steps(self) -> int:
        """Steps of the warm-up."""
        return round(self.warmup * self.steps)
