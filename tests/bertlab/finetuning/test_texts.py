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
    check_fits,
    collate,
    encode_texts,
)
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece

WORDPIECE = WordPiece.train(["the good film", "a bad film", "the good book", "a bad book"], 40)
WITHOUT_PAD = WordPiece({"[UNK]": 0, "a": 1}, special_tokens=["[UNK]"])
ADDS_NOTHING = WordPiece(WORDPIECE.vocab, (), WORDPIECE.special_tokens, adds_special_tokens=False)
PAD, CLS, SEP = (WORDPIECE.vocab[token] for token in ("[PAD]", "[CLS]", "[SEP]"))


def ids(text):
    return [WORDPIECE.vocab[token] for token in WORDPIECE.tokenize(text)]


def test_a_text_is_between_cls_and_sep_and_the_second_is_segment_1():
    (encoding,) = encode_texts(["The good film"], WORDPIECE, max_length=16)
    assert encoding.ids == [CLS, *ids("the good film"), SEP]
    assert set(encoding.segment_ids) == {0}
    (encoding,) = encode_texts(["a book"], WORDPIECE, max_length=32, pairs=["the film"])
    first, second = [CLS, *ids("a book"), SEP], [*ids("the film"), SEP]
    assert encoding.ids == first + second
    assert encoding.segment_ids == [0] * len(first) + [1] * len(second)


@pytest.mark.parametrize("empty", ["", " \n\t", "\u00ad\u200b"])
def test_an_empty_text_is_rejected_with_its_number(empty):
    with pytest.raises(ValueError, match=r"texts must not be empty; texts\[1\]"):
        encode_texts(["a film", empty], WORDPIECE, max_length=16)
    with pytest.raises(ValueError, match=r"pairs must not be empty; pairs\[0\]"):
        encode_texts(["a film"], WORDPIECE, max_length=16, pairs=[empty])


def test_a_text_that_is_too_long_is_rejected_or_truncated():
    texts = ["a", "film " * 30]
    length = len(ids(texts[1])) + 2
    assert len(encode_texts(texts, WORDPIECE, max_length=length)[1]) == length
    with pytest.raises(ValueError, match=rf"texts\[1\] has {length}; truncate=True"):
        encode_texts(texts, WORDPIECE, max_length=length - 1)
    _, cut = encode_texts(texts, WORDPIECE, max_length=10, truncate=True)
    assert cut.ids == [CLS, *ids(texts[1])[:8], SEP]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"texts": ["a", "the"], "pairs": ["a"]}, "pairs must hold one text for each of texts, 2"),
        ({"texts": ["a"], "max_length": 2}, "max_length must be at least 3"),
        ({"texts": ["a"], "pairs": ["a"], "max_length": 4}, "max_length must be at least 5"),
        ({"texts": ["a"], "tokenizer": WITHOUT_PAD}, r"without \[PAD\]"),
        ({"texts": ["a"], "tokenizer": ADDS_NOTHING}, "adds_special_tokens=False"),
    ],
)
def test_what_cannot_be_encoded_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        encode_texts(**({"tokenizer": WORDPIECE, "max_length": 16} | arguments))


def test_one_string_is_not_a_list_of_texts_and_a_batch_has_at_least_one():
    with pytest.raises(TypeError, match="texts must be a list"):
        encode_texts("a film", WORDPIECE, max_length=16)
    with pytest.raises(TypeError, match="pairs must be a list"):
        encode_texts(["a"], WORDPIECE, max_length=16, pairs="a")
    with pytest.raises(ValueError, match="at least one"):
        collate([], PAD)
    with pytest.raises(ValueError, match="batch_size must be at least 1; got 0"):
        batches_by_length([3], 0)


def test_a_batch_is_padded_on_the_right_to_its_longest_text():
    encodings = encode_texts(["a film", "a"], WORDPIECE, max_length=16, pairs=["the", "book book"])
    batch = collate(encodings, PAD)
    for row, encoding in enumerate(encodings):
        padding = batch.ids.shape[1] - len(encoding)
        assert batch.ids[row].tolist() == encoding.ids + [PAD] * padding
        assert batch.segment_ids[row].tolist() == encoding.segment_ids + [0] * padding
        assert batch.attention_mask[row].tolist() == [True] * len(encoding) + [False] * padding
    assert batch.ids.shape[1] == max(map(len, encodings))
    assert batch.ids.dtype == batch.segment_ids.dtype == torch.int64
    Bert(BertConfig(len(WORDPIECE.vocab), 8, 1, 1, 8, max_length=16))(*batch)  # it can be read


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


def test_a_tokenizer_of_another_model_is_rejected():
    size = len(WORDPIECE.vocab)
    check_fits(WORDPIECE, BertConfig.tiny(vocab_size=size))
    for other in (size - 1, size + 1):
        with pytest.raises(ValueError, match=f"vocab_size={other} .* got {size}; do they belong"):
            check_fits(WORDPIECE, BertConfig.tiny(vocab_size=other))


def test_encodings_that_the_model_cannot_read_are_rejected_with_their_number():
    encodings = encode_texts(["a", "a book"], WORDPIECE, max_length=16)
    highest, longest = max(encodings[1].ids), len(encodings[1])
    check_encodings("f", encodings, BertConfig.tiny(vocab_size=highest + 1, max_length=longest))
    with pytest.raises(ValueError, match=rf"f: .* encodings\[1\] has {longest}"):
        check_encodings("f", encodings, BertConfig.tiny(max_length=longest - 1))
    with pytest.raises(ValueError, match=rf"encodings\[1\] has {highest}; do tokenizer and model"):
        check_encodings("f", encodings, BertConfig.tiny(vocab_size=highest))
