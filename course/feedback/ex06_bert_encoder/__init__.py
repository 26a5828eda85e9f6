"""Checks of exercise 6, the encoder of BERT: one per task.

`parts.py` has those about the parts of a layer, `stack.py` the one about the stack, `counts.py`
those about numbers, `tasks.py` the others; `weights.py` has the weights for all of them, and the
published ones.
"""

from functools import partial

from course.feedback.ex06_bert_encoder.counts import n_parameters, predict_right
from course.feedback.ex06_bert_encoder.parts import gelu, layer_norm, stretched_positions
from course.feedback.ex06_bert_encoder.stack import encode
from course.feedback.ex06_bert_encoder.tasks import (
    encoder_layer,
    examine_encoder_layer,
    partial_layer,
)
from course.feedback.ex06_bert_encoder.weights import (
    as_torch_layer,
    layer_weights,
    published,
    read,
)
from course.feedback.progress import progress_of

__all__ = [
    "as_torch_layer",
    "encode",
    "encoder_layer",
    "examine_encoder_layer",
    "gelu",
    "layer_norm",
    "layer_weights",
    "n_parameters",
    "partial_layer",
    "predict_right",
    "progress",
    "published",
    "read",
    "stretched_positions",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex06_bert_encoder")
