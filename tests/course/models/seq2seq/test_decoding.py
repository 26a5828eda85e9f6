"""Greedy decoding and beam search against brute force over every possible text."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bertlab.model.transformer import Transformer, TransformerConfig
from course.experiments.convolutional import Convolutional
from course.experiments.recurrent import Recurrent, RecurrentWithAttention
from course.models.seq2seq import decoding
from course.models.seq2seq.vocabulary import END_ID, PAD_ID, START_ID
from tests.bertlab.refusals import rejected

V = 5  # <pad>, <start>, <end> and two letters


class Oracle(nn.Module):
    """A model whose next-symbol logits are a random function of source and target so far."""

    def __init__(self, seed):
        super().__init__()
        self.seed = seed

    def encode(self, source_ids, source_mask):
        return source_ids[:, :1].float()

    def decode(self, target_ids, memory, source_mask):
        logits = torch.zeros(*target_ids.shape, V)
        for row, ids in enumerate(target_ids.tolist()):
            key = hash((self.seed, int(memory[row, 0]), *ids)) % 2**31
            generator = torch.Generator().manual_seed(key)
            logits[row, -1] = 2 * torch.randn(V, generator=generator)  # what decoding reads
        return logits


def source(*first):
    ids = torch.tensor([[id, END_ID] for id in first])
    return ids, torch.ones_like(ids, dtype=torch.bool)


def every_text(max_length):
    """All texts that end with <end>, or are cut at max_length."""
    others = [id for id in range(V) if id != END_ID]
    for length in range(max_length):
        for letters in itertools.product(others, repeat=length):
            yield (START_ID, *letters, END_ID)
    yield from ((START_ID, *letters) for letters in itertools.product(others, repeat=max_length))


def log_probability(model, ids, first):
    """By the chain rule, one symbol after the other, in plain Python."""
    total = 0.0
    for place in range(1, len(ids)):
        logits = model.decode(torch.tensor([ids[:place]]), torch.tensor([[float(first)]]), None)
        powers = [math.exp(value) for value in logits[0, -1].tolist()]
        total += math.log(powers[ids[place]] / sum(powers))
    return total


@settings(max_examples=8)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.6, 2.0]))
def test_a_wide_beam_finds_what_brute_force_finds(seed, alpha):
    model, max_length = Oracle(seed), 3
    brute = {ids: log_probability(model, ids, 4) for ids in every_text(max_length)}
    beam = decoding.beam_search(model, *source(4), max_length, beam_size=200, alpha=alpha)[0]
    found = {h.ids: h.log_probability for h in beam.hypotheses}
    assert found.keys() == brute.keys()
    for ids, value in brute.items():
        assert found[ids] == pytest.approx(value, abs=1e-5)
    ended = [ids for ids in brute if ids[-1] == END_ID]
    best = max(ended, key=lambda ids: brute[ids] / ((5 + len(ids) - 1) / 6) ** alpha)
    assert beam.hypotheses[0].ids == best
    assert sum(math.exp(value) for value in found.values()) == pytest.approx(1)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_a_beam_of_one_is_greedy_decoding(seed, max_length):
    model = Oracle(seed)
    greedy = decoding.greedy_decode(model, *source(3, 4), max_length)
    beams = decoding.beam_search(model, *source(3, 4), max_length, beam_size=1)
    assert greedy.ids == [list(beam.hypotheses[0].ids) for beam in beams]


def test_greedy_takes_the_most_likely_symbol_each_time():
    model = Oracle(5)
    ids = [START_ID]
    while ids[-1] != END_ID and len(ids) < 7:
        logits = model.decode(torch.tensor([ids]), torch.tensor([[4.0]]), None)[0, -1]
        ids.append(max(range(V), key=lambda id: logits[id].item()))
    decoded = decoding.greedy_decode(model, *source(4), 6)
    assert decoded.ids == [ids]
    assert len(decoded.steps) == len(ids) - 1
    for step in decoded.steps:
        torch.testing.assert_close(step.sum(dim=-1), torch.ones(1))


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_a_batch_is_decoded_like_its_sources_one_by_one(seed):
    model = Oracle(seed)
    together = decoding.beam_search(model, *source(0, 1, 2, 3), 5, beam_size=3)
    alone = [decoding.beam_search(model, *source(first), 5, beam_size=3)[0] for first in range(4)]
    assert together == alone
    assert [len(beam.hypotheses) for beam in together] == [3] * 4  # finished ones keep a place
    ids = decoding.greedy_decode(model, *source(0, 1, 2, 3), 5).ids
    assert ids == [decoding.greedy_decode(model, *source(first), 5).ids[0] for first in range(4)]


class Garden(Oracle):
    """Greedy takes a (0.6), after which all are equally bad; b (0.4) leads to a certain end."""

    def __init__(self):
        super().__init__(0)

    def decode(self, target_ids, memory, source_mask):
        a, b = 3, 4
        tiny = 1e-9
        table = {
            (START_ID,): {a: 0.6, b: 0.4},
            (START_ID, a): {a: 1 / 3, b: 1 / 3, END_ID: 1 / 3},
            (START_ID, b): {END_ID: 1.0},
        }
        rows = [table.get(tuple(ids), {END_ID: 1.0}) for ids in target_ids.tolist()]
        probabilities = torch.tensor([[row.get(id, tiny) for id in range(V)] for row in rows])
        return probabilities.log()[:, None, :].expand(-1, target_ids.shape[1], -1)


def test_a_beam_of_two_finds_what_greedy_overlooks():
    # By hand: a then <end> is 0.6 / 3 = 0.2; b then <end> is 0.4.
    greedy = decoding.greedy_decode(Garden(), *source(3), 4)
    assert greedy.ids[0][1] == 3
    beam = decoding.beam_search(Garden(), *source(3), 4, beam_size=2)[0]
    assert beam.hypotheses[0].ids == (START_ID, 4, END_ID)
    assert math.exp(beam.hypotheses[0].log_probability) == pytest.approx(0.4, abs=1e-6)
    assert [h.ids for h in beam.steps[0]] == [(START_ID, 3), (START_ID, 4)]
    assert beam.steps[1][0].ids == (START_ID, 4, END_ID)


def test_likeliest_by_hand():
    begun = ((3, 0.5), (4, 0.3))
    beam = [decoding.Hypothesis((START_ID, id), math.log(p)) for id, p in begun]
    rows = torch.tensor([[0.1, 0.1, 0.2, 0.4, 0.2], [0.02, 0.02, 0.9, 0.03, 0.03]]).log()
    kept = decoding.most_likely(beam, rows, 2)
    assert [h.ids for h in kept] == [(START_ID, 4, END_ID), (START_ID, 3, 3)]  # 0.27 and 0.2
    assert [math.exp(h.log_probability) for h in kept] == pytest.approx([0.27, 0.2])


def test_the_length_penalty_by_hand_and_how_it_lets_a_longer_text_win():
    # Eq. 14 of Wu et al.: (5 + |Y|)^a / (5 + 1)^a
    assert decoding.length_penalty(1, 0.6) == 1
    assert decoding.length_penalty(13, 0.5) == pytest.approx(3**0.5)
    assert decoding.length_penalty(9, 0) == 1
    short = decoding.Hypothesis((START_ID, END_ID), -2.0)
    long = decoding.Hypothesis((START_ID, 3, 4, 3, 4, 3, END_ID), -2.5)
    assert short.score(0.0) > long.score(0.0)
    assert long.score(0.6) > short.score(0.6)
    assert short.score(1.0) == -2.0  # one symbol was written, <end>: <start> does not count
    assert long.score(1.0) == pytest.approx(-2.5 * 6 / 11)


def small_models():
    sizes = {"vocab_size": 9, "d_model": 8}
    return [
        Recurrent(**sizes),
        RecurrentWithAttention(**sizes),
        Convolutional(**sizes),
        Transformer(TransformerConfig(**sizes, n_layers=1, n_heads=2, d_ff=16)),
    ]


@pytest.mark.parametrize("model", small_models(), ids=lambda model: type(model).__name__)
def test_every_model_can_be_decoded_and_padding_does_not_matter(model):
    ids = torch.tensor([[3, 4, 5, END_ID, PAD_ID, PAD_ID], [6, 7, 8, 3, 4, END_ID]])
    mask = ids != PAD_ID
    model.train()
    both = decoding.beam_search(model, ids, mask, 4, beam_size=3)
    alone = decoding.beam_search(model, ids[:1, :4], mask[:1, :4], 4, beam_size=3)
    assert model.training
    assert [h.ids for h in both[0].hypotheses] == [h.ids for h in alone[0].hypotheses]
    for one, other in zip(both[0].hypotheses, alone[0].hypotheses, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-5)
    greedy = decoding.greedy_decode(model, ids, mask, 4)
    assert all(row[0] == START_ID and len(row) <= 5 for row in greedy.ids)
    one = decoding.beam_search(model, ids, mask, 4, beam_size=1)
    assert greedy.ids == [list(beam.hypotheses[0].ids) for beam in one]


def test_numbers_out_of_range_are_rejected():
    short = "greedy_decode: max_length must be at least 1; got 0"
    rejected(short, decoding.greedy_decode, Oracle(0), *source(3), 0)
    narrow = r"got beam_size=0, alpha=0\.6"
    rejected(narrow, decoding.beam_search, Oracle(0), *source(3), 3, beam_size=0)
