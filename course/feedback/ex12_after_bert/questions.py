"""Checks of exercise 12, tasks 1 to 5: soft targets, spans, replaced tokens, orders of reading."""

from collections.abc import Callable

import torch

from course.feedback.checks import Passed
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck


def bits(*rows: str) -> list:
    """Rows of 0 and 1 as truth values; a single row without a list around it."""
    table = [[sign == "1" for sign in row] for row in rows]
    return table[0] if len(table) == 1 else table


class DivergenceCheck(TensorCheck):
    """A check of a divergence, which PyTorch offers, too."""

    ready_made = ("kl_div",)


@task("ex12_after_bert", 1)
def soft_target_loss(function: Callable) -> Passed:
    """T² times the divergence of the student from the teacher."""
    check = DivergenceCheck(
        "soft_target_loss",
        function,
        hints=(
            "divide both by the temperature, then log_softmax(dim=-1)",
            "the teacher's probabilities are the weights: the sum of t * (ln t - ln s), and a mean "
            "over the rows",
        ),
    )
    student, teacher = (torch.tensor([p]).log() for p in ([0.5, 0.25, 0.25], [0.7, 0.2, 0.1]))
    check.example(
        student,
        teacher,
        1.0,
        gives=0.0993,
        because="as in the statement",
        mistakes=[
            (
                0.1166,
                "the teacher's probabilities are the weights, and come first in the difference",
            ),
            (-0.0993, "ln t - ln s: the loss is never below 0"),
            (0.9011, "the cross-entropy is not 0 where both agree: ln t is missing"),
            (0.0331, "a sum over the words; the mean is over the rows"),
        ],
    )
    check.example(
        student,
        teacher,
        2.0,
        gives=0.1239,
        because="as in the statement, at temperature 2",
        mistakes=[
            (0.0310, "the gradient shrinks by 1/T²: multiply by T²"),
            (0.0619, "T², not T"),
            (0.3971, "divide the logits by the temperature before the softmax"),
            (0.0324, "soften both, the student, too"),
            (0.7341, "soften both, the teacher, too"),
            (0.7160, "divide the logits by the temperature; do not multiply"),
        ],
    )
    both = torch.cat([student, student]), torch.cat([teacher, student])
    check.example(
        *both,
        1.0,
        gives=0.0497,
        because="two rows, of which the second agrees: the mean is half of the first",
        mistakes=[(0.0993, "the mean over the rows, not the sum")],
    )
    check.done("directions, temperatures, a mean over rows")
    return check.passed()


@task("ex12_after_bert", 2)
def span_law(function: Callable) -> Passed:
    """The lengths of SpanBERT's spans."""
    check = TensorCheck(
        "span_law",
        function,
        hints=(
            "length n has p times (1 - p) to the power of n - 1",
            "divide all of them by their sum",
        ),
    )
    check.example(
        0.5,
        3,
        gives=[0.5714, 0.2857, 0.1429],
        because="as in the statement",
        mistakes=[
            ([0.5, 0.25, 0.125], "longer spans are excluded, so these must sum to 1"),
            (
                [0.5, 0.25, 0.25],
                "if more tosses are needed, start again; the longest gets no extra share",
            ),
            ([0.1429, 0.2857, 0.5714], "short spans are more likely"),
            ([0.3333, 0.3333, 0.3333], "short spans are more likely"),
            ((4,), "one entry for each length from 1 to longest"),
            ((2,), "one entry for each length from 1 to longest"),
        ],
    )
    check.example(
        0.2,
        2,
        gives=[0.5556, 0.4444],
        because="0.2 and 0.8 * 0.2, together 0.36",
        mistakes=[
            ([0.8333, 0.1667], "p is the probability of heads, which ends the tosses"),
            ([0.2, 0.16], "longer spans are excluded, so these must sum to 1"),
        ],
    )
    check.example(1.0, 3, gives=[1.0, 0.0, 0.0], because="heads at once, always")
    check.done("ratios, the sum, a coin that always shows heads")
    return check.passed()


