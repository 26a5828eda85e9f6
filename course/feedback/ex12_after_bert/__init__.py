"""Checks of exercise 12, after BERT: soft targets, spans, replaced tokens, masks, sampling."""

from functools import partial

from course.feedback.ex12_after_bert.questions import (
    choose_spans,
    content_mask,
    detection_loss,
    query_mask,
    soft_target_loss,
    span_law,
)
from course.feedback.ex12_after_bert.sampling import (
    examine_nucleus,
    nucleus,
    predict_rises,
    visible,
)
from course.feedback.progress import progress_of

__all__ = [
    "choose_spans",
    "content_mask",
    "detection_loss",
    "examine_nucleus",
    "nucleus",
    "predict_rises",
    "progress",
    "query_mask",
    "soft_target_loss",
    "span_law",
    "visible",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex12_after_bert")
