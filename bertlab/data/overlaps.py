"""Passages that two texts share: a model trained on one text has seen answers of the other."""

import re
from collections.abc import Iterator
from itertools import groupby

from bertlab.data.corpora import Documents

WORDS = 13  # in a row, as GPT-3's authors searched their training text for test questions
WORD = re.compile(r"\w+")


def passages(document: list[str], words: int = WORDS) -> Iterator[tuple[str, range]]:
    """Every run of `words` words, lower-cased, and the numbers of the sentences that contain it.

    A passage may extend from one sentence into the next; punctuation is ignored.

    >>> list(passages(["One, two.", "Three four."], words=3))
    [('one two three', range(0, 2)), ('two three four', range(0, 2))]
    """
    found = [(word, i) for i, text in enumerate(document) for word in WORD.findall(text.lower())]
    run, sentences = [word for word, _ in found], [i for _, i in found]
    for start in range(len(run) - words + 1):
        end = start + words
        yield " ".join(run[start:end]), range(sentences[start], sentences[end - 1] + 1)


def known_passages(documents: Documents, words: int = WORDS) -> set[str]:
    """All runs of `words` words in the documents."""
    return {passage for document in documents for passage, _ in passages(document, words)}


def without_passages(documents: Documents, known: set[str], words: int = WORDS) -> Documents:
    """The documents without the sentences that contain a known run of `words` words.

    known: as from `known_passages`, of held-out text.

    A document is split where a sentence was removed, because its neighbours did not follow each
    other. The order is kept.

    Source: Brown et al. (2020), appendix C (13 words in a row).
    """
    return [piece for document in documents for piece in _pieces(document, known, words)]


def _pieces(document: list[str], known: set[str], words: int) -> Iterator[list[str]]:
    """What is left of a document, split where known passages were removed."""
    gone = {i for passage, at in passages(document, words) if passage in known for i in at}
    for known_here, run in groupby(range(len(document)), gone.__contains__):
        if not known_here:
            yield [document[i] for i in run]
