"""A student types a text and views any head, in JupyterLab and in an exported page."""

import re
from shutil import copytree

import pytest
import torch
from matplotlib import colormaps
from nbclient import NotebookClient
from playwright.sync_api import expect

from bertlab import viz
from bertlab.interpretability.patterns import attention_entropy, attention_to_offset
from bertlab.interpretability.traces import trace
from bertlab.model import BertForPreTraining
from bertlab.model.heads import fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course.live.pages import LecturePage
from tests.browser.conftest import export, notebook_of, put_on_theme, type_without_kernel

pytestmark = pytest.mark.browser
TEXT = "The cat sat on the mat."
PAIR = "It was tired."
GAP = "The [MASK] sat on the mat."
MAPS, GALLERY = "What each head attends to", "All heads"

LOAD = """
from bertlab import viz
from bertlab.interpretability.gradients import gradient_times_input
from bertlab.interpretability.traces import trace
from bertlab.model import BertForPreTraining
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course import widgets

model = load_pretrained(BERTLAB_MINI, BertForPreTraining)
tokenizer = load_tokenizer(BERTLAB_MINI)
"""
EXPLORER = f"widgets.head_explorer(model, tokenizer, {TEXT!r}, layer=1)"
PAIRED = f"widgets.head_explorer(model, tokenizer, {TEXT!r}, {PAIR!r})"
GALLERIES = f"""
traced = trace(model, tokenizer, {TEXT!r})
widgets.head_gallery(traced.attentions, traced.tokens, by="entropy")
"""
OTHER = "The king gave [MASK] horse away."
ANSWER = ".jp-OutputArea-output:not(:has(.bert-box))"  # Python's
PLAYGROUND = 'widgets.tokenizer_playground({"WordPiece": tokenizer}, "unaffable")'
GUESSES = f"widgets.fill_mask_explorer(model, tokenizer, {GAP!r})"
PICTURES = [
    "viz.rollout_bars(traced.attentions, traced.tokens, 2)",
    """
cat = tokenizer.vocab["cat"]
pushes = gradient_times_input(model, traced.ids, lambda output: output.mlm_logits[0, 2, cat])
viz.saliency_bars(traced.tokens, pushes, traced.attentions[3].mean(0)[2], target="“cat”")
""",
]


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(BERTLAB_MINI)


@pytest.fixture(scope="module")
def model():
    return load_pretrained(BERTLAB_MINI, BertForPreTraining)


@pytest.fixture(scope="module")
def traced(model, tokenizer):
    """Text, or text and pair -> its trace, by the same model as in the notebook."""
    return lambda *texts: trace(model, tokenizer, *texts)


def drawn(view):
    """The tokens of the table, and one number per cell."""
    names = view.locator(".heat tbody th").all_text_contents()
    top = view.locator(".heat thead th").all_text_contents()
    assert names == top
    numbers = [float(text) for text in view.locator(".heat tbody td").all_text_contents()]
    return names, torch.tensor(numbers).view(len(names), len(names))


def check_map(view, names, head, digits=0):
    """The table shows `head`, to the precision of its digits."""
    expect(view.locator(".heat tbody th")).to_have_text(names)
    shown_names, numbers = drawn(view)
    assert shown_names == names
    # A number is rounded, and the page has 16 bits of a probability.
    torch.testing.assert_close(numbers, head.float(), rtol=2e-3, atol=0.51 * 10**-digits)


def without(attention, tokens, *hidden):
    """Tokens and attention without some; rows sum to 1 again."""
    keep = torch.tensor([token not in hidden for token in tokens])
    left = attention[keep][:, keep]
    names = [token for token in tokens if token not in hidden]
    return names, left / left.sum(dim=-1, keepdim=True)


