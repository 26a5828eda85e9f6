"""Short sequences first, then long ones: equal tokens per step, reproducible batches."""

from itertools import islice

import pytest

from bertlab.data import documents, split
from bertlab.data.token_store import write_tokens
from bertlab.pretraining.batches import BEGINNING, PretrainingData, ShortFirst
from bertlab.tokenizers.wordpiece import WordPiece
from tests.bertlab.pretraining.test_batches import same


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    texts, _ = split(documents("python-topics"), 0.1)
    tokenizer = WordPiece.train([s for text in texts for s in text], 300, progress=False)
    store = write_tokens(texts, tokenizer, tmp_path_factory.mktemp("tokens"))
    return PretrainingData(store, tokenizer, max_length=64, batch_size=8)


def some(batches, number, position=BEGINNING, workers=0):
    return list(islice(batches.batches(position, workers), number))


def test_the_first_steps_are_short_and_read_as_many_tokens_as_those_afterwards(data):
    batches = [batch for _, batch in some(ShortFirst(data, 5), 8)]
    lengths = [batch.ids.shape for batch in batches]
    assert all(rows == 32 and length <= 16 for rows, length in lengths[:5])
    assert all(rows == 8 and 16 < length <= 64 for rows, length in lengths[5:])
    after = [batch for _, batch in some(ShortFirst(data, 2), 5)][2:]
    expected = [batch for _, batch in some(data, 3)]
    assert all(same(*two) for two in zip(after, expected, strict=True))


def test_a_short_stage_may_read_the_text_several_times(data):
    first = ShortFirst(data, 1)
    once = len(first.short.epoch(0))
    batches = [batch for _, batch in some(ShortFirst(data, once + 3), once + 3)]
    assert all(batch.ids.shape[1] <= 16 for batch in batches)
    assert same(batches[once], first.short.epoch(1)[0])  # other pairs, other holes


@pytest.mark.parametrize("done", [2, 4, 6])
def test_a_training_resumes_at_any_position(data, done):
    whole = some(ShortFirst(data, 4), 8)
    position = whole[done - 1][0]
    rest = some(ShortFirst(data, 4), 8 - done, position)
    assert [p for p, _ in rest] == [p for p, _ in whole[done:]]
    assert all(same(a, b) for (_, a), (_, b) in zip(rest, whole[done:], strict=True))


def test_workers_make_the_same_batches(data):
    here, there = some(ShortFirst(data, 3), 5), some(ShortFirst(data, 3), 5, workers=1)
    assert all(same(a, b) for (_, a), (_, b) in zip(here, there, strict=True))


def test_nothing_gets_shorter_than_sixteen_tokens_and_no_steps_are_rejected(data):
    narrow = PretrainingData.__new__(PretrainingData)
    narrow.__dict__ |= data.__dict__ | {"max_length": 24, "batch_size": 10}
    short = ShortFirst(narrow, 1).short
    assert (short.max_length, short.batch_size) == (16, 15)
    narrow.max_length = 12
    short = ShortFirst(narrow, 1).short
    assert (short.max_length, short.batch_size) == (12, 10)
    with pytest.raises(ValueError, match="steps must be at least 1; got 0"):
        ShortFirst(data, 0)
