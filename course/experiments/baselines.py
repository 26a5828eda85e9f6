"""What a task asks of a model at least: the score of guesses that need no network.

If fine-tuning does not beat counted words, it has not used what it knows of language.
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

WEAK = 10.0  # C: a weaker pull towards 0 than scikit-learn's, for this many rare words
MANY = 1000  # texts from which on a word that stands in one of them alone does not count


def baseline_scores(task: Task) -> dict[str, float]:
    """The task's metric on its test, of both baselines: {"majority": ..., "TF-IDF": ...}."""
    guesses = {"majority": majority_guesses(task), "TF-IDF": tfidf_guesses(task)}
    labels: list[Any] = [example.label for example in task.test]
    return {name: task_score(task.metric, labels, guess) for name, guess in guesses.items()}


def majority_guesses(task: Task) -> list[str]:
    """For every text of the test the label that most have in training; the first if some tie."""
    counts = Counter(example.label for example in task.train)
    return [max(task.labels, key=lambda label: counts[label])] * len(task.test)


def tfidf_guesses(task: Task) -> list[str]:
    """What logistic regression on counted words says of every text, or pair, of the test."""
    min_df = 2 if len(task.train) >= MANY else 1
    classifier = overlap_classifier() if task.is_pairs else tfidf_classifier(min_df)
    classifier.fit(_texts(task, task.train), [example.label for example in task.train])
    return classifier.predict(_texts(task, task.test)).tolist()


def tfidf_classifier(min_df: int = 1) -> Pipeline:
    """Logistic regression on words and pairs of neighbouring words, weighted by TF-IDF.

    Punctuation counts as words: an exclamation mark says much about a message. Of several labels
    each is told from all others, which is quicker than all at once. min_df: in how many texts a
    word must stand to count.
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
    """Pairs of texts as five numbers each, in scikit-learn's manner.

    The cosine of their TF-IDF vectors, how many words they share, which share of all their words
    that is, and the logarithm of 1 + the number of words of each.
    """

    def fit(self, pairs: Sequence[tuple[str, str]], _labels: Sequence[str] | None = None) -> Self:
        """Count in how many texts each word stands."""
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
