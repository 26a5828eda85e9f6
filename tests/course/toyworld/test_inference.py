"""The best possible predictions, against an enumeration of all sentences of a small world."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from bertlab.pretraining.masking import Masking, mask_tokens
from course import toyworld
from course.toyworld.reading import masking_matrix
from course.toyworld.world import HEROES, MOODS, PLACES, THINGS, Mood

PAD, CLS, SEP, MASK = 0, 2, 3, 4
SMALL = toyworld.World(
    heroes=(HEROES[0], HEROES[7]),  # Mia and the pirates
    places=PLACES[:3],
    things=(THINGS[0], THINGS[-1]),
    moods=MOODS[:2],
    plans=("SUBJECT GOES to PLACE", "the THING MAKES OBJECT MOOD", "SUBJECT IS MOOD"),
)
# Small enough to enumerate all inputs.
SMALLEST = toyworld.World(
    heroes=HEROES[:1],
    places=PLACES[:1],
    things=THINGS[:1],
    moods=(Mood(("happy",), ()), Mood(("hungry",), ())),
    plans=("SUBJECT MOOD", "MOOD"),
)


class Reference:
    """All sentences of a world, the joint probability of two, and Bayes' rule, by enumeration."""

    def __init__(self, world, probability=0.15):
        self.world, self.p = world, probability
        vocab = world.tokenizer.vocab
        self.n_words = len(vocab) - 5
        states = list(product(world.plans, world.heroes, world.places, world.things, world.moods))
        said = [self.sentences_of(*state) for state in states]
        self.sentences = sorted({tuple(vocab[w] for w in words) for s in said for words in s})
        number = {sentence: i for i, sentence in enumerate(self.sentences)}
        emission = np.zeros((len(states), len(self.sentences)))
        for z, sentences in enumerate(said):
            for words in sentences:
                emission[z, number[tuple(vocab[w] for w in words)]] += 1 / len(sentences)
        follows = np.array([[self.step(a, b) for b in states] for a in states])
        self.next = emission.T @ follows @ emission / len(states)  # [S, S], P(A, B | IsNext)
        self.other = np.outer(emission.mean(0), emission.mean(0))
        self.mixed = (self.next + self.other) / 2

    def sentences_of(self, plan, hero, place, thing, mood):
        """All sentences of a state; each is equally likely."""
        words = {
            "SUBJECT": [hero.name.lower(), hero.subject],
            "OBJECT": [hero.object],
            "GOES": ["walk", "run", "come"] if hero.plural else ["walks", "runs", "comes"],
            "IS": ["are" if hero.plural else "is"],
            "MAKES": ["make" if thing.plural else "makes"],
            "PLACE": [place],
            "THING": [thing.name],
            "MOOD": mood.adjectives,
        }
        return list(product(*(words.get(slot, [slot]) for slot in plan.split())))

    def step(self, a, b):
        """P(next state is b | this one is a), from the world's description."""
        world = self.world
        plan_a, hero_a, place_a, thing_a, mood_a = a
        plan_b, hero_b, place_b, thing_b, mood_b = b
        _, walking, losing, changing = world.anew
        place = (place_a == place_b) * (1 - walking) + walking / len(world.places)
        thing = (thing_a == thing_b) * (1 - losing) + losing / len(world.things)
        mood = (mood_a == mood_b) * (1 - changing) + changing / len(world.moods)
        plan = (plan_a != plan_b) / (len(world.plans) - 1)
        return (hero_a == hero_b) * place * thing * mood * plan

    def read_if_chosen(self, word, token):
        return 0.8 * (token == MASK) + 0.1 * (token == word) + 0.1 / self.n_words * (token > 4)

    def read(self, word, token):
        return self.p * self.read_if_chosen(word, token) + (1 - self.p) * (token == word)

    def likelihood(self, tokens, hole=None):
        """P(tokens are read | sentence) for each sentence; the masked position is known."""

        def of(sentence):
            if len(sentence) != len(tokens):
                return 0.0
            return math.prod(
                (self.read_if_chosen if i == hole else self.read)(word, token)
                for i, (word, token) in enumerate(zip(sentence, tokens, strict=True))
            )

        return np.array([of(sentence) for sentence in self.sentences])

    def of_word(self, first, second, side, place, joint):
        """P(what is read, and the true word at a place is v): [V]."""
        holes = [None, None]
        holes[side] = place
        of_a, of_b = self.likelihood(first, holes[0]), self.likelihood(second, holes[1])
        weights = joint * np.outer(of_a, of_b)
        of_sentence = weights.sum(axis=1 - side)
        found = np.zeros(self.n_words + 5)
        for sentence, weight in zip(self.sentences, of_sentence, strict=True):
            if weight:
                found[sentence[place]] += weight
        return found

    def of_every_word(self, row, joint):
        """`of_word` at every place of a row of ids, from left to right."""
        first, second = split(row)
        for side, tokens in enumerate((first, second)):
            for place in range(len(tokens)):
                yield self.of_word(first, second, side, place, joint)

    def of_next(self, first, second):
        a, b = self.likelihood(first), self.likelihood(second)
        following, other = a @ self.next @ b, a @ self.other @ b
        return following / (following + other)


