"""Heat maps of any head: the numbers in the page, its first table, and the boxes above it."""

import base64
import json
from types import SimpleNamespace

import ipywidgets
import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from bertlab.interpretability.traces import trace
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece
from bertlab.viz import head_explorer, head_maps
from bertlab.viz.heat_tables import heat_colours, pack_roots, table_height

TOKENS = ["[CLS]", "the", "<b>", "[SEP]"]
CORPUS = ["the cats sat on the mat", "my two dogs sat with the cat"]


def random_attentions(n_layers, n_heads, length, causal=False):
    generator = torch.Generator().manual_seed(length)
    scores = 2 * torch.randn(n_layers, 1, n_heads, length, length, generator=generator)
    if causal:
        scores = scores.masked_fill(~torch.ones(length, length).bool().tril(), -torch.inf)
    return list(scores.softmax(-1))


def facts_of(shown):
    """What the page's script knows."""
    text = shown.page.split("const FACTS = ", 1)[1]
    return json.JSONDecoder().raw_decode(text)[0]


def unpacked(facts):
    roots = torch.frombuffer(bytearray(base64.b64decode(facts["packed"])), dtype=torch.uint16)
    length = len(facts["tokens"])
    shape = (facts["n_layers"], facts["n_heads"], length, length)
    return (roots.double() / 65535).square().view(shape)


def cells_of(shown):
    rows = BeautifulSoup(shown.page, "html.parser").select(".heat tbody tr")
    return [[cell.get_text() for cell in row.find_all("td")] for row in rows]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(CORPUS, vocab_size=60)


@pytest.fixture(scope="module")
def model(tokenizer):
    """A small model, never trained, with heads that differ."""
    model = Bert(BertConfig(len(tokenizer.vocab), 24, 2, 3, 40, max_length=100))
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / 2
    return model


@pytest.fixture
def page(monkeypatch):
    """What a notebook would show: boxes, what was displayed, and how it changed."""
    seen = SimpleNamespace(boxes=[], shown=[], updates=[])

    class Box(ipywidgets.Text):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            seen.boxes.append(self)

    def display(thing, **options):
        seen.shown.append((thing, options))
        return SimpleNamespace(update=seen.updates.append)

    monkeypatch.setattr("ipywidgets.Text", Box)
    monkeypatch.setattr("IPython.display.display", display)
    return seen


def test_the_page_holds_the_probabilities_of_all_heads():
    attentions = random_attentions(2, 3, 4)
    facts = facts_of(head_maps(attentions, TOKENS))
    assert facts["tokens"] == TOKENS
    assert not facts["causal"]
    torch.testing.assert_close(
        unpacked(facts), torch.cat(attentions).double(), rtol=1e-3, atol=2e-5
    )


@given(st.floats(1e-6, 1))
def test_a_small_probability_keeps_its_digits(probability):
    roots = int.from_bytes(base64.b64decode(pack_roots(torch.tensor([probability]))), "little")
    assert (roots / 65535) ** 2 == pytest.approx(probability, rel=0.02, abs=1e-8)


def test_a_head_that_never_looks_ahead_is_taken_for_a_decoders():
    assert facts_of(head_maps(random_attentions(1, 2, 4, causal=True), TOKENS))["causal"]


def test_the_first_table_shows_the_chosen_head_in_percent():
    attentions = random_attentions(2, 3, 4)
    shown = head_maps(attentions, TOKENS, layer=1, head=2)
    expected = attentions[1][0, 2]
    for row, probabilities in zip(cells_of(shown), expected.tolist(), strict=True):
        assert [int(cell) for cell in row] == pytest.approx(
            [100 * value for value in probabilities], abs=0.51
        )
    page = BeautifulSoup(shown.page, "html.parser")
    assert page.select_one(".caption").text == "Layer 1, head 2"
    assert [cell["class"] for cell in page.select(".heat tbody td")] == [
        [f"v{cell.text}"] for cell in page.select(".heat tbody td")
    ]
    sliders = [(box["id"], box["max"], box["value"]) for box in page.select('input[type="range"]')]
    assert sliders == [("layer", "1", "1"), ("head", "2", "2")]


def test_a_token_is_text_and_never_markup():
    shown = head_maps(random_attentions(1, 1, 4), TOKENS)
    page = BeautifulSoup(shown.page, "html.parser")
    assert [name.text for name in page.select("tbody th")] == TOKENS
    assert page.select("tbody b") == []
    hostile = head_maps(random_attentions(1, 1, 2), ["</script><script>alert(1)", "b"])
    assert "</script><script>alert" not in hostile.page


def test_switches_are_there_for_what_the_text_has_and_leave_something():
    def switches(tokens):
        shown = head_maps(random_attentions(1, 1, len(tokens)), tokens)
        page = BeautifulSoup(shown.page, "html.parser")
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
        (table,) = BeautifulSoup(shown.page, "html.parser").select("table")
        assert table["class"] == ["heat", size]
        assert bool(cells_of(shown)[0][0]) == (size == "numbers")
        assert shown.height > table_height(tokens) > 11 * length


