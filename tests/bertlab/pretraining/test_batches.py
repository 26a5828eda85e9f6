"""Batches: their layout, their masks, and that each can be reproduced on its own."""

from itertools import combinations, islice, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from bertlab.pretraining.batches import MULTIPLE, Batch, Position, PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS
from bertlab.training.start import ShortFirst
from tests.bertlab.pretraining.numbered_stores import (
    document_of,
    many_lengths,
    store_in_memory,
    word_tokenizer,
)

PAD, UNK, CLS, SEP, MASK = range(5)
CERTAIN = 1e-6  # a chance so small that it means an error (the seeds are fixed besides)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return many_lengths(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def data(numbered):
    return PretrainingData(*numbered, max_length=40, batch_size=8)


def true_ids(batch):
    """The ids without masks."""
    ids = batch.ids.clone()
    ids[batch.predict] = batch.words
    return ids


def same(one, two):
    return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def holes(epoch):
    """Of all pairs of an epoch: their true ids -> which of them are hidden."""
    return {
        tuple(ids[mask].tolist()): predict[mask].tolist()
        for batch in epoch
        for ids, mask, predict in zip(true_ids(batch), *batch[2:4], strict=True)
    }


def test_a_row_is_what_the_tokenizer_makes_of_the_two_texts(data, numbered):
    tokenizer = numbered[1]
    for batch in islice(data.epoch(0), 5):
        for ids, segments, mask in zip(true_ids(batch), *batch[1:3], strict=True):
            first, second = (ids == SEP).nonzero().flatten().tolist()
            texts = tokenizer.decode(ids[:first]), tokenizer.decode(ids[first:second])
            expected = tokenizer.encode(*texts)
            n, padding = len(expected), [0] * (len(ids) - len(expected))
            assert ids.tolist() == expected.ids + padding
            assert segments.tolist() == expected.segment_ids + padding
            assert mask.tolist() == [True] * n + padding


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(1, 20), min_size=2, max_size=9), min_size=2, max_size=9),
    st.integers(5, 50),
    st.integers(1, 9),
    st.integers(0, 2**40),
)
def test_laws_of_batches(lengths, max_length, batch_size, seed):
    tokenizer = word_tokenizer(sum(map(sum, lengths)))
    store = store_in_memory(lengths, tokenizer=tokenizer)
    sizes = {"max_length": max_length, "batch_size": batch_size, "drop_last": False}
    epoch = PretrainingData(store, tokenizer, seed=seed, **sizes).epoch(1)
    rows = 0
    for batch in epoch:
        n, width = batch.ids.shape
        rows += n
        used = batch.attention_mask.sum(1)
        assert batch.segment_ids.shape == batch.predict.shape == (n, width)
        assert width == min(max_length, -(-int(used.max()) // MULTIPLE) * MULTIPLE)
        assert len(batch.words) == batch.predict.sum()
        assert not (batch.predict & ~batch.attention_mask).any()
        special = true_ids(batch) < len(BERT_SPECIAL_TOKENS)
        assert torch.equal(special.sum(1), 3 + width - used)
        assert not (special & batch.predict).any()
        assert batch.next_sentence.shape == (n,)
        number, flag = torch.int64, torch.bool
        assert [tensor.dtype for tensor in batch] == [number, number, flag, flag, number, number]
    assert rows == len(epoch.pairs)
    assert len(epoch) == -(-rows // batch_size)


def test_next_sentence_says_what_the_pair_is(data, numbered):
    for batch in data.epoch(2):
        ids = true_ids(batch)
        second = (ids == SEP).long().argmax(1)[:, None] + 1
        of_a, of_b = (
            document_of(numbered[0], x - 5) for x in (ids[:, 1], ids.gather(1, second).T[0])
        )
        assert ((of_a != of_b) == batch.next_sentence.numpy()).all()


def ten_words_store(n_tokens):
    """Ten ordinary words at random, in sentences of ten tokens; and their tokenizer."""
    tokenizer = word_tokenizer(10)
    ids = np.random.default_rng(0).integers(5, 15, size=n_tokens)
    return store_in_memory([[10] * 50] * (n_tokens // 500), ids, tokenizer), tokenizer


def within(count, n, probability):
    """Whether this number of successes is in the bounds of a binomial distribution."""
    low, high = binom.interval(1 - CERTAIN, n, probability)
    return low <= count <= high


@pytest.mark.slow
@pytest.mark.parametrize("whole_words", [False, True])
def test_of_a_million_tokens_fifteen_percent_are_hidden_as_published(whole_words):
    store, tokenizer = ten_words_store(1_200_000)
    masking = Masking.of(tokenizer, whole_words=whole_words)
    data = PretrainingData(store, tokenizer, batch_size=256, masking=masking)
    n = chosen = masked = kept = 0
    changed = torch.zeros(15, dtype=torch.long)
    for batch in data.epoch(0):
        ordinary = true_ids(batch) >= 5
        assert not (batch.predict & ~ordinary).any()
        assert torch.equal(batch.ids[~ordinary], true_ids(batch)[~ordinary])
        read = batch.ids[batch.predict]
        n, chosen = n + int(ordinary.sum()), chosen + len(read)
        masked, kept = masked + int((read == MASK).sum()), kept + int((read == batch.words).sum())
        other = read[(read != MASK) & (read != batch.words)]
        changed += other.bincount(minlength=15)
    assert n > 1_000_000
    assert within(chosen, n, 0.15)
    assert within(masked, chosen, 0.8)
    assert within(kept, chosen, 0.1 + 0.1 / 10)  # a random word is the true one once in ten times
    assert within(int(changed.sum()), chosen, 0.1 * 9 / 10)
    assert not changed[:5].any()
    assert chisquare(changed[5:]).pvalue > CERTAIN


@pytest.mark.parametrize("drop_last", [True, False])
def test_every_pair_of_an_epoch_is_read_once(numbered, drop_last):
    epoch = PretrainingData(*numbered, max_length=40, batch_size=8, drop_last=drop_last).epoch(0)
    everything = PretrainingData(*numbered, max_length=40, batch_size=9999, drop_last=False)
    planned = len(everything.epoch(0)[0].ids)
    incomplete = planned % 8
    assert incomplete  # otherwise there is no incomplete last batch
    assert len(holes(epoch)) == (planned - incomplete if drop_last else planned)
    first, *others = sorted(len(batch.ids) for batch in epoch)
    assert (first, set(others)) == (8 if drop_last else incomplete, {8})


@pytest.mark.slow
def test_pairs_of_similar_length_share_a_batch_in_no_order():
    generator = np.random.default_rng(0)
    lengths = [generator.integers(1, 60, size=2).tolist() for _ in range(1500)]
    tokenizer = word_tokenizer(sum(map(sum, lengths)))
    store = store_in_memory(lengths, tokenizer=tokenizer)
    epoch = PretrainingData(store, tokenizer, batch_size=16).epoch(0)
    real = sum(int(batch.attention_mask.sum()) for batch in epoch)
    assert 1 - real / sum(batch.ids.numel() for batch in epoch) < 0.1
    mixed = generator.permutation(epoch.pairs.lengths).reshape(-1, 16)
    assert 1 - mixed.mean() / mixed.max(axis=1).mean() > 0.3
    widths = [batch.ids.shape[1] for batch in epoch]
    assert abs(np.corrcoef(widths, np.arange(len(widths)))[0, 1]) < 0.25


def test_a_batch_is_a_mixture_of_documents(numbered):
    data = PretrainingData(*numbered, max_length=20, batch_size=8)
    starts = [true_ids(batch)[:, 1] - 5 for batch in data.epoch(0)]
    documents = [len(set(document_of(numbered[0], of_batch))) for of_batch in starts]
    assert np.mean(documents) > 6


@pytest.mark.slow
@pytest.mark.parametrize("stages", [lambda data: data, lambda data: ShortFirst(data, 4)])
def test_from_any_position_and_by_workers_the_same_batches_follow(data, stages):
    data, states = stages(data), (torch.get_rng_state(), np.random.get_state()[1])
    epoch = data.epoch(0)
    n = len(epoch)
    everything = [(Position(0, 0), None), *islice(data.batches(), n + 7)]
    assert everything[n][0] == Position(1, 0)
    starts = [(done, 0, 3) for done in [*range(0, n, 3), n - 1, n, n + 1]]
    for done, workers, number in [*starts, (0, 2, n + 4)]:  # into the second epoch
        again = islice(data.batches(everything[done][0], workers), number)
        expected = everything[done + 1 : done + 1 + number]
        for (after, batch), (same_after, same_batch) in zip(expected, again, strict=True):
            assert after == same_after
            assert isinstance(same_batch, Batch)
            assert same(batch, same_batch)
    assert same(epoch[-1], everything[n][1])
    with pytest.raises(IndexError):
        epoch[n]
    assert torch.equal(torch.get_rng_state(), states[0]), "nothing global is drawn"
    assert (np.random.get_state()[1] == states[1]).all()


def test_another_epoch_or_seed_has_other_pairs_and_other_masks(numbered):
    def read(seed, epoch):
        return holes(
            PretrainingData(*numbered, max_length=40, batch_size=8, seed=seed).epoch(epoch)
        )

    one = read(0, 0)
    assert one == read(0, 0)
    for other in (read(0, 1), read(1, 0)):
        both = one.keys() & other.keys()
        assert 0 < len(both) < len(one) / 2
        assert sum(one[pair] == other[pair] for pair in both) < len(both) / 4


def test_every_batch_of_every_epoch_has_other_masks():
    data = PretrainingData(*ten_words_store(20_000), max_length=40, batch_size=64)
    places = [data.epoch(epoch)[index].predict for epoch, index in [(0, 0), (0, 1), (1, 0), (1, 1)]]
    for one, other in combinations(places, 2):
        assert one.shape == other.shape
        assert (one & other).sum() < one.sum() / 2  # by chance 15 % of them


@pytest.mark.slow
@given(st.lists(st.integers(0, 8), max_size=4))
def test_rows_put_together_are_the_batch(data, cuts):
    batch = data.epoch(0)[0]
    parts = [batch.rows(start, stop) for start, stop in pairwise(sorted([0, *cuts, 8]))]
    assert same(map(torch.cat, zip(*parts, strict=True)), batch)
    assert all(len(part.words) == part.predict.sum() for part in parts)


def test_a_batch_moves_to_a_device_as_a_whole(data):
    moved = data.epoch(0)[0].to("meta")
    assert isinstance(moved, Batch)
    assert {tensor.device.type for tensor in moved} == {"meta"}
