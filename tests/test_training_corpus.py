"""From the name of a corpus to token ids on disk."""

import random
import shutil
from itertools import pairwise

import pytest

from bertlab.data import documents, split
from bertlab.training import corpus as module
from bertlab.training.corpus import open_corpus, prepare_corpus

PREPARE = {"vocab_size": 300, "progress": False}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Python's own manual, which needs no download."""
    folder = tmp_path_factory.mktemp("prepared")
    return folder, prepare_corpus("python-topics", folder, **PREPARE)


@pytest.fixture
def copied(prepared, tmp_path):
    """A prepared corpus that a test may damage."""
    return shutil.copytree(prepared[0], tmp_path / "copied")


def ids_of(store):
    """The ids of each document of a store."""
    starts = store.sentence_starts[store.document_starts]
    return [tuple(store.ids[start:stop].tolist()) for start, stop in pairwise(starts)]


def files_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_each_side_holds_the_tokens_of_its_documents(prepared):
    tokenizer, *stores = prepared[1]
    assert len(tokenizer.vocab) == 300
    for store, side in zip(stores, split(documents("python-topics"), 0.05), strict=True):
        expected = [
            tuple(id for s in document for id in tokenizer.encode(s, add_special_tokens=False).ids)
            for document in side
        ]
        assert ids_of(store) == [ids for ids in expected if ids]
        assert store.n_tokens == sum(map(len, expected))


def test_no_document_stands_on_both_sides(prepared):
    _, training, validation = prepared[1]
    assert len(training) > len(validation) > 0
    assert not set(ids_of(training)) & set(ids_of(validation))


def test_the_tokenizer_has_not_read_the_held_out_side(monkeypatch, tmp_path):
    letters = [chr(ord("a") + number) for number in range(26)]
    words = ["".join(random.Random(n).choices("uvwxyz", k=5)) for n in range(40)]
    texts = [[f"{letters[n % 26]} {word}"] for n, word in enumerate(words)]
    monkeypatch.setattr(module, "documents", lambda name: texts)
    training_side, held_out = split(texts, 0.3)
    unseen = {text[0][0] for text in held_out} - set("".join(t[0] for t in training_side))
    tokenizer, _, validation = prepare_corpus("mine", tmp_path, validation=0.3, **PREPARE)
    assert unseen
    assert not unseen & set(tokenizer.vocab)
    assert tokenizer.vocab["[UNK]"] in validation.ids


def test_what_is_there_is_read_and_not_made_again(copied, monkeypatch):
    monkeypatch.setattr(module, "documents", lambda name: pytest.fail("read again"))
    before = files_of(copied)
    again = prepare_corpus("python-topics", copied, **PREPARE)
    assert files_of(copied) == before
    opened = open_corpus(copied)
    assert again.tokenizer.vocab == opened.tokenizer.vocab
    assert again.training.n_tokens == opened.training.n_tokens


def test_another_wish_or_an_unfinished_folder_is_made_anew(copied):
    smaller = prepare_corpus("python-topics", copied, **PREPARE | {"vocab_size": 250})
    assert len(smaller.tokenizer.vocab) == 250
    (copied / "corpus.json").unlink()  # the last thing that is written
    again = prepare_corpus("python-topics", copied, **PREPARE)
    assert len(again.tokenizer.vocab) == len(open_corpus(copied).tokenizer.vocab) == 300


def test_a_damaged_store_is_not_read(copied):
    (file,) = (copied / "training").rglob("ids.bin")
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"training is damaged: ids\.bin must have"):
        prepare_corpus("python-topics", copied, **PREPARE)


def test_wiki_is_short_for_wikipedia(monkeypatch, tmp_path):
    asked = []

    def read(name):
        asked.append(name)
        return documents("python-topics")

    monkeypatch.setattr(module, "documents", read)
    for name in ("books+wiki", "books+wikipedia"):
        prepare_corpus(name, tmp_path, **PREPARE)
    assert asked == ["books+wikipedia"]


def test_impossible_wishes_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="no corpus 'cook-books'; expected one of wikipedia"):
        prepare_corpus("cook-books", tmp_path / "a", **PREPARE)
    with pytest.raises(ValueError, match="one side of python-topics has no documents"):
        prepare_corpus("python-topics", tmp_path / "a", validation=1e-9, **PREPARE)
    assert not (tmp_path / "a").exists()


def test_a_corpus_that_was_not_fetched_says_how(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTLAB_DATA", str(tmp_path / "empty"))
    with pytest.raises(RuntimeError, match=r"python -m bertlab\.data fetch sotu"):
        prepare_corpus("sotu", tmp_path / "run", **PREPARE)
