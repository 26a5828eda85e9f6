"""Checks of exercise 4, attention: one per task, by worked examples, laws and PyTorch's results.

`scores.py` has those about scores, `heads.py` those about many heads, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex04_attention.heads import (
    entropy_bits,
    merge_heads,
    multi_head_attention,
    offset_share,
    split_heads,
)
from course.feedback.ex04_attention.scores import attention, attention_probabilities, self_attention
from course.feedback.ex04_attention.tasks import (
    causal_mask,
    padding_mask,
    row_softmax,
    single_query_attention,
)
from course.feedback.progress import progress_of

__all__ = [
    "attention",
    "attention_probabilities",
    "causal_mask",
    "entropy_bits",
    "merge_heads",
    "multi_head_attention",
    "offset_share",
    "padding_mask",
    "progress",
    "row_softmax",
    "self_attention",
    "single_query_attention",
    "split_heads",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex04_attention")
