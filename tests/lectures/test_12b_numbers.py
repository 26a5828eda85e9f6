"""Lecture 12b without its page: what a prompt determines, by enumeration of all codes."""

from fractions import Fraction
from itertools import permutations
from math import factorial

import pytest
import torch
from torch.nn import functional as F

from bertlab.model import BertConfig
from course.models.relatives.gpt import CausalLanguageModel
from tests.lectures.conftest import functions_of

PAGE = functions_of("12b_in_context_learning", torch=torch, F=F)
CODES = torch.tensor(list(permutations(range(6))))


def draw(kind, n=3_000, codes=CODES, **how):
    """Letters and digits, each [n, pairs]."""
    ids = PAGE["draw_texts"](n, torch.Generator().manual_seed(5), codes, kind, **how)
    return ids[:, 0::2], ids[:, 1::2] - 6


@pytest.mark.parametrize("n", range(6))
def test_the_best_prediction_averages_all_720_codes(n):
    codes = [code for code in permutations(range(6)) if code[:n] == tuple(range(n))]
    right = Fraction(0)
    for letter in range(6):
        likeliest = max(sum(code[letter] == digit for code in codes) for digit in range(6))
        right += Fraction(1, 6) * Fraction(likeliest, len(codes))
    assert right == Fraction(n + 1, 6)


def test_the_page_has_the_numbers_computed_here(states):
    states(f"Of the {factorial(6)} codes only", f"the best: $n/6 + (6 - n)/{6 * 6}$")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("175 billion parameters")


@pytest.mark.parametrize("kind", ["new codes", "one code", "no repeats"])
def test_a_text_has_one_code_and_it_is_one_to_one(kind):
    letters, digits = draw(kind)
    same_letter = letters[:, :, None] == letters[:, None, :]
    same_digit = digits[:, :, None] == digits[:, None, :]
    assert torch.equal(same_letter, same_digit)


@pytest.mark.parametrize("kind", ["new codes", "one code", "no repeats"])
def test_a_text_has_no_code_but_those_given(kind):
    letters, digits = draw(kind, fewest=6, codes=CODES[100:103])
    given = CODES[100:103][:, letters] == digits  # [3, n, pairs]
    assert given.all(dim=-1).any(dim=0).all()


def test_kinds_differ_in_their_information():
    letters, _ = draw("no repeats")
    assert all(len(set(row)) == 6 for row in letters.tolist())
    assert (letters[:, 0].bincount(minlength=6) / 3_000 - 1 / 6).abs().max() < 0.03
    letters, digits = draw("one code")
    assert len(set(zip(letters.flatten().tolist(), digits.flatten().tolist(), strict=True))) == 6
    letters, digits = draw("no code")
    again = letters[:, 0] == letters[:, 1]
    assert abs((digits[:, 0] == digits[:, 1])[again].float().mean() - 1 / 6) < 0.06


@pytest.mark.parametrize("fewest", [1, 6])
def test_letters_recur_with_the_frequency_of_their_number(fewest):
    letters, _ = draw("new codes", n=20_000, fewest=fewest)
    repeated = (letters[:, 0] == letters[:, 1]).float().mean().item()
    sizes = range(fewest, 7)
    assert abs(repeated - sum(1 / m for m in sizes) / len(sizes)) < 0.015


def test_letters_shown_are_counted_as_a_set():
    ids = PAGE["draw_texts"](50, torch.Generator().manual_seed(0), CODES)
    reference = [[len(set(row[:t])) for t in range(10)] for row in ids[:, 0::2].tolist()]
    assert PAGE["letters_shown"](ids).tolist() == reference


def test_the_retrieved_value_is_the_sum_over_earlier_answers():
    looked_up = PAGE["looked_up"]
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 4, "d_ff": 64, "max_length": 20}
    model = CausalLanguageModel(BertConfig(12, **sizes, dropout=0.0, causal=True)).eval()
    ids = PAGE["draw_texts"](5, torch.Generator().manual_seed(3), CODES)
    attentions = model.bert(ids, output_attentions=True).attentions
    for layer, attention in enumerate(attentions):
        found = []
        for text, row in enumerate(ids.tolist()):
            for question in range(0, 20, 2):
                earlier = [at + 1 for at in range(0, question, 2) if row[at] == row[question]]
                if earlier:
                    found.append(attention[text, :, question, earlier].sum(dim=-1))
        torch.testing.assert_close(looked_up(model, ids)[layer], torch.stack(found).mean(dim=0))
