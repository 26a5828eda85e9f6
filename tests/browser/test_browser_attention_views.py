"""BertViz's views as a student uses them: the drawing equals the tensors; without network."""

import math

import pytest
import torch
from playwright.sync_api import expect

from bertlab import viz
from bertlab.interpretability.traces import trace, trace_translation
from bertlab.model.bert import Bert
from bertlab.model.config import BertConfig
from bertlab.model.transformer import Transformer, TransformerConfig
from bertlab.tokenizers.wordpiece import WordPiece
from tests.browser.accessibility import serious_violations
from tests.browser.conftest import put_on_theme, wait_for_height
from tests.small_models import random_weights

pytestmark = pytest.mark.browser

# One token is markup: if not escaped, it would cause an error in the console.
EVIL = "<script>console.error('ran')</script>"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "it", "slept", EVIL]
SIZES = {"vocab_size": len(WORDS), "d_model": 24, "n_layers": 2, "n_heads": 3, "d_ff": 24}
PACKED = 1.3e-4  # half a step of the packed probabilities
SEEN = 1 / 512  # fainter lines are omitted


@pytest.fixture(scope="module")
def traced():
    """A pair of sentences in a model whose heads differ."""
    special = [*WORDS[:5], EVIL]
    tokenizer = WordPiece({w: i for i, w in enumerate(WORDS)}, special_tokens=special)
    model = random_weights(Bert(BertConfig(**SIZES, max_length=32)), seed=3, scale=1 / 2)
    return trace(model, tokenizer, "the cat sat", f"it {EVIL} slept")


@pytest.fixture(scope="module")
def translation():
    sizes = TransformerConfig(**SIZES, max_length=32)
    model = random_weights(Transformer(sizes), seed=4, scale=1 / 2)
    return trace_translation(model, [5, 6, 7, 3], [2, 8, 9])


@pytest.fixture
def show(tab, tmp_path):
    """Open views in one page, as in an exported notebook."""

    def opened(*views):
        path = tmp_path / "page.html"
        body = "".join(view._repr_html_() for view in views)
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
        tab.page.goto(path.as_uri())
        return tab

    return opened


def drawn(lines, shape):
    """The opacities of lines, [L, L'], by the tokens they join; 0 where there is no line."""
    found = lines.evaluate_all(
        """lines => lines.map(line => ["left-token-index", "right-token-index", "stroke-opacity"]
            .map(name => +line.getAttribute(name)))"""
    )
    opacities = torch.zeros(shape)
    for query, key, opacity in found:
        assert opacities[int(query), int(key)] == 0, "two lines for one pair"
        opacities[int(query), int(key)] = opacity
    return opacities


def assert_drawn(lines, attention, share=1):
    """There is a line for each visible probability, with its opacity."""
    opacities, expected = drawn(lines, attention.shape), attention / share
    seen = expected >= SEEN
    assert lines.count() == (opacities > 0).sum()
    assert ((opacities > 0) == seen)[(expected - SEEN).abs() > PACKED].all()
    torch.testing.assert_close(opacities[seen], expected[seen], atol=PACKED, rtol=0)


def lines_of(view, head):
    return view.locator(f'#attention .headAttention[head-index="{head}"] line')


def test_the_head_view_draws_a_line_for_each_probability(show, traced):
    view = show(viz.head_view(traced.attentions, traced.tokens, layer=1)).frame("Head view")
    for head in range(3):
        assert_drawn(lines_of(view, head), traced.attentions[1][head], share=3)
    assert view.locator("#left text").all_text_contents() == traced.tokens
    assert EVIL in traced.tokens


