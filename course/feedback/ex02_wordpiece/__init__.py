"""Checks of exercise 2, bytes and WordPiece: one per task, by worked examples and laws.

`merges.py` has those about merges, `ablation.py` those about ablation and prediction, `tasks.py`
the others.
"""

from functools import partial

from course.feedback.ex02_wordpiece.ablation import predict_score, unmarked
from course.feedback.ex02_wordpiece.merges import gain, train
from course.feedback.ex02_wordpiece.tasks import (
    examine_longest_match,
    from_bytes_hex,
    glue,
    longest_match,
    to_bytes_hex,
)
from course.feedback.progress import progress_of

__all__ = [
    "examine_longest_match",
    "from_bytes_hex",
    "gain",
    "glue",
    "longest_match",
    "predict_score",
    "progress",
    "to_bytes_hex",
    "train",
    "unmarked",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex02_wordpiece")
