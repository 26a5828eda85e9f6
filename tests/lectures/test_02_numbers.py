"""Lecture 02: its loops against Hugging Face's trainer and ours. It asserts its other numbers."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab import data
from bertlab.parts import plain
from bertlab.tokenizers import ByteBPE, WordPiece
from bertlab.tokenizers.bpe import best_pair, count_pairs, learn_merges, merge_pair
from bertlab.tokenizers.byte_bpe import byte_symbols
from bertlab.tokenizers.wordpiece import first_alphabet, first_pieces
from tests.bertlab.tokenizers.references import model_of, train_reference
from tests.lectures.conftest import functions_of

PAGE = functions_of(
    "02_bytes_and_wordpiece",
    Counter=Counter,
    CONTINUES="##",
    **{part.__name__: part for part in (best_pair, count_pairs, merge_pair)},
)
words = st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 4), min_size=1)


@given(words)
def test_the_loop_makes_hugging_faces_byte_level_bpe(words):
    texts = [word for word, count in words.items() for _ in range(count)]
    reference = model_of(train_reference(ByteBPE, texts, 256 + 9))
    symbols = {tuple(word): count for word, count in words.items()}
    alphabet = {symbol: id for symbol, id in reference["vocab"].items() if id < 256}
    with plain():
        vocab, merges = learn_merges(symbols, alphabet, 256 + 9)
    assert (vocab, list(map(list, merges))) == (reference["vocab"], reference["merges"])


@given(words)
def test_the_loop_makes_the_librarys_wordpiece_by_the_ratio(words):
    texts = [word for word, count in words.items() for _ in range(count)]
    library = WordPiece.train(texts, 40, special_tokens=["[UNK]"], criterion="ratio")
    pieces = {first_pieces(word): count for word, count in words.items()}
    ids = {piece: id for id, piece in enumerate(["[UNK]", *first_alphabet(pieces)])}
    by_loop = PAGE["learn_by_ratio"](pieces, ids, 40)
    assert by_loop == (library.vocab, list(library.merges))


def test_bytes_and_characters(states):
    states(f"numbers from 0 to {2**8 - 1}")
    first = min(symbol for symbol in byte_symbols() if ord(symbol) > 255)
    states(f"borrow characters from U+{ord(first):04X} on")
    no_character = {"Cn", "Co", "Cs"}  # not given out, for private use, half of a pair
    given = sum(unicodedata.category(chr(code)) not in no_character for code in range(0x110000))
    assert given == pytest.approx(150_000, rel=0.05)  # more with each version of Python
    states("Unicode has some 150,000")


def test_the_published_vocabulary(states):
    tokens = data.path("minilm", "vocab.txt").read_text(encoding="utf-8").splitlines()
    states(f"{len(tokens):,} entries: nine in ten are Latin")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        for translation, with 8,000 to 32,000 pieces ... gave BERT 30,000 ... shares 110,000 pieces
        among 100 languages ... 10 n(ab) / (10 n(a) · 10 n(b))
    """)
