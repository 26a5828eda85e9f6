"""Gradient times input beside attention, rollout and flow: bars, and the words beside them."""

import pytest
import torch
from matplotlib.colors import to_hex
from scipy.stats import kendalltau

from bertlab.interpretability.rollout import attention_flow, attention_rollout
from bertlab.viz import rollout_bars, saliency_bars
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import even, titled

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


# Attention over all layers

PANELS = ["last layer, mean of heads", "rollout, all layers", "flow, all layers"]
# One layer of two heads, one that looks at itself and one that swaps the two words.
SWAP = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])


def bars_of(picture):
    return {name: [bar.get_width() for bar in ax.patches] for name, ax in titled(picture).items()}


def test_the_bars_are_the_shares_of_one_token(attentions):
    bars = bars_of(rollout_bars(attentions, TOKENS, 2))
    flow = attention_flow(attentions, 2)
    expected = [attentions[1][0].mean(0)[2], attention_rollout(attentions)[2], flow / flow.sum()]
    assert list(bars) == PANELS
    for values, share in zip(bars.values(), expected, strict=True):
        assert values == pytest.approx((100 * share).tolist(), rel=1e-5)
        assert sum(values) == pytest.approx(100)


def test_bars_worked_by_hand():
    # Mean of heads: half, half. With the residual: 3/4 itself, 1/4 the other. One layer's flow
    # is the same, and 3/4 + 1/4 is 1.
    bars = bars_of(rollout_bars([SWAP], ["a", "b"], 0)).values()
    assert list(bars) == [pytest.approx([50, 50]), *2 * [pytest.approx([75, 25])]]  # as in PANELS


@pytest.mark.slow
def test_a_dollar_in_a_token_is_no_mathematics(attentions):
    picture = rollout_bars(attentions, TOKENS, 2)
    assert picture.figure.axes[0].get_yticklabels()[2].get_text() == r"\$b\$"
    assert picture.figure.get_suptitle() == r"Where “\$b\$” at the top looks"
    assert picture.png.startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_words_of_a_rollout_name_the_highest_bars():
    assert rollout_bars([SWAP], ["a", "b"], 0, title="T").alt == (
        "T. Bars for 2 tokens. Most, by last layer, mean of heads: a 50 %, b 50 %; by rollout, all "
        "layers: a 75 %, b 25 %; by flow, all layers: a 75 %, b 25 %."
    )
    assert rollout_bars([SWAP], ["a", "b"], 0, alt="Bars").alt == "Bars"


def test_bad_arguments_of_a_rollout_are_named(attentions):
    for query in (4, -1, 1.0, "1"):
        message = f"query must be from 0 to 3; got {query!r}"
        rejected(message, rollout_bars, attentions, TOKENS, query)
    rejected(r"must end in \[3, 3\]", rollout_bars, attentions, TOKENS[:3], 0)
    rejected("at most 40.*got 41", rollout_bars, even(1, 1, 41), ["a"] * 41, 0)
