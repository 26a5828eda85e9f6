"""Checks of exercise 9, fine-tuning: one per task.

`tags.py` has those about pieces and tags, `spans.py` those about whole spans, `contest.py` those
about the contest of learners, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex09_finetuning.contest import ablate_words, predict_contest
from course.feedback.ex09_finetuning.spans import best_span, entity_f1, examine_entity_f1
from course.feedback.ex09_finetuning.tags import bioes_runs, first_pieces
from course.feedback.ex09_finetuning.tasks import layer_features, tagger_loss
from course.feedback.progress import progress_of

__all__ = [
    "ablate_words",
    "best_span",
    "bioes_runs",
    "entity_f1",
    "examine_entity_f1",
    "first_pieces",
    "layer_features",
    "predict_contest",
    "progress",
    "tagger_loss",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex09_finetuning")
