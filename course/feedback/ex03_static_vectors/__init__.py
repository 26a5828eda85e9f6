"""Checks of exercise 3, static vectors: counts, weights, a search, an ablation."""

from functools import partial

from course.feedback.ex03_static_vectors.counts import cosine, near_counts, near_words, ppmi
from course.feedback.ex03_static_vectors.neighbours import (
    ablation,
    examine_nearest,
    nearest,
    predict_part,
)
from course.feedback.progress import progress_of

__all__ = [
    "ablation",
    "cosine",
    "examine_nearest",
    "near_counts",
    "near_words",
    "nearest",
    "ppmi",
    "predict_part",
    "progress",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex03_static_vectors")
