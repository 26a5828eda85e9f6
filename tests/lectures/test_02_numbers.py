"""Lecture 02: which pair each criterion joins first. Its other numbers it asserts itself."""

import pytest

from bertlab.tokenizers import WordPiece


@pytest.mark.parametrize(
    ("criterion", "merges"),
    [
        ("frequency", [("##s", "##t")]),
        ("gain", [("##s", "##t")]),
        ("likelihood", [("##a", "##m"), ("##n", "##u"), ("c", "##o"), ("c", "##am")]),
    ],
)
def test_each_criterion_has_its_own_first_merges(criterion, merges):
    texts = ["cost best menu men camel", "cost best"]
    trained = WordPiece.train(texts, 40, criterion=criterion)
    assert list(trained.merges[: len(merges)]) == merges