def test_a_head_is_said_in_words_and_as_a_table(show):
    # Head 0 looks at the token before, head 1 at [CLS], head 2 everywhere.
    tokens = ["[CLS]", "a", "cat", "sat"]
    before = torch.eye(4).roll(-1, 1) * 0.8 + 0.2 / 4
    first = torch.tensor([0.7, 0.1, 0.1, 0.1]).repeat(4, 1)
    even = torch.full((4, 4), 1 / 4)
    even[:, 2] += 0.03
    even[:, 3] -= 0.03
    heads = torch.stack([before, first, even])
    view = show(viz.head_view([heads], tokens, heads=[1])).frame("Head view")
    words, squares = view.locator("#words"), view.get_by_role("checkbox")
    summary = words.locator("summary")
    expect(summary).to_have_text(
        "Head 0.1 looks mostly at “[CLS]”: 70 % of its attention on average."
    )
    summary.click()
    row = words.locator("tr", has=view.locator("th", has_text="cat"))
    expect(row).to_have_text("cat[CLS] 70 %, a 10 %, cat 10 %")
    squares.nth(0).dblclick()
    expect(summary).to_have_text(
        "Head 0.0 looks mostly at the token before: 85 % of its attention on average."
    )
    squares.nth(2).click()
    expect(summary).to_have_text("The heads in words")
    expect(words.locator("p").nth(1)).to_have_text(
        "Head 0.2 spreads its attention; the largest part, 28 % on average, goes to “cat”."
    )


@pytest.mark.parametrize("view", ["head_view", "model_view", "neuron_view", "head_maps"])
def test_axe_finds_nothing_serious_in_a_view(tab, tmp_path, traced, view):
    attentions, tokens = traced.attentions, traced.tokens
    page = {
        "head_view": lambda: viz.head_view(attentions, tokens),
        "model_view": lambda: viz.model_view(attentions, tokens),
        "neuron_view": lambda: viz.neuron_view(traced),
        "head_maps": lambda: viz.head_maps(attentions, tokens),
    }[view]()
    tab.page.goto(page.save(tmp_path / "view.html").as_uri())
    tab.page.locator("main").wait_for()
    assert serious_violations(tab.page) == []


def test_a_layer_is_selected_and_heads_are_clicked(show, traced):
    view = show(viz.head_view(traced.attentions, traced.tokens)).frame("Head view")
    view.locator("#layer").select_option("1")
    squares = view.get_by_role("checkbox")
    squares.nth(0).click()
    for head in (1, 2):
        assert_drawn(lines_of(view, head), traced.attentions[1][head], share=2)
    assert lines_of(view, 0).count() == 0
    squares.nth(1).dblclick()
    assert_drawn(view.locator("#attention line"), traced.attentions[1][1])
    checked = [square.get_attribute("aria-checked") for square in squares.all()]
    assert checked == ["false", "true", "false"]
    squares.nth(1).click()  # the last one stays on
    assert_drawn(view.locator("#attention line"), traced.attentions[1][1])


def test_heads_and_tokens_are_reached_by_keyboard(show, traced):
    tab = show(viz.head_view(traced.attentions, traced.tokens))
    view, keys = tab.frame("Head view"), tab.page.keyboard
    view.locator("#layer").focus()
    keys.press("Tab")
    focused = view.locator(":focus")
    assert focused.get_attribute("role") is None  # a token; squares come after the drawing
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    assert focused.text_content() == traced.tokens[2]
    visible = view.locator("#attention line[visibility=visible]")
    assert visible.count() > 0
    assert set(visible.evaluate_all("l => l.map(e => e.getAttribute('left-token-index'))")) == {"2"}
    keys.press("Tab")
    assert visible.count() == 0 or focused.text_content() == traced.tokens[0]
    keys.press("Tab")
    assert focused.get_attribute("aria-label") == "Head 0"
    keys.press("ArrowRight")
    keys.press("Enter")
    assert focused.get_attribute("aria-checked") == "false"
    keys.press("Shift+Enter")
    assert_drawn(view.locator("#attention line"), traced.attentions[0][1])


def test_pointing_at_a_token_leaves_its_lines(show, traced):
    view = show(viz.head_view(traced.attentions, traced.tokens, heads=[2])).frame("Head view")
    view.locator("#left text", has_text="cat").hover()
    query = traced.tokens.index("cat")
    visible = view.locator("#attention line[visibility=visible]")
    row = torch.zeros_like(traced.attentions[0][2])
    row[query] = traced.attentions[0][2][query]
    assert_drawn(visible, row)
    boxes = view.locator("#right .attentionBoxes > g").nth(2).locator("rect")
    shown = torch.tensor(boxes.evaluate_all("b => b.map(e => +e.style.opacity)"))
    torch.testing.assert_close(shown, row[query], atol=PACKED, rtol=0)


