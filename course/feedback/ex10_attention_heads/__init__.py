"""Checks of exercise 10, attention heads: one per task.

`patterns.py` and `words.py` have those about one head's attention, `ablation.py` those about a loss
without a head, `controls.py` the one about random labels, `tasks.py` those about all layers.
"""

from functools import partial

from course.feedback.ex10_attention_heads.ablation import ablate_each_head, predict_head
from course.feedback.ex10_attention_heads.controls import control_labels
from course.feedback.ex10_attention_heads.patterns import attention_entropy, attention_to_offset
from course.feedback.ex10_attention_heads.tasks import attention_rollout, examine_rollout
from course.feedback.ex10_attention_heads.words import attention_after_same_word
from course.feedback.progress import progress_of

__all__ = [
    "ablate_each_head",
    "attention_after_same_word",
    "attention_entropy",
    "attention_rollout",
    "attention_to_offset",
    "control_labels",
    "examine_rollout",
    "predict_head",
    "progress",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex10_attention_heads")
