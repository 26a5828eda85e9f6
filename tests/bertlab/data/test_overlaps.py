"""Passages that two texts share, against a count over all of them and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.data.prepared import known_passages, passages, without_passages

SENTENCE = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5).map(" ".join)
TEXTS = st.lists(st.lists(SENTENCE, max_size=5), max_size=4)


def runs_of(text, words):
    """Every run of this many words of a document, the slow way."""
    found = " ".join(text).split()
    return {tuple(found[i : i + words]) for i in range(len(found)) if i + words <= len(found)}


def test_passages_ignore_case_and_punctuation_and_cross_sentence_ends():
    told = dict(passages(["The king -- said:", '"Go!"', "He went."], words=4))
    assert told == {
        "the king said go": range(2),
        "king said go he": range(3),
        "said go he went": range(3),
    }


def test_a_quotation_is_removed_and_its_document_is_split():
    held_out = [["Once upon a time there was a king.", "He was old."]]
    learned = [["A.", "It began: once upon a time there was a queen.", "B.", "C."], ["D."]]

    def left(words):
        return without_passages(learned, known_passages(held_out, words), words)

    assert left(7) == [["A."], ["B.", "C."], ["D."]]
    assert left(9) == learned


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_nothing_is_shared_afterwards_and_nothing_else_is_lost(documents, held_out):
    asked = set().union(*(runs_of(text, 3) for text in held_out))
    left = without_passages(documents, known_passages(held_out, 3), 3)
    assert all(left)
    assert not any(runs_of(text, 3) & asked for text in left)
    # Joined at the cuts, a document is the original without some of its sentences.
    kept = [sentence for text in left for sentence in text]
    rest = iter(sentence for text in documents for sentence in text)
    assert all(sentence in rest for sentence in kept)
    if not any(runs_of(text, 3) & asked for text in documents):
        assert left == [text for text in documents if text]