def test_a_pair_is_seen_sentence_by_sentence(show, traced):
    b = traced.sentence_b_start
    page = viz.head_view(traced.attentions, traced.tokens, heads=[0], sentence_b_start=b)
    view = show(page).frame("Head view")
    view.locator("#filter").select_option(label="Sentence A -> Sentence B")
    assert_drawn(view.locator("#attention line"), traced.attentions[0][0][:b, b:])
    assert view.locator("#left text").all_text_contents() == traced.tokens[:b]


def test_an_encoder_decoder_shows_all_its_attentions(show, translation):
    source, target = ["un", "chat", "dort", "."], ["<s>", "a", "cat"]
    tab = show(
        viz.translation_head_view(translation, source, target, layer=1, heads=[2]),
        viz.translation_model_view(translation, source, target),
    )
    view = tab.frame("Head view")
    menu, lines = view.locator("#filter"), view.locator("#attention line")
    assert_drawn(lines, translation.cross[1][2])
    menu.select_option("1")
    assert_drawn(lines, translation.encoder[1][2])
    menu.select_option("2")
    assert_drawn(lines, translation.decoder[1][2])
    model = tab.frame("Model view")
    model.locator("#filter").select_option("2")
    model.get_by_role("button", name="Layer 1, head 2").click()
    assert_drawn(model.locator(".attn-line-group line"), translation.decoder[1][2])


def test_too_many_lines_for_the_browser_are_not_drawn(show):
    attention = torch.full((3, 300, 300), 1 / 300)
    view = show(viz.head_view([attention], ["token"] * 300, heads=[0])).frame("Head view")
    assert lines_of(view, 0).count() == 300 * 300
    squares = view.get_by_role("checkbox")
    for number in (1, 2):
        squares.nth(number).click()
    assert [s.get_attribute("aria-checked") for s in squares.all()] == ["true", "true", "false"]
    assert view.locator("#too-many").text_content() == "For so many tokens at most 2 at a time."


def test_a_thumbnail_opens_large(show, traced):
    view = show(viz.model_view(traced.attentions, traced.tokens)).frame("Model view")
    buttons = view.get_by_role("button")
    assert buttons.count() == 6
    lines = view.locator(".attn-line-group line")
    assert lines.count() == 0
    view.get_by_role("button", name="Layer 1, head 2").click()
    assert_drawn(lines, traced.attentions[1][2])
    assert view.locator("text.token").all_text_contents() == traced.tokens * 2
    view.locator("text.token", has_text="cat").first.hover()
    groups = view.locator(".attn-line-group")
    shown = groups.evaluate_all("all => all.map(group => +group.style.opacity)")
    assert shown == [float(token == "cat") for token in traced.tokens]
    view.get_by_role("button", name="Layer 0, head 0").click()
    assert_drawn(lines, traced.attentions[0][0])
    view.get_by_role("button", name="Layer 0, head 0").click()
    assert lines.count() == 0


def test_thumbnails_are_opened_by_keyboard(show, traced):
    tab = show(viz.model_view(traced.attentions, traced.tokens, heads=[0, 2]))
    view, keys = tab.frame("Model view"), tab.page.keyboard
    view.get_by_role("button").first.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        keys.press(key)
    assert view.locator(":focus").get_attribute("aria-label") == "Layer 1, head 2"
    assert view.locator(":focus").get_attribute("aria-expanded") == "true"
    assert_drawn(view.locator(".attn-line-group line"), traced.attentions[1][2])