def check_explorer(tab, view, trace):
    """Sliders, keys, measures and switches, against the tensors."""
    tokens, attentions = trace.tokens, trace.attentions
    check_map(view, tokens, 100 * attentions[1][0])
    classes = view.locator(".heat tbody td").evaluate_all("all => all.map(cell => cell.className)")
    assert classes == [f"v{text}" for text in view.locator(".heat tbody td").all_text_contents()]

    view.locator("#head").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowDown")  # for any focus: the next layer
    expect(view.locator(".caption")).to_have_text("Layer 2, head 2")
    head = attentions[2][2]
    check_map(view, tokens, 100 * head)
    cell = view.locator(".heat tbody td").nth(head.argmax().item())
    colour = cell.evaluate("cell => getComputedStyle(cell).backgroundColor")
    share = int(cell.text_content()) / 100
    red, green, blue, _ = (round(255 * part) for part in colormaps["viridis"](share))
    assert colour == f"rgb({red}, {green}, {blue})"

    view.locator("#measure").select_option("chance")
    check_map(view, tokens, head * len(tokens), digits=1)
    view.locator("#measure").select_option("key")
    check_map(view, tokens, head / head.mean(dim=0), digits=1)
    view.get_by_label("hide [SEP]").check()
    names, left = without(head, tokens, "[SEP]")
    check_map(view, names, left / left.mean(dim=0), digits=1)
    view.locator("#measure").select_option("probability")
    check_map(view, names, 100 * left)
    lost = head[:-1, -1].mean().item()
    expect(view.locator(".note")).to_contain_text(
        f"[SEP] had {100 * lost:.0f} % of the attention that the rows shown give."
    )
    view.get_by_label("hide [CLS]").focus()
    tab.page.keyboard.press("Space")
    names, left = without(head, tokens, "[CLS]", "[SEP]")
    check_map(view, names, 100 * left)


def check_reading(tab, view, trace, layer, head):
    """Pointing at a cell, and moving there with the keys, shows its number."""
    names, left = without(trace.attentions[layer][head], trace.tokens, "[CLS]", "[SEP]")
    reading = view.locator(".reading")

    def says(query, key):
        percent = f"{100 * left[query, key].item():.1f}"
        expect(reading).to_have_text(re.compile(rf"^{names[query]} → {names[key]}: [\d.]+ %$"))
        shown = float(reading.text_content().split(": ")[1].removesuffix(" %"))
        assert shown == pytest.approx(float(percent), abs=0.11)

    view.locator(".heat tbody tr").nth(3).locator("td").nth(1).hover()
    says(3, 1)
    view.locator(".heat").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowUp")
    says(2, 2)
    expect(view.locator(".caption")).to_have_text(f"Layer {layer}, head {head}")


def order_of(view):
    return view.locator(".gallery b").all_text_contents()


def names_sorted(scores, highest_first):
    n_heads = scores.shape[1]
    # What is equal up to the sixth digit keeps its order.
    order = scores.round(decimals=6).flatten().argsort(descending=highest_first, stable=True)
    order = order.tolist()
    return [f"{number // n_heads}.{number % n_heads}" for number in order]


def check_gallery(tab, view, trace):
    """Sorting by the tensors' own scores; a click and Enter show a head large."""
    layers = torch.stack(trace.attentions)
    entropy = attention_entropy(layers).mean(dim=-1)
    previous = attention_to_offset(layers, -1)
    assert order_of(view) == names_sorted(entropy, highest_first=False)
    assert view.locator(".gallery img").evaluate_all(
        "all => all.every(image => image.complete && image.naturalWidth > 0)"
    )
    view.locator("#by").select_option("previous")
    assert order_of(view) == names_sorted(previous, highest_first=True)
    shown = view.locator(".gallery .score").first.text_content()
    assert shown == f"{100 * previous.max().item():.0f} %"
    view.get_by_label("the other way round").check()
    assert order_of(view) == names_sorted(previous, highest_first=False)

    view.locator('button[data-head="13"]').click()
    expect(view.locator(".which")).to_contain_text("Head 3.1, attention to the previous token")
    check_map(view, trace.tokens, 100 * layers[3, 1])
    view.locator("#by").select_option("layer")
    view.get_by_label("the other way round").uncheck()
    assert order_of(view) == [f"{layer}.{head}" for layer in range(4) for head in range(4)]
    view.locator('button[data-head="13"]').focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("Enter")
    expect(view.locator(".which")).to_have_text("Head 3.0")
    expect(view.locator('button[aria-pressed="true"]')).to_have_attribute("data-head", "12")
    check_map(view, trace.tokens, 100 * layers[3, 0])


