"""Rollout and flow as bars: what matplotlib was told to draw, and the words beside it."""

import pytest
import torch

from bertlab.interpretability.rollout import attention_flow, attention_rollout
from bertlab.viz import rollout_bars
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import even, titled

TOKENS = ["[CLS]", "$a$", "b", "[SEP]"]
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
    picture = rollout_bars(attentions, TOKENS, 1)
    assert picture.figure.axes[0].get_yticklabels()[1].get_text() == r"\$a\$"
    assert picture.figure.get_suptitle() == r"Where “\$a\$” at the top looks"
    assert picture.png.startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_words_name_the_highest_bars():
    assert rollout_bars([SWAP], ["a", "b"], 0, title="T").alt == (
        "T. Bars for 2 tokens. Most, by last layer, mean of heads: a 50 %, b 50 %; by rollout, all "
        "layers: a 75 %, b 25 %; by flow, all layers: a 75 %, b 25 %."
    )
    assert rollout_bars([SWAP], ["a", "b"], 0, alt="Bars").alt == "Bars"


def test_bad_arguments_are_named(attentions):
    for query in (4, -1, 1.0, "1"):
        message = f"query must be from 0 to 3; got {query!r}"
        rejected(message, rollout_bars, attentions, TOKENS, query)
    rejected(r"must end in \[3, 3\]", rollout_bars, attentions, TOKENS[:3], 0)
    for missing in (None, (None, None)):
        message = "rollout_bars: .*None; .*output_attentions=True"
        rejected(message, rollout_bars, missing, TOKENS, 0)
    rejected("at most 40.*got 41", rollout_bars, even(1, 1, 41), ["a"] * 41, 0)
