"""Checks of exercise 11, Sentence-BERT: one per task.

`batches.py` has those about work, `objectives.py` those about training, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex11_sentence_bert.batches import batches_of_one_length, bill
from course.feedback.ex11_sentence_bert.objectives import (
    cosine_loss,
    in_batch_negatives_loss,
    siamese_scores,
)
from course.feedback.ex11_sentence_bert.tasks import pool, semantic_search
from course.feedback.progress import progress_of

__all__ = [
    "batches_of_one_length",
    "bill",
    "cosine_loss",
    "in_batch_negatives_loss",
    "pool",
    "progress",
    "semantic_search",
    "siamese_scores",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex11_sentence_bert")
