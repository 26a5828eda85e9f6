"""Entailment in the toy world: labels by the probabilities of words, and how pairs are drawn."""

import pytest
import torch

from course.toyworld.entailment import LABELS, draw_inferences, meanings, moments, relation
from course.toyworld.world import PAD_ID, TOYWORLD

TRUE_OF = meanings()


@pytest.mark.slow
def test_labels_are_those_that_the_worlds_table_of_words_gives():
    length, starts = len(TOYWORLD.words), torch.tensor(TOYWORLD.sizes[:-1]).cumsum(0)
    parts = torch.cartesian_prod(*(torch.arange(n) for n in TOYWORLD.sizes[1:]))  # [720, 4]
    columns = torch.nn.functional.pad(parts + starts, (1, 0))  # the first means no part
    told, number = torch.zeros(len(TRUE_OF), 720), {m: n for n, m in enumerate(moments())}
    for row, (text, those) in enumerate(TRUE_OF.items()):
        ids = (TOYWORLD.tokenizer.encode(text).ids[1:] + [PAD_ID] * length)[:length]
        words = TOYWORLD.words[range(length), :, :, ids][:, :, columns].sum(dim=-1)  # [I, K, 720]
        told[row] = (words > 0).all(dim=0).any(dim=0)  # each word is possible, by one of the plans
        assert told[row].nonzero().flatten().tolist() == sorted(number[m] for m in those)
    share = told @ told.T / told.sum(dim=1, keepdim=True)  # of A's moments, those with B: [N, N]
    names = list(TRUE_OF)
    for a in range(0, len(names), 31):
        for b in range(0, len(names), 17):
            expected = LABELS[0 if share[a, b] == 1 else 1 if share[a, b] > 0 else 2]
            assert relation(TRUE_OF[names[a]], TRUE_OF[names[b]]) == expected


def test_each_hypothesis_has_all_labels_and_the_requested_sentences():
    kept = sorted(TRUE_OF)[::3]
    pairs = draw_inferences(300, seed=3, sentences=kept)
    assert [e.label for e in pairs] == list(LABELS) * 100
    assert all(len({e.pair for e in pairs[n : n + 3]}) == 1 for n in range(0, 300, 3))
    assert all(relation(TRUE_OF[e.text], TRUE_OF[e.pair]) == e.label for e in pairs)
    assert not any(e.text == e.pair for e in pairs)
    assert {text for e in pairs for text in (e.text, e.pair)} <= set(kept)
    assert pairs == draw_inferences(300, seed=3, sentences=kept) != draw_inferences(300, 4, kept)
    with pytest.raises(ValueError, match="multiple of 3"):
        draw_inferences(4, seed=0)