@task("ex12_after_bert", 3)
def choose_spans(function: Callable) -> Passed:
    """A budget, spent on spans."""
    check = TensorCheck(
        "choose_spans",
        function,
        hints=(
            "in each round: shorten first, then check whether it fits, then hide",
            "a span fits if it is inside the text, and free and not yet hidden at every token",
        ),
    )
    inner = torch.tensor(bits("0111111110"))
    check.example(
        inner,
        4,
        [(2, 3), (4, 2), (7, 2), (5, 1)],
        gives=bits("0011100100"),
        because="as in the statement",
        mistakes=[
            (bits("0011110000"), "a span too long for what is left is shortened, not dropped"),
            (bits("0011100110"), "the last span is shortened to what is left of the budget"),
            (bits("0011110110"), "it ends when the budget is spent"),
            (bits("0011100000"), "a dropped span costs nothing, and the next one is tried"),
        ],
    )
    check.example(
        inner,
        5,
        [(0, 2), (8, 2), (6, 2), (7, 2), (4, 2)],
        gives=bits("0000111100"),
        because="0 and 9 are not free, and 7 is hidden when (7, 2) comes: dropped as a whole",
        mistakes=[
            (bits("1100001011"), "the first token is not free"),
            (bits("0100101110"), "a span with one token that is not free is dropped as a whole"),
            (bits("0000111110"), "a span with one token that is hidden is dropped as a whole"),
            (bits("0000001100"), "two spans may be adjacent"),
        ],
    )
    every = torch.tensor(bits("1111"))
    check.example(
        every,
        3,
        [(2, 3), (1, 2)],
        gives=bits("0110"),
        because="(2, 3) reaches beyond the text, so it is dropped as a whole",
        mistakes=[
            (bits("0111"), "a span that reaches beyond the text is dropped as a whole"),
            (bits("1011"), "a span does not continue at the start of the text"),
        ],
    )
    check.example(every, 0, [(0, 1)], gives=bits("0000"), because="the budget is 0")
    check.example(
        every,
        1,
        [(3, 2)],
        gives=bits("0001"),
        because="shortened to one token, it fits: shorten first, then check",
        mistakes=[(bits("0000"), "shorten a span first, then check whether it fits")],
    )
    check.done("budgets, borders, what is not free, what is hidden already")
    return check.passed()


@task("ex12_after_bert", 4)
def detection_loss(function: Callable) -> Passed:
    """ELECTRA's question about every token."""
    check = TensorCheck(
        "detection_loss",
        function,
        hints=(
            "read = ids.clone(); read[gaps] = drawn; replaced is read != ids",
            "binary cross-entropy over all tokens but padding",
        ),
    )
    logits = torch.tensor([[0.2, 0.4, 0.2, 0.75, 0.1]]).logit()
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    gaps, drawn = torch.tensor([bits("01010")]), torch.tensor([7, 5])
    tokens = torch.ones(1, 5, dtype=torch.bool)
    check.example(
        *(logits, ids, gaps, drawn, tokens),
        gives=0.2700,
        because="as in the statement",
        mistakes=[
            (1.3502, "the mean over the tokens, not the sum"),
            (0.3993, "every token counts, not only the gaps"),
            (1.5650, "a positive logit means: replaced"),
            (0.3511, "a gap that was filled with its true word counts as original"),
            (0.4898, "the second gap was not filled with the true word: it is replaced"),
        ],
    )
    check.example(
        *(logits[:, :4], ids[:, :4], gaps[:, :4], torch.tensor([7, 9]), tokens[:, :4]),
        gives=0.5859,
        because="a gap that was filled with its true word counts as original",
        mistakes=[
            (0.4126, "a gap that was filled with its true word counts as original"),
        ],
    )
    two = torch.tensor([[1.0, -2.0, 0.5], [2.0, -1.0, 3.0]])
    pages = torch.tensor([[4, 5, 6], [7, 8, 0]])
    there = torch.tensor(bits("011", "110"))
    check.example(
        *(two, pages, there, torch.tensor([6, 6, 9, 8]), torch.tensor(bits("111", "110"))),
        gives=0.9709,
        because="two rows; the last token is padding, which does not count",
        mistakes=[
            (1.3173, "padding is left out"),
            (0.8091, "divide by the number of tokens, without padding"),
            (0.8458, "the mean over all tokens, not a mean of the rows' means"),
        ],
    )
    check.gradients(two, pages, there, torch.tensor([6, 6, 9, 8]), torch.tensor(bits("111", "110")))
    check.done("labels, true words in gaps, padding, gradients")
    return check.passed()


