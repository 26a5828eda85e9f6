"""Cosine, neighbours, analogies and rank correlation, by hand, by scipy and by gensim."""

import math
import random

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from course.models.word_vectors import (
    WordVectors,
    cosine,
    score_analogies,
    score_similarity,
    spearman,
)
from course.models.word_vectors.vectors import three_cos_add
from tests.bertlab.refusals import rejected
from tests.small_models import normal

# King and queen differ as man and woman do; the apple has nothing to do with it.
ROYAL = WordVectors(
    ("man", "woman", "king", "queen", "apple"),
    torch.tensor([[1.0, 0, 0], [1, 1, 0], [1, 0, 2], [1, 1, 2], [-1, 0, 0.1]]),
)
numbers = st.lists(st.integers(-5, 5), min_size=2, max_size=12)


def test_cosine_by_hand():
    assert ROYAL.similarity("man", "woman") == pytest.approx(1 / math.sqrt(2))
    x = normal(4, 1, 6)
    expected = torch.nn.functional.cosine_similarity(x, x.transpose(0, 1), dim=-1)
    torch.testing.assert_close(cosine(x, x.transpose(0, 1)), expected)


def test_neighbours_are_sorted_and_leave_the_word_out_and_an_analogy_by_hand():
    found = ROYAL.nearest("king", n=99)
    assert [word for word, _ in found] == ["queen", "man", "woman", "apple"]
    cosines = [ROYAL.similarity("king", word) for word, _ in found]
    assert [score for _, score in found] == pytest.approx(cosines)
    assert cosines == sorted(cosines, reverse=True)
    assert ROYAL.analogy("man", "woman", "king", n=1)[0][0] == "queen"
    assert len(ROYAL.analogy("man", "woman", "king", n=9)) == 2
    assert torch.isinf(three_cos_add(ROYAL.units, 0, 1, 2)).sum() == 3


@pytest.fixture(scope="module")
def random_vectors():
    return WordVectors(tuple(f"w{number}" for number in range(60)), normal(60, 8, seed=3))


def test_neighbours_and_analogies_are_gensims(random_vectors):
    models = pytest.importorskip("gensim.models")
    reference = models.KeyedVectors(8)
    reference.add_vectors(list(random_vectors.words), random_vectors.matrix.numpy())
    for word in ("w0", "w7", "w59"):
        expected = reference.most_similar(word, topn=5)
        assert [w for w, _ in random_vectors.nearest(word, n=5)] == [w for w, _ in expected]
    for a, b, c in (("w1", "w2", "w3"), ("w9", "w30", "w4")):
        expected = reference.most_similar(positive=[b, c], negative=[a], topn=5)
        ours = random_vectors.analogy(a, b, c, n=5)
        assert [word for word, _ in ours] == [word for word, _ in expected]
        assert [s for _, s in ours] == pytest.approx([s for _, s in expected], abs=1e-5)


def test_a_word_without_a_vector_is_named():
    assert "okapi" not in ROYAL
    assert ROYAL.among(["okapi", "king"]) == ["king"]
    with pytest.raises(KeyError, match="'okapi' is not among the 5 words"):
        ROYAL["okapi"]
    with pytest.raises(ValueError, match=r"must be \[2, D\], one row per word; got \[3, 4\]"):
        WordVectors(("a", "b"), torch.zeros(3, 4))


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
def test_a_word_without_a_finite_vector_is_named_and_never_nearest(number):
    matrix = torch.tensor([[1.0, 1.0], [1.0, 0.5], [number, 1.0]])
    message = "matrix must be finite; 'broken' has nan or infinity"
    rejected(message, WordVectors, ("up", "high", "broken"), matrix)


@pytest.mark.slow
@given(numbers, st.randoms(use_true_random=False))
def test_spearman_is_scipys_also_with_ties(x, rng):
    y = [value + rng.randint(-3, 3) for value in x]
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-9)


def test_a_row_that_is_constant_or_too_short_has_no_spearman():
    rejected("one is constant", spearman, [1, 1], [1, 2])
    rejected("at least 2; got 1 and 2", spearman, [1], [1, 2])


def test_analogies_are_scored_as_one_by_one(random_vectors):
    rng = random.Random(0)
    questions = [rng.sample(random_vectors.words, 3) for _ in range(40)]
    answers = [random_vectors.analogy(*question, n=2) for question in questions]
    # The right answer for every second question, the second best for the others.
    asked = [(*q, two[n % 2][0]) for n, (q, two) in enumerate(zip(questions, answers, strict=True))]
    assert score_analogies(random_vectors, asked) == (0.5, 20, 40, 40)


def test_scores_say_how_much_they_cover():
    pairs = [("King", "queen", 9.0), ("king", "apple", 1.0), ("man", "king", 5.0), ("x", "y", 7.0)]
    assert score_similarity(ROYAL, pairs) == (pytest.approx(1.0), 3, 4)
    ends = [("King", "Queen"), ("king", "apple"), ("boy", "girl")]
    questions = [("man", "woman", *end) for end in ends]
    assert score_analogies(ROYAL, questions) == (0.5, 1, 2, 3)
    rejected("got none of 1", score_analogies, ROYAL, questions[2:])
