"""The world of the stories, and samples from it."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from course.toyworld import TOYWORLD, World, pairs, stories
from course.toyworld.world import PLACES
from tests.bertlab.pretraining.test_batches import within
from tests.course.toyworld.test_inference import SMALL

SMALL = replace(SMALL, plans=("SUBJECT GOES to PLACE", "the THING MAKES OBJECT MOOD"))


def test_words_agree_with_their_hero_in_gender_and_number():
    tokenizer = TOYWORLD.tokenizer
    forms = {hero.name.lower(): set(hero[1:4]) for hero in TOYWORLD.heroes}
    pronouns = set().union(*forms.values())
    plural = {word.lower() for hero in TOYWORLD.heroes if hero.plural for word in hero[:2]}
    verbs = {"walks", "runs", "comes", "walk", "run", "come", "finds", "sees", "find", "see"}
    verbs |= {"is", "are"}
    for story in stories(200, seed=3):
        words = [token for sentence in story for token in tokenizer.tokenize(sentence)]
        named = set(words) & set(forms)
        assert len(named) <= 1, f"two heroes in one story: {story}"
        for name in named:
            assert set(words) & pronouns <= forms[name], story
        for subject, verb in pairwise(words):
            if verb in verbs:
                assert verb.endswith("s") != (subject in plural), story
            if verb in {"makes", "make"}:
                assert verb.endswith("s") != (subject == "boots"), story


def test_every_word_is_one_token_and_the_special_ones_come_first():
    tokenizer = TOYWORLD.tokenizer
    assert tokenizer.special_tokens == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    assert [tokenizer.vocab[token] for token in tokenizer.special_tokens] == [0, 1, 2, 3, 4]
    assert sorted(tokenizer.vocab.values()) == list(range(len(tokenizer.vocab)))
    for story in stories(50, seed=1):
        for sentence in story:
            assert len(tokenizer.tokenize(sentence)) == len(sentence.split())
            assert "[UNK]" not in tokenizer.tokenize(sentence)


def test_the_sizes_are_those_quoted_in_the_course():
    assert len(TOYWORLD.tokenizer.vocab) == 68
    lengths = {len(sentence.split()) for story in stories(200, seed=2) for sentence in story}
    assert lengths == {5, 6, 7, 8}
    assert pairs(1, seed=0).ids.shape == (1, 19)


def test_one_sentence_by_hand():
    words = {word: id for id, word in enumerate(SMALL.spelling)}
    columns = ["", *(hero.name for hero in SMALL.heroes), *SMALL.places, "lamp", "boots", "", ""]

    def said(place, name):
        row = SMALL.words[place, 0, columns.index(name)]
        return {SMALL.spelling[id]: row[id].item() for id in row.nonzero().flatten().tolist()}

    third = pytest.approx(1 / 3)
    assert said(0, "Mia") == {"Mia": 0.5, "she": 0.5}
    assert said(0, "pirates") == {"pirates": 0.5, "they": 0.5}
    assert said(1, "Mia") == {"walks": third, "runs": third, "comes": third}
    assert said(1, "pirates") == {"walk": third, "run": third, "come": third}
    assert said(2, "") == {"to": 1}
    assert said(3, "bridge") == {"bridge": 1}
    assert (said(4, ""), said(5, "")) == ({"[SEP]": 1}, {"[PAD]": 1})
    assert said(2, "Mia") == said(0, "bridge") == {}  # that part has no effect here
    assert SMALL.words[:, 0, :, words["lamp"]].sum() == 0  # nor does any thing in this plan


@pytest.mark.parametrize("world", [TOYWORLD, SMALL])
def test_every_slot_of_a_plan_is_filled_by_one_part_with_probability_one(world):
    by_part = world.words.sum(dim=-1).split(world.sizes, dim=-1)
    filled = torch.stack([part.amin(dim=-1) for part in by_part])
    torch.testing.assert_close(filled.sum(dim=0), torch.ones(filled.shape[1:]))
    torch.testing.assert_close(filled, torch.stack([part.amax(dim=-1) for part in by_part]))


def test_transitions_by_hand():
    world = World(anew=(0, 0.6, 0.2, 0.75))
    hero, place, thing, mood = world.next_part
    third = 1 / 3
    assert world.next_plan[1].tolist() == pytest.approx([third, 0, third, third])
    assert torch.equal(hero, torch.eye(10))
    assert place[0].tolist() == pytest.approx([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert thing[1].tolist() == pytest.approx([0.05, 0.85, 0.05, 0.05])
    assert mood[2].tolist() == pytest.approx([0.25, 0.25, 0.5])


@pytest.mark.parametrize("world", [TOYWORLD, SMALL, World(places=("lake",), plans=("to PLACE",))])
def test_all_states_stay_equally_likely(world):
    for matrix in (world.next_plan, *world.next_part):
        torch.testing.assert_close(matrix.sum(dim=0), torch.ones(len(matrix)))
        torch.testing.assert_close(matrix.sum(dim=1), torch.ones(len(matrix)))
        assert matrix.min() >= 0


def test_stories_have_the_requested_number_of_sentences_or_are_rejected():
    assert {len(story) for story in stories(300, seed=0, sentences=(2, 4))} == {2, 3, 4}
    with pytest.raises(ValueError, match=r"n=0, sentences=\(4, 8\)"):
        stories(0, seed=0)
    with pytest.raises(ValueError, match=r"a range from 1 up; got n=1, sentences=\(3, 2\)"):
        stories(1, seed=0, sentences=(3, 2))
    with pytest.raises(ValueError, match="pairs: n must be at least 1; got 0"):
        pairs(0, seed=0)


@pytest.mark.slow
def test_places_change_with_the_probability_of_the_world():
    told = stories(2000, seed=5, sentences=(2, 2))
    both = [[set(sentence.split()) & set(PLACES) for sentence in story] for story in told]
    known = [pair for pair in both if all(pair)]
    steps = Counter((PLACES.index(*after) - PLACES.index(*before)) % 6 for before, after in known)
    n = sum(steps.values())
    assert n > 200
    assert within(steps[0], n, 0.5 + 0.5 / 6)
    assert within(steps[3], n, 0.5 / 6)


def test_a_pair_has_the_layout_of_bert():
    drawn = pairs(300, seed=2)
    tokenizer = TOYWORLD.tokenizer
    for ids, segments, mask in zip(*(t.tolist() for t in drawn[:3]), strict=True):
        first, second, padding = tokenizer.decode(ids, skip_special_tokens=False).split(" [SEP]")
        reference = tokenizer.encode(first.removeprefix("[CLS] "), second)
        n = len(reference.ids)
        assert (ids[:n], segments[:n]) == (list(reference.ids), list(reference.segment_ids))
        assert set(padding.split()) <= {"[PAD]"}
        assert mask == [True] * n + [False] * (len(ids) - n)
        assert not any(segments[n:])


def test_half_of_the_pairs_are_neighbours():
    labels = pairs(5_000, seed=4).next_sentence
    assert within(int(labels.sum()), 5_000, 0.5)
    assert set(labels.tolist()) == {0, 1}


@pytest.mark.slow
def test_words_are_drawn_with_their_probabilities():
    n = 40_000
    counts = Counter(SMALL.spelling[id] for id in pairs(n, seed=6, world=SMALL).ids[:, 1].tolist())
    expected = {"Mia": 1 / 8, "she": 1 / 8, "pirates": 1 / 8, "they": 1 / 8, "the": 1 / 2}
    assert set(counts) == set(expected)
    for word, probability in expected.items():
        assert within(counts[word], n, probability), word


def test_the_seed_alone_determines_the_pairs():
    before = torch.random.get_rng_state()
    for first, second in zip(pairs(50, seed=7), pairs(50, seed=7), strict=True):
        assert torch.equal(first, second)
    assert stories(20, seed=7) == stories(20, seed=7)
    assert stories(20, seed=7) != stories(20, seed=8)
    assert torch.equal(torch.random.get_rng_state(), before), "the global state is left alone"


@pytest.mark.slow
def test_another_seed_shares_pairs_by_chance_only():
    n = 10_000
    first, second = (Counter(map(tuple, pairs(n, seed).ids.tolist())) for seed in (0, 1))
    by_chance = sum(count * (count - 1) / 2 for count in first.values()) / (n * (n - 1) / 2)
    shared = sum(first[row] * count for row, count in second.items()) / n**2
    assert shared == pytest.approx(by_chance, rel=0.2)  # that two pairs are the same


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": ()}, "places must hold at least one; got none"),
        ({"anew": (0, 1.5, 0, 0)}, "anew must hold a probability for each of .*; got .0, 1.5"),
        ({"anew": (0, 0.5)}, "anew must hold a probability for each of heroes, .*; got .0, 0.5"),
        ({"plans": ("SUBJECT FLIES .",)}, "plans may use the slots SUBJECT, .*; got FLIES"),
    ],
)
def test_an_impossible_world_is_rejected(changes, message):
    with pytest.raises(ValueError, match=f"World: {message}"):
        World(**changes)
