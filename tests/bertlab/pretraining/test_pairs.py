"""Sentence pairs: what follows what, how often, and that every pair fits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare, ks_2samp

from bertlab.pretraining.pairs import (
    ANYWHERE,
    SAME_CORPUS,
    Negatives,
    Pairs,
    cut_document,
    cut_documents,
    other_spans,
    own_spans,
    plan_pairs,
    truncate,
)
from tests.bertlab.pretraining.numbered_stores import document_of, store_in_memory

CERTAIN = 1e-6  # a chance so small that it means an error (the seeds are fixed besides)
LENGTHS = st.lists(
    st.lists(st.integers(1, 30), min_size=1, max_size=12), min_size=2, max_size=8
).filter(lambda lengths: any(len(document) > 1 for document in lengths))
KINDS = [ANYWHERE, SAME_CORPUS, Negatives(same_document=1.0)]


def rng(seed=0):
    return np.random.default_rng(seed)


def random_lengths(n_documents, seed=0, longest=40):
    generator = rng(seed)
    return [
        generator.integers(1, longest, size=generator.integers(2, 40)).tolist()
        for _ in range(n_documents)
    ]


def divided(lengths, n_corpora):
    """A store in memory whose documents are of several corpora."""
    counts = [len(part) for part in np.array_split(np.arange(len(lengths)), n_corpora)]
    corpora = {f"c{n}": count for n, count in enumerate(counts)}
    return replace(store_in_memory(lengths), corpora=corpora)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    LENGTHS, st.integers(1, 4), st.sampled_from(KINDS), st.integers(5, 60), st.integers(0, 2**32)
)
def test_laws_of_pairs(lengths, n_corpora, negatives, max_length, seed):
    store = divided(lengths, n_corpora)
    pairs = plan_pairs(store, max_length, rng(seed), negatives=negatives)
    assert len(pairs) > 0
    assert (pairs.lengths <= max_length).all()
    assert (pairs.a_start < pairs.a_end).all()
    assert (pairs.b_start < pairs.b_end).all()
    of_a, of_b = document_of(store, pairs.a_start), document_of(store, pairs.b_start)
    assert (document_of(store, pairs.a_end - 1) == of_a).all()
    assert (document_of(store, pairs.b_end - 1) == of_b).all()
    gap, is_next = pairs.b_start - pairs.a_end, pairs.not_next == 0
    assert (of_a == of_b)[is_next].all()
    assert (gap[is_next] >= 0).all()
    # Between A and B tokens are missing only where the pair was too long for the room.
    assert (pairs.lengths[is_next & (gap > 0)] == max_length).all()
    near = ~is_next & (of_a == of_b)
    if negatives.same_document:  # neither A nor what follows it
        assert ((pairs.b_end <= pairs.a_start) | (gap > 0))[near].all()
    else:
        assert not near.any()
    if negatives.same_corpus:
        sizes = np.array(list(store.corpora.values()))
        corpus_of = np.repeat(range(n_corpora), sizes)
        has_others = sizes[corpus_of[of_a]] > 1
        assert (corpus_of[of_a] == corpus_of[of_b])[has_others].all()


@pytest.mark.parametrize(
    "lengths",
    [
        random_lengths(1000),
        [[60, 60, 60]] * 6000,  # every sentence fills a pair alone
        [[5, 5]] * 15_000,  # two sentences a document
        [[200]] * 1000 + [[3, 3, 3]] * 8000,  # many documents have one sentence
    ],
)
def test_half_of_all_pairs_are_next(lengths):
    pairs = plan_pairs(store_in_memory(lengths), 48, rng())
    assert len(pairs) > 8000
    assert binomtest(int(pairs.not_next.sum()), len(pairs)).pvalue > CERTAIN
    assert abs(pairs.not_next.mean() - 0.5) < 0.02


def assert_spans(spans, ends, shares):
    """Of many spans: start -> end, and how often each start occurs."""
    starts, counts = np.unique(spans[0], return_counts=True)
    assert starts.tolist() == list(ends)
    assert chisquare(counts, len(spans[0]) * np.array(shares)).pvalue > CERTAIN
    assert set(zip(spans[0].tolist(), spans[1].tolist(), strict=True)) == set(ends.items())


def test_where_b_comes_from_tells_nothing_but_that_it_is_elsewhere():
    """All other documents are equally likely, and so are their sentences; its own never occurs."""
    store = store_in_memory([[2, 3, 4], [1], [5] * 4])
    n = 90_000
    spans = other_spans(store, np.zeros(n, np.int64), np.full(n, 6), rng())
    # Document 1 has one sentence, at 9; document 2 four, at 10, 15, 20 and 25, up to 30.
    ends = {9: 10, 10: 20, 15: 25, 20: 30, 25: 30}  # until there are 6 tokens, or no more
    assert_spans(spans, ends, [1 / 2, *[1 / 8] * 4])


@pytest.mark.slow
@given(LENGTHS, st.integers(-5, 80), st.integers(0, 2**32))
def test_a_span_from_elsewhere_ends_with_the_sentence_that_fills_it(lengths, target, seed):
    store = store_in_memory(lengths)
    own = rng(seed).integers(len(lengths), size=20)
    spans = other_spans(store, own, np.full(20, target), rng(seed))
    for document, start, end in zip(own, *spans, strict=True):
        there = document_of(store, start)
        assert there != document
        taken = 0
        for sentence in range(*store.document_starts[there : there + 2]):
            if store.sentence_starts[sentence] >= start:
                taken += store.sentence_starts[sentence + 1] - store.sentence_starts[sentence]
                if taken >= target:
                    break
        assert end - start == taken


def test_half_of_the_negatives_are_of_the_same_document_if_requested():
    store = divided(random_lengths(1000), 2)
    pairs = plan_pairs(store, 48, rng(), negatives=Negatives(same_corpus=True, same_document=0.5))
    not_next = pairs.not_next == 1
    near = document_of(store, pairs.a_start) == document_of(store, pairs.b_start)
    share = near[not_next].mean()
    assert 0.47 < share < 0.51  # a few documents are too short for another place
    assert binomtest(int(not_next.sum()), len(pairs)).pvalue > CERTAIN


def test_every_other_place_of_a_document_is_equally_likely():
    store = store_in_memory([[2] * 4, [3, 2, 2, 3, 4, 5], [2] * 3])
    n = 60_000
    # The chunk is the third and the fourth sentence of document 1, tokens 13 to 18; before it
    # sentences begin at 8 and 11, behind it at 18 and 22.
    arguments = (np.full(n, number) for number in (1, 13, 18, 6))
    *spans, found = own_spans(store, *arguments, rng())
    assert found.all()
    # 6 tokens, but nothing of the chunk
    assert_spans(spans, {8: 13, 11: 13, 18: 27, 22: 27}, [1 / 4] * 4)


def chunks_sentence_by_sentence(lengths, room, draws, short_probability):
    """BERT's algorithm for a document: take sentence after sentence, put some back."""
    position, sentence, chunk, target = 0, 0, [], None
    while sentence < len(lengths):
        if not chunk:
            short = next(draws) < short_probability if sentence < len(lengths) - 1 else False
            target = 2 + int(next(draws) * (room - 1)) if short else room
        chunk.append(lengths[sentence])
        sentence += 1
        full = sum(chunk) >= target and len(chunk) >= 2
        if (full or sentence == len(lengths)) and len(chunk) >= 2:
            n_a = 1 + int(next(draws) * (len(chunk) - 1))
            not_next = next(draws) < 0.5
            a, whole = sum(chunk[:n_a]), sum(chunk)
            yield position, position + a, position + whole, target, not_next
            sentence -= (len(chunk) - n_a) * not_next
            position += a if not_next else whole
            chunk = []


