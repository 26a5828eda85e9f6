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
from transformers import ElectraConfig, ElectraForPreTraining

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.training.start import initial_weights
from course.toyworld import TOYWORLD, log_probability, mean_loss, pairs, posterior
from course.toyworld.batches import ToyData
from course.toyworld.drawing import draw_states, draw_words
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
        15 % of the tokens ... asked about 15 % of the words ... 80/10/10 ... 512 tokens at most
        ... better than BERT on 20 tasks ... what more than 150 studies found out ... It is 60 %
        faster and keeps 97 % of BERT's score on GLUE ... where BERT-large has 334 ... one model
        for 104 languages ... 160 GB of text ... (DTransformer), 13 (DTraining) and 14 (DInference)
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


def test_the_limit_of_lecture_8s_masked_words(states):
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
        | section 4: 40 % smaller, 60 % faster, 97 % of the score ... the BERT for 15 % of them ...
        7.5 times smaller, 9.4 times faster ... model keeps 97 % of the teacher's ... DistilBERT
        has 6 of 12 layers, but 66 of 110 million parameters ... 12 decoder blocks of 768
        dimensions ... 18 million parameters ... learned vectors, up to 512 | rotary ... 3.3
        billion words | 2 trillion
    """)


def test_what_the_card_of_bertlab_mini_and_the_page_s_code_say(its_lecture, states):
    card = (ROOT / "bertlab" / "weights" / "bertlab-mini" / "README.md").read_text("utf-8")
    assert "64 pairs of 32 tokens, the rest 16 of 128" in card
    states("in its pre-training had 128)")
    (cell,) = (cell for cell in its_lecture.code if cell.id == "domain-train")
    assert "TrainingConfig(25, " in cell.source
    states("After 25 batches ... and 25 batches of home ... One run each, 25 batches.")


# Replaced tokens.


@pytest.fixture(scope="module")
def electra(its_lecture):
    """What the page defines about replaced tokens, and a generator that has learned nothing."""
    page = {"torch": torch, "F": F, "world": TOYWORLD, "tokenizer": TOYWORLD.tokenizer}
    page |= {"initial_weights": initial_weights, "BertForPreTraining": BertForPreTraining}
    for name in (
        "replaced-world",
        "replaced-draw",
        "replaced-loss",
        "replaced-limit",
        "replaced-word-limit",
    ):
        (cell,) = (cell for cell in its_lecture.code if cell.id == name)
        exec(cell.source, page)
    config = BertConfig(68, d_model=8, n_layers=1, n_heads=2, d_ff=16, max_length=16, dropout=0.0)
    page["small"] = initial_weights(BertForPreTraining(config), seed=3).eval()
    return page


def test_the_loss_of_replaced_tokens_is_that_of_hugging_face(electra):
    config = ElectraConfig(
        vocab_size=68,
        embedding_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.5,
    )
    torch.manual_seed(0)
    reference = ElectraForPreTraining(config).eval()
    ids, chosen = electra["draw_sentences"](40, torch.Generator().manual_seed(0))
    random = torch.Generator().manual_seed(1)
    _, read = electra["replace_words"](electra["small"], ids, chosen, random)
    replaced, is_token = read != ids, ids > 0
    assert replaced.any()
    assert not (replaced & ~chosen).any()
    assert (read[replaced] >= 5).all()
    assert not is_token.all()
    with torch.no_grad():
        output = reference(read, attention_mask=is_token.long(), labels=replaced.long())
        ours = electra["replaced_loss"](3 * output.logits, replaced, is_token)
    assert electra["replaced_loss"](output.logits, replaced, is_token).item() == pytest.approx(
        output.loss.item(), abs=1e-6
    )
    assert ours != pytest.approx(output.loss.item(), abs=1e-3)  # the scores matter


def test_the_sentences_of_the_toy_world_have_their_probabilities(electra):
    assert len(electra["every"]) == 2_160
    states = draw_states(40_000, TOYWORLD, torch.Generator().manual_seed(0))
    drawn = Counter(map(tuple, draw_words(states, TOYWORLD, torch.Generator()).tolist()))
    for row, chance in list(
        zip(electra["every"].tolist(), electra["chance_of_row"].tolist(), strict=True)
    )[::40]:
        n = drawn[tuple(row[1:])]
        assert abs(n - 40_000 * chance) < 5 * math.sqrt(40_000 * chance) + 1


def test_the_best_detector_by_counting_every_original_and_every_set_of_masks(electra):
    """Bayes' rule in plain loops, for a sentence of five words."""
    every, chances = electra["every"].tolist(), electra["chance_of_row"].tolist()
    row = next(row for row in every if row.index(3) == 6)  # [SEP] after five words
    read = row.copy()
    read[2] = every[0][5]  # an impossible word there
    places, total, original = range(1, 6), 0.0, [0.0] * len(row)
    for masks in product([False, True], repeat=5):
        chosen = torch.tensor([[False, *masks] + [False] * (len(row) - 6)])
        with torch.no_grad():
            logits = electra["word_logits"](electra["small"], torch.tensor([read]), chosen)
        drawn = iter(logits.softmax(dim=1))
        likely = math.prod(
            0.15 * next(drawn)[read[i]].item() if chosen[0, i] else 0.85 for i in places
        )
        for candidate, chance in zip(every, chances, strict=True):
            same = [a == b for a, b in zip(candidate, read, strict=True)]
            if all(same[i] or chosen[0, i] for i in range(len(row))):
                total += chance * likely
                original = [o + chance * likely * s for o, s in zip(original, same, strict=True)]
    expected = [1 - o / total for o in original]
    found = electra["best_detector"](electra["small"], torch.tensor(read))
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-5, rtol=0)
    assert found[2] > 0.999
    assert found[0] == pytest.approx(0, abs=1e-6)


def test_no_detector_is_better_than_the_best_one(electra):
    """It is calibrated: of all tokens, the share that it expects is replaced."""
    ids, chosen = electra["draw_sentences"](300, torch.Generator().manual_seed(2))
    random = torch.Generator().manual_seed(3)
    _, read = electra["replace_words"](electra["small"], ids, chosen, random)
    odds = torch.stack([electra["best_detector"](electra["small"], row) for row in read])
    odds = odds.clamp(1e-6, 1 - 1e-6)
    is_token, replaced = ids > 0, (read != ids).float()
    spread = (odds * (1 - odds))[is_token].sum().sqrt()
    assert abs((replaced - odds)[is_token].sum()) < 4 * spread

    def loss(p):
        return electra["replaced_loss"](p.logit(), replaced.bool(), is_token)

    rate = replaced[is_token].mean().expand(odds.shape)
    assert all(loss(odds) < loss(other) for other in (rate, odds**0.25, 0.5 * odds + 0.05))


def test_the_best_guess_of_masked_words_by_counting(electra):
    ids, chosen = electra["draw_sentences"](20, torch.Generator().manual_seed(4))
    table = list(zip(electra["every"].tolist(), electra["chance_of_row"].tolist(), strict=True))
    for row, masks in zip(ids, chosen, strict=True):
        places = masks.nonzero()[:, 0].tolist()
        fit = [
            (other, chance)
            for other, chance in table
            if all(i in places or a == b for i, (a, b) in enumerate(zip(other, row, strict=True)))
        ]
        nats = sum(
            -math.log(sum(c for other, c in fit if other[i] == row[i]) / sum(c for _, c in fit))
            for i in places
        )
        assert electra["best_word_loss"](row, masks) == pytest.approx(nats, abs=1e-4)