def split(row):
    """The tokens of A and B, of a row of ids."""
    end = row.index(SEP)
    return row[1:end], row[end + 1 : row.index(SEP, end + 1)]


def masked(n, seed, world, probability=0.15):
    drawn = toyworld.pairs(n, seed, world)
    masking = Masking.of(world.tokenizer, probability)
    return drawn, mask_tokens(drawn.ids, masking, torch.Generator().manual_seed(seed))


def every_hole(ids):
    return ids > SEP


@pytest.mark.parametrize(
    ("predicted", "world", "probability"),
    [
        *product([toyworld.posterior], [SMALL, SMALLEST], [0.15, 0.5]),
        (toyworld.posterior_of_sentence, SMALL, 0.15),
    ],
)
def test_the_posterior_of_words_is_that_of_enumeration(predicted, world, probability):
    _, holes = masked(25, 0, world, probability)
    reference = Reference(world, probability)
    # Within a sentence: as if the other sentence were independent.
    joint = reference.mixed if predicted is toyworld.posterior else reference.other
    rows = holes.ids.tolist()
    expected = np.array([p for row in rows for p in reference.of_every_word(row, joint)])
    expected = torch.tensor(expected / expected.sum(1, keepdims=True), dtype=torch.float)
    found = predicted(holes.ids, every_hole(holes.ids), world, probability)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("probability", [0.0, 0.15, 0.5])
def test_the_posterior_of_next_sentence_is_that_of_enumeration(probability):
    drawn, holes = masked(100, 2, SMALL, probability or 0.15)
    ids = holes.ids if probability else drawn.ids
    reference = Reference(SMALL, probability)
    expected = [reference.of_next(*split(row)) for row in ids.tolist()]
    found = toyworld.next_sentence_posterior(ids, SMALL, probability)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float))


@pytest.mark.parametrize("world", [SMALL, SMALLEST])
def test_the_probability_of_a_pair_is_that_of_enumeration(world):
    reference = Reference(world)
    said = list(product(enumerate(reference.sentences), repeat=2))
    longest = max(map(len, reference.sentences))
    rows = [[CLS, *first, SEP, *second, SEP] for (_, first), (_, second) in said]
    ids = torch.tensor([row + [PAD] * (3 + 2 * longest - len(row)) for row in rows])
    expected = torch.tensor([reference.mixed[a, b] for (a, _), (b, _) in said])
    probable = expected > 0
    found = toyworld.log_probability(ids[probable], world)
    torch.testing.assert_close(found, expected[probable].log().float())
    assert found.exp().sum().item() == pytest.approx(1.0, abs=1e-4)


def test_the_probability_of_a_pair_by_hand_and_of_an_impossible_one():
    a, b = "Tom walks to the lake with his drum", "he sees his drum near the lake"
    # plan, hero, name or pronoun, verb, place, thing
    first = 1 / 4 / 10 / 2 / 3 / 6 / 4
    other = 1 / 4 * (2 / 10) / 2 / 2 / 6 / 4  # two heroes are a he
    following = 1 / 3 / 2 / 2 * (0.5 + 0.5 / 6) * (0.7 + 0.3 / 4)
    expected = math.log(first * (other + following) / 2)
    assert toyworld.log_probability(row_of(a, b)).item() == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="pairs of this world's sentences; got"):
        toyworld.log_probability(row_of("she sees his lamp near the hill", "we run"))


