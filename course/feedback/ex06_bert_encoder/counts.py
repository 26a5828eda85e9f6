"""Checks of exercise 6, tasks 8 and 9: numbers of parameters, and of right answers."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed
from course.feedback.ex06_bert_encoder.weights import (
    Sizes,
)
from course.feedback.progress import task
from course.feedback.tensors import READY_MADE


@task("ex06_bert_encoder", 8)
def n_parameters(function: Callable) -> Passed:
    """The exact number for every size."""
    check = _Count(
        "n_parameters",
        function,
        hints=(
            "embeddings + n_layers * layer + pooler; write each as a sum of shapes",
            "a layer: four matrices [D, D] with biases, two norms, [D, d_ff] and [d_ff, D] with "
            "biases",
        ),
    )
    check.example(
        Sizes(100, 10, 3, n_heads=2, d_head=5, d_ff=7, max_length=41, n_segments=10),
        gives=3_551,
        because="the exact number, of three tables, norms, matrices and biases",
    )
    check.done("sizes that are not round numbers")
    for name, (n_layers, d_model, n_heads, number) in PUBLISHED.items():
        sizes = Sizes(30_522, d_model, n_layers, n_heads, d_model // n_heads, 4 * d_model)
        check.example(sizes, gives=number, because=f"this is BERT-{name}")
    check.done("tiny, mini, small, medium, base and large as published")
    crooked = Sizes(100, 10, 3, n_heads=2, d_head=5, d_ff=7, max_length=41, n_segments=10)
    check.example(
        *(crooked, 4),
        gives=2_683,
        because="tables of 4 columns, a norm of 4, a matrix [4, 10] with a bias; then three layers",
    )
    check.example(
        *(crooked, 4, True), gives=1_409, because="and the three layers share their weights"
    )
    check.example(crooked, None, True, gives=2_277, because="shared layers, tables as in BERT")
    same = "the matrix is there even if E is as large as D: only None means no matrix, as in BERT"
    check.example(crooked, 10, gives=3_661, because=same)
    for name, (n_layers, d_model, n_heads, number) in ALBERT.items():
        sizes = Sizes(30_000, d_model, n_layers, n_heads, d_model // n_heads, 4 * d_model)
        check.example(sizes, 128, True, gives=number, because=f"this is ALBERT-{name}")
    check.done("ALBERT-base and ALBERT-large as published")
    return check.passed()


class _Count(Check):
    """A check of whole numbers, with the restrictions of the tensor checks."""

    refused = READY_MADE


# Layers, dimensions, heads, and the parameters without the heads of pre-training.
PUBLISHED = {
    "tiny": (2, 128, 2, 4_385_920),
    "mini": (4, 256, 4, 11_170_560),
    "small": (4, 512, 8, 28_763_648),
    "medium": (8, 512, 8, 41_373_184),
    "base": (12, 768, 12, 109_482_240),
    "large": (24, 1024, 16, 335_141_888),
}
ALBERT = {
    "base": (12, 768, 12, 11_683_584),
    "large": (24, 1024, 16, 17_683_968),
}


@task("ex06_bert_encoder", 9)
def predict_right(function: Callable) -> Passed:
    """A whole number from 0 to 32, of the student's choice."""
    check = Check("predict_right", function, hints=("write `return` and a whole number",))
    answer = check.call()
    number = isinstance(answer, int) and not isinstance(answer, bool)
    check.law(
        number and 0 <= answer <= 32,
        f"it must be a whole number from 0 to 32; it returned {answer!r}",
    )
    check.done(f"you predict {answer} of 32; now measure")
    return check.passed()
