"""Splits: nothing in both parts, not even a near copy, and equal shares of labels."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.experiments.labels import Example
from course.experiments.splits import families, split_families, without_those_in, words_of
from tests.bertlab.refusals import rejected

TEXTS = st.lists(st.text(alphabet="abc D1!", max_size=12), min_size=1, max_size=30)


def cosine(first, second, texts):
    """Of the TF-IDF vectors of two texts, by the book: ln((1 + N) / (1 + df)) + 1."""
    documents = [Counter(words_of(text).split()) for text in texts]
    weights = []
    for counts in (documents[first], documents[second]):
        n_with = {word: sum(word in other for other in documents) for word in counts}
        weights.append(
            {
                word: count * (math.log((1 + len(texts)) / (1 + n_with[word])) + 1)
                for word, count in counts.items()
            }
        )
    norms = [math.sqrt(sum(weight**2 for weight in one.values())) for one in weights]
    dot = sum(weight * weights[1].get(word, 0) for word, weight in weights[0].items())
    return dot / math.prod(norms)


def relations(texts, alike):
    """Families by the definition: all pairs are compared, then the transitive closure."""
    family = list(range(len(texts)))
    for a in range(len(texts)):
        for b in range(a):
            if cosine(a, b, texts) > alike:
                old, new = family[a], family[b]
                family = [new if number == old else number for number in family]
    return family


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.mark.slow
def test_families_are_those_of_the_definition():
    rng = random.Random(0)
    words = [a + b for a in "bcdfgh" for b in ("ab", "el", "it", "os", "un")]
    texts = sorted({" ".join(rng.choices(words, k=rng.randint(2, 5))) for _ in range(70)})
    for alike in (0.5, 0.6, 0.8):
        expected = relations(texts, alike)
        assert 1 < len(set(expected)) < len(texts)
        assert same_partition(families(texts, alike).tolist(), expected)


def test_copies_with_other_numbers_and_capitals_are_one_family_or_omitted():
    texts = ["URGENT! Call 0905 now", "urgent: call 0800 NOW", "I am late", "12.30", "12:45?"]
    assert len(set(families(texts).tolist())) == 4  # texts without words form separate families
    assert families(texts)[0] == families(texts)[1]
    examples = [Example("A b.", "x"), Example("b a", "x"), Example("5", "y"), Example("6", "y")]
    others = [Example("a B", "z"), Example("6", "y")]
    assert without_those_in(examples, others) == examples[1:3]


def test_rows_beyond_one_block_are_compared_as_well(monkeypatch):
    monkeypatch.setattr("course.experiments.splits.ROWS", 3)
    letters = [chr(97 + n) * 3 for n in range(11)]
    texts = [f"{letter} {letter}x" for letter in letters] + [f"{letters[0]} {letters[0]}x too"]
    family = families(texts)
    assert family[0] == family[11]
    assert len(set(family.tolist())) == 11


@pytest.mark.slow
@given(TEXTS, st.integers(0, 5))
def test_no_family_is_in_both_parts_and_no_text_is_lost(texts, seed):
    labels = ["x"] * len(texts)
    family = families(texts)
    if len(set(family.tolist())) < 2:
        with pytest.raises(ValueError, match="two families"):
            split_families(texts, labels, seed=seed)
        return
    train, test = split_families(texts, labels, test=0.5, seed=seed)
    assert sorted(train + test) == list(range(len(texts)))
    assert train == sorted(train)
    assert test == sorted(test)
    assert not {family[n] for n in train} & {family[n] for n in test}


def test_each_label_has_its_share_in_both_parts():
    texts = [f"{a}{b}{c}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij"]
    labels = ["rare" if n % 10 == 0 else "common" for n in range(1000)]
    train, test = split_families(texts, labels, test=0.2)
    assert Counter(labels[n] for n in test) == {"rare": 20, "common": 180}
    assert len(train) == 800


def test_only_the_seed_determines_the_split():
    texts, labels = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60)], ["a", "b"] * 30
    before = np.random.get_state()[1].copy()
    one, again, other = (split_families(texts, labels, seed=seed) for seed in (0, 0, 1))
    assert one == again != other
    assert np.array_equal(np.random.get_state()[1], before)


def test_what_cannot_be_split_is_rejected():
    rejected("2 texts and 1 labels", split_families, ["a", "b"], ["x"], test=0.2)
    rejected("between 0 and 1", split_families, ["a", "b"], ["x", "x"], test=1.0)
    texts, labels = ["a b", "a B!", "c", "d"], ["x", "x", "y", "y"]
    rejected("'x' has one", split_families, texts, labels, test=0.5)