def check_guesses(page, model, tokenizer, text):
    """The bars that a text has now."""
    (guesses,) = fill_mask(model, tokenizer, text)
    rows = page.locator(".bertlab-guesses tr")
    expect(rows.locator("th")).to_have_text(
        [*(word for word, _ in guesses), f"the other {len(tokenizer.vocab) - 5:,}"]
    )
    shares = [100 * share for _, share in guesses]
    texts = rows.locator(".share").all_text_contents()
    assert [float(text.split()[0]) for text in texts[:5]] == pytest.approx(shares, abs=0.06)
    widths = rows.locator(".bar").evaluate_all(
        """bars => bars.map(bar => {
            const style = getComputedStyle(bar);
            const room = bar.clientWidth - parseFloat(style.paddingLeft)
                - parseFloat(style.paddingRight);
            return 100 * bar.firstChild.getBoundingClientRect().width / room;
        })"""
    )
    assert widths[:5] == pytest.approx(shares, abs=0.5)


def test_the_chosen_head_is_shown_for_a_typed_text(tab, lab, traced, keep_screenshot):
    lab.run(tab.page, "explorer", notebook_of(LOAD, EXPLORER))
    view = tab.frame(MAPS)
    check_explorer(tab, view, traced(TEXT))
    check_reading(tab, view, traced(TEXT), layer=2, head=2)
    box = tab.page.get_by_label("Type here")
    box.evaluate("box => box.scrollIntoView({block: 'start'})")
    box.click()
    place = box.bounding_box()
    tab.page.keyboard.press("End")
    tab.page.keyboard.type(" So did I!")
    longer = traced(f"{TEXT} So did I!")
    names, left = without(longer.attentions[2][2], longer.tokens, "[CLS]", "[SEP]")
    expect(view.locator(".heat tbody th")).to_have_text(names)
    check_map(view, names, 100 * left)  # layer, head and hidden tokens did not change
    expect(view.locator(".caption")).to_have_text("Layer 2, head 2")
    expect(view.get_by_label("hide [CLS]")).to_be_checked()
    expect(box).to_be_focused()
    assert box.bounding_box() == place  # new frames did not make the page jump
    keep_screenshot(tab.page, "typed")

    box.fill("")
    output = tab.page.locator(ANSWER).last
    expect(output).to_have_text(re.compile("No map.*text must hold at least one word"))
    box.fill("cat " * 100)
    expect(output).to_have_text(re.compile("tokens must be at most 80.*use a shorter text"))
    box.fill("The cat")
    short = traced("The cat")
    names, left = without(short.attentions[2][2], short.tokens, "[CLS]", "[SEP]")
    check_map(view, names, 100 * left)


def check_live(page, box, model, tokenizer):
    """BERT in the page reads and predicts as PyTorch does."""
    type_without_kernel(page, box, OTHER)
    expect(box.locator("form [role=status]")).to_contain_text("The model read")
    expect(box.locator(".pieces button")).to_have_text(tokenizer.encode(OTHER).tokens)
    (expected,) = fill_mask(model, tokenizer, OTHER)
    assert box.locator(".guesses th").all_text_contents() == [word for word, _ in expected]


