"""The required result of every training function, for any choice of merges."""

from typing import Any

from course.feedback.checks import Check
from course.feedback.differences import short


def vocab_and_merges(check: Check, answer: Any, example: tuple[str, str]) -> tuple[dict, list]:
    """The vocabulary and the merges of an answer; the check fails if it is something else.

    example: a pair that could be a merge, for the sentence.
    """
    check.law(
        isinstance(answer, tuple) and len(answer) == 2,
        "it must return two things: the vocabulary and the list of merges",
    )
    vocab, merges = answer
    check.law(
        isinstance(vocab, dict) and isinstance(merges, list),
        f"first the vocabulary, a dict, then the merges, a list; got {short(answer)}",
    )
    check.law(
        all(isinstance(pair, tuple) and len(pair) == 2 for pair in merges),
        f"each merge is a pair, such as {example}; got {short(merges)}",
    )
    return vocab, merges