@given(
    st.lists(st.integers(1, 20), max_size=30),
    st.integers(2, 60),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.integers(0, 2**32),
)
def test_a_document_is_cut_as_if_sentence_by_sentence(lengths, room, short_probability, seed):
    starts = np.cumsum([0, *lengths]).tolist()
    ours, theirs = (iter(rng(seed).random(500).tolist()) for _ in range(2))
    expected = chunks_sentence_by_sentence(lengths, room, theirs, short_probability)
    assert list(cut_document(starts, room, ours, short_probability)) == list(expected)


def test_one_pair_in_ten_is_made_shorter_at_random():
    store = store_in_memory([[1] * 500] * 100)
    targets = cut_documents(store, 50, rng(), 0.1).target
    short = targets[targets < 50]
    assert binomtest(len(short), len(targets), 0.1 * 48 / 49).pvalue > CERTAIN
    assert (short.min(), short.max()) == (2, 49)
    assert (cut_documents(store, 50, rng(), 0.0).target == 50).all()
    assert plan_pairs(store, 53, rng(), 0.0).lengths.max() == 53


def test_the_length_of_a_pair_does_not_reveal_its_relation():
    store = store_in_memory([[1] * 20_000] * 10)
    pairs = plan_pairs(store, 50, rng(), short_probability=1.0)
    of_next, of_not_next = (pairs.lengths[pairs.not_next == label] for label in (0, 1))
    assert min(len(of_next), len(of_not_next)) > 2000
    assert ks_2samp(of_next, of_not_next).pvalue > CERTAIN


def truncate_as_google(a, b, room, generator):
    """Token by token, as BERT's code does it."""
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        longer.pop(0 if generator.random() < 0.5 else -1)
    return a, b


@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 80))
def test_the_longer_segment_is_truncated(n_a, n_b, room):
    a, b = truncate_as_google(list(range(n_a)), list(range(n_b)), room, rng())
    pairs = Pairs(*(np.array([n]) for n in (100, 100 + n_a, 300, 300 + n_b, 0)))
    kept = truncate(pairs, room, rng())
    assert (kept.a_end - kept.a_start, kept.b_end - kept.b_start) == (len(a), len(b))
    assert 100 <= kept.a_start <= kept.a_end <= 100 + n_a
    assert 300 <= kept.b_start <= kept.b_end <= 300 + n_b


def test_front_and_back_are_truncated_as_often_as_in_bert():
    n, n_a, n_b, room = 4000, 25, 12, 16  # A loses 17 tokens and B 4
    pairs = Pairs(*(np.full(n, number) for number in (0, n_a, 100, 100 + n_b, 0)))
    kept = truncate(pairs, room, rng())
    generator = rng(1)
    a, b = list(range(n_a)), list(range(100, 100 + n_b))
    reference = [truncate_as_google(a[:], b[:], room, generator) for _ in range(n)]
    assert ks_2samp(kept.a_start, [a[0] for a, _ in reference]).pvalue > CERTAIN
    assert ks_2samp(kept.b_start, [b[0] for _, b in reference]).pvalue > CERTAIN
    assert binomtest(int(kept.a_start.sum()), 17 * n).pvalue > CERTAIN
    assert len(np.unique(kept.b_start)) == 5  # 0 to 4 tokens lost at the front
