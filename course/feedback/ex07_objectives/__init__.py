"""Checks of exercise 7, the objectives: one per task.

`masking.py` has those about masking, `losses.py` those about losses and gradients, `tasks.py` the
one about Adam; how one checks what chance decides stands in `chance.py`.
"""

from functools import partial

from course.feedback.ex07_objectives.losses import (
    mlm_gradient,
    mlm_loss,
    nsp_loss,
    nsp_sigmoid_gradient,
    nsp_sigmoid_loss,
)
from course.feedback.ex07_objectives.masking import choose_tokens, choose_words, hide
from course.feedback.ex07_objectives.tasks import adam_step
from course.feedback.progress import progress_of

__all__ = [
    "adam_step",
    "choose_tokens",
    "choose_words",
    "hide",
    "mlm_gradient",
    "mlm_loss",
    "nsp_loss",
    "nsp_sigmoid_gradient",
    "nsp_sigmoid_loss",
    "progress",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex07_objectives")
