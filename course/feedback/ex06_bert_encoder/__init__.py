"""Checks of exercise 6, the encoder of BERT: one per task.

`parts.py` has those about the parts that a layer is made of, `stack.py` the one about the stack,
`tasks.py` the others; `weights.py` has the weights that all of them run on, and the published ones.
"""

from functools import partial

from course.feedback.ex06_bert_encoder.parts import (
    embed,
    feed_forward,
    gelu,
    gelu_approximations,
    layer_norm,
    sinusoidal_positions,
)
from course.feedback.ex06_bert_encoder.stack import encode
from course.feedback.ex06_bert_encoder.tasks import encoder_layer, mlm_logits, n_parameters
from course.feedback.ex06_bert_encoder.weights import published, read
from course.feedback.progress import progress_of

__all__ = [
    "embed",
    "encode",
    "encoder_layer",
    "feed_forward",
    "gelu",
    "gelu_approximations",
    "layer_norm",
    "mlm_logits",
    "n_parameters",
    "progress",
    "published",
    "read",
    "sinusoidal_positions",
]

# `check.progress()` shows how far you are.
progress = partial(progress_of, "ex06_bert_encoder")
