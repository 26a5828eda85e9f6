"""Word vectors compared with people: similarity by rank correlation, analogies by accuracy.

A score covers only words in the vocabulary, so both scores include their coverage.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.tokenizers.checks import check_none_missing, entries, read_texts
from course.models.word_vectors.vectors import WordVectors


class SimilarityScore(NamedTuple):
    """Spearman's rho over the pairs with two known words."""

    rho: float
    covered: int
    total: int


class AnalogyScore(NamedTuple):
    """Right answers over the questions with four known words."""

    accuracy: float
    correct: int
    covered: int
    total: int


def ranks(values: Sequence[float]) -> Tensor:
    """The rank of each value, counted from 1; equal values share the mean of their ranks.

    >>> ranks([0.3, 0.1, 0.3])
    tensor([2.5000, 1.0000, 2.5000], dtype=torch.float64)
    """
    x = torch.tensor(list(entries("ranks", "values", values)), dtype=torch.float64)
    _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    last = counts.cumsum(dim=0)  # the rank of the last of equal values
    return (last - (counts - 1) / 2).double()[inverse]


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """The correlation of ranks: 1 if both have the same order, -1 if the opposite.

    Source: Spearman (1904); ties get mean ranks, as in `scipy.stats.spearmanr`. Raises
    ValueError for fewer than two values, different numbers of them, a missing one, or all equal.

    >>> round(spearman([1, 2, 3, 4], [10, 30, 20, 40]), 6)
    0.8
    """
    x, y = list(entries("spearman", "x", x)), list(entries("spearman", "y", y))
    check_none_missing("spearman", "x", x)
    check_none_missing("spearman", "y", y)
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(
            f"spearman: x and y must hold the same number of values, at least 2; got {len(x)} and "
            f"{len(y)}"
        )
    if len(set(x)) == 1 or len(set(y)) == 1:
        raise ValueError("spearman: x and y must each hold different values; one is constant")
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    return (a @ b / (a.norm() * b.norm())).item()


def score_similarity(
    vectors: WordVectors, pairs: Iterable[tuple[str, str, float]]
) -> SimilarityScore:
    """Do word vectors order pairs of words as people do?

    pairs: first word, second word, how similar people found them; words are lower-cased
    first. Raises ValueError if fewer than two pairs are known.
    """
    where, rows = "score_similarity", []
    for number, (first, second, score) in enumerate(entries(where, "pairs", pairs)):
        a, b = _lowered(where, f"pairs[{number}]", (first, second))
        rows.append((a, b, score))
    known = [pair for pair in rows if pair[0] in vectors and pair[1] in vectors]
    cosines = [vectors.similarity(first, second) for first, second, _ in known]
    rho = spearman(cosines, [score for _, _, score in known])
    return SimilarityScore(rho, len(known), len(rows))


def score_analogies(
    vectors: WordVectors, questions: Iterable[tuple[str, str, str, str]]
) -> AnalogyScore:
    """How often the best answer to "a is to b as c is to ?" is the fourth word.

    Words are lower-cased first; the answer is taken from the whole vocabulary except a, b and c.
    Raises ValueError if no question is known.
    """
    lowered = [
        _lowered("score_analogies", f"questions[{number}]", question)
        for number, question in enumerate(entries("score_analogies", "questions", questions))
    ]
    known = [question for question in lowered if all(word in vectors for word in question)]
    if not known:
        raise ValueError(
            f"score_analogies: some question must have all words in the vocabulary; got none of "
            f"{len(lowered)}"
        )
    rows = torch.tensor([[vectors.row(word) for word in question] for question in known])
    correct = 0
    for part in rows.split(512):  # `three_cos_add`, for many questions at once
        a, b, c = vectors.units[part[:, :3]].unbind(dim=1)  # [512, D] each
        scores = (b - a + c) @ vectors.units.T  # [512, V]
        scores.scatter_(1, part[:, :3], -torch.inf)
        correct += int((scores.argmax(dim=1) == part[:, 3]).sum())
    return AnalogyScore(correct / len(known), correct, len(known), len(lowered))


def _lowered(where: str, name: str, words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in read_texts(where, name, words))
