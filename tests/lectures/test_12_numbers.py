"""Lecture 12 by hand, SciPy and PyTorch, and the toy world's limits on other stories.

The results of its training runs it asserts itself.
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


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        probabilities 0.5, 0.25 and 0.8 ... with probabilities 0.5, 0.3 and 0.2: ... nine flawless
        texts in ten mean about 99.3 % flawless words ... top-2 leaves 0.5 and 0.3, together 0.8
        ... $2 \ln 2 = 1.386$ ... $\ln 2 = 0.693$ ... BERT $3 \ln 2 = 2.079$ ... the teacher says
        0.7, 0.2, 0.1; the student 0.5, 0.25, 0.25
    """)
    squares = [p**2 for p in (0.5, 0.3, 0.2)]
    states("({:.2f}, {:.2f}, {:.2f}, together {:.2f})".format(*squares, sum(squares)))


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        15 % of the tokens ... 80/10/10 ... 512 tokens at most ... better than BERT on 20 tasks ...
        what more than 150 studies found out ... it is 60 % faster and keeps 97 % of BERT's score
        on GLUE ... with more than 96.8 % of its score on GLUE ... where BERT-large has 334 ...
        several of more than 630 classes ... and 30 times fewer parameters ... on 1.14 million
        scientific papers ... shares 42 % of its tokens with BERT's ... one model for 104 languages
        ... 160 GB of text, batches of 8,000 sequences ... an input of 8,192 tokens ...
        (DTransformer), 13 (DTraining) and 14 (DInference)
    """)


# GPT.


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


def test_the_limit_of_lecture_8s_gaps(states):
    pages = ToyData(seed=1000, n_batches=64).epoch(0)  # its exam
    guesses = torch.cat([posterior(page.ids, page.predict) for page in pages])
    nats = mean_loss(guesses, torch.cat([page.words for page in pages]))
    states(f"compare the 0.925 with the {nats:.2f} of", f"(here 0.925 and {nats:.2f})")


# XLNet.


def test_no_separate_guesses_of_two_words_are_better_wherever_one_looks():
    grid = [i / 100 for i in range(1, 100)]
    best = min(-0.5 * math.log(p * q * (1 - p) * (1 - q)) for p, q in product(grid, grid))
    assert best == pytest.approx(2 * entropy([0.5, 0.5]))


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


# Distillation.


@pytest.mark.parametrize(("temperature", "expected"), [(1.0, 0.0993), (2.0, 0.1239)])
def test_soft_targets_by_pytorch(temperature, expected):
    teacher, student = torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.5, 0.25, 0.25]])
    softened = [(p.log() / temperature).log_softmax(dim=-1) for p in (student, teacher)]
    divergence = F.kl_div(*softened, reduction="batchmean", log_target=True)
    assert temperature**2 * divergence.item() == pytest.approx(expected, abs=5e-5)


# Sizes.


def test_sizes_that_proofs_of_the_page_assert_or_papers_report(states):
    states("""
        *40 % smaller* ... 7.5 times smaller and 9.4 times faster ... | section 4: 40 % smaller, 60
        % faster, 97 % of the score ... the BERT for 15 % of them ... | section 8: 7.5 times
        smaller, 9.4 times faster ... model keeps 97 % of the teacher's ... DistilBERT: 6 of 12
        layers leave ... 66 million of 110 million ... 4 layers of 312 dimensions ... 175 billion
        parameters, 500 times BERT-large ... 12 decoder blocks of 768 dimensions ... 18 million
        parameters
    """)


def test_what_the_card_of_bertlab_mini_and_the_page_s_code_say(its_lecture, states):
    card = (ROOT / "bertlab" / "weights" / "bertlab-mini" / "README.md").read_text("utf-8")
    assert "64 pairs of 32 tokens, the rest 16 of 128" in card
    states("in its pre-training had 128)")
    (cell,) = (cell for cell in its_lecture.code if cell.id == "domain-train")
    assert "TrainingConfig(25, " in cell.source
    states(
        "After 25 batches ... and 25 batches of home ... One run each, 25 batches. Other recipes"
    )