@pytest.mark.slow
def test_the_expected_loss_is_the_conditional_entropy():
    """Over all inputs of the smallest world, each weighted with its probability."""
    reference = Reference(SMALLEST)
    tokens = [MASK, *range(5, len(SMALLEST.spelling))]
    cross_entropy = entropy = total = 0.0
    for lengths in product((1, 2), repeat=2):
        read = list(product(tokens, repeat=sum(lengths)))
        rows = [[CLS, *r[: lengths[0]], SEP, *r[lengths[0] :], SEP] for r in read]
        ids = torch.tensor(rows)
        found = toyworld.posterior(ids, every_hole(ids), SMALLEST).double().numpy()
        found = found.reshape(len(rows), sum(lengths), -1)
        for row, guesses in zip(rows, found, strict=True):
            joints = reference.of_every_word(row, reference.mixed)
            for joint, guess in zip(joints, guesses, strict=True):
                likely = joint > 0
                total += joint.sum()
                entropy -= (joint[likely] * np.log(joint[likely] / joint.sum())).sum()
                cross_entropy -= (joint[likely] * np.log(guess[likely])).sum()
    # Each position counts once, with the probability that it exists: 3 words on average.
    assert total == pytest.approx(3.0)
    assert cross_entropy == pytest.approx(entropy, rel=1e-5)
    assert 0.3 < entropy / total < 1.5

    drawn, holes = masked(20_000, 3, SMALLEST)
    words = drawn.ids[holes.predict]
    sampled = toyworld.limit(holes.ids, holes.predict, words, drawn.next_sentence, SMALLEST)
    assert sampled.mlm_loss == pytest.approx(entropy / total, abs=0.03)


def test_the_masking_is_that_of_pre_training():
    masking = Masking.of(SMALL.tokenizer)
    n, word = 200_000, SMALL.tokenizer.vocab[PLACES[0]]
    ids = torch.full((1, n), word)
    holes = mask_tokens(ids, masking, torch.Generator().manual_seed(0))
    for chosen, read in ((0.15, holes.ids[0]), (1.0, holes.ids[holes.predict])):
        expected = masking_matrix(SMALL, chosen=chosen)[word]
        counts = torch.bincount(read, minlength=len(expected))
        deviation = (len(read) * expected * (1 - expected)).sqrt()
        assert ((counts - len(read) * expected).abs() <= 5 * deviation + 0.01).all()
    special = masking_matrix(SMALL, chosen=0.15)[:5]
    assert torch.equal(special, torch.eye(len(SMALL.spelling))[:5])


def test_rows_sum_to_one_and_observed_words_are_possible():
    drawn, holes = masked(400, 4, toyworld.TOYWORLD)
    words = drawn.ids[holes.predict]
    for guess in (toyworld.posterior, toyworld.posterior_of_sentence):
        found = guess(holes.ids, holes.predict)
        torch.testing.assert_close(found.sum(1), torch.ones(len(words)))
        assert found.gather(1, words[:, None]).min() > 0
        assert found[:, :5].max() == 0  # special tokens
    following = toyworld.next_sentence_posterior(holes.ids)
    assert torch.where(drawn.next_sentence == 0, following, 1 - following).min() > 0


def assert_calibrated(probabilities, happened):
    """Among all events of predicted probability about p, a share of p occurred, for each p."""
    limits = [0.0, 0.01, 0.1, 0.3, 0.6, 0.9, 1.01]
    for low, high in pairwise(limits):
        bucket = (probabilities >= low) & (probabilities < high)
        given = probabilities[bucket].double()
        deviation = (given * (1 - given)).sum().sqrt()
        assert len(given) > 50
        assert abs(happened[bucket].sum() - given.sum()) < 5 * deviation


@pytest.mark.slow
def test_the_posteriors_are_calibrated():
    drawn, holes = masked(20_000, 5, toyworld.TOYWORLD)
    words = drawn.ids[holes.predict]
    found = toyworld.posterior(holes.ids, holes.predict)
    assert_calibrated(found, torch.nn.functional.one_hot(words, found.shape[1]))
    assert_calibrated(toyworld.next_sentence_posterior(holes.ids), drawn.next_sentence == 0)


def test_each_wider_view_lowers_the_loss():
    drawn, holes = masked(1500, 6, toyworld.TOYWORLD)
    words = drawn.ids[holes.predict]
    alone = toyworld.mean_loss(toyworld.word_frequencies(), words)
    near = toyworld.posterior_of_sentence(holes.ids, holes.predict)
    in_sentence = toyworld.mean_loss(near, words)
    best = toyworld.limit(holes.ids, holes.predict, words, drawn.next_sentence)
    everywhere = toyworld.posterior(holes.ids, holes.predict)
    assert best.mlm_loss == pytest.approx(toyworld.mean_loss(everywhere, words))
    assert alone > in_sentence + 2.5
    assert in_sentence > best.mlm_loss + 0.05
    assert 0.5 < best.mlm_loss < 0.65
    assert 0.85 < best.nsp_accuracy < 0.97
    assert 0.7 < best.mlm_accuracy + 0.03 < 0.8
    assert 0.1 < best.nsp_loss < 0.35


