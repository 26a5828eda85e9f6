"""Checks of exercise 4, attention: one per task, by worked examples, laws and PyTorch's results.

`scores.py` has those about shares under a mask, `heads.py` those about several heads, `ablation.py`
those about measurements, `tasks.py` the others.
"""

from functools import partial

from course.feedback.ex04_attention.ablation import predict_bits, shares_without
from course.feedback.ex04_attention.heads import grouped_attention, merge_heads
from course.feedback.ex04_attention.scores import examine_masked_shares, masked_shares
from course.feedback.ex04_attention.tasks import (
    causal_mask,
    padding_mask,
    row_softmax,
    single_query_attention,
)
from course.feedback.progress import progress_of

__all__ = [
    "causal_mask",
    "examine_masked_shares",
    "grouped_attention",
    "masked_shares",
    "merge_heads",
    "padding_mask",
    "predict_bits",
    "progress",
    "row_softmax",
    "shares_without",
    "single_query_attention",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex04_attention")
