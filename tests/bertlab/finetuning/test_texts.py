"""Texts into batches: what is encoded, what is refused, and which texts share a batch."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertlab.finetuning.texts import (
    batches_by_length,
    check_encodings,
    collate,
    encode_texts,
)
from bertlab.model import Bert, BertConfig
from bertlab.model.checks import check_fits
from bertlab.tokenizers import WordPiece
from tests.bertlab.refusals import rejected

WORDPIECE = WordPiece.train(["the good film", "a bad film", "the good book", "a bad book"], 40)
WITHOUT_PAD = WordPiece({"[UNK]": 0, "a": 1}, special_tokens=["[UNK]"])
ADDS_NOTHING = WordPiece(WORDPIECE.vocab, (), WORDPIECE.special_tokens, adds_special_tokens=False)
PAD, CLS, SEP = (WORDPIECE.vocab[token] for token in ("[PAD]", "[CLS]", "[SEP]"))


def ids(text):
    return [WORDPIECE.vocab[token] for token in WORDPIECE.tokenize(text)]


def encode(*texts, tokenizer=WORDPIECE, max_length=16, **options):
    return encode_texts(texts, tokenizer, max_length=max_length, **options)


def test_a_text_is_between_cls_and_sep_and_the_second_is_segment_1():
    (encoding,) = encode("The good film")
    assert encoding.ids == [CLS, *ids("the good film"), SEP]
    assert set(encoding.segment_ids) == {0}
    (encoding,) = encode("a book", pairs=["the film"])
    first, second = [CLS, *ids("a book"), SEP], [*ids("the film"), SEP]
    assert encoding.ids == first + second
    assert encoding.segment_ids == [0] * len(first) + [1] * len(second)


def test_a_text_that_is_too_long_is_rejected_or_truncated():
    long = "film " * 30
    length = len(ids(long)) + 2
    assert len(encode("a", long, max_length=length)[1]) == length
    rejected(rf"texts\[1\] has {length}; truncate=True", encode, "a", long, max_length=length - 1)
    _, cut = encode("a", long, max_length=10, truncate=True)
    assert cut.ids == [CLS, *ids(long)[:8], SEP]


def test_what_cannot_be_encoded_is_named():
    for empty in ("", " \n\t", "\u00ad\u200b"):
        rejected(r"texts must not be empty; texts\[1\]", encode, "a film", empty)
        rejected(r"pairs must not be empty; pairs\[0\]", encode, "a film", pairs=[empty])
    rejected("pairs must hold one text for each of texts, 2", encode, "a", "the", pairs=["a"])
    rejected("max_length must be at least 3", encode, "a", max_length=2)
    rejected("max_length must be at least 5", encode, "a", pairs=["a"], max_length=4)
    rejected(r"without \[PAD\]", encode, "a", tokenizer=WITHOUT_PAD)
    rejected("adds_special_tokens=False", encode, "a", tokenizer=ADDS_NOTHING)
    one, kind = "texts must be a list", {"error": TypeError, "max_length": 16}
    rejected(one, encode_texts, "a film", WORDPIECE, **kind)
    rejected("pairs must be a list", encode_texts, ["a"], WORDPIECE, pairs="a", **kind)
    rejected("at least one", collate, [], PAD)
    rejected("batch_size must be at least 1; got 0", batches_by_length, [3], 0)


def test_a_batch_is_padded_on_the_right_to_its_longest_text():
    encodings = encode("a film", "a", pairs=["the", "book book"], max_length=32)
    batch = collate(encodings, PAD)
    for row, encoding in enumerate(encodings):
        padding = batch.ids.shape[1] - len(encoding)
        assert batch.ids[row].tolist() == encoding.ids + [PAD] * padding
        assert batch.segment_ids[row].tolist() == encoding.segment_ids + [0] * padding
        assert batch.attention_mask[row].tolist() == [True] * len(encoding) + [False] * padding
    assert batch.ids.shape[1] == max(map(len, encodings))
    assert batch.ids.dtype == batch.segment_ids.dtype == torch.int64
    Bert(BertConfig(len(WORDPIECE.vocab), 8, 1, 1, 8, max_length=32))(*batch)  # it can be read


@pytest.mark.slow
@given(
    lengths=st.lists(st.integers(1, 50), max_size=80),
    batch_size=st.integers(1, 9),
    seed=st.none() | st.integers(0, 9),
)
def test_every_text_is_in_one_batch(lengths, batch_size, seed):
    generator = None if seed is None else np.random.default_rng(seed)
    batches = batches_by_length(lengths, batch_size, generator)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    sizes = Counter(map(len, batches))
    assert sizes.pop(batch_size, 0) == len(lengths) // batch_size
    assert list(sizes.elements()) == [len(lengths) % batch_size] * bool(len(lengths) % batch_size)


def test_without_a_generator_the_longest_come_first():
    lengths = np.random.default_rng(0).integers(1, 100, 300)
    order = [number for batch in batches_by_length(lengths, 16) for number in batch]
    assert [lengths[number] for number in order] == sorted(lengths, reverse=True)


def test_with_a_generator_batches_are_drawn_from_all_texts_whatever_their_length():
    lengths, size = np.random.default_rng(0).integers(1, 100, 5000), 8

    def batches(seed):
        return batches_by_length(lengths, size, np.random.default_rng(seed))

    assert batches(1) == batches(1) != batches(2)
    for batch in batches(1):
        inside = [lengths[number] for number in batch]
        assert inside == sorted(inside, reverse=True)
    means = [np.mean(lengths[batch]) for batch in batches(1)]
    assert np.std(means) == pytest.approx(np.std(lengths) / size**0.5, rel=0.1)


def test_a_tokenizer_of_another_model_and_encodings_that_it_cannot_read_are_rejected():
    size, tiny = len(WORDPIECE.vocab), BertConfig.tiny
    check_fits("f", WORDPIECE, tiny(vocab_size=size))
    for other in (size - 1, size + 1):
        message = f"vocab_size={other} .* got {size}; do they belong"
        rejected(message, check_fits, "f", WORDPIECE, tiny(vocab_size=other))
    encodings = encode("a", "a book")
    high, long = max(encodings[1].ids), len(encodings[1])
    check_encodings("f", encodings, tiny(vocab_size=high + 1, max_length=long))
    message = r"f: .* encodings\[1\] has "
    rejected(f"{message}{long}", check_encodings, "f", encodings, tiny(max_length=long - 1))
    message += f"{high}; do tokenizer and model"
    rejected(message, check_encodings, "f", encodings, tiny(vocab_size=high))
