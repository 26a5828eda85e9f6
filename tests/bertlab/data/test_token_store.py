"""Token ids on disk: they are read as they were written, even after errors."""

import json
import pickle
import tracemalloc
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.data import token_store
from bertlab.data.token_store import BUFFER, ArrayWriter, TokenStore, write_corpora, write_tokens
from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS, WordPiece
from tests.bertlab.pretraining.numbered_stores import numbered_store, word_tokenizer

TEXTS = [["The cat sat.", "It slept on the mat."], ["A dog barked."], ["Rain.", "", "Sun!"]]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train([text for document in TEXTS for text in document], 60)


@pytest.fixture
def store(tokenizer, tmp_path):
    return write_tokens(TEXTS, tokenizer, tmp_path / "store")


def sentences(store):
    """The ids of a store, as documents of sentences."""
    ids = [store.ids[start:stop].tolist() for start, stop in pairwise(store.sentence_starts)]
    return [ids[start:stop] for start, stop in pairwise(store.document_starts)]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_sentence_comes_back_as_the_tokenizer_cut_it(store, tokenizer):
    expected = [
        [tokenizer.encode(text, add_special_tokens=False).ids for text in document if text]
        for document in TEXTS
    ]
    assert sentences(store) == expected
    assert sentences(TokenStore.open(store.folder, tokenizer)) == expected
    assert (len(store), store.n_sentences) == (3, 5)
    assert store.n_tokens == sum(len(ids) for document in expected for ids in document)
    assert repr(store) == f"TokenStore(3 documents, 5 sentences, {store.n_tokens} tokens)"


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=6))
def test_nothing_in_a_store_is_empty_and_nothing_is_lost(tmp_path_factory, lengths):
    kept = [[length for length in document if length] for document in lengths]
    kept = [document for document in kept if document]
    folder = tmp_path_factory.mktemp("store")
    if not kept:
        with pytest.raises(ValueError, match="not a single token"):
            numbered_store(lengths, folder)
        return
    store, _ = numbered_store(lengths, folder)
    assert np.diff(store.document_starts).tolist() == [len(document) for document in kept]
    assert np.diff(store.sentence_starts).tolist() == [n for document in kept for n in document]
    assert store.ids.tolist() == list(range(5, 5 + store.n_tokens))
    store.verify()


@pytest.mark.slow
def test_ids_take_two_bytes_if_the_vocabulary_lets_them_and_four_if_not(tmp_path):
    fits, too_large = word_tokenizer(2**16 - 5), word_tokenizer(2**16 - 4)
    small = write_tokens([["w0 w65530"]], fits, tmp_path / "small")
    large = write_tokens([["w0 w65531"]], too_large, tmp_path / "large")
    assert (small.ids.dtype, small.ids.tolist()) == (np.uint16, [5, 2**16 - 1])
    assert (large.ids.dtype, large.ids.tolist()) == (np.uint32, [5, 2**16])


