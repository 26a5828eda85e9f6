"""Lecture 02: its loops against Hugging Face's trainer and ours, and each criterion's first merges.

Its other numbers it asserts itself.
"""

from collections import Counter
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.tokenizers import ByteBPE, WordPiece
from bertlab.tokenizers.merges import count_pairs
from bertlab.tokenizers.pieces import first_alphabet, first_pieces, glue
from tests.bertlab.tokenizers.references import model_of, train_reference
from tests.lectures.conftest import functions_of

PAGE = functions_of("02_bytes_and_wordpiece", Counter=Counter, add=add, count_pairs=count_pairs)
words = st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 4), min_size=1)


@given(words)
def test_the_loop_makes_hugging_faces_byte_level_bpe(words):
    texts = [word for word, count in words.items() for _ in range(count)]
    reference = model_of(train_reference(ByteBPE, texts, 256 + 9))
    symbols = {tuple(word): count for word, count in words.items()}
    alphabet = {symbol: id for symbol, id in reference["vocab"].items() if id < 256}
    vocab, merges = PAGE["train_simply"](symbols, alphabet, 256 + 9, PAGE["most_frequent"])
    assert (vocab, list(map(list, merges))) == (reference["vocab"], reference["merges"])


@given(words)
def test_the_loop_makes_the_librarys_wordpiece_by_likelihood(words):
    texts = [word for word, count in words.items() for _ in range(count)]
    library = WordPiece.train(texts, 40, special_tokens=["[UNK]"], criterion="likelihood")
    pieces = {first_pieces(word): count for word, count in words.items()}
    ids = {piece: id for id, piece in enumerate(["[UNK]", *first_alphabet(pieces)])}
    by_loop = PAGE["train_simply"](pieces, ids, 40, PAGE["most_exclusive"], glue)
    assert by_loop == (library.vocab, list(library.merges))


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
