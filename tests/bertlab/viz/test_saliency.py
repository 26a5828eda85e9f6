"""Gradient times input beside attention: bars, signs and the agreement."""

import pytest
import torch
from matplotlib.colors import to_hex
from scipy.stats import kendalltau

from bertlab.viz import saliency_bars
from tests.bertlab.refusals import rejected

TOKENS = ["[CLS]", "a", "$b$", "c"]
SALIENCY = torch.tensor([0.1, -0.8, 0.5, -0.001])
ATTENTION = torch.tensor([0.1, 0.3, 0.5, 0.1])


@pytest.mark.slow
def test_bars_go_to_both_sides_and_attention_to_one():
    picture = saliency_bars(TOKENS, SALIENCY, ATTENTION, target="“cat”")
    left, right = picture.figure.axes
    assert [bar.get_width() for bar in left.patches] == pytest.approx(SALIENCY.tolist())
    assert [bar.get_width() for bar in right.patches] == pytest.approx([10, 30, 50, 10])
    colours = [to_hex(bar.get_facecolor()) for bar in left.patches]
    assert colours == ["#0072b2", "#e69f00", "#0072b2", "#e69f00"]
    assert [text.get_text() for text in left.texts] == ["+0.10", "-0.80", "+0.50", "0.00"]
    assert left.get_xlim()[0] == -left.get_xlim()[1]
    assert left.get_xlabel() == "← lowers      raises “cat” →"
    assert right.get_xlabel() == "probability (%)"
    assert picture.png.startswith(b"\x89PNG")


def test_the_agreement_is_kendalls_tau_of_sizes():
    reference = kendalltau(SALIENCY.abs(), ATTENTION).statistic
    picture = saliency_bars(TOKENS, SALIENCY, ATTENTION)
    words = f"Kendall's tau of |gradient × input| and attention: {reference:.2f}"
    assert picture.figure.get_supxlabel() == words
    assert picture.alt.endswith(f"{words}.")
    even = saliency_bars(TOKENS, SALIENCY, torch.full((4,), 0.25))
    assert even.figure.get_supxlabel().endswith("undefined, as all bars of one side are equal")


def test_the_words_name_the_longest_bars():
    alt = saliency_bars(TOKENS, SALIENCY, ATTENTION, attention_label="head 3.1").alt
    assert "strongest: a -0.80, $b$ +0.50, [CLS] +0.10." in alt
    assert "head 3.1, highest: $b$ 50 %, a 30 %, [CLS] 10 %" in alt or "c 10 %" in alt
    assert saliency_bars(TOKENS, SALIENCY, ATTENTION, alt="Bars").alt == "Bars"


@pytest.mark.slow
def test_nothing_but_zeros_can_be_drawn():
    assert saliency_bars(TOKENS, torch.zeros(4), ATTENTION).png.startswith(b"\x89PNG")


def test_bad_arguments_are_named():
    for tokens, saliency, attention, message in (
        (TOKENS, SALIENCY[:3], ATTENTION, r"saliency must be \[4\].*got \[3\]"),
        (TOKENS, SALIENCY, ATTENTION[None], r"attention must be \[4\].*got \[1, 4\]"),
        (TOKENS, SALIENCY * torch.nan, ATTENTION, "saliency must hold finite numbers"),
        (TOKENS, SALIENCY, -ATTENTION, "attention must be probabilities; got numbers from -0.5"),
        (["a"] * 41, torch.ones(41), torch.ones(41), "tokens must be 2 to 40; got 41"),
    ):
        rejected(message, saliency_bars, tokens, saliency, attention)