def test_a_thumbnail_is_painted_with_the_probabilities(show):
    # Two tokens that attend to themselves and each other: four lines, measured off crossings.
    attention = torch.tensor([[[0.9, 0.1], [0.4, 0.6]], [[1.0, 0.0], [0.0, 1.0]]])
    view = show(viz.model_view([attention], ["a", "b"])).frame("Model view")
    for head in range(2):
        canvas = view.locator(f'canvas[data-head="{head}"]')
        canvas.and_(view.locator("[style*=width]")).wait_for(state="attached")
        opacity = canvas.evaluate(
            """(canvas) => {
                const pen = canvas.getContext("2d");
                const [left, right] = [5, canvas.width - 9];
                const rows = [0.5, 1.5].map((i) => 5 + (i * (canvas.height - 10)) / 2);
                return [[0, 0], [0, 1], [1, 0], [1, 1]].map(([query, key]) => {
                    const x = Math.floor(left + (right - left) / 4);
                    const share = (x + 0.5 - left) / (right - left);
                    const y = rows[query] + (rows[key] - rows[query]) * share;
                    return pen.getImageData(x, Math.floor(y), 1, 1).data[3] / 255;
                });
            }"""
        )
        painted = torch.tensor(opacity, dtype=torch.float32).view(2, 2)
        torch.testing.assert_close(painted, attention[head], atol=0.01, rtol=0)


def numbers(elements, *shape):
    return torch.tensor(elements.evaluate_all("all => all.map(e => +e.dataset.value)")).view(*shape)


def test_the_neuron_view_shows_how_a_probability_comes_about(show, traced):
    view = show(viz.neuron_view(traced, layer=0, head=0)).frame("Neuron view")
    view.locator("#layer").select_option(label="1")
    view.locator("#att_head").select_option(label="2")
    queries, keys = traced.queries[1][2], traced.keys[1][2]
    L, d_head = queries.shape
    expanded = view.locator("#expanded")
    close = {"atol": 2e-4, "rtol": 1e-4}
    for name, expected in (("queries", queries), ("keys", keys)):
        elements = expanded.locator(f"#{name} .element")
        torch.testing.assert_close(numbers(elements, L, d_head), expected, **close)
        opacities = elements.evaluate_all("all => all.map(e => +e.style.opacity)")
        expected_opacities = (expected.abs() / 4).tanh().flatten()
        torch.testing.assert_close(torch.tensor(opacities), expected_opacities, **close)

    query = traced.tokens.index("cat")
    expanded.locator("#leftText text").nth(query).hover()
    products = queries[query] * keys
    elements = expanded.locator("#product .element")
    torch.testing.assert_close(numbers(elements, L, d_head), products, atol=1e-3, rtol=1e-3)
    scores = products.sum(-1) / math.sqrt(d_head)
    shown = numbers(expanded.locator(".dotproduct"), L)
    torch.testing.assert_close(shown, scores, atol=1e-3, rtol=1e-3)
    softmax = expanded.locator("#rightText .highlight")
    opacities = torch.tensor(softmax.evaluate_all("all => all.map(e => +e.style.opacity)"))
    torch.testing.assert_close(opacities, traced.attentions[1][2][query], atol=PACKED, rtol=0)


def test_a_narrow_page_shows_the_neuron_view_up_to_its_softmax(show, traced):
    tab = show(viz.neuron_view(traced))
    view = tab.frame("Neuron view")
    tab.page.set_viewport_size({"width": 800, "height": 900})
    view.locator('#vis[style*="zoom: 0.7"]').wait_for()
    seen, whole = view.locator("main").evaluate("main => [main.clientWidth, main.scrollWidth]")
    assert whole <= seen


def test_the_neuron_view_of_an_encoder_decoder(show, translation):
    source, target = ["un", "chat", "dort", "."], ["<s>", "a", "cat"]
    page = viz.translation_neuron_view(translation, source, target, layer=1, head=2)
    view = show(page).frame("Neuron view")
    expanded = view.locator("#expanded")
    for number, kind in enumerate(("cross", "encoder", "decoder")):
        view.locator("#filter").select_option(str(number))
        query = translation.queries[kind][1][2]
        keys = translation.keys[kind][1][2]
        for name, expected in (("queries", query), ("keys", keys)):
            shown = numbers(expanded.locator(f"#{name} .element"), *expected.shape)
            torch.testing.assert_close(shown, expected, atol=2e-4, rtol=1e-4)
        expanded.locator("#leftText text").nth(1).hover()
        scores = numbers(expanded.locator(".dotproduct"), len(keys))
        expected = query[1] @ keys.T / math.sqrt(8)
        torch.testing.assert_close(scores, expected, atol=1e-3, rtol=1e-3)
        hidden = expanded.locator("#dotproducts rect").evaluate_all(
            "all => all.filter(e => e.style.opacity === '0').length"
        )
        assert hidden == (1 if kind == "decoder" else 0)  # what comes later has no score


