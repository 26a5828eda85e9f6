"""Vectors by counting: one-hot for a word, TF-IDF for a document. Nothing is learned.

Source: Spärck Jones (1972), "A Statistical Interpretation of Term Specificity and Its Application
in Retrieval", for the inverse document frequency; the variant is that of scikit-learn's
`TfidfVectorizer`, which the tests compare with.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from course.models.word_vectors.vocabulary import Sentence, Vocabulary


class TfIdf(NamedTuple):
    """The vectors of documents: one row per document, one column per word."""

    words: tuple[str, ...]  # V of them, in alphabetical order
    idf: Tensor  # [V]: how informative a word is
    matrix: Tensor  # [N, V], rows of length 1


def one_hot(words: Sentence, vocabulary: Vocabulary) -> Tensor:
    """Each word as a vector with a single 1: [L, V].

    Raises ValueError for a word that is not in the vocabulary.

    >>> one_hot(["cat", "the"], Vocabulary(("the", "cat", "sat"), (2, 1, 1)))
    tensor([[0., 1., 0.],
            [1., 0., 0.]])
    """
    unknown = [word for word in words if word not in vocabulary]
    if unknown:
        raise ValueError(f"one_hot: words must be in the vocabulary; got {unknown}")
    vectors = torch.zeros(len(words), len(vocabulary))
    for row, word in enumerate(words):
        vectors[row, vocabulary.ids[word]] = 1
    return vectors


def tf_idf(documents: Sequence[Sentence]) -> TfIdf:
    """How often each word occurs in each document, times how informative the word is.

    tf: the plain count; idf: ln((1 + N) / (1 + df)) + 1 for a word that occurs in df of N
    documents, so a word of every document has 1 and no word has 0; then each row is divided by
    its length. Raises ValueError if there is no document or one has no words.

    >>> found = tf_idf([["red", "car"], ["red", "boat", "red"]])
    >>> found.words
    ('boat', 'car', 'red')
    >>> [round(weight, 2) for weight in found.matrix[1].tolist()]
    [0.57, 0.0, 0.82]
    """
    if not documents or not all(documents):
        raise ValueError(
            "tf_idf: documents must be at least one list of words, none empty; got "
            f"{len(documents)} documents, {sum(not document for document in documents)} empty"
        )
    vocabulary = sorted({word for document in documents for word in document})
    column = {word: number for number, word in enumerate(vocabulary)}
    tf = torch.zeros(len(documents), len(vocabulary))
    for row, document in enumerate(documents):
        for word, count in Counter(document).items():
            tf[row, column[word]] = count
    df = (tf > 0).sum(dim=0)  # [V]: documents that contain the word
    idf = torch.log((1 + len(documents)) / (1 + df)) + 1
    weights = tf * idf
    return TfIdf(tuple(vocabulary), idf, weights / weights.norm(dim=1, keepdim=True))
