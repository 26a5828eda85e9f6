"""Checks of exercise 5, the Transformer: training, decoding, a score, an ablation."""

from functools import partial

from course.feedback.ex05_transformer.parts import predict_parts, silence
from course.feedback.ex05_transformer.training import (
    examine_loss,
    packed_masks,
    smoothed_loss,
    warmup_rate,
)
from course.feedback.ex05_transformer.writing import beam, chrf
from course.feedback.progress import progress_of

__all__ = [
    "beam",
    "chrf",
    "examine_loss",
    "packed_masks",
    "predict_parts",
    "progress",
    "silence",
    "smoothed_loss",
    "warmup_rate",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex05_transformer")
