"""All numbers of a training in one place."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from bertlab._checks import check_fields

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class TrainingConfig:
    """How to train; how much of it a step is, `PretrainingData` says (its `batch_size`).

    steps: updates of the weights; learning_rate: at the end of the warm-up; warmup: its share of
    all steps; weight_decay: of matrices; clip: the largest norm of all gradients together;
    accumulate: pieces in which a batch goes through the model one after the other, for less
    memory and the same result; precision: "float32", or "bfloat16" for the matrix products alone;
    compile: let `torch.compile` make kernels for this model, which pays on a GPU and in long
    runs; seed: of dropout; evaluate_every, save_every: steps between evaluations on held-out
    text, and between checkpoints, the last step always included; keep: checkpoints to keep.

    BERT itself: 1,000,000 steps of 256 sequences, learning rate 1e-4, 10,000 steps of warm-up.
    A small model learns faster with a larger rate.

    Raises ValueError if a value is of another kind than declared, or out of range.
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
            if getattr(self, name) < 1:
                raise ValueError(
                    f"TrainingConfig: {name} must be at least 1; got {getattr(self, name)}"
                )
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(
                f"TrainingConfig: learning_rate must be above 0 and finite; "
                f"got {self.learning_rate}"
            )
        if not self.clip > 0:  # infinity clips nothing
            raise ValueError(f"TrainingConfig: clip must be above 0; got {self.clip}")
        if not 0 <= self.warmup < 1:
            raise ValueError(
                f"TrainingConfig: warmup is a share of all steps, from 0 to below 1; "
                f"got {self.warmup}"
            )
        if not 0 <= self.weight_decay < math.inf:
            raise ValueError(
                "TrainingConfig: weight_decay must not be negative, and must be finite; "
                f"got {self.weight_decay}"
            )
        if self.seed < 0:
            raise ValueError(f"TrainingConfig: seed must not be negative; got {self.seed}")
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"TrainingConfig: precision must be one of {', '.join(PRECISIONS)}; "
                f"got {self.precision!r}"
            )

    @property
    def warmup_steps(self) -> int:
        """Steps on the way up."""
        return round(self.warmup * self.steps)

    def as_dict(self) -> dict[str, Any]:
        """For a file of JSON."""
        return asdict(self)
