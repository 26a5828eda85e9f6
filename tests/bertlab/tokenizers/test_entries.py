"""Every door of the library for several texts or labels reads them in their order, once."""

from pathlib import PurePosixPath

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from tokenizers import Tokenizer

from bertlab.data.token_store import write_tokens
from bertlab.finetuning.heads import SequenceClassifier
from bertlab.finetuning.scores import answer_scores, entity_f1, exact_match
from bertlab.finetuning.sentence_objectives import train_pairs
from bertlab.finetuning.sentences import SentenceEncoder, batches_of_one_length
from bertlab.finetuning.tagging import tag_names
from bertlab.finetuning.texts import (
    TuningData,
    batches_by_length,
    encode_texts,
    label_numbers,
    labelled_data,
)
from bertlab.finetuning.tuning import TuningConfig, predict
from bertlab.interpretability.probing import control_labels, probe
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import BPE, ByteBPE, WordPiece, count_words
from bertlab.tokenizers.checks import entries
from course.models.seq2seq.vocabulary import Vocabulary as Characters
from course.models.word_vectors import Vocabulary, score_analogies, score_similarity, spearman
from course.models.word_vectors.evaluation import ranks
from course.models.word_vectors.word2vec import Word2VecConfig, train_skip_gram
from tests.bertlab.tokenizers.references import Column, Table, pandas_column
from tests.course.models.word_vectors.test_evaluation import ROYAL

TEXTS = ["the dog sat down", "a cat", "the cat ran home", "one dog"]
OTHERS = ["it sat", "a cat was seen", "it ran", "a dog"]
LABELS = ["dog", "cat", "cat", "dog"]
WORDS = [text.split() for text in TEXTS]
NUMBERS = [3, 1, 2, 0]
TAGS = [["B-X", "O"], ["O", "O"], ["B-Y", "I-Y"], ["O", "B-X"]]
WORDPIECE = WordPiece.train([*TEXTS, *OTHERS], 60)
CONFIG = BertConfig(len(WORDPIECE.vocab), 8, 1, 1, 8, max_length=16)
ENCODER = SentenceEncoder(Bert(CONFIG), WORDPIECE)
ENCODINGS = WORDPIECE.encode_batch(TEXTS)
CHARACTERS = Characters("".join(TEXTS))
QUICK = TuningConfig(epochs=1, batch_size=2)


def ids(encodings):
    return [(encoding.ids, encoding.segment_ids) for encoding in encodings]


class Seen(Exception):
    """What an objective was given; raised, so that nothing is trained."""


def objective(u, v, targets):
    raise Seen(u.tolist(), v.tolist(), targets.tolist())


def first_batch(first, second, targets):
    with pytest.raises(Seen) as caught:
        train_pairs(ENCODER, first, second, targets, objective, QUICK, progress=False)
    return caught.value.args


def store(documents, folder):
    written = write_tokens(documents, WORDPIECE, folder)
    return written.ids.tolist(), written.sentence_starts.tolist(), written.document_starts.tolist()


def data_of(data):
    return ids(data.encodings), data.targets


def word2vec(sentences):
    config = Word2VecConfig(d_model=4, min_count=1, epochs=1)
    vectors = train_skip_gram(sentences, config, progress=False)
    return vectors.words, vectors.matrix.tolist()


def vectors(texts):
    return ENCODER.encode(texts, progress=False).tolist()


def logits(encodings):
    classifier = SequenceClassifier(Bert(CONFIG), 2).eval()
    return [row.tolist() for row in predict(classifier, encodings, pad_id=0)]