def test_in_an_exported_page_bert_still_reads_what_is_typed(tab, tmp_path, model, tokenizer):
    notebook = notebook_of(LOAD, GUESSES, EXPLORER, PLAYGROUND)
    NotebookClient(notebook, timeout=600).execute()
    path = export(notebook, tmp_path / "page.html", LecturePage)
    assert path.read_text(encoding="utf-8").count("window.bertlabWeights =") == 1  # for all boxes
    tab.page.goto(path.as_uri())
    boxes = tab.page.locator(".bert-box")
    guesses, heads, pieces = (boxes.nth(number) for number in range(3))
    check_live(tab.page, guesses, model, tokenizer)
    check_live(tab.page, heads, model, tokenizer)
    for box, shown in ((guesses, "guesses"), (heads, "shares"), (pieces, "strip")):
        stations = box.locator("li[data-station]")
        assert stations.count() == 2
        assert stations.last.locator(f".{shown}").count() == 1


def test_without_a_kernel_heads_can_still_be_chosen(tab, lab, traced, model, tokenizer):
    copytree(BERTLAB_MINI, lab.folder / "weights")  # what the server may show
    here = "from course.live import tours\ntours.BERTLAB_MINI = pathlib.Path('weights')"
    lab.run(tab.page, "gone", notebook_of(f"import pathlib\n{LOAD}\n{here}", EXPLORER, GUESSES))
    page = tab.page
    view = tab.frame(MAPS)
    check_map(view, traced(TEXT).tokens, 100 * traced(TEXT).attentions[1][0])
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Shut Down Kernel", exact=True).click()
    page.get_by_text("No Kernel | Unknown").wait_for()
    page.get_by_label("Type here").fill("Nobody answers")
    check_explorer(tab, view, traced(TEXT))
    expect(page.locator(".bertlab-guesses tr")).to_have_count(6)
    check_live(page, page.locator(".bert-box").last, model, tokenizer)
    assert not re.search(r"Traceback|Error", page.locator(".jp-Notebook").inner_text())
    # The widget manager logs the missing kernel in the console; nothing else may be there.
    assert all("Could not send widget sync message" in error for error in tab.errors)
    tab.errors.clear()


def test_predictions_follow_the_typed_text(tab, lab, model, tokenizer, keep_screenshot):
    lab.run(tab.page, "guesses", notebook_of(LOAD, GUESSES))
    check_guesses(tab.page, model, tokenizer, GAP)
    box = tab.page.get_by_label("A sentence with [MASK]")
    box.click()
    tab.page.keyboard.press("End")
    tab.page.keyboard.type(" It was red")
    check_guesses(tab.page, model, tokenizer, f"{GAP} It was red")
    keep_screenshot(tab.page, "typed")
    box.fill("no gap")
    output = tab.page.locator(ANSWER).last
    expect(output).to_have_text(re.compile(r"No answer.*text must hold \[MASK\], in capitals"))


def open_maps(tab, tmp_path, attentions, tokens, **options):
    """The frame alone, opened as a file."""
    path = viz.head_maps(attentions, tokens, **options).save(tmp_path / "maps.html")
    tab.page.goto(path.as_uri())
    return tab.page


def texts_of(page):
    return page.locator(".heat tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )


def test_a_decoder_is_not_measured_by_masked_positions(tab, tmp_path):
    head = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    page = open_maps(tab, tmp_path, [head[None]], ["[CLS]", "a", "b"])
    assert texts_of(page) == [["100", "–", "–"], ["50", "50", "–"], ["20", "20", "60"]]
    page.locator("#measure").select_option("chance")  # of 1, 2 and 3 keys
    assert texts_of(page) == [["1.0", "–", "–"], ["1.0", "1.0", "–"], ["0.6", "0.6", "1.8"]]
    page.locator("#measure").select_option("key")  # means 1.7 / 3, 0.7 / 2 and 0.6
    assert texts_of(page) == [["1.8", "–", "–"], ["0.9", "1.4", "–"], ["0.4", "0.6", "1.0"]]
    page.locator("#measure").select_option("probability")
    page.get_by_label("hide [CLS]").check()
    assert texts_of(page) == [["100", "–"], ["25", "75"]]
    page.locator(".heat").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".reading")).to_have_text("a → b: nothing to give")