def test_an_open_store_is_mapped_and_not_read(store):
    opened = TokenStore.open(store.folder)
    assert all(isinstance(getattr(opened, name), np.memmap) for name in token_store.ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        opened.ids[0] = 1


def test_another_process_opens_the_files_itself(tmp_path):
    store, _ = numbered_store([[10_000]], tmp_path)
    sent = pickle.dumps(store)
    assert len(sent) < 1000
    received = pickle.loads(sent)  # noqa: S301
    assert isinstance(received.ids, np.memmap)
    assert sentences(received) == sentences(store)


def peak_of_writing(n_documents, folder):
    """Peak bytes of memory while this many documents are written, one after the other."""

    class Tokenizer:  # a fast one: memory is traced, which is slow
        vocab = word_tokenizer(100).vocab

        def encode(self, text, *, add_special_tokens):
            return SimpleNamespace(ids=[7] * 500)

    tracemalloc.start()
    write_tokens((["a long sentence"] * 5 for _ in range(n_documents)), Tokenizer(), folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    short, long = (peak_of_writing(n, tmp_path / f"{n}") for n in (50, 1000))
    n_bytes = sum(path.stat().st_size for path in (tmp_path / "1000").rglob("*.bin"))
    assert n_bytes > 5_000_000
    assert long < short + n_bytes / 50


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_an_error_in_the_middle_leaves_the_old_store(store, tokenizer, error, monkeypatch):
    def interrupted():
        yield ["The dog sat."]
        if error is not OSError:
            raise error

    full = Mock(side_effect=OSError("No space left on device"))
    monkeypatch.setattr(token_store, "write_atomically", full)  # the last step
    before = files(store.folder)
    with pytest.raises(error):
        write_tokens(interrupted(), tokenizer, store.folder)
    assert files(store.folder) == before
    assert len(list(store.folder.glob("arrays-*"))) == 1


def test_a_full_disk_is_an_error_with_the_path(tmp_path):
    path = tmp_path / "ids.bin"
    path.symlink_to("/dev/full")
    full = pytest.raises(OSError, match=r"No space left on device: '.*ids\.bin'")
    with full, ArrayWriter(path, "<u2") as writer:
        writer.append([1, 2, 3])  # written at the end
    writer = ArrayWriter(path, "<u2")
    with full:
        writer.append(np.zeros(BUFFER))  # written at once
    writer.file.close()


def test_a_new_store_replaces_the_old_one_and_leftovers_of_a_killed_writer(store, tokenizer):
    (store.folder / "arrays-killed").mkdir()
    (store.folder / "notes.txt").write_text("not ours")
    new = write_tokens([["The dog sat."]], tokenizer, store.folder)
    assert len(new) == len(TokenStore.open(store.folder)) == 1
    assert len(list(store.folder.glob("arrays-*"))) == 1
    assert (store.folder / "notes.txt").read_text() == "not ours"


def test_a_store_says_how_many_documents_each_corpus_has(tokenizer, tmp_path):
    corpora = {"tales": TEXTS, "none": [[""], []], "news": [[""], *TEXTS[:1]]}
    store = write_corpora(corpora, tokenizer, tmp_path)
    whole = write_tokens([*TEXTS, *TEXTS[:1]], tokenizer, tmp_path / "whole")
    n = len(whole) - 1
    assert store.corpora == {"tales": n, "none": 0, "news": 1}
    assert store.corpus_starts.tolist() == [0, n, n, n + 1]
    copy = pickle.loads(pickle.dumps(store))  # noqa: S301
    assert copy.corpora == store.corpora
    for name in token_store.ARRAYS:
        assert np.array_equal(getattr(store, name), getattr(whole, name))


def damage(store, name, change):
    """Change the bytes of one of a store's files; None removes it."""
    (path,) = store.folder.rglob(name)
    changed = change(path.read_bytes())
    path.unlink() if changed is None else path.write_bytes(changed)


def numbers(change):
    return lambda content: change(np.frombuffer(content, np.int64)).tobytes()


def facts(**changes):
    return lambda content: json.dumps(json.loads(content) | changes).encode()


NOT_STARTS = [
    lambda n: n[::-1],
    lambda n: n + 1,
    lambda n: n * (n != n[-1]),
    lambda n: n * (n != n[1]),  # the first item is empty
    lambda n: np.concatenate([n[:1], n[-2:0:-1], n[-1:]]),  # only in the middle
]
DAMAGES = [
    *(
        (f"{name}.bin", cut, rf"store is damaged: {name}\.bin must have .* bytes; got")
        for name in token_store.ARRAYS
        for cut in (lambda found: found[:-1], lambda found: found[:-8], lambda found: None)
    ),
    *(
        (f"{name}.bin", numbers(change), rf"{name}\.bin does not go up from 0 to \d+; write")
        for name in token_store.ARRAYS[1:]
        for change in NOT_STARTS
    ),
    *(
        ("store.json", facts(corpora=corpora), r"must divide \d documents into corpora")
        for corpora in ({"tales": 99}, {}, {"tales": "many"})
    ),
    *(
        ("store.json", lambda _, content=content: content, f"store.json {message}")
        for content, message in [
            (b"", "is not whole JSON; write it again"),
            (b'{"format": 1, "dty', "is not whole JSON; write it again"),
            (b"[" * 100_000, "is not whole JSON; write it again"),
            (b"[]", "does not describe a store"),
            (b'{"format": 1, "dtype": "<u2"}', "does not say arrays, corpora, documents"),
        ]
    ),
    ("store.json", lambda _: b"{}", "has format None, this bertlab reads format 1"),
    ("store.json", facts(format=99), "has format 99, this bertlab reads format 1"),
    *(
        ("store.json", facts(**{name: value}), f"store.json {message}; write it again")
        for name, value, message in [
            (
                "sha256",
                {"sentence_starts": "", "document_starts": ""},
                "does not say .* of ids.bin",
            ),
            ("sha256", {}, r"does not say the sha256 of ids\.bin"),
            ("sha256", ["ids"], r"says \['ids'\] for sha256"),
            ("sha256", None, "says None for sha256"),
            ("tokens", "many", "says 'many' for tokens"),
            ("documents", 1.5, r"says 1\.5 for documents"),
            ("dtype", "<q9", "says '<q9' for dtype"),
            ("arrays", 7, "says 7 for arrays"),
            ("corpora", ["tales"], r"says \['tales'\] for corpora"),
        ]
    ),
]


@pytest.mark.parametrize(("name", "change", "message"), DAMAGES)
def test_a_damaged_file_is_rejected_by_name(store, name, change, message):
    damage(store, name, change)
    with pytest.raises(ValueError, match=message):
        TokenStore.open(store.folder)
    if name == "store.json" and "corpora" not in message:
        with pytest.raises(ValueError, match=message):
            store.verify()


@pytest.mark.parametrize("name", token_store.ARRAYS)
def test_a_single_wrong_bit_is_found_on_request(store, name):
    store.verify()
    damage(store, f"{name}.bin", lambda found: found[:-1] + bytes([found[-1] ^ 64]))
    with pytest.raises(ValueError, match=rf"the contents of {name}\.bin have changed"):
        store.verify()


def test_another_tokenizers_store_is_rejected(store, tokenizer):
    words = list(tokenizer.vocab)
    words[-2:] = words[:-3:-1]  # the same words, two of them with each other's ids
    other = WordPiece({word: id for id, word in enumerate(words)}, (), BERT_SPECIAL_TOKENS)
    TokenStore.open(store.folder, tokenizer)
    with pytest.raises(ValueError, match="was written with another tokenizer"):
        TokenStore.open(store.folder, other)


def test_what_is_not_documents_and_a_folder_without_a_store_are_rejected(tokenizer, tmp_path):
    with pytest.raises(TypeError, match=r"documents\[0\] must be a list of strings"):
        write_tokens(["The cat sat."], tokenizer, tmp_path)
    with pytest.raises(ValueError, match="not a single token"):
        write_tokens([["", " "]], tokenizer, tmp_path)
    assert list(tmp_path.glob("arrays-*")) == []
    with pytest.raises(FileNotFoundError, match="holds no store"):
        TokenStore.open(tmp_path)
