"""Worked numbers of lecture 12, found again without the page: by hand, plain Python, PyTorch.

`states` checks besides that the page really says the number, so neither can change alone. What
its trainings reach is asserted on the page itself, where they run.
"""

import math
from fractions import Fraction
from itertools import product

import pytest
import torch
from torch.nn import functional as F

from course.toyworld import TOYWORLD, log_probability, pairs

LECTURE = "12_after_bert"


# GPT.


def test_the_loss_of_three_words_is_that_of_their_product(states):
    together = Fraction(1, 2) * Fraction(1, 4) * Fraction(4, 5)
    assert together == Fraction(1, 10)
    assert math.log(10) / 3 == pytest.approx(0.768, abs=5e-4)
    states("probabilities 0.5, 0.25 and 0.8")


@pytest.mark.slow
def test_the_limit_of_a_gpt_is_the_mean_over_stories(states):
    drawn = pairs(20_000, seed=12)  # others than the page's 1,024
    nats = -log_probability(drawn.ids).double()
    tokens = drawn.attention_mask[:, 1:].sum()
    spread = nats.std().item() / math.sqrt(1024)  # of the page's mean around this one
    assert nats.mean().item() == pytest.approx(13.8, abs=4 * spread)
    assert (nats.sum() / tokens).item() == pytest.approx(0.925, abs=0.01)
    assert spread < 0.1
    assert math.exp(0.925) == pytest.approx(2.5, abs=0.05)
    states("13.8 nats", "0.925 nats a token", r"e^{0.925} \approx 2.5")


def test_temperatures_by_hand(states):
    p = [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)]
    squares = [x**2 for x in p]
    assert [float(x) for x in squares] == [0.25, 0.09, 0.04]
    assert sum(squares) == Fraction(38, 100)
    cold = [float(x / sum(squares)) for x in squares]
    assert cold == pytest.approx([0.658, 0.237, 0.105], abs=5e-4)
    roots = [math.sqrt(x) for x in p]
    assert [x / sum(roots) for x in roots] == pytest.approx([0.415, 0.322, 0.263], abs=5e-4)
    assert [float(x / (p[0] + p[1])) for x in p[:2]] == [0.625, 0.375]
    states("(0.25, 0.09, 0.04, together 0.38)", "top-2 leaves 0.5 and 0.3, together 0.8")


def test_seven_wrong_words_in_a_thousand_spoil_one_text_in_ten(states):
    assert round(0.993**15, 2) == 0.9
    states("nine flawless texts in ten mean about 99.3 % flawless words")


# XLNet.


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities if p)


def test_two_words_guessed_apart_cost_twice_as_much(states):
    texts = {("new", "york"): 0.5, ("los", "angeles"): 0.5}
    firsts, seconds = ([0.5, 0.5] for _ in range(2))
    assert entropy(texts.values()) == pytest.approx(0.693, abs=5e-4)
    assert entropy(firsts) + entropy(seconds) == pytest.approx(1.386, abs=5e-4)
    # No independent guesses are better, wherever one looks.
    grid = [i / 100 for i in range(1, 100)]
    best = min(
        -0.5 * math.log(p * q) - 0.5 * math.log((1 - p) * (1 - q)) for p, q in product(grid, grid)
    )
    assert best == pytest.approx(2 * math.log(2))
    states(r"$2 \ln 2 = 1.386$", r"$\ln 2 = 0.693$")


def test_who_finds_whose_lamp(states):
    """All heroes that stand before "finds", counted one by one."""
    both, subjects, owners = {}, {}, {}
    singular = [hero for hero in TOYWORLD.heroes if not hero.plural]
    for hero in singular:
        for name in (hero.name, hero.subject):
            p = Fraction(1, 2 * len(singular))
            for table, key in (
                (both, (name, hero.possessive)), (subjects, name), (owners, hero.possessive)
            ):  # fmt: skip
                table[key] = table.get(key, 0) + p
    assert len(singular) == 6
    assert entropy(map(float, subjects.values())) == pytest.approx(2.138, abs=5e-4)
    assert entropy(map(float, owners.values())) == pytest.approx(1.099, abs=5e-4)
    assert entropy(map(float, both.values())) == pytest.approx(2.138, abs=5e-4)
    agree = sum(subjects[name] * owners[owner] for name, owner in both)
    assert agree == Fraction(1, 3)
    states("two times out of three", "$2.138 + 1.099$ nats")


def test_three_coins_that_fall_alike(states):
    assert 3 * math.log(2) == pytest.approx(2.079, abs=5e-4)
    states(r"BERT $3 \ln 2 = 2.079$")


# Distillation.


@pytest.mark.parametrize(("temperature", "expected"), [(1.0, 0.0993), (2.0, 0.1239)])
def test_soft_targets_by_pytorch(temperature, expected, states):
    teacher, student = torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.5, 0.25, 0.25]])
    softened = [(p.log() / temperature).log_softmax(dim=-1) for p in (student, teacher)]
    divergence = F.kl_div(*softened, reduction="batchmean", log_target=True)
    assert temperature**2 * divergence.item() == pytest.approx(expected, abs=5e-5)
    states("the teacher says 0.7, 0.2, 0.1; the student 0.5, 0.25, 0.25")


# Sizes.


def layer(d, f):
    """Four square matrices, two long ones, their biases, two norms."""
    return 4 * d * d + 2 * d * f + 4 * d + f + d + 4 * d


def embeddings(words, d, positions=512, segments=2):
    """Three tables and a norm."""
    return (words + positions + segments) * d + 2 * d


def test_what_remains_of_bertlab_mini():
    words, d = 8_000, 256
    heads = d * d + d  # the pooler
    heads += d * d + d + 2 * d + words + 2 * d + 2  # masked words; next sentences
    sizes = [embeddings(words, d) + n * layer(d, 4 * d) + heads for n in (4, 3, 2, 1)]
    assert sizes == [5_479_746, 4_689_986, 3_900_226, 3_110_466]


def test_students_of_bert_base(states):
    base = embeddings(30_522, 768) + 12 * layer(768, 3072) + 768 * 768 + 768
    distilbert = embeddings(30_522, 768, segments=0) + 6 * layer(768, 3072)
    tinybert = embeddings(30_522, 312) + 4 * layer(312, 1200) + 312 * 312 + 312
    assert (base, distilbert, tinybert) == (109_482_240, 66_362_880, 14_350_248)
    assert 1 - distilbert / base == pytest.approx(0.4, abs=0.01)
    assert base / tinybert == pytest.approx(7.5, abs=0.2)
    states("*40 % smaller*", "7.5 times smaller and 9.4 times faster", "66 million of 110 million")


def test_the_large_ones(states):
    assert round(175_000 / 340, -2) == 500
    gpt = (40_478 + 512) * 768 + 12 * layer(768, 3072)
    assert gpt == pytest.approx(117e6, rel=0.01)
    albert = 128 * (30_000 + 514) + 128 * 1024 + layer(1024, 4096) + 1024 * 1024
    assert albert == pytest.approx(18e6, rel=0.05)
    states("175 billion parameters, 500 times BERT-large", "18 million parameters")
