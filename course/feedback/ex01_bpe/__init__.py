"""Checks of exercise 1, byte pair encoding: one per task, by worked examples and laws.

`ablation.py` has those about ablation and prediction, `texts.py` those about text and ids,
`tasks.py` the others.
"""

from functools import partial

from course.feedback.ex01_bpe.ablation import predict_tokens, start_words
from course.feedback.ex01_bpe.tasks import (
    apply_merges,
    count_pairs,
    examine_apply_merges,
    merge_pair,
    train,
)
from course.feedback.ex01_bpe.texts import decode, encode
from course.feedback.progress import progress_of

__all__ = [
    "apply_merges",
    "count_pairs",
    "decode",
    "encode",
    "examine_apply_merges",
    "merge_pair",
    "predict_tokens",
    "progress",
    "start_words",
    "train",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex01_bpe")