def test_a_query_that_attends_only_to_the_separator_has_no_other_weights(tab, tmp_path):
    head = torch.tensor([[0.0, 0.0, 1.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])
    page = open_maps(tab, tmp_path, [head[None]], ["a", "<script>", "[SEP]"])
    page.get_by_label("hide [SEP]").check()
    assert texts_of(page) == [["–", "–"], ["67", "33"]]
    assert page.locator(".heat tbody th").all_text_contents() == ["a", "<script>"]
    # The rows of a and <script> gave it 1 and 0.25.
    expect(page.locator(".note")).to_contain_text("[SEP] had 63 % of the attention")


def test_twelve_by_twelve_heads_of_64_tokens_are_drawn_at_once(tab, tmp_path):
    generator = torch.Generator().manual_seed(2)
    attentions = list((2 * torch.randn(12, 12, 64, 64, generator=generator)).softmax(-1))
    tokens = [f"t{i}" for i in range(64)]
    page = open_maps(tab, tmp_path, attentions, tokens)
    page.locator("#layer").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")  # a slider moves by its own keys
    page.locator(".caption").click()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".caption")).to_have_text("Layer 10, head 3")
    layer, head = 10, 3
    classes = page.locator(".heat tbody td").evaluate_all("all => all.map(td => td.className)")
    percents = torch.tensor([int(name[1:]) for name in classes]).view(64, 64)
    assert (percents - 100 * attentions[layer][head]).abs().max() <= 0.51
    page.locator(".heat tbody tr").nth(40).locator("td").nth(50).hover()
    expect(page.locator(".reading")).to_have_text(
        f"t40 → t50: {100 * attentions[layer][head, 40, 50].item():.1f} %"
    )


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The whole notebook, run and exported, without the widgets' state."""
    notebook = notebook_of(LOAD, EXPLORER, PAIRED, GALLERIES, GUESSES, *PICTURES)
    NotebookClient(notebook, timeout=600, store_widget_state=False).execute()
    return export(notebook, tmp_path_factory.mktemp("exported") / "page.html")


def test_an_exported_page_is_as_interactive_as_the_notebook(
    tab, exported, traced, model, tokenizer, keep_screenshot
):
    tab.page.goto(exported.as_uri())
    view = tab.in_sight(MAPS)
    put_on_theme(tab, view, "dark")
    check_explorer(tab, view, traced(TEXT))
    check_reading(tab, view, traced(TEXT), layer=2, head=2)
    both = traced(TEXT, PAIR)
    check_map(tab.in_sight(MAPS, 1), both.tokens, 100 * both.attentions[0][0])  # a copy of its own
    check_gallery(tab, tab.in_sight(GALLERY), traced(TEXT))
    check_guesses(tab.page, model, tokenizer, GAP)
    body = tab.page.locator("body").inner_text()
    assert body.count("Run this cell in Jupyter to type a text of your own") == 3
    assert not re.search(r"Traceback|Error", body)
    for alt in ("Where “cat” at the top looks.", "What pushes “cat”"):
        image = tab.page.locator(f'img[alt^="{alt}"]')
        assert image.evaluate("image => image.complete && image.naturalWidth > 0")
    keep_screenshot(tab.page, "dark", full_page=True)


def test_without_scripts_the_first_map_and_the_words_are_there(chromium, exported, traced):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(exported.as_uri())
    words = page.locator(".bertlab-alt").first
    expect(words).to_be_visible()
    expect(words).to_contain_text("Layer 1, head 0, of 4 layers with 4 heads.")
    view = page.frame_locator(f'iframe[title="{MAPS}"]').first
    check_map(view, traced(TEXT).tokens, 100 * traced(TEXT).attentions[1][0])
    expect(view.locator("#measure")).to_be_hidden()  # it would have no effect
    gallery = page.frame_locator(f'iframe[title="{GALLERY}"]')
    expect(gallery.locator(".gallery img")).to_have_count(16)
    assert page.locator(".bertlab-guesses tr").count() == 6
    context.close()
