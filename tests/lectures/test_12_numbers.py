"""Worked numbers of lecture 12, reproduced without the page: by hand, SciPy, PyTorch.

The results of its training runs are asserted on the page itself.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
import torch
from scipy.stats import entropy
from torch.nn import functional as F

from course.toyworld import TOYWORLD, log_probability, mean_loss, pairs, posterior
from course.toyworld.batches import ToyData
from tests.conftest import ROOT
from tests.lectures import sizes

# GPT.


def test_the_loss_of_three_words_and_of_seven_wrong_ones_in_a_thousand(states):
    assert pytest.approx(0.1) == 0.5 * 0.25 * 0.8
    assert math.log(10) / 3 == pytest.approx(0.768, abs=5e-4)
    states("probabilities 0.5, 0.25 and 0.8")
    states("with probabilities 0.5, 0.3 and 0.2:")
    assert round(0.993**15, 2) == 0.9
    states("nine flawless texts in ten mean about 99.3 % flawless words")


@pytest.mark.slow
def test_the_limit_of_a_gpt_is_the_mean_over_stories(states):
    drawn = pairs(20_000, seed=12)  # others than the page's 1,024
    nats = -log_probability(drawn.ids).double()
    spread = nats.std().item() / math.sqrt(1024)  # of the page's mean around this one
    assert nats.mean().item() == pytest.approx(13.8, abs=4 * spread)
    assert spread < 0.1
    a_token = (nats.sum() / drawn.attention_mask[:, 1:].sum()).item()
    assert a_token == pytest.approx(0.925, abs=0.01)
    states("13.8 nats", "0.925 nats per token", rf"e^{{0.925}} \approx {math.exp(a_token):.1f}")


def test_temperatures_by_hand(states):
    p = torch.tensor([0.5, 0.3, 0.2])
    squares = p**2
    states("({:.2f}, {:.2f}, {:.2f}, together {:.2f})".format(*squares, squares.sum()))
    cold, hot = ((p.log() / temperature).softmax(dim=0).tolist() for temperature in (0.5, 2))
    assert cold == pytest.approx([0.658, 0.237, 0.105], abs=5e-4)
    assert hot == pytest.approx([0.415, 0.322, 0.263], abs=5e-4)
    assert (p[:2] / p[:2].sum()).tolist() == pytest.approx([0.625, 0.375])
    states(f"top-2 leaves 0.5 and 0.3, together {p[:2].sum():.1f}")


# XLNet.


def test_two_words_predicted_separately_cost_twice_as_much(states):
    both, apart = entropy([0.5, 0.5]), 2 * entropy([0.5, 0.5])
    states(rf"$2 \ln 2 = {apart:.3f}$", rf"$\ln 2 = {both:.3f}$")
    # No independent guesses are better, wherever one looks.
    grid = [i / 100 for i in range(1, 100)]
    best = min(-0.5 * math.log(p * q * (1 - p) * (1 - q)) for p, q in product(grid, grid))
    assert best == pytest.approx(apart)
    states(rf"BERT $3 \ln 2 = {3 * math.log(2):.3f}$")  # three coins that fall alike


def test_who_finds_whose_lamp(states):
    """All heroes that stand before "finds", counted one by one."""
    singular = [hero for hero in TOYWORLD.heroes if not hero.plural]
    assert len(singular) == 6
    told = [(name, hero.possessive) for hero in singular for name in (hero.name, hero.subject)]
    both, subjects, owners = map(Counter, (told, *zip(*told, strict=True)))
    assert entropy(list(both.values())) == pytest.approx(2.138, abs=5e-4)
    apart = [entropy(list(counts.values())) for counts in (subjects, owners)]
    states("${:.3f} + {:.3f}$ nats".format(*apart))
    agree = sum(Fraction(subjects[name] * owners[owner], len(told) ** 2) for name, owner in both)
    assert agree == Fraction(1, 3)
    states("two times out of three")


# Distillation.


@pytest.mark.parametrize(("temperature", "expected"), [(1.0, 0.0993), (2.0, 0.1239)])
def test_soft_targets_by_pytorch(temperature, expected, states):
    teacher, student = torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.5, 0.25, 0.25]])
    softened = [(p.log() / temperature).log_softmax(dim=-1) for p in (student, teacher)]
    divergence = F.kl_div(*softened, reduction="batchmean", log_target=True)
    assert temperature**2 * divergence.item() == pytest.approx(expected, abs=5e-5)
    states("the teacher says 0.7, 0.2, 0.1; the student 0.5, 0.25, 0.25")


# Sizes.


def test_students_of_bert_base_and_the_large_ones(states):
    base, tinybert = sizes.encoder(12, 768), sizes.encoder(4, 312, d_ff=1200)
    distilbert = sizes.embeddings(30_522, 768, segments=0) + 6 * sizes.layer(768)
    assert (base, distilbert, tinybert) == (109_482_240, 66_362_880, 14_350_248)
    assert 1 - distilbert / base == pytest.approx(0.4, abs=0.01)
    assert base / tinybert == pytest.approx(7.5, abs=0.2)
    states("*40 % smaller*", "7.5 times smaller and 9.4 times faster")
    states("| section 5: 40 % smaller, 60 % faster, 97 % of the score", "the BERT for 15 % of them")
    states("| section 6: 7.5 times smaller, 9.4 times faster", "model keeps 97 % of the teacher's")
    states("DistilBERT: 6 of 12 layers leave")
    states(f"{distilbert / 1e6:.0f} million of 110 million", "4 layers of 312 dimensions")
    states(f"175 billion parameters, {round(175_000 / 340, -2):.0f} times BERT-large")
    gpt = (40_478 + 512) * 768 + 12 * sizes.layer(768)
    assert gpt == pytest.approx(117e6, rel=0.01)
    states("12 decoder blocks of 768 dimensions")
    albert = 128 * (30_000 + 514) + 128 * 1024 + sizes.layer(1024) + 1024 * 1024
    assert albert == pytest.approx(18e6, rel=0.05)
    states("18 million parameters")


# The text of our models.


def test_the_limit_of_lecture_8s_gaps(states):
    pages = ToyData(seed=1000, n_batches=64).epoch(0)  # its exam
    guesses = torch.cat([posterior(page.ids, page.predict) for page in pages])
    nats = mean_loss(guesses, torch.cat([page.words for page in pages]))
    states(f"compare the 0.925 with the {nats:.2f} of", f"(here 0.925 and {nats:.2f})")


def test_what_the_card_of_bertlab_mini_says(states):
    card = (ROOT / "bertlab" / "weights" / "bertlab-mini" / "README.md").read_text("utf-8")
    assert "64 pairs of 32 tokens, the rest 16 of 128" in card
    states("in its pre-training had 128)")


# Others.


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("15 % of the tokens", "80/10/10", "512 tokens at most")  # Devlin et al.
    states("better than BERT on 20 tasks", "what more than 150 studies found out")
    states("it is 60 % faster and keeps 97 % of BERT's score on GLUE")
    states("with more than 96.8 % of its score on GLUE", "where BERT-large has 334")
    states("several of more than 630 classes", "and 30 times fewer parameters")
    states("on 1.14 million scientific papers", "shares 42 % of its tokens with BERT's")
    states("one model for 104 languages", "160 GB of text, batches of 8,000 sequences")
    states("an input of 8,192 tokens", "(DTransformer), 13 (DTraining) and 14 (DInference)")


def test_the_lessons_of_section_7_are_as_long_as_their_code_says(its_lecture, states):
    (cell,) = (cell for cell in its_lecture.code if cell.id == "domain-train")
    assert "TrainingConfig(25, " in cell.source
    states("After 25 batches", "and 25 batches of home", "One run each, 25 batches. Other recipes")
