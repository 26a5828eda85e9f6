"""From the name of a corpus to token ids on disk; the passages that two texts share."""

import random
import shutil
from itertools import pairwise
from unittest.mock import Mock, call

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.data import documents, split
from bertlab.data import prepared as module
from bertlab.data.prepared import (
    known_passages,
    open_corpus,
    own_path,
    passages,
    prepare_corpus,
    read_tokenizer,
    without_passages,
)
from bertlab.tokenizers import WordPiece

PREPARE = {"vocab_size": 300, "progress": False}


@pytest.fixture
def copied(topics, tmp_path):
    """A prepared corpus that a test may damage."""
    return shutil.copytree(topics[0], tmp_path / "copied")


def ids_of(store):
    """The ids of each document of a store."""
    starts = store.sentence_starts[store.document_starts]
    return [tuple(store.ids[start:stop].tolist()) for start, stop in pairwise(starts)]


def files_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_each_side_holds_the_tokens_of_its_documents(topics):
    tokenizer, *stores = topics[1]
    assert len(tokenizer.vocab) == 300
    training, held_out = split(documents("python-topics"), 0.05)
    sides = without_passages(training, known_passages(held_out)), held_out
    for store, side in zip(stores, sides, strict=True):
        expected = [
            tuple(id for s in document for id in tokenizer.encode(s, add_special_tokens=False).ids)
            for document in side
        ]
        assert ids_of(store) == [ids for ids in expected if ids]
        assert store.n_tokens == sum(map(len, expected))


def test_no_document_and_no_passage_is_in_both_parts(topics):
    tokenizer, training, validation = topics[1]
    assert len(training) > len(validation) > 0
    assert not set(ids_of(training)) & set(ids_of(validation))
    texts = [[[tokenizer.decode(ids)] for ids in ids_of(s)] for s in (training, validation)]
    learned, asked = ({p for text in side for p, _ in passages(text)} for side in texts)
    assert asked
    assert not learned & asked


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


def test_existing_files_are_read_and_not_made_again(copied, monkeypatch):
    monkeypatch.setattr(module, "documents", lambda name: pytest.fail("read again"))
    before = files_of(copied)
    again = prepare_corpus("python-topics", copied, **PREPARE)
    assert files_of(copied) == before
    opened = open_corpus(copied)
    assert again.tokenizer.vocab == opened.tokenizer.vocab
    assert again.training.n_tokens == opened.training.n_tokens


@pytest.mark.slow
def test_other_arguments_or_an_unfinished_folder_are_prepared_again(copied):
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


@pytest.mark.slow
def test_wiki_is_short_for_wikipedia(monkeypatch, tmp_path):
    read = Mock(side_effect=lambda name: documents("python-topics"))
    monkeypatch.setattr(module, "documents", read)
    for name in ("books+wiki", "books+wikipedia"):
        prepare_corpus(name, tmp_path, **PREPARE)
    assert read.call_args_list == [call("books"), call("wikipedia")]  # once


def test_a_store_says_which_documents_are_from_which_corpus(monkeypatch, tmp_path):
    texts = {
        name: [[f"{name} number {n} ends.", "So it does."] for n in range(count)]
        for name, count in (("lee", 30), ("plots", 50))
    }
    monkeypatch.setattr(module, "documents", texts.__getitem__)
    prepared = prepare_corpus("lee+plots", tmp_path, validation=0.2, **PREPARE)
    for store in (prepared.training, prepared.validation):
        starts = store.sentence_starts[store.document_starts].tolist()
        found = [prepared.tokenizer.decode(store.ids[a:b]).split()[0] for a, b in pairwise(starts)]
        assert found == [name for name, count in store.corpora.items() for _ in range(count)]
        assert set(found) == {"lee", "plots"}


def write_documents(path, n):
    path.write_text("\n\n".join(f"Here is text {k}. It ends." for k in range(n)))
    return path


