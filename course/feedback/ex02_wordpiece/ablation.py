"""Checks of exercise 2, tasks 7 and 8: a vocabulary without marks, and a prediction."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed
from course.feedback.progress import task

SCORES = ("frequency", "likelihood", "gain")


@task("ex02_wordpiece", 7)
def unmarked(function: Callable) -> Passed:
    """Both spellings of each piece, under one id."""
    check = Check(
        "unmarked",
        function,
        hints=(
            "first the bare pieces, each once, in their order; then their ids",
            "piece.removeprefix(CONTINUES) removes the mark once, and only at the start",
        ),
    )
    check.example(
        {"e": 0, "##e": 1, "men": 2, "##n": 3},
        gives={"e": 0, "##e": 0, "men": 1, "##men": 1, "n": 2, "##n": 2},
        because="of four pieces three remain, each with both spellings",
    )
    hashes = "remove only the mark, once: # may be a character of the piece"
    check.example(
        {"###": 0, "##a##": 1}, gives={"#": 0, "###": 0, "a##": 1, "##a##": 1}, because=hashes
    )
    check.example(
        {"##b": 7, "a": 9},
        gives={"b": 0, "##b": 0, "a": 1, "##a": 1},
        because="the order in the vocabulary counts, not its ids or the alphabet",
    )
    check.example({}, gives={}, because="no pieces at all")
    check.done("twins, # in a piece, the order, no pieces")
    return check.passed()


@task("ex02_wordpiece", 8)
def predict_score(function: Callable) -> Passed:
    """One of the three scores, of the student's choice."""
    check = Check("predict_score", function, hints=("write `return` and one of the names",))
    answer = check.call()
    check.law(answer in SCORES, f"it must be one of {', '.join(SCORES)}; it returned {answer!r}")
    check.done(f"you predict {answer}; now measure")
    return check.passed()