def test_word_frequencies_are_those_of_drawn_pairs():
    drawn = toyworld.pairs(5000, 7).ids
    words = drawn[drawn > SEP]
    frequencies = toyworld.word_frequencies()
    assert frequencies.sum() == pytest.approx(1)
    counted = torch.bincount(words, minlength=len(frequencies)) / len(words)
    torch.testing.assert_close(counted, frequencies, atol=0.005, rtol=0)


def row_of(first, second):
    return torch.tensor([toyworld.TOYWORLD.tokenizer.encode(first, second).ids])


def guesses(first, second):
    """Word -> probability at the first [MASK], if almost only these were masked."""
    ids = row_of(first, second)
    guess = toyworld.posterior(ids, ids == MASK, probability=1e-9)[0].tolist()
    return {word: p for word, p in zip(toyworld.TOYWORLD.spelling, guess, strict=True) if p > 1e-6}


def test_subject_probabilities_given_a_verb_by_hand():
    # The same plan twice: B is from another story and gives no information.
    found = guesses("[MASK] sees [MASK] lamp near the lake", "they find their drum near the hill")
    names = {hero.name for hero in HEROES if not hero.plural}
    assert set(found) == {"she", "he", "it"} | names
    assert found["she"] == pytest.approx(1 / 6)  # two heroes of six, each by name or by pronoun
    assert found["Omar"] == pytest.approx(1 / 12)


def test_probabilities_given_a_pronoun_by_hand():
    found = guesses("[MASK] sees [MASK] lamp near the lake", "his kite makes him happy")
    # B follows: A's hero is a he in 1 of 5, another thing 0.3 / 4, this plan 1/3. B does not:
    # A's hero is singular in 6 of 10, and B's a he in 1 of 5; that thing 1/4, this plan 1/4.
    following = (1 / 5) * (0.3 / 4) * (1 / 3)
    other = (6 / 10) * (1 / 5) * (1 / 4) * (1 / 4)
    share = following / (following + other)
    assert found["he"] == pytest.approx(share / 2 + (1 - share) / 6, rel=1e-4)
    assert found["Tom"] == pytest.approx(found["he"] / 2, rel=1e-4)
    assert found["she"] == pytest.approx((1 - share) / 6, rel=1e-4)


def test_next_sentence_probabilities_by_hand():
    def is_next(first, second):
        return toyworld.next_sentence_posterior(row_of(first, second), probability=0.0).item()

    def by_odds(*factors):
        odds = math.prod(factors)
        return pytest.approx(odds / (1 + odds))

    first = "Tom walks to the lake with his drum"
    assert is_next(first, "she sees her drum near the lake") == 0  # another hero
    assert is_next(first, "he runs to the lake with his drum") == 0  # the plan of A
    plan, he, tom = 4 / 3, 5, 10
    kept, lost = 0.7 * 4 + 0.3, 0.3  # a thing
    here, there = 0.5 * 6 + 0.5, 0.5  # a place
    assert is_next(first, "he sees his drum near the lake") == by_odds(plan, he, kept, here)
    assert is_next(first, "he sees his drum near the hill") == by_odds(plan, he, kept, there)
    assert is_next(first, "Tom sees his lamp near the hill") == by_odds(plan, tom, lost, there)
    assert is_next(first, "he is resting with his boots") == by_odds(plan, he, lost)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([2, 6, 3], r"rows of \[CLS\] A \[SEP\] B \[SEP\]"),
        ([6, 6, 3, 6, 3], r"rows of \[CLS\] A \[SEP\] B \[SEP\]"),
        ([2, 6, 3, 6, 3], r"pairs of this world's sentences; got '\[CLS\]"),
        ([2, *[6] * 30, 3, *[6] * 30, 3], "pairs of this world's sentences"),
    ],
)
def test_what_is_not_a_pair_is_rejected(row, message):
    ids = torch.tensor([row])
    with pytest.raises(ValueError, match=message):
        toyworld.next_sentence_posterior(ids)
    with pytest.raises(ValueError, match=message):
        toyworld.posterior(ids, ids == 6)


def test_masks_that_do_not_match_are_rejected():
    ids = toyworld.pairs(2, 0).ids
    with pytest.raises(ValueError, match=r"boolean and have the shape of ids, \[2, 19\]; got"):
        toyworld.posterior(ids, ids)
