"""Checks of exercise 1, tasks 7 and 8: preparation of words, and a prediction."""

from collections.abc import Callable
from math import isfinite

from course.feedback.checks import Check, Passed
from course.feedback.progress import task

BOTH = {"lower", "mark"}


@task("ex01_bpe", 7)
def start_words(function: Callable) -> Passed:
    """Words as symbols, lower-cased or not, marked or not."""
    check = Check(
        "start_words",
        function,
        hints=(
            "begin with an empty Counter, and add each word's count to that of its symbols",
            'test for each part separately: `if "lower" in parts`, `if "mark" in parts`',
        ),
    )
    check.example(
        {"The": 3, "the": 5},
        BOTH,
        gives={("t", "h", "e</w>"): 8},
        because="both words become one, which occurs 3 + 5 times",
    )
    check.example(
        {"The": 3, "the": 5},
        set(),
        gives={("T", "h", "e"): 3, ("t", "h", "e"): 5},
        because="without any part, words are only split into characters",
    )
    check.example(
        {"A": 2, "an": 1}, {"mark"}, gives={("A</w>",): 2, ("a", "n</w>"): 1}, because="only mark"
    )
    check.example({"A": 2}, {"lower"}, gives={("a",): 2}, because="only lower")
    check.example({}, BOTH, gives={}, because="no words at all")
    check.done("both parts, each by itself, none; no words")
    return check.passed()


@task("ex01_bpe", 8)
def predict_tokens(function: Callable) -> Passed:
    """A number from 1 up, of the student's choice."""
    check = Check("predict_tokens", function, hints=("write `return` and a number",))
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(number, f"a prediction is a number; it returned {answer!r}")
    check.law(
        isfinite(answer) and answer >= 1,
        f"a word takes at least one token, so it must be 1 or more; it returned {answer!r}",
    )
    check.done(f"you predict {answer:g} tokens per word; now measure")
    return check.passed()
