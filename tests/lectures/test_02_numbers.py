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
from tests.conftest import ROOT, read_page


@pytest.fixture(scope="module")
def by_page():
    """`by_page("most_exclusive")` is that function of the page, with those that it calls."""
    page = read_page(ROOT / "lectures" / "02_bytes_and_wordpiece.ipynb")
    scope = {"Counter": Counter, "add": add, "count_pairs": count_pairs}
    for name in (
        *("join_everywhere", "most_frequent", "count_symbols", "likelihood", "most_exclusive"),
        "train_simply",
    ):
        scope[name] = page.function(name, **scope)
    return scope.__getitem__


words = st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 4), min_size=1)


@given(words)
def test_the_loop_makes_hugging_faces_byte_level_bpe(by_page, words):
    texts = [word for word, count in words.items() for _ in range(count)]
    reference = model_of(train_reference(ByteBPE, texts, 256 + 9))
    symbols = {tuple(word): count for word, count in words.items()}
    alphabet = {symbol: id for symbol, id in reference["vocab"].items() if id < 256}
    vocab, merges = by_page("train_simply")(symbols, alphabet, 256 + 9, by_page("most_frequent"))
    assert (vocab, list(map(list, merges))) == (reference["vocab"], reference["merges"])


@given(words)
def test_the_loop_makes_the_librarys_wordpiece_by_likelihood(by_page, words):
    pieces = {first_pieces(word): count for word, count in words.items()}
    ids = {piece: id for id, piece in enumerate(["[UNK]", *first_alphabet(pieces)])}
    texts = [word for word, count in words.items() for _ in range(count)]
    options = {"special_tokens": ["[UNK]"], "criterion": "likelihood"}
    library = WordPiece.train(texts, 40, **options)
    by_loop = by_page("train_simply")(pieces, ids, 40, by_page("most_exclusive"), glue)
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
