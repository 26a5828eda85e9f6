"""How well spans were found and questions answered; independent of any model.

Lengths vary, so neither tokens nor characters are counted: a whole span is right or wrong, and an
answer is compared with the right one by its words.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bertlab.tokenizers.checks import entries, read_texts

OUTSIDE = "O"  # the tag of a word outside every span
ARTICLES = re.compile(r"\b(a|an|the)\b")


class EntityScores(NamedTuple):
    """How well spans were found; each from 0 to 1."""

    precision: float  # the share of the predicted spans that are right
    recall: float  # the share of the true spans that were found
    f1: float  # the harmonic mean of both


class AnswerScores(NamedTuple):
    """How well questions were answered: means over all questions, from 0 to 1."""

    exact_match: float
    f1: float


def entity_f1(
    true_tags: Sequence[Sequence[str]], guessed_tags: Sequence[Sequence[str]]
) -> EntityScores:
    """Precision, recall and F1 of whole spans, counted over all texts together.

    A span is right if its first word, its last word and its label are. A share of nothing is 0.
    Equal to `seqeval`'s default, and so to CoNLL's own `conlleval`.

    Raises ValueError if the numbers of texts, or of a text's words, differ.

    >>> entity_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]])
    EntityScores(precision=0.5, recall=0.5, f1=0.5)
    """
    true_tags, guessed_tags = list(true_tags), list(guessed_tags)
    if [len(tags) for tags in true_tags] != [len(tags) for tags in guessed_tags]:
        raise ValueError(
            "entity_f1: guessed_tags must hold as many texts as true_tags, with as many tags each"
        )
    true, guessed = (
        {(text, *run) for text, tags in enumerate(texts) for run in tag_runs(tags)}
        for texts in (true_tags, guessed_tags)
    )
    right = len(true & guessed)
    precision = right / len(guessed) if guessed else 0.0
    recall = right / len(true) if true else 0.0
    return EntityScores(precision, recall, 2 * right / max(len(true) + len(guessed), 1))


def tag_runs(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first word, word after the last, label) of every span in the tags.

    A model's tags need not be well-formed: an I that does not continue a span begins one.
    Raises ValueError if a string is not a tag.

    >>> tag_runs(["O", "I-PER", "I-PER", "B-PER"])
    [(1, 3, 'PER'), (3, 4, 'PER')]
    """
    runs: list[tuple[int, int, str]] = []
    for number, tag in enumerate(tags):
        if tag == OUTSIDE:
            continue
        prefix, _, label = tag.partition("-")
        if prefix not in ("B", "I") or not label:
            raise ValueError(f"tag_runs: tags must be {OUTSIDE}, B-label or I-label; got {tag!r}")
        if prefix == "I" and runs and runs[-1][1:] == (number, label):
            runs[-1] = (runs[-1][0], number + 1, label)
        else:
            runs.append((number, number + 1, label))
    return runs


def exact_match(guess: str | None, answers: Sequence[str]) -> float:
    """1.0 if the guess is one of the answers, else 0.0, after `normalize_answer`.

    guess: None for "no answer"; answers: all right answers; empty if there is no answer.

    >>> exact_match("The castle!", ["castle", "forest"]), exact_match("castle", [])
    (1.0, 0.0)
    """
    return _best(guess, answers, lambda one, other: float(one == other))


def token_f1(guess: str | None, answers: Sequence[str]) -> float:
    """The highest F1 between the words of the guess and those of an answer.

    Arguments as in `exact_match`. Source: Rajpurkar et al. (2016), section 6.1; for questions
    without an answer Rajpurkar et al. (2018): 1 if the guess is "no answer", else 0.

    >>> token_f1("an old castle", ["the castle", "a big forest"])
    0.6666666666666666
    """
    return _best(guess, answers, _overlap)


def answer_scores(guesses: Sequence[str | None], answers: Sequence[Sequence[str]]) -> AnswerScores:
    """The means of `exact_match` and `token_f1` over many questions.

    Raises ValueError if there are no questions, or not one guess for each.
    """
    where = "answer_scores"
    guesses = list(entries(where, "guesses", guesses))
    answers = [
        list(read_texts(where, f"answers[{number}]", right))
        for number, right in enumerate(entries(where, "answers", answers))
    ]
    if not guesses or len(guesses) != len(answers):
        raise ValueError(
            f"answer_scores: guesses must hold one for each of {len(answers)} questions, at least "
            f"one; got {len(guesses)}"
        )
    pairs = list(zip(guesses, answers, strict=True))
    return AnswerScores(
        sum(exact_match(*pair) for pair in pairs) / len(pairs),
        sum(token_f1(*pair) for pair in pairs) / len(pairs),
    )


def normalize_answer(text: str) -> str:
    """Lower-case, without punctuation and articles, one space between words.

    Source: Rajpurkar et al. (2016), the evaluation script of SQuAD 1.1.

    >>> normalize_answer("In the U.S.,  a  Castle")
    'in us castle'
    """
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(ARTICLES.sub(" ", text).split())


def _best(guess: str | None, answers: Sequence[str], compare: Callable[[str, str], float]) -> float:
    """The best comparison of a guess with several answers."""
    answers = list(read_texts("exact_match", "answers", answers))
    if not isinstance(guess, str | None):
        raise TypeError(f"exact_match: guess must be a string, or None for no answer; got {guess}")
    guess = normalize_answer(guess or "")
    return max(compare(guess, normalize_answer(answer)) for answer in answers or [""])


def _overlap(guess: str, answer: str) -> float:
    """2 x shared words / all words, where a word that occurs twice counts twice."""
    words, right = guess.split(), answer.split()
    if not words or not right:
        return float(words == right)
    return 2 * (Counter(words) & Counter(right)).total() / (len(words) + len(right))
