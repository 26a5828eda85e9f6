"""Checks of exercise 11, Sentence-BERT: one per task.

`batches.py` has those about batches, `objectives.py` that of the loss, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex11_sentence_bert.batches import (
    batches_of_one_length,
    collect,
    examine_collect,
)
from course.feedback.ex11_sentence_bert.objectives import ranking_loss
from course.feedback.ex11_sentence_bert.tasks import (
    late_scores,
    pool,
    predict_found,
    without_common,
)
from course.feedback.progress import progress_of

__all__ = [
    "batches_of_one_length",
    "collect",
    "examine_collect",
    "late_scores",
    "pool",
    "predict_found",
    "progress",
    "ranking_loss",
    "without_common",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex11_sentence_bert")
