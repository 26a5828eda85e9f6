"""Checks of exercise 1, byte pair encoding: one per task, by worked examples and laws."""

from functools import partial

from course.feedback.ex01_bpe.tasks import (
    apply_merges,
    best_pair,
    count_pairs,
    decode,
    encode,
    merge_pair,
    train,
    word_tokens,
)
from course.feedback.progress import progress_of

__all__ = [
    "apply_merges",
    "best_pair",
    "count_pairs",
    "decode",
    "encode",
    "merge_pair",
    "progress",
    "train",
    "word_tokens",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex01_bpe")