def test_blue_is_positive_and_orange_negative_in_both_themes(show, traced):
    tab = show(viz.neuron_view(traced))
    view = tab.frame("Neuron view")
    colours = []
    for theme in ("light", "dark"):
        put_on_theme(tab, view, theme)
        found = view.locator("#expanded #queries .element").evaluate_all(
            "all => all.map(e => [Math.sign(e.dataset.value), getComputedStyle(e).fill])"
        )
        assert len({tuple(pair) for pair in found}) == 2
        positive, negative = (dict(map(tuple, found))[sign] for sign in (1, -1))
        for colour, is_blue in ((positive, True), (negative, False)):
            red, _, blue = (int(part) for part in colour[4:-1].split(","))
            assert (blue > red) == is_blue
        colours.append(positive)
    assert colours[0] != colours[1]


def test_a_clicked_token_stays_and_its_numbers_can_be_read(show, traced):
    tab = show(viz.neuron_view(traced, layer=1, head=0))
    view = tab.frame("Neuron view")
    expanded = view.locator("#expanded")
    query, key = 2, 1
    expanded.locator("#leftText text").nth(query).click()
    tab.page.mouse.move(600, 5)
    for part in ("#product", "#dotproducts"):
        assert expanded.locator(part).evaluate("e => getComputedStyle(e).opacity") == "1"
    expanded.locator(".dotproduct").nth(key).hover()
    score = traced.queries[1][0][query] @ traced.keys[1][0][key] / math.sqrt(8)
    weight = traced.attentions[1][0][query, key]
    said = view.locator("#reading").text_content()
    word, rest = said.removeprefix("q · k / √d with “").split("”: ")
    shown_score, shown_weight = rest.split("; after the softmax: ")
    assert word == traced.tokens[key]
    assert float(shown_score) == pytest.approx(float(score), rel=6e-3, abs=1e-3)
    assert float(shown_weight) == pytest.approx(float(weight), rel=6e-3, abs=PACKED)


def test_queries_and_keys_can_be_hidden(show, traced):
    tab = show(viz.neuron_view(traced, layer=1, head=1))
    view = tab.frame("Neuron view")
    button = view.locator("#expand")
    assert button.text_content() == "Show attention only"
    button.press("Enter")
    assert button.text_content() == "Show queries and keys"
    assert view.locator("#expanded #leftText text").first.is_hidden()
    assert_drawn(view.locator("#collapsed line"), traced.attentions[1][1])


def test_several_views_on_one_page_are_independent(show, traced):
    tab = show(
        viz.head_view(traced.attentions, traced.tokens, heads=[0]),
        viz.model_view(traced.attentions, traced.tokens),
        viz.neuron_view(traced),
        viz.head_view(traced.attentions, traced.tokens, layer=1, heads=[2]),
    )
    tab.frame("Head view").locator("#layer").select_option("1")
    tab.frame("Model view").get_by_role("button", name="Layer 0, head 1").click()
    assert_drawn(tab.frame("Head view", 0).locator("#attention line"), traced.attentions[1][0])
    assert_drawn(tab.frame("Head view", 1).locator("#attention line"), traced.attentions[1][2])
    assert tab.frame("Neuron view").locator("#expanded #queries .element").count() > 0
    for frame in tab.page.locator("iframe").all():
        wait_for_height(frame)


def test_a_saved_view_opens_alone(tab, traced, tmp_path):
    path = viz.head_view(traced.attentions, traced.tokens, heads=[1]).save(tmp_path / "view.html")
    tab.page.goto(path.as_uri())
    assert_drawn(tab.page.locator("#attention line"), traced.attentions[0][1])
