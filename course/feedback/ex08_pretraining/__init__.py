"""Checks of exercise 8, the loop: one per task.

`batches.py` has those about batches, `steps.py` those about steps and evaluation, `recipe.py`
those about the schedule and its ablation; `probes.py` has the models for them.
"""

from functools import partial

from course.feedback.ex08_pretraining.batches import examine_lay_out, kept_lengths, lay_out
from course.feedback.ex08_pretraining.recipe import ablation, plateau_schedule, predict_parts
from course.feedback.ex08_pretraining.steps import accumulate_gradients, evaluate, training_step
from course.feedback.progress import progress_of

__all__ = [
    "ablation",
    "accumulate_gradients",
    "evaluate",
    "examine_lay_out",
    "kept_lengths",
    "lay_out",
    "plateau_schedule",
    "predict_parts",
    "progress",
    "training_step",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex08_pretraining")
