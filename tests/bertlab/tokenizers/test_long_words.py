"""Long words, such as DNA and base64: equal to Hugging Face's, time by length, bounded memory."""

import base64
import random
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from bertlab.tokenizers.fast import LONG
from bertlab.tokenizers.tokenizer import Kept
from tests.bertlab.tokenizers.operations import operations
from tests.bertlab.tokenizers.references import PYTHON_TOPICS

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KINDS = ["DNA", "base64", "one letter", "letters", "two bytes a letter", "Chinese"]


def long_word(kind, length, seed=0):
    """A word without white space or punctuation."""
    chance = random.Random(seed)
    if kind == "base64":
        encoded = base64.b64encode(chance.randbytes(length)).decode()
        return encoded.replace("+", "").replace("/", "")[:length]
    chinese = "".join(map(chr, range(0x4E00, 0x4FF4)))
    alphabets = {"DNA": "acgt", "one letter": "a", "letters": LETTERS, "Chinese": chinese}
    alphabet = alphabets.get(kind, "éüßñøд")
    return "".join(chance.choices(alphabet, k=length))


@pytest.fixture(scope="module", params=[BPE, ByteBPE, WordPiece], ids=lambda kind: kind.__name__)
def tokenizer(request):
    """One tokenizer of each kind, with merges for all kinds of long words."""
    words = [long_word(kind, 12, seed) for kind in KINDS for seed in range(40)]
    options = {} if request.param is ByteBPE else {"special_tokens": ["[UNK]"]}
    trained = request.param.train([*PYTHON_TOPICS[:8], " ".join(words)], 1_200, **options)
    if request.param is WordPiece:
        return WordPiece(trained.vocab, (), ("[UNK]",), longest_word=10**6)
    return trained


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_long_word_gets_hugging_faces_tokens_and_offsets(tokenizer, kind, tmp_path):
    reference = Tokenizer.from_file(str(tokenizer.save(tmp_path / "tokenizer.json")))
    # Hugging Face's WordPiece is at least quadratic in the length.
    word = long_word(kind, 1_500 if isinstance(tokenizer, WordPiece) else 20_000)
    for text in (word, f"Before it, {word}, and after {word[:LONG]} {word[: LONG - 1]}"):
        got, expected = tokenizer.encode(text), reference.encode(text)
        assert got.ids == expected.ids
        assert got.offsets == expected.offsets


def test_operations_of_a_loop_over_a_string_are_counted():
    text = "a" * 1_000

    def square():
        for _ in text:
            text.partition("b")

    assert operations(square) >= 1_000**2


@pytest.mark.parametrize("kind", ["DNA", "one letter", "letters"])
def test_a_word_four_times_as_long_takes_about_four_times_the_work(tokenizer, kind):
    words = long_word(kind, 500), long_word(kind, 2_000)
    short, long = (operations(lambda word=word: tokenizer.encode(word).offsets) for word in words)
    assert long < 6 * short  # 16 times, if it were the square


symbols = st.text("ab", min_size=1, max_size=4)
merges_in_any_order = st.lists(st.tuples(symbols, symbols), unique_by="".join, max_size=12)


@pytest.mark.slow
@given(merges=merges_in_any_order, word=st.text("ab", max_size=40))
def test_merges_listed_in_any_order_are_replayed_like_hugging_faces(merges, word):
    symbols = dict.fromkeys(["a", "b"])
    for left, right in merges:
        symbols |= dict.fromkeys([left, right, left + right])
    vocab = {symbol: id for id, symbol in enumerate(symbols)}
    reference, ours = Tokenizer(models.BPE(vocab, merges)), BPE(vocab, merges)
    for text in (word, word * (LONG // max(1, len(word)) + 1)):  # a short word and a long one
        assert ours.encode(text).ids == reference.encode(text).ids


def test_a_merge_may_make_what_should_have_been_joined_before_it():
    merges = [("ab", "ab"), ("ab", "c"), ("a", "b"), ("c", "c")]
    vocab = {s: id for id, s in enumerate(["a", "b", "c", "ab", "abab", "abc", "cc"])}
    bpe = BPE(vocab, merges)
    assert bpe.tokenize("ababcc") == ["abab", "cc"]
    assert bpe.tokenize("ababcc" * LONG) == ["abab", "cc"] * LONG


@pytest.mark.slow
def test_what_is_kept_of_long_words_is_bounded_in_bytes(tokenizer, monkeypatch):
    bound = 50_000
    monkeypatch.setattr(Kept, "MOST_BYTES", bound, raising=False)
    fresh = type(tokenizer)(tokenizer.vocab, tokenizer.merges, tokenizer.special_tokens)
    fresh.encode("warm").offsets  # noqa: B018 - tables that do not grow are made here
    words = [long_word("letters", 60, seed) for seed in range(250)]
    tracemalloc.start()
    for word in words:
        fresh.encode(word).offsets  # noqa: B018 - worked out when asked for
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 3 * bound  # two caches


def test_the_bytes_of_what_is_kept_are_about_what_python_says():
    words = [long_word("letters", 60, seed) for seed in range(5_000)]
    tracemalloc.start()
    kept = Kept(lambda word: tuple(range(len(word) // 2)))
    for word in words:
        kept[word + "!"]  # a new string, which the cache alone holds
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == len(words)
    assert kept.bytes == pytest.approx(held, rel=0.2)


# Training on one long word.

TEXTS = {
    "DNA": partial(long_word, "DNA"),
    "one letter": partial(long_word, "one letter"),
    "a period": lambda letters: "abcab" * (letters // 5),
}
TRAINERS = {
    "BPE": lambda texts: BPE.train(texts, 60),
    "byte BPE": lambda texts: ByteBPE.train(texts, 320),
    "frequency": lambda texts: WordPiece.train(texts, 70, criterion="frequency"),
    "ratio": lambda texts: WordPiece.train(texts, 70, criterion="ratio"),
    "gain": lambda texts: WordPiece.train(texts, 70, criterion="gain"),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_four_times_the_letters_are_little_more_than_four_times_the_work(trainer, kind):
    train, text = TRAINERS[trainer], TEXTS[kind]
    train([text(100)])  # what is made once
    short, long = (operations(lambda n=n: train([text(n)])) for n in (1_000, 4_000))
    assert long < 6 * short
