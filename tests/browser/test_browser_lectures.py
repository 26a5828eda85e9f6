"""A student runs a lecture in JupyterLab and uses its widgets; then opens the exported page.

The views are compared with the attention that Hugging Face's models compute.
"""

from dataclasses import dataclass

import nbformat
import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from bertlab import data
from bertlab.model.pretrained import BERTLAB_MINI
from tests.browser.conftest import export, visible_lines
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

MORE = " the horse ran ."  # typed by a student after the given sentence
FAINTEST = 1 / 512  # a fainter line would change no pixel, and is not drawn


@dataclass(frozen=True)
class Opened:
    """A lecture that has run: in JupyterLab, or as an exported page."""

    tab: object
    live: bool  # in JupyterLab, with a kernel

    def view(self, title, number=0):
        return self.tab.in_sight(title, number)

    def press(self, *keys):
        for key in keys:
            self.tab.page.keyboard.press(key)


@pytest.fixture
def follow(tab, lab, keep_screenshot):
    """`follow("04_attention", use, last)` runs a lecture and uses it, in JupyterLab and exported.

    last: the id of the cell with the last view that is used; later cells are omitted, since
    `tests/lectures/test_lectures.py` runs the whole page.
    """

    def run(name, use, last):
        notebook = nbformat.read(ROOT / "lectures" / f"{name}.ipynb", as_version=4)
        ids = [cell.id for cell in notebook.cells]
        notebook.cells = notebook.cells[: ids.index(last) + 1]
        for cell in notebook.cells:  # the student has opened the optional sections
            cell.metadata.pop("jp-MarkdownHeadingCollapsed", None)
        copy = lab.folder / f"{name}.ipynb"
        lab.run(tab.page, name, notebook)
        use(Opened(tab, live=True))
        keep_screenshot(tab.page, "JupyterLab")
        assert tab.errors == []

        tab.page.keyboard.press("Escape")  # out of a frame or a cell: the keys are JupyterLab's
        tab.page.get_by_role("menuitem", name="File", exact=True).click()
        tab.page.get_by_role("menuitem", name="Save Notebook", exact=False).first.click()
        tab.page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
        executed = nbformat.read(copy, as_version=4)
        assert_nothing_on_stderr(executed)
        exported = export(executed, copy.with_suffix(".html"))
        tab.page.goto(exported.as_uri())
        use(Opened(tab, live=False))
        keep_screenshot(tab.page, "exported")

    return run


