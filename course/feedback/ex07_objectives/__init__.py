"""Checks of exercise 7, the objectives: one per task.

`masking.py` has those about masking, `losses.py` those about losses and a gradient, `tasks.py`
those about Adam; `chance.py` checks random results.
"""

from functools import partial

from course.feedback.ex07_objectives.losses import (
    examine_padded_loss,
    mlm_loss,
    padded_loss,
    smoothed_gradient,
)
from course.feedback.ex07_objectives.masking import choose_tokens, replace_chosen
from course.feedback.ex07_objectives.tasks import adam_step, predict_first_step
from course.feedback.progress import progress_of

__all__ = [
    "adam_step",
    "choose_tokens",
    "examine_padded_loss",
    "mlm_loss",
    "padded_loss",
    "predict_first_step",
    "progress",
    "replace_chosen",
    "smoothed_gradient",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex07_objectives")
