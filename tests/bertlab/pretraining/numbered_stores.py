"""Stores for tests, in which every token of a corpus is a word of its own.

So a token's id gives its position: position p of the store holds the id p + 5.
"""

from itertools import chain, count, islice

import numpy as np

from bertlab.data.token_store import TokenStore, fingerprint, write_tokens
from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS, WordPiece

N_SPECIAL = len(BERT_SPECIAL_TOKENS)


def word_tokenizer(n_words):
    """A tokenizer with only the words w0, w1, ..."""
    tokens = [*BERT_SPECIAL_TOKENS, *(f"w{number}" for number in range(n_words))]
    return WordPiece({token: id for id, token in enumerate(tokens)}, (), BERT_SPECIAL_TOKENS)


def numbered_documents(lengths):
    """Documents whose sentences have these lengths: [[2, 1], [3]] -> [["w0 w1", "w2"], ...]."""
    words = (f"w{number}" for number in count())
    return [[" ".join(islice(words, length)) for length in document] for document in lengths]


def numbered_store(lengths, folder):
    """Write such documents; returns the store and its tokenizer."""
    tokenizer = word_tokenizer(sum(chain(*lengths)))
    return write_tokens(numbered_documents(lengths), tokenizer, folder), tokenizer


def many_lengths(folder):
    """Sixty documents of many lengths, with sentences of many lengths; store and tokenizer."""
    generator = np.random.default_rng(3)
    sizes = generator.integers(2, 20, size=60)
    lengths = [generator.integers(1, 15, size=size).tolist() for size in sizes]
    return numbered_store(lengths, folder)


def store_in_memory(lengths, ids=None, tokenizer=None):
    """A store that was never on disk, where the disk does not matter; numbered without `ids`."""
    n_tokens = sum(chain(*lengths))
    ids = np.arange(N_SPECIAL, N_SPECIAL + n_tokens) if ids is None else ids
    starts = np.cumsum([0, *chain(*lengths)]), np.cumsum([0, *map(len, lengths)])
    vocabulary = fingerprint(tokenizer) if tokenizer else "none"
    return TokenStore(None, ids, *starts, vocabulary, {"documents": len(lengths)})


def document_of(store, positions):
    """Which document each position [N] of a store is in."""
    starts = store.sentence_starts[store.document_starts]
    return np.searchsorted(starts, positions, side="right") - 1