# `read` turns a list into another kind of sequence.
DOORS = {
    "encode_batch": lambda read, _: ids(WORDPIECE.encode_batch(read(TEXTS))),
    "WordPiece.train": lambda read, _: WordPiece.train(read(TEXTS), 40),
    "BPE.train": lambda read, _: BPE.train(read(TEXTS), 40),
    "ByteBPE.train": lambda read, _: ByteBPE.train(read(TEXTS), 270),
    "encode_texts": lambda read, _: ids(
        encode_texts(read(TEXTS), WORDPIECE, max_length=16, pairs=read(OTHERS))
    ),
    "labelled_data": lambda read, _: data_of(
        labelled_data(read(TEXTS), read(LABELS), read(["dog", "cat"]), WORDPIECE, CONFIG)
    ),
    "label_numbers": lambda read, _: label_numbers(read(NUMBERS), read(NUMBERS[::-1])),
    "TuningData": lambda read, _: data_of(TuningData(read(ENCODINGS), read(NUMBERS))),
    "predict": lambda read, _: logits(read(ENCODINGS)),
    "batches_by_length": lambda read, _: batches_by_length(read(NUMBERS), 2),
    "batches_of_one_length": lambda read, _: batches_of_one_length(read(NUMBERS), 2),
    "SentenceEncoder.encode": lambda read, _: vectors(read(TEXTS)),
    "train_pairs": lambda read, _: first_batch(read(TEXTS), read(OTHERS), read([1, 0, 0.5, 1])),
    "tag_names": lambda read, _: tag_names(read(LABELS)),
    "entity_f1": lambda read, _: entity_f1(read(TAGS), read([*TAGS[1:], TAGS[0]])),
    "answer_scores": lambda read, _: answer_scores(read(TEXTS), read([TEXTS[:2]] * 4)),
    "exact_match": lambda read, _: exact_match("a cat", read(TEXTS)),
    "write_tokens": lambda read, folder: store(read([TEXTS, OTHERS, *WORDS[:2]]), folder),
    "a document of write_tokens": lambda read, folder: store([read(TEXTS)], folder),
    "Vocabulary.of": lambda read, _: Vocabulary.of(read(WORDS)),
    "train_skip_gram": lambda read, _: word2vec(read(WORDS)),
    "ranks": lambda read, _: ranks(read(NUMBERS)).tolist(),
    "spearman": lambda read, _: spearman(read(NUMBERS), read([3, 1, 0, 2])),
    "control_labels": lambda read, _: control_labels(read(TEXTS), read(LABELS), 1),
    "Characters.sources": lambda read, _: CHARACTERS.sources(read(TEXTS))[0].tolist(),
}
KINDS = {
    "tuple": tuple,
    "generator": lambda values: (value for value in values),
    "column": Column,
    "pandas column": pandas_column,
    "array": lambda values: np.array([*values, None], dtype=object)[:-1],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_every_sequence_is_read_in_its_order(door, kind, tmp_path):
    expected = DOORS[door](list, tmp_path / "expected")
    assert DOORS[door](KINDS[kind], tmp_path / "got") == expected


NOT_A_TEXT = [
    None,
    float("nan"),
    np.float64("nan"),
    5,
    b"a cat",
    ["a", "b", "c"],
    ("a cat", None),
    ["a cat"],
]


def columns_of_pairs(first, second):
    return train_pairs(ENCODER, first, second, None, objective, QUICK, progress=False)


TEXT_DOORS = {
    "encode_batch: texts": lambda texts, _: WORDPIECE.encode_batch(texts),
    "count_words: texts": lambda texts, _: count_words(texts),
    "encode_texts: texts": lambda texts, _: encode_texts(texts, WORDPIECE, max_length=16),
    "encode_texts: pairs": lambda texts, _: encode_texts(
        TEXTS[:3], WORDPIECE, max_length=16, pairs=texts
    ),
    "train_pairs: first": lambda texts, _: columns_of_pairs(texts, TEXTS[:3]),
    "train_pairs: second": lambda texts, _: columns_of_pairs(TEXTS[:3], texts),
    "write_tokens: documents[0]": lambda texts, folder: store([texts], folder),
    "tag_names: labels": lambda texts, _: tag_names(texts),
    "exact_match: answers": lambda texts, _: exact_match("a cat", texts),
    "answer_scores: answers[1]": lambda texts, _: answer_scores([None] * 2, [[], texts]),
    "Vocabulary.sources: texts": lambda texts, _: CHARACTERS.sources(texts),
    "score_analogies: questions[1]": lambda texts, _: score_analogies(ROYAL, [TEXTS, texts]),
}


@pytest.mark.parametrize("wrong", NOT_A_TEXT, ids=repr)
@pytest.mark.parametrize("door", TEXT_DOORS)
def test_an_entry_that_is_not_a_text_is_named(door, wrong, tmp_path):
    with pytest.raises(TypeError) as caught:
        TEXT_DOORS[door](["a cat", wrong, "one dog"], tmp_path)
    assert str(caught.value).startswith(f"{door} must hold strings")
    assert f"{door.split(': ')[1]}[1] is " in str(caught.value)


NOT_A_SEQUENCE = {
    "one string; put it into a list": "a cat",
    "one string": b"a cat",
    "a set; sort it": {"a cat", "a dog"},
    "a dictionary; choose its keys or its values": {"a cat": 1},
    "a table; choose one of its columns": Table(),
    "a NoneType": None,
    "a PurePosixPath": PurePosixPath("texts.txt"),
    "a int": 5,
    "a Tensor": torch.tensor(5),
}


@pytest.mark.parametrize("got", NOT_A_SEQUENCE)
def test_what_has_no_order_or_is_no_sequence_is_named(got):
    with pytest.raises(TypeError, match=f"f: x must be a list of .* has an order; got {got}"):
        entries("f", "x", NOT_A_SEQUENCE[got])


@pytest.mark.parametrize("wrong", ["a cat", {"a cat": 1}, Table()], ids=["string", "dict", "table"])
@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"entity_f1"}))
def test_no_door_reads_what_has_no_order(door, wrong, tmp_path):
    with pytest.raises(TypeError, match=r"must be a list of .* has an order; got (one|a) "):
        DOORS[door](lambda values: wrong, tmp_path)


