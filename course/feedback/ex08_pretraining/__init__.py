"""Checks of exercise 8, the loop: one per task.

`batches.py` has those about batches, `steps.py` those about steps and evaluation, `tasks.py` the
others; `probes.py` has the models that they run on.
"""

from functools import partial

from course.feedback.ex08_pretraining.batches import kept_lengths, lay_out
from course.feedback.ex08_pretraining.steps import accumulate_gradients, evaluate, training_step
from course.feedback.ex08_pretraining.tasks import linear_schedule, parameter_groups
from course.feedback.progress import progress_of

__all__ = [
    "accumulate_gradients",
    "evaluate",
    "kept_lengths",
    "lay_out",
    "linear_schedule",
    "parameter_groups",
    "progress",
    "training_step",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex08_pretraining")
