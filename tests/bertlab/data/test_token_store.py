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
from bertlab.data.token_store import (
    BUFFER,
    ArrayWriter,
    TokenStore,
    write_corpora,
    write_tokens,
)
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


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_in_the_middle_leaves_the_old_store(store, tokenizer, error):
    def interrupted():
        yield ["The dog sat."]
        raise error

    before = files(store.folder)
    with pytest.raises(error):
        write_tokens(interrupted(), tokenizer, store.folder)
    assert files(store.folder) == before
    assert len(list(store.folder.glob("arrays-*"))) == 1


def test_a_full_disk_leaves_the_old_store(store, tokenizer, monkeypatch):
    before = files(store.folder)
    full = Mock(side_effect=OSError("No space left on device"))
    monkeypatch.setattr(token_store, "write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        write_tokens([["The dog sat."]], tokenizer, store.folder)
    assert files(store.folder) == before


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


def change_facts(store, change):
    facts = json.loads((store.folder / "store.json").read_text())
    change(facts)
    (store.folder / "store.json").write_text(json.dumps(facts))


def test_a_store_of_an_earlier_version_is_of_one_corpus(store):
    change_facts(store, lambda facts: facts.pop("corpora"))
    opened = TokenStore.open(store.folder)
    assert opened.corpora == {}
    assert opened.corpus_starts.tolist() == [0, len(store)]


@pytest.mark.parametrize("corpora", [{"tales": 99}, ["tales"], {"tales": "many"}])
def test_invalid_corpora_are_rejected(store, corpora):
    change_facts(store, lambda facts: facts.update(corpora=corpora))
    with pytest.raises(ValueError, match=r"store.json must divide \d documents into corpora"):
        TokenStore.open(store.folder)


def array_file(store, name):
    (path,) = store.folder.rglob(f"{name}.bin")
    return path


@pytest.mark.parametrize("name", token_store.ARRAYS)
@pytest.mark.parametrize("missing", [1, 8, None])
def test_a_truncated_file_is_rejected_by_name(store, name, missing):
    path = array_file(store, name)
    content = path.read_bytes()
    path.unlink()
    if missing:
        path.write_bytes(content[:-missing])
    with pytest.raises(ValueError, match=rf"store is damaged: {name}\.bin must have .* bytes; got"):
        TokenStore.open(store.folder)


@pytest.mark.parametrize("name", token_store.ARRAYS[1:])
@pytest.mark.parametrize(
    "numbers",
    [
        lambda n: n[::-1],
        lambda n: n + 1,
        lambda n: n * (n != n[-1]),
        lambda n: np.concatenate([n[:1], n[-2:0:-1], n[-1:]]),  # only in the middle
    ],
)
def test_invalid_starts_are_rejected(store, name, numbers):
    path = array_file(store, name)
    path.write_bytes(numbers(np.fromfile(path, np.int64)).tobytes())
    with pytest.raises(ValueError, match=rf"{name}\.bin does not go up from 0 to \d+; write"):
        TokenStore.open(store.folder)


@pytest.mark.parametrize("name", token_store.ARRAYS)
def test_a_single_wrong_bit_is_found_on_request(store, name):
    store.verify()
    path = array_file(store, name)
    content = bytearray(path.read_bytes())
    content[-1] ^= 64
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"the contents of {name}\.bin have changed"):
        store.verify()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "store.json is not whole JSON; write it again"),
        ('{"format": 1, "dty', "store.json is not whole JSON; write it again"),
        ("[" * 100_000, "store.json is not whole JSON; write it again"),
        ("[]", "store.json does not describe a store"),
        ("{}", "has format None, this bertlab reads format 1"),
        ('{"format": 1, "dtype": "<u2"}', "store.json does not say arrays, documents, sentences"),
    ],
)
def test_a_damaged_description_is_rejected(store, content, message):
    (store.folder / "store.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        TokenStore.open(store.folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda facts: facts["sha256"].pop("ids"), r"does not say the sha256 of ids\.bin"),
        (lambda facts: facts["sha256"].clear(), r"does not say the sha256 of ids\.bin"),
        (lambda facts: facts.update(sha256=["ids"]), r"says \['ids'\] for sha256"),
        (lambda facts: facts.update(sha256=None), "says None for sha256"),
        (lambda facts: facts.update(tokens="many"), "says 'many' for tokens"),
        (lambda facts: facts.update(documents=1.5), r"says 1\.5 for documents"),
        (lambda facts: facts.update(dtype="<q9"), "says '<q9' for dtype"),
        (lambda facts: facts.update(arrays=7), "says 7 for arrays"),
    ],
)
def test_a_description_that_lacks_a_sum_or_says_something_else_is_rejected(store, change, message):
    change_facts(store, change)
    for read in (lambda: TokenStore.open(store.folder), store.verify):
        with pytest.raises(ValueError, match=f"store.json {message}; write it again"):
            read()


def test_another_format_version_and_a_folder_without_a_store_are_rejected(store, tmp_path):
    change_facts(store, lambda facts: facts.update(format=99))
    with pytest.raises(ValueError, match="has format 99, this bertlab reads format 1"):
        TokenStore.open(store.folder)
    with pytest.raises(FileNotFoundError, match="holds no store"):
        TokenStore.open(tmp_path)


def test_another_tokenizers_store_is_rejected(store, tokenizer):
    words = list(tokenizer.vocab)
    words[-2:] = words[:-3:-1]  # the same words, two of them with each other's ids
    other = WordPiece({word: id for id, word in enumerate(words)}, (), BERT_SPECIAL_TOKENS)
    TokenStore.open(store.folder, tokenizer)
    with pytest.raises(ValueError, match="was written with another tokenizer"):
        TokenStore.open(store.folder, other)


def test_a_text_where_a_list_of_sentences_belongs_is_rejected(tokenizer, tmp_path):
    with pytest.raises(TypeError, match=r"documents\[0\] must be a list of strings"):
        write_tokens(["The cat sat."], tokenizer, tmp_path)
    with pytest.raises(ValueError, match="not a single token"):
        write_tokens([["", " "]], tokenizer, tmp_path)
    assert list(tmp_path.glob("arrays-*")) == []
