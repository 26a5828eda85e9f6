"""One-hot and TF-IDF vectors, and the vocabulary under them, against scikit-learn and by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from course.models.word_vectors import Vocabulary, one_hot, tf_idf
from course.models.word_vectors.vocabulary import replace_rare
from tests.bertlab.refusals import rejected

TEXTS = ["the python sleeps in the sun", "python is a language", "the sun is a star"]
DOCUMENTS = [text.split() for text in TEXTS]
words = st.sampled_from(["a", "b", "c", "dd", "é"])
documents = st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=6)


def by_scikit_learn(documents):
    reference = TfidfVectorizer(analyzer=lambda document: document)
    matrix = reference.fit_transform(documents).toarray()
    return reference.get_feature_names_out().tolist(), reference.idf_, matrix


@pytest.mark.slow
@given(documents)
def test_tf_idf_is_that_of_scikit_learn(documents):
    words, idf, matrix = by_scikit_learn(documents)
    found = tf_idf(documents)
    assert list(found.words) == words
    torch.testing.assert_close(found.idf, torch.tensor(idf, dtype=torch.float))
    torch.testing.assert_close(found.matrix, torch.tensor(matrix, dtype=torch.float))


@pytest.mark.parametrize("documents", [[], [["a"], []]])
def test_tf_idf_rejects_what_has_no_words(documents):
    rejected("tf_idf: documents must be at least one list of words", tf_idf, documents)


def test_one_hot_vectors_are_rows_of_the_identity_and_unknown_words_are_named():
    vocabulary = Vocabulary.of(DOCUMENTS)
    vectors = one_hot(vocabulary.words, vocabulary)
    assert torch.equal(vectors, torch.eye(len(vocabulary)))
    with pytest.raises(ValueError, match=r"must be in the vocabulary; got \['okapi'\]"):
        one_hot(["sun", "okapi"], Vocabulary.of(DOCUMENTS))


def test_a_vocabulary_counts_leaves_rare_words_out_and_is_not_of_nothing_or_a_string():
    vocabulary = Vocabulary.of(DOCUMENTS, min_count=2)
    assert vocabulary.words == ("the", "python", "sun", "is", "a")
    assert vocabulary.counts == (3, 2, 2, 2, 2)
    assert Vocabulary.of(DOCUMENTS, max_size=2).words == ("the", "python")
    assert vocabulary.encode(["a", "star", "the"]) == [4, 0]
    assert replace_rare([["a", "star"]], vocabulary) == [["a", "<unk>"]]
    with pytest.raises(ValueError, match=r"at least 9 times; got 9 different words.* 3 times"):
        Vocabulary.of(DOCUMENTS, min_count=9)
    rejected("got the string 'the sun'; split it first", Vocabulary.of, ["the sun"])
