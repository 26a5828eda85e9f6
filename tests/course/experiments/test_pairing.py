"""Pairs of sentences: which are neighbours, and that neither sentence alone reveals the label."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.experiments.pairing import ROUNDS, any_two, draw_pairs, neighbours

SIZES = st.lists(st.integers(1, 7), min_size=2, max_size=6)


def numbered(sizes):
    """Documents whose sentences give their position: "2:0" is the first of the third."""
    return [[f"{home}:{n}" for n in range(size)] for home, size in enumerate(sizes)]


def place(sentence):
    return tuple(map(int, sentence.split(":")))


@given(SIZES, st.integers(0, 9))
def test_half_of_all_neighbours_stay_together(sizes, seed):
    generator = np.random.default_rng(seed)
    pairs = draw_pairs(numbered(sizes), neighbours, ("next", "not"), generator)
    expected = [(home, n) for home, size in enumerate(sizes) for n in range(size - 1)]
    assert [place(e.text) for e in pairs] == expected
    for example in pairs:
        (home, n), other = place(example.text), place(example.pair)
        assert (other == (home, n + 1)) == (example.label == "next")
        assert (other[0] != home) == (example.label == "not")
    assert sum(e.label == "not" for e in pairs) == len(pairs) // 2


@given(SIZES, st.integers(0, 9))
def test_two_sentences_of_a_document_are_never_the_same_one(sizes, seed):
    generator = np.random.default_rng(seed)
    pairs = draw_pairs(numbered(sizes), any_two, ("one", "two"), generator)
    assert len(pairs) == sum(ROUNDS * (size // 2) for size in sizes)
    for example in pairs:
        first, second = place(example.text), place(example.pair)
        assert first != second
        assert (first[0] == second[0]) == (example.label == "one")


def test_a_wrong_partner_is_drawn_uniformly_from_the_other_documents():
    documents = numbered([30, 2, 6])  # a draw by document would give 1:0 as often as all of 2
    counts = Counter()
    for seed in range(400):
        pairs = draw_pairs(documents, neighbours, ("next", "not"), np.random.default_rng(seed))
        counts.update(e.pair for e in pairs if e.label == "not" and e.text.startswith("0:"))
    shares = np.array([counts[s] for s in documents[1] + documents[2]]) / sum(counts.values())
    assert sum(counts.values()) > 4000
    assert np.abs(shares - 1 / 8).max() < 0.02  # 4 standard deviations of a share


def test_a_single_document_has_no_wrong_partners():
    with pytest.raises(ValueError, match="at least two"):
        draw_pairs([["a", "b"]], neighbours, ("x", "y"), np.random.default_rng(0))