@pytest.mark.parametrize("n", [4, 6, 13, 200])
def test_of_a_few_own_documents_enough_are_held_out(tmp_path, n):
    path = write_documents(tmp_path / "my.txt", n)
    prepared = prepare_corpus(str(path), tmp_path / "out", **PREPARE)
    sizes = len(prepared.training), len(prepared.validation)
    assert sum(sizes) == n
    assert min(sizes) >= 2
    assert sizes[1] <= max(n // 2, 2)
    assert prepared.training.corpora == {"my.txt": sizes[0]}


@pytest.mark.parametrize(
    ("text", "different", "several"),
    [
        ("One. Two. Three.", 1, 1),
        ("One. Two.\n\n" * 40, 1, 1),
        ("One.\n\nTwo.\n\nX.", 3, 0),
        ("\n\n".join(f"Only number {n}." for n in range(60)), 60, 0),
        ("\n\n".join(f"A {n}." for n in range(60)) + " B.", 60, 1),
    ],
)
def test_too_few_own_documents_are_reported(tmp_path, text, different, several):
    (tmp_path / "my.txt").write_text(text)
    with pytest.raises(ValueError, match=r"my\.txt has too few documents.*blank lines") as told:
        prepare_corpus(str(tmp_path / "my.txt"), tmp_path / "out", **PREPARE)
    said = f"{different} different ones, {several} of them with two sentences or more"
    assert said in str(told.value)


def unknown_texts(kind, n=40):
    """Documents of two sentences in words that a vocabulary of English, or any, does not know."""
    draw = random.Random(0)
    words = {
        "DNA": lambda: "".join(draw.choices("acgt", k=150)),
        "Chinese": lambda: "".join(draw.choices("国王和后看见了旧房子", k=6)),
        "Cyrillic": lambda: "".join(draw.choices("абвгдежз", k=6)),
        "emoji": lambda: draw.choice("😀😁😂🤣"),
    }[kind]
    sentence = lambda: " ".join(words() for _ in range(8))  # noqa: E731
    return "\n\n".join(f"{sentence()}.\n{sentence()}." for _ in range(n))


@pytest.mark.parametrize("kind", ["DNA", "Chinese", "Cyrillic", "emoji"])
def test_texts_of_unknown_words_are_refused_unless_they_are_asked_for(tmp_path, topics, kind):
    path, out = tmp_path / "my.txt", tmp_path / "out"
    path.write_text(unknown_texts(kind), encoding="utf-8")
    words = {"vocab_size": 60} if kind == "DNA" else {"tokenizer": topics[0]}
    for _ in range(2):  # the second time, the files are there
        with pytest.raises(ValueError, match=r"\d+% of the tokens are \[UNK\].*--allow-unk"):
            prepare_corpus(str(path), out, progress=False, **words)
    with pytest.warns(UserWarning, match=r"of the tokens are \[UNK\], and a model learns nothing"):
        made = prepare_corpus(str(path), out, allow_unknown=True, progress=False, **words)
    share = (made.training.ids == made.tokenizer.vocab["[UNK]"]).mean()
    assert share > 0.5


@pytest.mark.parametrize(("every", "warned"), [(10, True), (40, False)])
def test_some_unknown_words_are_a_warning_with_their_share(
    tmp_path, topics, every, warned, recwarn
):
    words = [f"{'好' if n % every == 0 else 'a'}" for n in range(800)]
    texts = [
        f"{' '.join(words[n : n + 9])} {n}.\n{' '.join(words[n + 9 : n + 20])}"
        for n in range(0, 800, 20)
    ]
    (tmp_path / "my.txt").write_text("\n\n".join(texts), encoding="utf-8")
    prepare_corpus(str(tmp_path / "my.txt"), tmp_path / "out", tokenizer=topics[0], progress=False)
    told = [str(w.message) for w in recwarn if "[UNK]" in str(w.message)]
    assert len(told) == warned


def test_own_text_that_has_changed_is_read_again_and_its_name_stays(tmp_path):
    path = write_documents(tmp_path / "my.txt", 20)
    prepare_corpus(str(path), tmp_path / "out", **PREPARE)
    before = files_of(tmp_path / "out")
    prepare_corpus(str(path), tmp_path / "out", **PREPARE)
    assert files_of(tmp_path / "out") == before
    write_documents(path, 30)
    again = prepare_corpus(str(path), tmp_path / "out", **PREPARE)
    assert len(again.training) + len(again.validation) == 30


def test_a_name_of_the_catalogue_comes_before_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("books", "wiki"):
        (tmp_path / name).mkdir()
    assert own_path("books") is own_path("wiki") is own_path("books+wiki") is own_path("") is None
    assert own_path("./books") == tmp_path.relative_to(tmp_path) / "books"
    assert own_path("nothing") is None  # for `documents` to refuse
    (tmp_path / "books+mine").mkdir()
    assert own_path("books+mine").is_dir()


def test_a_given_tokenizer_is_taken_from_any_of_its_files(topics, tmp_path):
    text = write_documents(tmp_path / "my.txt", 20)
    texts = text.read_text().split("\n\n")
    known = topics[1].tokenizer
    known.save(tmp_path / "mine.json")
    (tmp_path / "model").mkdir()
    known.save_vocab(tmp_path / "model" / "vocab.txt")
    (tmp_path / "saved").mkdir()
    known.save(tmp_path / "saved" / "tokenizer.json")
    for name in ("mine.json", "model", "model/vocab.txt", "saved"):
        out = tmp_path / f"of-{name.replace('/', '-')}"
        made = prepare_corpus(str(text), out, tokenizer=tmp_path / name, progress=False)
        assert made.tokenizer.vocab == known.vocab
        found = {ids for store in made[1:] for ids in ids_of(store)}
        assert found == {tuple(known.encode(text, add_special_tokens=False).ids) for text in texts}
    other = prepare_corpus(str(text), tmp_path / "of-model", **PREPARE)
    assert other.tokenizer.vocab != known.vocab  # not what lay there


def test_a_vocab_txt_is_read_with_the_case_that_stands_beside_it(tmp_path):
    cased = WordPiece.train(["The Cat sat"], 40, lowercase=False)
    path = cased.save_vocab(tmp_path / "vocab.txt")
    assert read_tokenizer(path).lowercase
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert not read_tokenizer(path).lowercase
    with pytest.raises(FileNotFoundError, match=r"there is none at .*none.vocab\.txt"):
        read_tokenizer(tmp_path / "none" / "vocab.txt")


def test_a_tokenizer_that_cannot_be_used_is_rejected_before_the_text_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "own_documents", lambda *a, **o: pytest.fail("read"))
    text = str(write_documents(tmp_path / "my.txt", 20))
    with pytest.raises(FileNotFoundError, match=r"must be a tokenizer\.json, or a folder"):
        prepare_corpus(text, tmp_path / "out", tokenizer=tmp_path / "none")
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
    with pytest.raises(ValueError, match=r"cannot be used: it has no \[MASK\]"):
        prepare_corpus(text, tmp_path / "out", tokenizer=tmp_path)


