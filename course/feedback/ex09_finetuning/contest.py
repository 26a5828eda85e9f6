"""Checks of exercise 9 about the contest: a prediction, and an ablation of words."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.feedback.checks import Check, Passed
from course.feedback.differences import difference, short
from course.feedback.ex09_finetuning.tags import OWN_CODE
from course.feedback.progress import task

LEARNERS = (
    "counted words",
    "frozen, embeddings",
    "frozen, last layer",
    "from scratch",
    "fine-tuned",
)


@task("ex09_finetuning", 8)
def predict_contest(function: Callable) -> Passed:
    """An F1 for each learner, of the student's choice."""
    check = Check(
        "predict_contest", function, hints=('write `return {"counted words": 0.5, ...}`',)
    )
    answer = check.call()
    check.law(
        isinstance(answer, dict) and set(answer) == set(LEARNERS),
        f"it must return a dictionary with the five learners, {', '.join(map(repr, LEARNERS))}; it "
        f"returned {short(answer, 200)}",
    )
    for learner, score in answer.items():
        check.law(
            isinstance(score, int | float) and 0 <= score <= 1,
            f"an F1 is a number from 0 to 1, not a percentage; {learner!r} has {score!r}",
        )
    best = max(answer, key=answer.__getitem__)
    check.done(f"you predict that {best!r} is ahead; now measure")
    return check.passed()


def has_digit(word: str) -> bool:
    """The kind of words that the check removes."""
    return any(character.isdigit() for character in word)


class WordsCheck(Check):
    """A check of texts without some words, and of their control."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        texts, _, seed = arguments
        return f"{self.name}({short(texts, 120)}, has_digit, {seed})"

    def sides(self, *arguments: Any) -> tuple[list[str], list[str]]:
        """Both lists of texts, with the original number of texts."""
        answer = self.call(*arguments)
        texts, shown = arguments[0], self.shown(arguments)
        self.law(
            isinstance(answer, tuple | list) and len(answer) == 2,
            f"{shown}\nit must return two lists, the texts without those words and the control; it "
            f"returned {short(answer)}",
        )
        for what, side in zip(("texts without those words", "the control"), answer, strict=True):
            self.law(
                isinstance(side, list) and all(isinstance(text, str) for text in side),
                f"{shown}\n{what} must be a list of str; got {short(side)}",
            )
            self.law(
                len(side) == len(texts),
                f"{shown}\n{what}: {len(texts)} texts are expected, as many as before; got "
                f"{len(side)}",
            )
        return answer[0], answer[1]

    def control(self, texts: list[str], without: list[str], control: list[str]) -> None:
        """The same number of words as without the kind, from the same text, in order."""
        for text, cut, other in zip(texts, without, control, strict=True):
            expected, got = len(cut.split()), len(other.split())
            self.law(
                got == expected,
                f"the control of {text!r} must keep {expected} words, as many as are left without "
                f"the kind; got {got}: {other!r}",
            )
            rest = iter(text.split())
            self.law(
                all(word in rest for word in other.split()),
                f"the control of {text!r} must keep words of that text in their order; got "
                f"{other!r}",
            )
            self.law(
                " ".join(other.split()) == other,
                f"the control of {text!r}: words are separated by one blank; got {other!r}",
            )


TEXTS = ["call 0800 or 0900 now", "see you", "  4 u  only ", "10 20"]
LONG = [f"a b c{number % 9} d e f" for number in range(300)]


@task("ex09_finetuning", 9)
def ablate_words(function: Callable) -> Passed:
    """Texts without a kind of words, and without the same number of random words."""
    check = WordsCheck(
        "ablate_words",
        function,
        hints=(
            "words = text.split(); left = [word for word in words if not is_part(word)]",
            "the control keeps len(left) of the places range(len(words)), drawn by "
            "random.Random(seed).sample and sorted",
        ),
    )
    before = _random_numbers()
    without, control = check.sides(TEXTS, has_digit, 1)
    gives = ["call or now", "see you", "u only", ""]
    check.compared(
        difference(gives, without) if without != gives else "",
        without,
        check.shown((TEXTS, has_digit, 1)),
        "the texts without words that contain a digit come first, then the control",
    )
    check.control(TEXTS, without, control)
    check.done("four texts by hand")
    without, control = check.sides(LONG, has_digit, 1)
    check.control(LONG, without, control)
    _drawn(check, control)
    _, again = check.sides(LONG, has_digit, 1)
    _, other = check.sides(LONG, has_digit, 2)
    check.law(again == control, "the same seed gives another control")
    check.law(other != control, "another seed gives the same control: is `seed` used?")
    check.law(
        _random_numbers() == before,
        "it changed the global random numbers; random.Random(seed) is a separate generator",
    )
    check.done("300 texts: as many words, at random places, the same with the same seed")
    return check.passed()


def _drawn(check: WordsCheck, control: list[str]) -> None:
    """In 300 texts of 6 words, each place is removed about 50 times."""
    for place in range(6):
        lost = sum(not any(word[0] == chr(97 + place) for word in t.split()) for t in control)
        check.law(
            15 <= lost <= 110,
            f"of 300 texts of 6 words, one of which has a digit, the control loses word {place} "
            f"{lost} times; about 50 are expected: draw from all words, again for each text",
        )


def _random_numbers() -> tuple:
    """The state of all global generators."""
    state = np.random.get_state()[1].tobytes()  # type: ignore[index]
    return random.getstate(), state, torch.get_rng_state().tolist()
