"""Baselines: the score of predictions without a network.

If fine-tuning does not beat a bag of words, it has not used pre-training's knowledge of language.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from course.experiments.labels import Example
from course.experiments.metrics import task_score
from course.experiments.tasks import Task

WEAK = 10.0  # C: weaker regularisation than scikit-learn's default, for this many rare words
MANY = 1000  # with at least this number of texts, words of a single text are ignored


def baseline_scores(task: Task) -> dict[str, float]:
    """The task's metric of both baselines on the test part: {"majority": ..., "TF-IDF": ...}."""
    guesses = {"majority": majority_guesses(task), "TF-IDF": tfidf_guesses(task)}
    labels: list[Any] = [example.label for example in task.test]
    return {name: task_score(task.metric, labels, guess) for name, guess in guesses.items()}


def majority_guesses(task: Task) -> list[str]:
    """For every test text the most frequent training label; the first if some tie."""
    counts = Counter(example.label for example in task.train)
    return [max(task.labels, key=lambda label: counts[label])] * len(task.test)


def tfidf_guesses(task: Task) -> list[str]:
    """The predictions of logistic regression on a bag of words for every test text, or pair."""
    min_df = 2 if len(task.train) >= MANY else 1
    classifier = overlap_classifier() if task.is_pairs else tfidf_classifier(min_df)
    classifier.fit(_texts(task, task.train), [example.label for example in task.train])
    return classifier.predict(_texts(task, task.test)).tolist()


def tfidf_classifier(min_df: int = 1) -> Pipeline:
    """Logistic regression on words and pairs of neighbouring words, weighted by TF-IDF.

    Punctuation marks are words: an exclamation mark is informative. With several labels, each is
    separated from all others, which is faster than all at once. min_df: the number of texts in
    which a word must occur.
    """
    words = TfidfVectorizer(
        token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), min_df=min_df, sublinear_tf=True
    )
    one_label = LogisticRegression(C=WEAK, solver="liblinear")
    return make_pipeline(words, OneVsRestClassifier(one_label))


def overlap_classifier() -> Pipeline:
    """Logistic regression on how much two texts have in common (`WordOverlap`)."""
    return make_pipeline(WordOverlap(), StandardScaler(), LogisticRegression())


class WordOverlap(TransformerMixin, BaseEstimator):
    """Pairs of texts as five numbers each: a scikit-learn transformer.

    The cosine of their TF-IDF vectors, the number of shared words, its ratio to all their words,
    and the logarithm of 1 + the number of words of each.
    """

    def fit(self, pairs: Sequence[tuple[str, str]], _labels: Sequence[str] | None = None) -> Self:
        """Count in how many texts each word occurs."""
        self.words_ = TfidfVectorizer(sublinear_tf=True)
        self.words_.fit([text for pair in pairs for text in pair])
        return self

    def transform(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """The numbers of each pair, [N, 5]."""
        firsts, seconds = zip(*pairs, strict=True)
        a, b = self.words_.transform(firsts), self.words_.transform(seconds)  # [N, V]
        cosine, shared = _row_sums(a.multiply(b)), _row_sums((a > 0).multiply(b > 0))
        n_a, n_b = _row_sums(a > 0), _row_sums(b > 0)
        share = shared / np.maximum(n_a + n_b - shared, 1)
        return np.stack([cosine, shared, share, np.log1p(n_a), np.log1p(n_b)], axis=1)


def _row_sums(matrix: sparse.csr_matrix) -> np.ndarray:
    return np.asarray(matrix.sum(axis=1), dtype=float).ravel()  # [N]


def _texts(task: Task, examples: list[Example]) -> list[str] | list[tuple[str, str]]:
    """The texts of the examples, or their pairs of texts."""
    if task.is_pairs:
        return [(e.text, e.pair) for e in examples]
    return [e.text for e in examples]
