"""Baselines: by hand where possible, and on the real tasks within bounds."""

import math
import random

import numpy as np
import pytest

from course.experiments import baselines
from course.experiments.labels import Example
from course.experiments.tasks import Task, task
from tests.conftest import fetched

pytestmark = pytest.mark.slow

WORDS = ["the", "film", "book", "was", "seen", "by", "some", "people", "long", "ago"]


def marked(n, seed, labels=("bad", "good", "odd")):
    """Texts that contain their label among other words."""
    rng = random.Random(seed)
    examples = []
    for _ in range(n):
        words = [*rng.choices(WORDS, k=rng.randint(3, 8)), label := rng.choice(labels)]
        rng.shuffle(words)
        examples.append(Example(" ".join(words), label))
    return examples


def paired(n, seed):
    """Pairs that have two rare words in common, or none."""
    rng = random.Random(seed)
    rare = [f"rare{number}" for number in range(40)]
    examples = []
    for _ in range(n):
        words = rng.sample(rare, 4)
        same = rng.random() < 0.5
        first, second = words[:2], words[:2] if same else words[2:]
        text, pair = (" ".join(rng.choices(WORDS, k=4) + part) for part in (first, second))
        examples.append(Example(text, "same" if same else "other", pair))
    return examples


def test_the_majority_is_counted_in_training():
    train = [Example(str(n), "b" if n < 3 else "a") for n in range(5)]
    test = [Example("x", "a"), Example("y", "a"), Example("z", "b")]
    assert baselines.majority_guesses(Task("", train, test, ("a", "b"))) == ["b"] * 3
    assert baselines.majority_guesses(Task("", train[1:], test, ("a", "b"))) == ["a"] * 3  # a tie
    scores = baselines.baseline_scores(Task("", train, test, ("a", "b")))
    assert scores["majority"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("n", [60, 1200])  # few texts, and so many that rare words are omitted
def test_counted_words_find_the_word_that_decides(n):
    labels = ("bad", "good", "odd")
    small = Task("", marked(n, 0), marked(200, 1), labels)
    assert baselines.baseline_scores(small)["TF-IDF"] > 0.95


def test_word_order_within_two_words_and_punctuation_count():
    texts = {"yes": "not bad but long", "no": "not long but bad"}
    train = [Example(text, label) for label, text in texts.items()] * 10
    assert baselines.tfidf_guesses(Task("", train, train[:2], ("no", "yes"))) == ["yes", "no"]
    train = [Example("win!", "spam"), Example("win.", "ham")] * 10
    assert baselines.tfidf_guesses(Task("", train, train[:2], ("ham", "spam"))) == ["spam", "ham"]


def test_pairs_are_classified_by_their_common_words():
    pairs = Task("", paired(300, 0), paired(200, 1), ("other", "same"))
    assert baselines.baseline_scores(pairs)["TF-IDF"] > 0.95


def test_the_overlap_of_two_texts_by_hand():
    pairs = [("red cat", "red dog"), ("red cat", "red cat"), ("!", "red")]
    got = baselines.WordOverlap().fit(pairs).transform(pairs)
    # Of 6 texts 5 have "red", 3 "cat", 1 "dog": ln(7 / (1 + df)) + 1.
    red, cat, dog = (math.log(7 / (1 + df)) + 1 for df in (5, 3, 1))
    cosine = red**2 / math.sqrt((red**2 + cat**2) * (red**2 + dog**2))
    two, one = math.log(3), math.log(2)
    expected = [[cosine, 1, 1 / 3, two, two], [1, 2, 1, two, two], [0, 0, 0, 0, one]]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "source", "least"),
    [
        ("spam", "sms-spam", 0.85),
        ("sentiment", "rotten-tomatoes", 0.72),
        ("question-type", "trec", 0.8),
        ("next-sentence", "wikipedia", 0.65),
        ("same-article", "lee", 0.6),
    ],
)
def test_baselines_beat_chance_and_are_not_perfect(name, source, least):
    fetched(source)
    scores = baselines.baseline_scores(task(name))
    assert least < scores["TF-IDF"] < 0.97
    assert scores["majority"] < least


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "source"), [("next-sentence", "wikipedia"), ("same-article", "lee")]
)
def test_one_sentence_of_a_pair_carries_no_information(name, source):
    fetched(source)
    pairs = task(name)
    for column in (0, 2):
        alone = [[Example(e[column], e.label) for e in side] for side in (pairs.train, pairs.test)]
        score = baselines.baseline_scores(Task("", *alone, pairs.labels))["TF-IDF"]
        assert abs(score - 0.5) < 4 * math.sqrt(0.25 / len(pairs.test))
