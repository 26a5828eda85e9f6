"""Checks of exercise 10 about a meaningless task: random labels."""

import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import torch

from course.feedback.checks import Check, Passed
from course.feedback.differences import short
from course.feedback.ex10_attention_heads.patterns import OWN_CODE
from course.feedback.progress import task


class LotsCheck(Check):
    """A check of random labels: by laws, since the labels cannot be predicted."""

    refused = OWN_CODE

    def drawn(self, words: Sequence[str], labels: Sequence[Hashable], seed: int) -> list[Hashable]:
        """An answer of the right form, from existing labels, with one label per word."""
        before = _global_states()
        answer = self.call(words, labels, seed)
        shown = self.shown((words, labels, seed))
        self.law(
            isinstance(answer, list),
            f"{shown}\nit must return a list with a label for each of the {len(words)} words; it "
            f"returned {short(answer)}"
            + ("\n→ is there a `return` at the end?" * (answer is None)),
        )
        types = len(dict.fromkeys(words))
        self.law(
            len(answer) == len(words),
            f"{shown}\nexpected {len(words)} labels, got {len(answer)}"
            + "\n→ a label for each place in `words`, not for each word type"
            * (len(answer) == types),
        )
        strange = [label for label in answer if label not in set(labels)]
        self.law(
            not strange,
            f"{shown}\n{short(strange[:1])} is not one of the labels\n→ draw from `labels` itself",
        )
        self.law(
            before == _global_states(),
            f"{shown}\nchanged the global random numbers, and with them what other code draws: "
            "make your own generator, random.Random(seed) or np.random.default_rng(seed)",
        )
        labels_of: dict[str, set] = {}
        for word, label in zip(words, answer, strict=True):
            labels_of.setdefault(word, set()).add(label)
        torn = next((word for word, found in labels_of.items() if len(found) > 1), None)
        self.law(
            torn is None,
            f"{shown}\n{torn!r} gets more than one label\n→ one draw for each word type, kept in a "
            "dict: the same word has the same label wherever it occurs",
        )
        return answer


class Tonight(str):
    """A word that sets order differently from a `Tomorrow`, as in two sessions of Python."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("tonight", str(self)))


class Tomorrow(str):
    """See `Tonight`."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("tomorrow", str(self)))


def _global_states() -> tuple:
    """The states of Python's, NumPy's and PyTorch's global generators."""
    state: Any = np.random.get_state()
    kind, numbers, *place = state
    return random.getstate(), kind, numbers.tobytes(), place, torch.get_rng_state().tolist()


@task("ex10_attention_heads", 7)
def control_labels(function: Callable) -> Passed:
    """Random labels, the same for the same word."""
    check = LotsCheck(
        "control_labels",
        function,
        hints=(
            "dict.fromkeys(words) holds every word type once, in the order of the text",
            "random.Random(seed).choice(labels) draws each label as often as it occurs in `labels`",
            "label_of = {word: ... for word in dict.fromkeys(words)}, then look every word up",
        ),
    )
    words = ["the", "dog", "saw", "the", "cat", "the", "cat", "ran"]
    labels = ["DET", "NOUN", "VERB", "DET", "NOUN", "DET", "NOUN", "VERB"]
    results = [check.drawn(words, labels, seed) for seed in range(40)]
    check.law(
        check.drawn(words, labels, 3) == results[3],
        "the same seed gives other labels at the second call: draw with a generator that you make "
        "from `seed`, random.Random(seed) or np.random.default_rng(seed)",
    )
    check.law(
        len(set(map(tuple, results))) > 20,
        f"40 seeds give only {len(set(map(tuple, results)))} different results: is `seed` used, "
        "and are labels drawn at random?",
    )
    check.done("8 words with 40 seeds")
    _frequencies(check)
    _of_sessions(check)
    return check.passed()


def _frequencies(check: LotsCheck) -> None:
    """Labels have the frequencies of the real task, but are independent of it."""
    types = [f"word{number}" for number in range(2000)]
    words = [word for number, word in enumerate(types) for _ in range(1 + number % 3)]
    labels = ["NOUN" if int(word[4:]) % 10 < 7 else "VERB" for word in words]
    label_of = dict(zip(words, check.drawn(words, labels, 11), strict=True))
    nouns = Counter(label_of.values())["NOUN"] / 2000
    shown = f"2,000 words, 70 % of their labels are NOUN: {nouns:.0%} of the drawn ones are"
    check.law(
        abs(nouns - 0.5) > 0.05,
        f"{shown}\n→ draw from `labels` as it is, with its repetitions: a set, or a Counter's "
        "keys, has every label once",
    )
    agree = sum(label_of[word] == label for word, label in zip(words, labels, strict=True))
    check.law(
        agree < 0.9 * len(words),
        "the labels are the real ones, or nearly: the control task must not depend on them",
    )
    check.law(0.65 < nouns < 0.75, f"{shown}\n→ labels must have the frequencies of the real task")
    check.law(
        0.53 < agree / len(words) < 0.63,
        f"{agree / len(words):.0%} of the drawn labels are the real ones; by chance it would be 58 "
        "%, 0.7² + 0.3²: the draw must not look at a word's own label",
    )
    check.done("2,000 words")


def _of_sessions(check: LotsCheck) -> None:
    """Python orders a set of strings at random in every session; results must not depend on it."""
    names = [f"word{number}" for number in range(300)]
    labels = list(range(300))
    one, other = (
        check.drawn([kind(name) for name in names], labels, 5) for kind in (Tonight, Tomorrow)
    )
    check.law(
        one == other,
        "the same words and seed give other labels when a set of them is in another order, as it "
        "is in every new session of Python: dict.fromkeys(words) keeps the order, set(words) does "
        "not",
    )
    check.done("the same in every session")
