"""Heat maps of any head: the numbers in the page, its first table, and the boxes above it."""

import base64
import json

import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from bertlab.viz import head_maps
from bertlab.viz.head_choosers import heat_colours, pack_roots, table_height
from tests.bertlab.refusals import rejected
from tests.bertlab.viz.conftest import even
from tests.small_models import random_attention

TOKENS = ["[CLS]", "the", "<b>", "[SEP]"]


def random_attentions(n_layers, n_heads, length):
    return list(random_attention(n_layers, 1, n_heads, length, length))


def facts_of(shown):
    """The data of the page's script."""
    text = shown.page.split("const FACTS = ", 1)[1]
    return json.JSONDecoder().raw_decode(text)[0]


def unpacked(facts):
    roots = torch.frombuffer(bytearray(base64.b64decode(facts["packed"])), dtype=torch.uint16)
    length = len(facts["tokens"])
    shape = (facts["n_layers"], facts["n_heads"], length, length)
    return (roots.double() / 65535).square().view(shape)


def page_of(shown):
    return BeautifulSoup(shown.page, "html.parser")


def cells_of(shown):
    rows = page_of(shown).select(".heat tbody tr")
    return [[cell.get_text() for cell in row.find_all("td")] for row in rows]


def test_the_page_holds_the_probabilities_of_all_heads_and_if_they_look_ahead():
    attentions = random_attentions(2, 3, 4)
    facts = facts_of(head_maps(attentions, TOKENS))
    assert facts["tokens"] == TOKENS
    assert not facts["causal"]
    expected = torch.cat(attentions).double()
    torch.testing.assert_close(unpacked(facts), expected, rtol=1e-3, atol=2e-5)
    causal = [layer.tril() / layer.tril().sum(dim=-1, keepdim=True) for layer in attentions]
    assert facts_of(head_maps(causal, TOKENS))["causal"]


@given(st.floats(1e-6, 1))
def test_a_small_probability_keeps_its_digits(probability):
    roots = int.from_bytes(base64.b64decode(pack_roots(torch.tensor([probability]))), "little")
    assert (roots / 65535) ** 2 == pytest.approx(probability, rel=0.02, abs=1e-8)


def test_the_first_table_shows_the_chosen_head_in_percent():
    attentions = random_attentions(2, 3, 4)
    shown = head_maps(attentions, TOKENS, layer=1, head=2)
    expected = attentions[1][0, 2]
    for row, probabilities in zip(cells_of(shown), expected.tolist(), strict=True):
        percent = [100 * value for value in probabilities]
        assert [int(cell) for cell in row] == pytest.approx(percent, abs=0.51)
    page = page_of(shown)
    assert page.select_one(".caption").text == "Layer 1, head 2"
    assert all(cell["class"] == [f"v{cell.text}"] for cell in page.select(".heat tbody td"))
    sliders = [(box["id"], box["max"], box["value"]) for box in page.select('input[type="range"]')]
    assert sliders == [("layer", "1", "1"), ("head", "2", "2")]


def test_a_token_is_text_and_never_markup():
    page = page_of(head_maps(random_attentions(1, 1, 4), TOKENS))
    assert [name.text for name in page.select("tbody th")] == TOKENS
    assert page.select("tbody b") == []
    hostile = head_maps(random_attentions(1, 1, 2), ["</script><script>alert(1)", "b"])
    assert "</script><script>alert" not in hostile.page


def test_switches_are_there_for_what_the_text_has_and_leave_something():
    def switches(tokens):
        page = page_of(head_maps(random_attentions(1, 1, len(tokens)), tokens))
        return [box["value"] for box in page.select('input[name="hide"]')]

    assert switches(TOKENS) == ["[CLS]", "[SEP]"]
    assert switches(["a", "[SEP]"]) == ["[SEP]"]
    assert switches(["a", "b"]) == []
    assert switches(["[CLS]", "[SEP]"]) == []


def test_the_words_name_the_head_and_what_it_looks_at():
    head = torch.tensor([[[0.1, 0.9], [0.25, 0.75]]])
    shown = head_maps([head], ["a", "b"])
    assert shown.alt == (
        "Layer 0, head 0, of 1 layers with 1 heads. A heat map of 2 query tokens by 2 key tokens. "
        "Each token attends most: a to b (0.90), b to b (0.75)."
    )
    assert head_maps([head], ["a", "b"], alt="Two words").alt == "Two words"


@pytest.mark.slow
def test_more_tokens_get_smaller_cells_without_numbers():
    for length, size in ((20, "numbers"), (21, "small"), (40, "small"), (41, "tiny")):
        tokens = [f"t{i}" for i in range(length)]
        shown = head_maps(random_attentions(1, 1, length), tokens)
        (table,) = page_of(shown).select("table")
        assert table["class"] == ["heat", size]
        assert bool(cells_of(shown)[0][0]) == (size == "numbers")
        assert shown.height > table_height(tokens) > 11 * length


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_ink_can_be_read_on_every_colour():
    rules = [line for line in heat_colours().splitlines() if line.startswith(".heat")]
    assert len(rules) == 2 * 101
    assert to_hex(colormaps["viridis"](0.5)) in rules[50]
    for rule in rules:
        paper, ink = (part.split(":")[1].rstrip("}") for part in rule.split("{")[1].split(";"))
        assert contrast(paper, ink) >= 4.5, rule  # WCAG's level AA


ONE_LAYER = random_attentions(1, 2, 4)


@pytest.mark.parametrize(
    ("attentions", "tokens", "options", "message"),
    [
        (ONE_LAYER, TOKENS, {"layer": 1}, "layer must be from 0 to 0; got 1"),
        (ONE_LAYER, TOKENS, {"head": 2}, "head must be from 0 to 1; got 2"),
        (ONE_LAYER, TOKENS, {"head": 1.0}, "head must be from 0 to 1; got 1.0"),
        (ONE_LAYER, TOKENS[:3], {}, r"must end in \[3, 3\]"),
        (even(1, 1, 81), ["a"] * 81, {}, "at most 80.*got 81; use a shorter"),
        (even(14, 12, 80), ["a"] * 80, {}, "1,000,000 numbers.*1,075,200"),
    ],
)
def test_bad_arguments_are_named(attentions, tokens, options, message):
    rejected(message, head_maps, attentions, tokens, **options)


def test_twelve_by_twelve_heads_of_64_tokens_weigh_less_than_3_mb():
    tokens = [f"token{i}" for i in range(64)]
    assert len(head_maps(random_attentions(12, 12, 64), tokens)._repr_html_()) < 3_000_000