def test_impossible_arguments_and_texts_that_share_everything_are_rejected(tmp_path):
    with pytest.raises(ValueError, match="no corpus 'cook-books'; expected one of wikipedia"):
        prepare_corpus("cook-books", tmp_path / "a", **PREPARE)
    with pytest.raises(ValueError, match="one part of python-topics has no documents"):
        prepare_corpus("python-topics", tmp_path / "a", validation=1e-9, **PREPARE)
    assert not (tmp_path / "a").exists()
    line = "one two three four five six seven eight nine ten eleven twelve thirteen"
    text = "\n\n".join(f"{line} {word}. {line.title()} {word}." for word in "abcdefghijklmnop")
    (tmp_path / "my.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="every training sentence shares 13 consecutive words"):
        prepare_corpus(str(tmp_path / "my.txt"), tmp_path / "out", **PREPARE)


# Passages that two texts share

SENTENCE = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5).map(" ".join)
TEXTS = st.lists(st.lists(SENTENCE, max_size=5), max_size=4)


def runs_of(text, words):
    """Every run of this many words of a document, the slow way."""
    found = " ".join(text).split()
    return {tuple(found[i : i + words]) for i in range(len(found)) if i + words <= len(found)}


def test_passages_ignore_case_and_punctuation_and_cross_sentence_ends():
    told = dict(passages(["The king -- said:", '"Go!"', "He went."], words=4))
    assert told == {
        "the king said go": range(2),
        "king said go he": range(3),
        "said go he went": range(3),
    }


def test_a_quotation_is_removed_and_its_document_is_split():
    held_out = [["Once upon a time there was a king.", "He was old."]]
    learned = [["A.", "It began: once upon a time there was a queen.", "B.", "C."], ["D."]]

    def left(words):
        return without_passages(learned, known_passages(held_out, words), words)

    assert left(7) == [["A."], ["B.", "C."], ["D."]]
    assert left(9) == learned


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_nothing_is_shared_afterwards_and_nothing_else_is_lost(documents, held_out):
    asked = set().union(*(runs_of(text, 3) for text in held_out))
    left = without_passages(documents, known_passages(held_out, 3), 3)
    assert all(left)
    assert not any(runs_of(text, 3) & asked for text in left)
    # Joined at the cuts, a document is the original without some of its sentences.
    kept = [sentence for text in left for sentence in text]
    rest = iter(sentence for text in documents for sentence in text)
    assert all(sentence in rest for sentence in kept)
    if not any(runs_of(text, 3) & asked for text in documents):
        assert left == [text for text in documents if text]
