"""Checks of exercise 2, bytes and WordPiece: one per task, by worked examples and laws.

`merges.py` has those about merges, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex02_wordpiece.merges import best_pair, gain, likelihood, train
from course.feedback.ex02_wordpiece.tasks import (
    count_symbols,
    first_pieces,
    from_bytes_hex,
    glue,
    longest_match,
    to_bytes_hex,
)
from course.feedback.progress import progress_of

__all__ = [
    "best_pair",
    "count_symbols",
    "first_pieces",
    "from_bytes_hex",
    "gain",
    "glue",
    "likelihood",
    "longest_match",
    "progress",
    "to_bytes_hex",
    "train",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex02_wordpiece")