ORDER = torch.tensor([3, 0, 4, 1, 2])


@task("ex12_after_bert", 5)
def content_mask(function: Callable) -> Passed:
    """The mask of the content stream."""
    check = TensorCheck(
        "content_mask",
        function,
        hints=(
            "order < L - n_targets is True for the given words",
            "given words share one number, then compare: number <= number[:, None]",
        ),
    )
    check.example(
        ORDER,
        2,
        gives=bits("11011", "01011", "11111", "01011", "01011"),
        because="as in the statement",
        mistakes=[
            (
                bits("11011", "01000", "11111", "01010", "01011"),
                "given words all see each other, whatever the order",
            ),
            (
                bits("01011", "01011", "11011", "01011", "01011"),
                "in the content stream a target sees itself",
            ),
            (
                bits("10100", "11111", "00100", "11111", "11111"),
                "row = the word that sees, column = the word that is seen",
            ),
            (
                bits("11111", "01011", "11111", "01011", "01011"),
                "of two targets the one that is guessed first does not see the other",
            ),
            (
                bits("11011", "11011", "11111", "11011", "11011"),
                "a given word sees no target",
            ),
            (
                bits("11111", "11111", "11111", "11111", "11111"),
                "no word sees a target that is guessed later",
            ),
            (
                bits("11011", "01010", "11111", "01010", "01011"),
                "the last n_targets of the order are the targets, all others are given",
            ),
            (
                bits("11100", "11100", "11100", "11110", "11111"),
                "what counts is the order, not the place",
            ),
        ],
    )
    check.example(
        torch.tensor([1, 0]),
        1,
        gives=bits("11", "01"),
        because="one given, one target",
    )
    check.done("given words, targets, themselves")
    return check.passed()


@task("ex12_after_bert", 5)
def query_mask(function: Callable) -> Passed:
    """The tokens that each target sees."""
    check = TensorCheck(
        "query_mask",
        function,
        hints=(
            "the targets are order.argsort()[-n_targets:]",
            "a word that comes before a target in the order is seen, given or target",
        ),
    )
    check.example(
        ORDER,
        2,
        gives=bits("01011", "11011"),
        because="as in the statement",
        mistakes=[
            (bits("11011", "11111"), "in the query stream a target does not see itself"),
            (bits("01011", "01011"), "a target sees the targets before it"),
            (
                bits("11011", "01011"),
                "the rows are in the order of guessing",
            ),
            (bits("01111", "11011"), "a target does not see the targets after it"),
            (bits("00000", "01000"), "the targets are the last n_targets of the order"),
            (bits("00000", "11011"), "the numbers in order are not places"),
            ((5, 5), "a row for each target, and none for the given words"),
        ],
    )
    check.example(
        torch.tensor([2, 1, 0]),
        2,
        gives=bits("001", "011"),
        because="the last place is given, the middle one is guessed first, the first one last",
        mistakes=[(bits("011", "001"), "the rows are in the order of guessing, not of the places")],
    )
    check.done("given words, earlier targets, the order of the rows")
    return check.passed()