def assert_nothing_on_stderr(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs, "the page was saved without its outputs"
    loud = [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert loud == []
    assert [o.evalue for o in outputs if o.output_type == "error"] == []


def test_lecture_04_shows_the_weights_of_the_published_model(follow):
    attentions, tokens = published("the animal did not cross the street because it was too tired")

    def use(opened):
        view = opened.view("Head view")
        assert view.locator("#left text").all_text_contents() == tokens
        check_lines(view, attentions[0], heads=[2])
        view.locator("#layer").select_option("3")
        squares = view.get_by_role("checkbox")
        expect(squares).to_have_count(12)
        squares.nth(2).dblclick()  # from head 2 alone to all twelve
        check_lines(view, attentions[3], heads=range(12))
        squares.nth(1).dblclick()
        check_lines(view, attentions[3], heads=[1])
        view.locator("#left text", has_text="it").hover()
        assert 0 < visible_lines(view) <= len(tokens)
        opened.tab.page.mouse.move(0, 0)

    follow("04_attention", use, last="real-view")


def test_lecture_10_shows_the_heads_of_both_models(follow):
    text = "the king gave his daughter a white horse ."
    mini, tokens = published(text, folder=BERTLAB_MINI)
    pair, pair_tokens = published(text, "she went to the river with the horse .")
    minilm, minilm_tokens = published(text)
    longer, longer_tokens = published(text + MORE)

    def use(opened):
        view = opened.view("Head view")
        assert view.locator("#left text").all_text_contents() == tokens
        check_lines(view, mini[0], heads=range(4))
        view.locator("#layer").select_option("2")
        check_lines(view, mini[2], heads=range(4))

        view = opened.view("Head view", 1)
        check_lines(view, pair[1], heads=[1])
        view.locator("#filter").select_option(label="Sentence B -> Sentence A")
        assert view.locator("#left text").all_text_contents() == pair_tokens[11:]
        check_lines(view, pair[1][:, 11:, :11], heads=[1])

        view = opened.view("Model view")
        expect(view.get_by_role("button", name="Layer")).to_have_count(16)
        view.get_by_role("button", name="Layer 3, head 2").click()
        lines = view.locator(".attn-line-group line")
        assert lines.count() == pytest.approx((mini[3][2] >= FAINTEST).sum(), abs=2)
        ink = lines.evaluate_all(
            "all => all.reduce((sum, e) => sum + +e.getAttribute('stroke-opacity'), 0)"
        )
        assert ink == pytest.approx(mini[3][2].sum(), abs=0.1)  # every row sums to 1

        view = opened.view("Neuron view")
        white = tokens.index("white")
        view.locator("#expanded #leftText text").nth(white).hover()
        scores = view.locator("#expanded .dotproduct").evaluate_all(
            "all => all.map(e => +e.dataset.value)"
        )
        exponentials = np.exp(np.array(scores) - max(scores))
        np.testing.assert_allclose(exponentials / exponentials.sum(), mini[0][1, white], atol=2e-3)

        view = opened.view("All heads")
        first = view.locator(".gallery b").first
        assert first.text_content() == "0.2"  # the previous-token head of MiniLM
        view.locator("#by").select_option("entropy")
        rows = [-(layer * np.log(layer + 1e-30)).sum(-1).mean(-1) for layer in minilm]
        lowest = divmod(int(np.argmin(np.stack(rows))), 12)
        assert first.text_content() == "{}.{}".format(*lowest)

        # The page was saved after the student had typed: the export holds what they saw last.
        attentions, words = (minilm, minilm_tokens) if opened.live else (longer, longer_tokens)
        view = opened.view("What each head attends to")
        assert view.locator(".heat tbody th").all_text_contents() == words
        check_cells(view, 100 * attentions[0][0])
        view.locator("#head").focus()
        opened.press("ArrowRight", "ArrowDown")
        expect(view.locator(".caption")).to_have_text("Layer 1, head 1")
        check_cells(view, 100 * attentions[1][1])
        view.get_by_label("hide [CLS]").check()
        check_cells(view, 100 * without_first(attentions[1][1]))

        box = opened.tab.page.get_by_label("Type here")
        if not opened.live:
            expect(box).to_have_count(0)
            return
        box.click()
        opened.press("End")
        opened.tab.page.keyboard.type(MORE)
        expect(view.locator(".heat tbody th")).to_have_text(longer_tokens[1:])
        check_cells(view, 100 * without_first(longer[1][1]))  # the choice is kept

    follow("10_attention_heads", use, last="measure-explorer-cell")


def without_first(attention):
    """Without [CLS]; every row sums to 1 again."""
    left = attention[1:, 1:]
    return left / left.sum(axis=-1, keepdims=True)


def check_cells(view, numbers):
    """The numbers in a heat map's cells, each rounded to a whole one."""
    shown = [float(text) for text in view.locator(".heat tbody td").all_text_contents()]
    np.testing.assert_allclose(np.reshape(shown, numbers.shape), numbers, atol=0.52)


def published(*sentences, folder=None):
    """Hugging Face's attention, one [H, L, L] per layer, and tokens; MiniLM's real weights."""
    from transformers import AutoModel, AutoTokenizer

    folder = folder or data.path("minilm", "config.json").parent
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    encoded = tokenizer(*sentences, return_tensors="pt")
    with torch.no_grad():
        attentions = model(**encoded, output_attentions=True).attentions
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    return [attention[0].numpy() for attention in attentions], tokens


def check_lines(view, attention, heads):
    """Every line's ink is its probability, shared by the heads that are shown."""
    heads = list(heads)
    drawn = view.locator("#attention line").evaluate_all(
        """lines => lines.map(line => [
            +line.parentNode.parentNode.getAttribute("head-index"),
            +line.getAttribute("left-token-index"), +line.getAttribute("right-token-index"),
            +line.getAttribute("stroke-opacity")])"""
    )
    ink = np.zeros(attention.shape)
    for head, query, key, opacity in drawn:
        ink[head, query, key] = opacity
    expected = np.zeros(attention.shape)
    expected[heads] = attention[heads] / len(heads)
    assert len(drawn) == (ink > 0).sum()  # one line per pair
    np.testing.assert_allclose(ink, np.where(ink > 0, expected, 0), atol=1e-3)
    assert expected[ink == 0].max() < FAINTEST + 1e-3
