"""The world of the stories, and what is drawn from it."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch

from bertlab.data.toyworld import TOYWORLD, World, pairs, stories
from bertlab.data.toyworld.world import HEROES, MOODS, PLACES, THINGS, State

SMALL = World(
    heroes=(HEROES[0], HEROES[6]),
    places=PLACES[:3],
    things=THINGS[3:5],
    moods=MOODS[:2],
    plans=("SUBJECT GOES to PLACE", "the THING MAKES OBJECT MOOD"),
    naming=0.3,
)


def within_chance(count, n, probability):
    """Five standard deviations: once in a million for a test that is right."""
    return abs(count - n * probability) <= 5 * math.sqrt(n * probability * (1 - probability)) + 1e-9


def test_words_agree_with_their_hero_in_gender_and_number():
    tokenizer = TOYWORLD.tokenizer
    forms = {
        hero.name.lower(): {hero.subject, hero.object, hero.possessive} for hero in TOYWORLD.heroes
    }
    pronouns = set().union(*forms.values())
    plural = {hero.name.lower() for hero in TOYWORLD.heroes if hero.plural} | {"they"}
    for story in stories(200, seed=3):
        words = [token for sentence in story for token in tokenizer.tokenize(sentence)]
        named = set(words) & set(forms)
        assert len(named) <= 1, f"two heroes in one story: {story}"
        for name in named:
            assert set(words) & pronouns <= forms[name], story
        for subject, verb in pairwise(words):
            if subject in {"she", "he", "they"} | set(forms):
                assert verb.endswith("s") != (subject in plural), story
    singular = {"walks", "runs", "comes", "finds", "sees", "takes", "carries", "is", "makes"}
    assert singular < set(tokenizer.vocab)


def test_a_story_by_hand():
    assert stories(1, seed=0, sentences=(3, 3)) == [[]]


def test_every_word_is_one_token_and_the_special_ones_come_first():
    tokenizer = TOYWORLD.tokenizer
    assert tokenizer.special_tokens == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    assert [tokenizer.vocab[token] for token in tokenizer.special_tokens] == [0, 1, 2, 3, 4]
    assert sorted(tokenizer.vocab.values()) == list(range(len(tokenizer.vocab)))
    for story in stories(50, seed=1):
        for sentence in story:
            assert len(tokenizer.tokenize(sentence)) == len(sentence[:-1].split()) + 1
            assert "[UNK]" not in tokenizer.tokenize(sentence)


def test_the_sizes_are_those_that_the_course_counts_on():
    lengths = TOYWORLD.words.argmax(dim=-1).eq(3).int().argmax(dim=0)  # the place of [SEP]
    assert (int(lengths.min()), int(lengths.max())) == (6, 9)
    assert 60 <= len(TOYWORLD.tokenizer.vocab) <= 120
    assert pairs(1, seed=0).ids.shape == (1, 21)


def test_each_state_says_words_with_probabilities_that_sum_to_one():
    for world in (TOYWORLD, SMALL):
        torch.testing.assert_close(world.words.sum(-1), torch.ones(world.words.shape[:2]))
        assert world.words.min() == 0


def test_one_state_by_hand():
    state = State(SMALL.plans[0], HEROES[6], "lake", THINGS[3], MOODS[0])
    z = World(places=("hill", "lake"), plans=SMALL.plans, naming=0.3).states.index(state)
    world = World(places=("hill", "lake"), plans=SMALL.plans, naming=0.3)
    said = [
        {world.spelling[id]: row[id].item() for id in row.nonzero().flatten().tolist()}
        for row in world.words[:, z]
    ]
    third = pytest.approx(1 / 3)
    assert said == [
        {HEROES[6].name: pytest.approx(0.3), "they": pytest.approx(0.7)},
        {"walk": third, "run": third, "come": third},
        {"to": 1.0},
        {"lake": 1.0},
        {"[SEP]": 1.0},
        {"[PAD]": 1.0},
    ]


def test_transitions_by_hand():
    plan, hero, place, thing, mood = World(walking=0.4, losing=0.3, changing=0.25).transitions
    assert plan[0].tolist() == pytest.approx([0, 0.2, 0.2, 0.2, 0.2, 0.2])
    assert torch.equal(hero, torch.eye(9))
    assert place[0].tolist() == pytest.approx([0.6, 0.2, 0, 0, 0, 0.2])
    assert thing[1].tolist() == pytest.approx([0.05, 0.75, 0.05, 0.05, 0.05, 0.05])
    assert mood.tolist() == [[0.75, 0.25, 0], [0, 0.75, 0.25], [0.25, 0, 0.75]]


@pytest.mark.parametrize("world", [TOYWORLD, SMALL, World(places=("lake",), plans=("ACTS",))])
def test_all_states_stay_equally_likely(world):
    even = torch.full((3, len(world.states)), 1 / len(world.states))
    torch.testing.assert_close(world.follow(even), even)
    ones = torch.ones(3, len(world.states))
    torch.testing.assert_close(world.trace_back(ones), ones)


def test_chains_go_on_as_the_matrix_of_all_states_says():
    matrix = torch.ones(1, 1)
    for part in SMALL.transitions:
        matrix = torch.kron(matrix, part)
    states = torch.rand(4, len(SMALL.states), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(SMALL.follow(states), states @ matrix)
    torch.testing.assert_close(SMALL.trace_back(states), states @ matrix.T)


def test_stories_have_as_many_sentences_as_asked_for():
    assert {len(story) for story in stories(300, seed=0, sentences=(2, 4))} == {2, 3, 4}
    with pytest.raises(ValueError, match=r"n=0, sentences=\(4, 8\)"):
        stories(0, seed=0)
    with pytest.raises(ValueError, match=r"a range from 1 up; got n=1, sentences=\(3, 2\)"):
        stories(1, seed=0, sentences=(3, 2))


def test_the_hero_of_a_story_walks_only_to_neighbouring_places():
    told = stories(400, seed=5, sentences=(2, 2))
    both = [[set(s[:-1].split()) & set(PLACES) for s in story] for story in told]
    steps = Counter(
        (PLACES.index(*after) - PLACES.index(*before)) % 6 for before, after in both if before and after
    )
    n = sum(steps.values())
    assert set(steps) == {0, 1, 5}
    assert within_chance(steps[0], n, 1 - TOYWORLD.walking)
    assert within_chance(steps[1], n, TOYWORLD.walking / 2)


def test_a_pair_is_laid_out_as_bert_wants_it():
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
    labels = pairs(20_000, seed=4).next_sentence
    assert within_chance(int(labels.sum()), 20_000, 0.5)
    assert set(labels.tolist()) == {0, 1}


def test_sentences_are_drawn_as_often_as_their_probability_says():
    # The first place of A, over all: a name 0.3 / 2 / 2 plans, a pronoun 0.7 / 2 / 2, "the" 1 / 2.
    n = 40_000
    drawn = pairs(n, seed=6, world=SMALL)
    counts = Counter(SMALL.spelling[id] for id in drawn.ids[:, 1].tolist())
    expected = {"Mia": 0.075, "elves": 0.075, "she": 0.175, "they": 0.175, "the": 0.5}
    assert set(counts) == set(expected)
    for word, probability in expected.items():
        assert within_chance(counts[word], n, probability), word


def test_the_seed_decides():
    for first, second in zip(pairs(50, seed=7), pairs(50, seed=7), strict=True):
        assert torch.equal(first, second)
    assert stories(20, seed=7) == stories(20, seed=7)
    assert stories(20, seed=7) != stories(20, seed=8)


def test_another_seed_shares_pairs_by_chance_only():
    n = 20_000
    rows = [[tuple(row) for row in pairs(n, seed=seed).ids.tolist()] for seed in (0, 1)]
    within = sum(count * (count - 1) for count in Counter(rows[0]).values()) / (n * (n - 1))
    seen = Counter(rows[0])
    across = sum(seen[row] for row in rows[1]) / n**2
    assert across < 2 * within + 1e-6  # the chance that two pairs are the same
    assert sum(row in seen for row in rows[1]) < 0.02 * n


def test_drawing_leaves_the_global_random_state_alone():
    before = torch.random.get_rng_state()
    pairs(5, seed=0)
    stories(5, seed=0)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": ()}, "places must hold at least one; got none"),
        ({"walking": 1.5}, r"walking must be in \[0, 1\]; got 1.5"),
        ({"plans": ("SUBJECT FLIES .",)}, "plans may use the slots SUBJECT, .*; got FLIES"),
    ],
)
def test_an_impossible_world_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"World: {message}"):
        World(**changes)


def test_no_pairs_are_refused():
    with pytest.raises(ValueError, match="pairs: n must be at least 1; got 0"):
        pairs(0, seed=0)
