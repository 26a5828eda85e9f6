"""All heads in one picture: the small maps, their order, and the scores."""

import base64
import io
from functools import partial

import numpy as np
import pytest
import torch
from matplotlib import colormaps
from PIL import Image

from course.widgets import head_gallery
from tests.bertlab.interpretability.test_patterns import shifted
from tests.bertlab.viz.test_head_choosers import facts_of
from tests.course.widgets.conftest import body_of, soup

TOKENS = ["[CLS]", "a", "b", "c", "[SEP]"]
LENGTH = len(TOKENS)


looks = partial(shifted, LENGTH)
SEPARATOR = torch.eye(LENGTH)[-1].expand(LENGTH, -1)
EVEN = torch.full((LENGTH, LENGTH), 1 / LENGTH)
# Two layers of three heads; each does one thing.
ATTENTIONS = [
    torch.stack([EVEN, looks(1), looks(-1)]),
    torch.stack([SEPARATOR, looks(0), 0.5 * EVEN + 0.5 * looks(0)]),
]


def names_of(shown):
    return [name.text for name in soup(shown).select(".gallery b")]


def scores_of(shown):
    return [score.text for score in soup(shown).select(".gallery .score")]


# By hand: of 5 queries, 4 have a next key; [SEP] attends to itself in the next-token heads.
@pytest.mark.parametrize(
    ("by", "names", "scores"),
    [
        ("layer", "0.0 0.1 0.2 1.0 1.1 1.2", ""),
        ("entropy", "0.1 0.2 1.0 1.1 1.2 0.0", "0.00 0.00 0.00 0.00 1.23 1.61"),
        ("distance", "1.1 0.1 0.2 1.2 0.0 1.0", "0.00 0.80 0.80 0.80 1.60 2.00"),
        ("previous", "0.2 0.0 1.2 0.1 1.0 1.1", "100 20 10 0 0 0"),
        ("next", "0.1 1.0 0.0 1.2 0.2 1.1", "100 25 20 10 0 0"),
        ("itself", "1.1 1.2 0.0 0.1 0.2 1.0", "100 60 20 20 20 20"),
        ("separator", "1.0 0.1 0.0 1.1 1.2 0.2", "100 40 20 20 20 0"),
    ],
)
def test_heads_are_in_order_with_their_scores(by, names, scores):
    shown = head_gallery(ATTENTIONS, TOKENS, by=by)
    unit = {"entropy": "nats", "distance": "tokens"}.get(by, "%")
    assert scores_of(shown) == ([f"{score} {unit}" for score in scores.split()] or [""] * 6)
    assert names_of(shown) == names.split()
    page = soup(shown)
    assert page.select_one("option[selected]")["value"] == by
    first = page.select_one('button[aria-pressed="true"]')
    assert first is page.select_one(".gallery button")
    assert page.select_one(".which").text == f"Head {first.b.text}"


def test_equal_scores_keep_their_order_and_no_separator_means_no_sorting():
    same = head_gallery([EVEN.expand(3, -1, -1)] * 2, TOKENS, by="previous")
    assert names_of(same) == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    tokens = ["a", "b", "c", "d", "e"]
    page = soup(head_gallery(ATTENTIONS, tokens))
    assert "separator" not in [option["value"] for option in page.select("option")]


def test_a_small_map_has_a_dot_for_each_probability():
    page = soup(head_gallery(ATTENTIONS, TOKENS))
    (image,) = page.select('button[data-head="5"] img')
    picture = Image.open(io.BytesIO(base64.b64decode(image["src"].partition(",")[2])))
    dots = np.asarray(picture.convert("RGB"))
    assert dots.shape == (LENGTH, LENGTH, 3)
    for probability, place in ((0.6, (2, 2)), (0.1, (2, 0))):
        shade = round(probability**0.5 * 63) / 63
        expected = colormaps["viridis"](shade, bytes=True)[:3]
        assert np.abs(dots[place].astype(int) - np.array(expected, int)).max() <= 3


def test_the_first_head_is_drawn_large_with_token_labels():
    page = soup(head_gallery(ATTENTIONS, TOKENS, by="separator"))
    assert body_of(page.select_one(".heat")) == [["0", "0", "0", "0", "100"]] * LENGTH
    assert [name.text for name in page.select(".heat tbody th")] == TOKENS


def test_chance_is_the_score_of_uniform_attention():
    chance = facts_of(head_gallery(ATTENTIONS, TOKENS))["chance"]
    alike = dict.fromkeys(("previous", "next", "itself", "separator"), 0.2)
    assert chance == pytest.approx({"layer": 0, "entropy": 1.6094379, "distance": 1.6, **alike})
    causal = [looks(-1)[None], looks(0)[None]]
    chance = facts_of(head_gallery(causal, TOKENS))["chance"]
    assert chance["next"] == 0
    assert chance["itself"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5)


def test_the_words_name_the_first_heads():
    assert head_gallery(ATTENTIONS, TOKENS, by="next").alt == (
        "Small heat maps of all heads, 2 layers with 3 each, for the tokens: [CLS] a b c [SEP]. "
        "Sorted by attention to the next token, the most of it first: 0.1 (100 %), 1.0 (25 %), "
        "0.0 (20 %)."
    )


@pytest.mark.slow
def test_twelve_by_twelve_heads_of_64_tokens_weigh_less_than_3_mb():
    generator = torch.Generator().manual_seed(1)
    scores = 3 * torch.randn(12, 12, 64, 64, generator=generator)  # worse than any real head
    shown = head_gallery(list(scores.softmax(-1)), [f"token{i}" for i in range(64)])
    assert len(shown._repr_html_()) < 3_000_000
    assert len(names_of(shown)) == 144
