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
        mistakes=[
            (3_370, "the biases are missing: every matrix has one"),
            (3_431, "the biases of attention are missing"),
            (3_500, "the biases of the feed-forward network are missing"),
            (3_521, "the feed-forward network has two biases"),
            (3_411, "the norms are missing"),
            (3_481, "a norm has gamma and beta, two vectors"),
            (3_491, "a layer has two norms, one after each half"),
            (3_531, "the norm after the embeddings is missing"),
            (3_441, "the pooler is missing"),
            (3_451, "the table of segments is missing"),
            (3_141, "the table of positions is missing"),
            (3_221, "W_o and b_o are missing, the output of attention"),
            (
                4_541,
                "the heads share the D columns: side by side, their W_q are [D, D] for any number "
                "of heads",
            ),
            (3_056, "every head has W_q, W_k and W_v of its own"),
            (2_277, "one layer is not all: there are n_layers of them"),
            (3_781, "the head that guesses words does not count here"),
            (4_551, "the unembedding is the table of tokens again"),
            (196_646, "d_ff is config.d_ff, not always 3072"),
            (5_630, "d_ff is config.d_ff: it need not be 4 times D"),
            (9_284, "n_layers is config.n_layers, not always 12"),
            (8_261, "max_length is config.max_length, not always 512"),
            (3_471, "n_segments is config.n_segments, not always 2"),
        ],
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
        mistakes=[
            (3_551, "the tables have `embedding_size` columns"),
            (2_695, "the norm comes after the sum of the tables: it has E columns, too"),
            (2_673, "the matrix [E, D] has a bias"),
            (2_633, "the matrix [E, D] below the first layer is missing, and its bias"),
            (2_989, "all three tables have E columns, not only that of the tokens"),
            (2_783, "there is one matrix [E, D] below the first layer, not one for each layer"),
        ],
    )
    check.example(
        *(crooked, 4, True),
        gives=1_409,
        because="and the three layers share their weights",
        mistakes=[
            (2_683, "shared layers have the same weights: they count once"),
            (2_046, "shared layers have the same weights: all of them count once"),
        ],
    )
    check.example(crooked, None, True, gives=2_277, because="shared layers, tables as in BERT")
    same = "the matrix is there even if E is as large as D: only None means no matrix, as in BERT"
    check.example(crooked, 10, gives=3_661, because=same, mistakes=[(3_551, same)])
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
