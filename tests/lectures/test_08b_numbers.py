"""The loops of lecture 08b on documents of any size: against the library, and against laws."""

from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from bertlab.model import BertConfig
from bertlab.pretraining.pairs import cut_document, spans
from tests.bertlab.pretraining.numbered_stores import store_in_memory
from tests.lectures.conftest import functions_of

PAGE = functions_of("08b_documents_to_examples", torch=torch)
cut, cut_as_google, take_from, lose = map(PAGE.get, ("cut", "cut_as_google", "take_from", "lose"))
LENGTHS = st.lists(st.integers(1, 25), min_size=1, max_size=30)
ROOM, SEED = st.integers(2, 60), st.integers(0, 2**32)


def draws(seed):
    return iter(np.random.default_rng(seed).random(500).tolist())


def test_what_special_tokens_leave_and_the_worked_examples(states):
    longest = BertConfig.base().max_length
    states(f"BERT reads up to {longest} tokens ... Three of the {longest} (for us: of the 20)")
    states(r"""
        the **room**, 17 tokens ... room for 128 - 3 = 125 ... 6 + 6 + 8 = 20 ≥ 17: three ... at
        least 17 tokens (or the document ... \lfloor 0.5 \cdot 16 \rfloor = 10$, and s0 s1 ... with
        12 tokens. ... A has 12 tokens, B has 11, and there is room for 15. How ... (if below 0.1)
        ... *0.9, 0.7, 0.2* ... 0.7 is the second ... And 0.2 < 0.5 ... *0.5, 0.3, 0.8* ... 0.3 is
        the first place ... And 0.8: *IsNext* ... *0.6, 0.1, 0.3* ... *0.4, 0.6, 0.9* ... 0.1 is
        the first place ... *0.8, 0.5, 0.4* ... at most 512 tokens
    """)


@given(LENGTHS, ROOM, st.sampled_from([0, 0.1, 1]), SEED)
def test_a_document_is_split_as_in_the_library(lengths, room, short_probability, seed):
    starts = [0, *accumulate(lengths)]
    chunks = cut(lengths, room, draws(seed), short_probability)
    in_tokens = [(*(starts[n] for n in chunk[:3]), *chunk[3:]) for chunk in chunks]
    assert in_tokens == list(cut_document(starts, room, draws(seed), short_probability))


@given(LENGTHS, ROOM, SEED)
def test_each_sentence_is_used_once_but_perhaps_the_last(lengths, room, seed):
    for rule, may_be_left in ((cut, 1), (cut_as_google, 0)):
        used = []
        for first, middle, end, _, not_next in rule(lengths, room, draws(seed), 0.1):
            used += range(first, middle if not_next else end)
        assert used == list(range(len(used)))
        assert len(lengths) - len(used) <= may_be_left


@given(LENGTHS, ROOM, SEED)
def test_by_googles_rule_a_single_sentence_has_no_continuation(lengths, room, seed):
    chunks = list(cut_as_google(lengths, room, draws(seed), 0))
    for first, middle, end, _, not_next in chunks:
        taken = sum(lengths[first:end])
        assert taken >= room or end == len(lengths)
        assert taken - lengths[end - 1] < room
        assert first < middle < end or (middle == end == first + 1 and not_next)


@pytest.mark.parametrize(
    ("rule", "lengths", "room", "tenths", "chunks"),
    [
        (cut, [6, 6, 8, 4, 7], 17, "972538", [(0, 2, 3, 17, True), (2, 3, 5, 17, False)]),
        (cut, [7, 4, 7], 17, "613469", [(0, 1, 3, 17, True), (1, 2, 3, 17, False)]),
        (cut_as_google, [9, 9, 9], 8, "5", [(n, n + 1, n + 1, 8, True) for n in range(3)]),
        (cut_as_google, [4, 4, 9], 8, "555", [(0, 1, 2, 8, False), (2, 3, 3, 8, True)]),
        (cut_as_google, [2, 2, 2], 11, "02079", [(0, 1, 2, 4, False), (2, 3, 3, 4, True)]),
    ],
)
def test_the_rules_by_hand(rule, lengths, room, tenths, chunks):
    drawn = (int(digit) / 10 for digit in tenths)
    assert list(rule(lengths, room, drawn, 0.1)) == chunks


@given(LENGTHS, st.data(), st.integers(-5, 80))
def test_a_random_sentence_ends_where_the_librarys_ends(lengths, data, wanted):
    sentence = data.draw(st.integers(0, len(lengths) - 1))
    store = store_in_memory([lengths])
    arguments = (np.array([number]) for number in (sentence, len(lengths), wanted))
    _, end = spans(store, *arguments)
    assert store.sentence_starts[take_from(lengths, sentence, wanted)] == end[0]


def test_tokens_are_removed_equally_from_both_ends():
    numbers = iter(np.random.default_rng(0).random(40_000).tolist())
    kept = [lose(10, 30, 4, numbers) for _ in range(10_000)]
    assert {end - start for start, end in kept} == {16}
    assert binomtest(sum(start - 10 for start, _ in kept), 40_000).pvalue > 1e-6


def test_attention_across_sep_counts_words_of_the_other_segment_only():
    """Two layers of two heads; each query gives key number k the weight k."""
    ids, segment_ids = torch.tensor([[2, 7, 8, 3, 9, 3, 0]]), torch.tensor([[0, 0, 0, 0, 1, 1, 0]])
    weights = torch.arange(7.0).expand(1, 2, 7, 7)

    class Model:
        def bert(self, *batch, output_attentions):
            return SimpleNamespace(attentions=(weights, weights + 1))

    PAGE["marks"] = [2, 3, 0]
    to_b, to_a = PAGE["across"](Model(), ids, segment_ids, ids != 0)
    assert (to_b.tolist(), to_a.tolist()) == ([[4, 4, 5, 5]], [[3, 3, 5, 5]])