def test_ink_can_be_read_on_every_colour():
    def luminance(colour):
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in colour]
        return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    rules = [line for line in heat_colours().splitlines() if line.startswith(".heat")]
    assert len(rules) == 2 * 101
    assert to_hex(colormaps["viridis"](0.5)) in rules[50]
    for rule in rules:
        paper, ink = (part.split(":")[1].rstrip("}") for part in rule.split("{")[1].split(";"))
        high, low = sorted((luminance(to_rgb(paper)), luminance(to_rgb(ink))), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, rule  # WCAG's level AA


@pytest.mark.parametrize(
    ("attentions", "tokens", "options", "message"),
    [
        (random_attentions(1, 2, 4), TOKENS, {"layer": 1}, "layer must be from 0 to 0; got 1"),
        (random_attentions(1, 2, 4), TOKENS, {"head": 2}, "head must be from 0 to 1; got 2"),
        (random_attentions(1, 2, 4), TOKENS[:3], {}, r"must end in \[3, 3\]"),
        ([torch.full((1, 81, 81), 1 / 81)], ["a"] * 81, {}, "at most 80.*got 81; take a shorter"),
        ([torch.full((12, 80, 80), 1 / 80)] * 14, ["a"] * 80, {}, "1,000,000 numbers.*1,075,200"),
        ([torch.eye(4)[None] / 2], TOKENS, {}, "every row of attention must sum to 1"),
        ([torch.full((1, 4, 4), torch.nan)], TOKENS, {}, "probabilities"),
    ],
)
def test_bad_arguments_are_named(attentions, tokens, options, message):
    with pytest.raises(ValueError, match=message):
        head_maps(attentions, tokens, **options)


def test_twelve_by_twelve_heads_of_64_tokens_weigh_less_than_3_mb():
    tokens = [f"token{i}" for i in range(64)]
    assert len(head_maps(random_attentions(12, 12, 64), tokens)._repr_html_()) < 3_000_000


def test_typing_asks_the_model_anew(page, model, tokenizer):
    head_explorer(model, tokenizer, "The cat", layer=1, head=2)._ipython_display_()
    (bundle, _), (first, options) = page.shown
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "Run this cell in Jupyter to type a text of your own."
    assert options == {"display_id": True}
    assert facts_of(first)["tokens"] == ["[CLS]", "the", "cat", "[SEP]"]
    (box,) = page.boxes
    assert (box.value, box.description, box.continuous_update) == ("The cat", "Type here", True)
    box.value = "The cat sat"
    (second,) = page.updates
    expected = trace(model, tokenizer, "The cat sat")
    assert facts_of(second)["tokens"] == expected.tokens
    torch.testing.assert_close(
        unpacked(facts_of(second)), torch.stack(expected.attentions).double(), rtol=2e-3, atol=2e-5
    )
    assert (facts_of(second)["layer"], facts_of(second)["head"]) == (1, 2)


def test_frames_of_one_box_share_what_is_chosen_and_no_other(model, tokenizer):
    one, two = (head_explorer(model, tokenizer, "The cat") for _ in range(2))
    assert facts_of(one.draw("the"))["key"] == facts_of(one.draw("cat"))["key"] != ""
    assert facts_of(one.draw("the"))["key"] != facts_of(two.draw("the"))["key"]
    assert facts_of(head_maps(random_attentions(1, 1, 4), TOKENS))["key"] == ""


def test_a_pair_has_two_boxes(page, model, tokenizer):
    explorer = head_explorer(model, tokenizer, "The cat", "my dogs", on_enter=True)
    explorer._ipython_display_()
    assert [(box.description, box.value) for box in page.boxes] == [
        ("First text", "The cat"),
        ("Second text", "my dogs"),
    ]
    assert not any(box.continuous_update for box in page.boxes)
    page.boxes[1].value = "two mats"
    page.boxes[0].value = "The dog"
    expected = trace(model, tokenizer, "The dog", "two mats").tokens
    assert facts_of(page.updates[-1])["tokens"] == expected
    assert sum("Run this cell" in str(thing) for thing, _ in page.shown) == 1


def test_a_text_that_cannot_be_read_is_explained_and_the_box_goes_on(page, model, tokenizer):
    head_explorer(model, tokenizer, "The cat")._ipython_display_()
    (box,) = page.boxes
    for text, words in (
        (" ", "text must hold at least one word"),
        ("cat " * 200, "text must be 1 to 100 tokens long"),
        ("cat " * 79, "tokens must be at most 80"),
    ):
        box.value = text
        assert f"<strong>No map.</strong> {page.updates[-1].text.split(':')[0]}" in (
            page.updates[-1].html
        )
        assert words in repr(page.updates[-1])
    box.value = "the mat"
    assert facts_of(page.updates[-1])["tokens"][1:3] == ["the", "mat"]


def test_half_a_character_reaches_nobody(model, tokenizer):
    frame = head_explorer(model, tokenizer, "the cat").answer("the \ud83d cat")
    assert "\\ud83d" not in frame.page
    frame.page.encode("utf-8")


def test_words_of_ones_own_are_for_the_first_text_alone(model, tokenizer):
    explorer = head_explorer(model, tokenizer, "the cat", alt="A cat looks")
    assert repr(explorer) == "What each head attends to. A cat looks"
    assert "A heat map of" in repr(explorer.answer("the dogs"))


def test_bad_arguments_are_named_when_the_cell_runs(model, tokenizer):
    with pytest.raises(ValueError, match="text must be a string; got int"):
        head_explorer(model, tokenizer, 3)
    with pytest.raises(ValueError, match="pair must be a string; got int"):
        head_explorer(model, tokenizer, "a", 3)
    with pytest.raises(ValueError, match="layer must be from 0 to 1; got 2"):
        head_explorer(model, tokenizer, "the cat", layer=2)
    with pytest.raises(ValueError, match="at least one word"):
        head_explorer(model, tokenizer, "")
