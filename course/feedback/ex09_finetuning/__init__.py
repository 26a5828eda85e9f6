"""Checks of exercise 9, fine-tuning: one per task.

`tags.py` has those about tags, `spans.py` those about whole spans, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex09_finetuning.spans import best_span, entity_f1
from course.feedback.ex09_finetuning.tags import (
    first_pieces,
    piece_targets,
    tag_runs,
    tags_of_words,
)
from course.feedback.ex09_finetuning.tasks import layer_features, tagger_loss
from course.feedback.progress import progress_of

__all__ = [
    "best_span",
    "entity_f1",
    "first_pieces",
    "layer_features",
    "piece_targets",
    "progress",
    "tag_runs",
    "tagger_loss",
    "tags_of_words",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex09_finetuning")