def test_numbers_and_rows_of_arrays_and_tensors_become_pythons():
    rows = torch.tensor([[1, 2], [3, 4]])
    for given in (rows, rows.numpy(), list(rows), list(rows.numpy()), Column(rows)):
        assert list(entries("f", "x", given)) == [[1, 2], [3, 4]]
    numbers = np.array([0, 1, 1], np.int8)
    for given in (numbers, torch.from_numpy(numbers), list(numbers), Column(numbers)):
        assert [*map(type, entries("f", "x", given))] == [int] * 3


def test_pairs_of_a_shuffled_table_equal_hugging_faces(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": TEXTS, "b": OTHERS}).iloc[[2, 3, 0, 1]]
    reference = Tokenizer.from_file(str(WORDPIECE.save(tmp_path / "tokenizer.json")))
    expected = reference.encode_batch(list(zip(table.a, table.b, strict=True)))
    ours = encode_texts(table.a, WORDPIECE, max_length=16, pairs=table.b)
    assert ids(ours) == [(encoding.ids, encoding.type_ids) for encoding in expected]
    rows = WORDPIECE.encode_batch(table[["a", "b"]].to_numpy())
    assert ids(rows) == ids(ours)
    missing = pandas.Series(["it sat", None], dtype="string")
    with pytest.raises(TypeError, match=r"pairs\[1\] is (<NA>|nan); omit it"):
        encode_texts(TEXTS[:2], WORDPIECE, max_length=16, pairs=missing)
    for call in (WORDPIECE.encode_batch, count_words, Vocabulary.of):
        with pytest.raises(TypeError, match="got a table; choose one of its columns"):
            call(table)


def test_ranks_equal_scipys_and_a_missing_value_is_named():
    x, y = [9.0, 1, 3, 4, 2], [9.0, 2, 1, 7, 8]
    assert spearman(Column(x), torch.tensor(y)) == pytest.approx(spearmanr(x, y).statistic)
    with pytest.raises(ValueError, match="one is constant"):
        spearman(torch.ones(3), [1, 2, 3])
    with pytest.raises(ValueError, match=r"spearman: y must not be missing; y\[2\] is nan"):
        spearman([1, 2, 3], [1, 2, float("nan")])
    with pytest.raises(TypeError, match=r"pairs\[1\]\[0\] is nan"):
        score_similarity(ROYAL, [("king", "man", 1), (float("nan"), "man", 2)])
    with pytest.raises(ValueError, match=r"train_pairs: .*; targets\[1\] is nan"):
        first_batch(TEXTS, OTHERS, [1, float("nan"), 0, 1])


def test_labels_to_be_probed_are_read_in_their_order():
    words, texts = WORDS[2] * 10, [number // 4 for number in range(40)]
    labels = ["noun" if word in ("cat", "home") else "other" for word in words]
    vectors = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    expected = probe(vectors, labels, words, texts)
    for kind in KINDS.values():
        assert probe(vectors, kind(labels), kind(words), kind(texts)) == expected
    numbers = [int(label == "noun") for label in labels]
    expected = probe(vectors, numbers, words, texts)
    assert probe(vectors, torch.tensor(numbers), words, torch.tensor(texts)) == expected
    with pytest.raises(ValueError, match=r"labels must not be nan; labels\[1\] is; give None"):
        probe(vectors, [1, float("nan"), *numbers[2:]], words, texts)
