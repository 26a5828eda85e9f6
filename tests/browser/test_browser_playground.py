"""A student types into the tokenizer playground: the pieces follow, with and without a mouse."""

import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from course.widgets.text_boxes import NO_KERNEL
from tests.browser.conftest import export, notebook_of

pytestmark = pytest.mark.browser

# Two short tokenizers; the second one has no capitals, and splits into bytes.
SOURCE = r"""
from types import SimpleNamespace
from course import widgets

class Letters:
    def encode(self, text, *, add_special_tokens=True):
        spans = [(i, i + 1) for i, letter in enumerate(text) if not letter.isspace()]
        tokens = ["[UNK]" if text[i].isupper() else text[i] for i, _ in spans]
        ids = [0 if token == "[UNK]" else ord(token) for token in tokens]
        return SimpleNamespace(ids=ids, tokens=tokens, offsets=spans)

class Bytes:
    def encode(self, text, *, add_special_tokens=True):
        found = [(byte, i) for i, letter in enumerate(text) for byte in letter.encode()]
        return SimpleNamespace(
            ids=[byte for byte, _ in found],
            tokens=[f"{byte:02x}" for byte, _ in found],
            offsets=[(i, i + 1) for _, i in found],
        )

widgets.tokenizer_playground({"Letters": Letters(), "Bytes": Bytes()}, "a cat")
"""


@pytest.fixture
def notebook():
    """One cell that has not run yet."""
    return notebook_of(SOURCE)


def rows(page):
    return page.locator(".bertlab-playground .text")


def tip(piece):
    """The lines next to a piece; none without a pointer on it."""
    content = piece.evaluate("piece => getComputedStyle(piece, '::after').content")
    return [] if content == "none" else content.strip('"').split("\\a ")


def cut_off(page):
    """By how many pixels an element exceeds the output."""
    return page.locator(".bertlab-playground").evaluate(
        """view => {
            const output = view.closest('.jp-OutputArea-output');
            return [output.scrollWidth - output.clientWidth,
                    output.scrollHeight - output.clientHeight];
        }"""
    )


def choose_theme(page, name):
    """Choose a theme from the menu; the notebook is redrawn."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text="Theme").first.hover()
    page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True).click()
    light = "true" if "Light" in name else "false"
    page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")
    page.locator("#jupyterlab-splash").wait_for(state="detached")


@pytest.mark.parametrize("notebook_7", [False, True])
def test_typing_changes_the_pieces_of_all_rows_and_the_focus_stays(tab, lab, notebook, notebook_7):
    page = tab.page
    lab.run(page, f"playground-{notebook_7}", notebook, notebook_7=notebook_7)
    if notebook_7:
        tab.errors.clear()  # it misses settings of JupyterLab's while it starts
    expect(rows(page)).to_have_text(["a cat", "a cat"])
    box = page.get_by_label("Type here")
    assert box.input_value() == "a cat"
    box.click()
    page.keyboard.press("End")
    page.keyboard.type("s 你")
    expect(rows(page)).to_have_text(["a cats 你", "a cats 你3 tokens"])
    expect(box).to_be_focused()
    head = page.locator(".bertlab-playground .head")
    expect(head).to_have_text(["Letters 6 tokens, 2.00 per word", "Bytes 10 tokens, 3.33 per word"])


def test_mouse_and_keys_show_the_details_of_a_piece(tab, lab, notebook):
    page = tab.page
    lab.run(page, "playground-tips", notebook)
    box = page.get_by_label("Type here")
    box.fill("a你B")
    expect(rows(page)).to_have_text(["a你Bunknown", "a你3 tokensB"])
    letters, greeting = rows(page).nth(0).locator(".piece"), rows(page).nth(1).locator(".piece")
    assert tip(letters.first) == []
    box.focus()
    for number, lines in enumerate(
        (
            ["a   id 97", "characters 0 to 1"],
            ["你   id 20320", "characters 1 to 2"],
            ["[UNK]   id 0", "unknown: not in the vocabulary", "characters 2 to 3"],
        )
    ):
        page.keyboard.press("Tab")
        expect(letters.nth(number)).to_be_focused()
        assert tip(letters.nth(number)) == lines
    greeting.nth(1).hover()
    tokens = ["e4   id 228", "bd   id 189", "a0   id 160"]
    assert tip(greeting.nth(1)) == ["3 tokens share this:", *tokens, "characters 1 to 2"]


def test_no_tip_is_cut_off_and_both_themes_can_be_read(tab, lab, notebook, keep_screenshot):
    page = tab.page
    lab.run(page, "playground-themes", notebook)
    page.get_by_label("Type here").fill("WORDS and 你好 and שלום, then 😀 " * 3)
    pieces = rows(page).nth(1).locator(".piece")
    expect(pieces).to_have_count(3 * 30)
    assert cut_off(page) == [0, 0]
    rights = pieces.evaluate_all("all => all.map(piece => piece.getBoundingClientRect().right)")
    for number in (rights.index(max(rights)), len(rights) - 2):  # far to the right, far down
        pieces.nth(number).focus()
        assert tip(pieces.nth(number)) != []
        assert cut_off(page) == [0, 0]
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        choose_theme(page, theme)
        pieces.nth(len(rights) - 2).focus()
        ink = pieces.first.evaluate("piece => getComputedStyle(piece).color")
        assert ink == "rgb(17, 17, 17)"
        keep_screenshot(page, theme)


def test_a_right_to_left_word_keeps_its_order(tab, lab, notebook):
    page = tab.page
    lab.run(page, "playground-rtl", notebook)
    page.get_by_label("Type here").fill("to שלום me")
    pieces = rows(page).nth(1).locator(".piece")
    expect(pieces).to_have_count(10)
    pieces.nth(6).hover()  # its tip must not split the word either
    boxes = pieces.evaluate_all(
        "all => all.map(piece => [...piece.getClientRects()].map(box => box.left))"
    )
    assert all(len(box) == 1 for box in boxes)  # no piece is split
    lefts = [box[0] for box in boxes]
    hebrew = lefts[3:7]
    assert hebrew == sorted(hebrew, reverse=True)
    others = lefts[:3] + lefts[7:]
    assert others == sorted(others)
    assert max(lefts[:3]) < min(hebrew) < max(hebrew) < min(lefts[7:])


@pytest.mark.parametrize(
    ("stored", "words"),
    [(False, [NO_KERNEL]), (True, [""])],
    ids=["without", "with"],
)
def test_the_first_pieces_are_in_a_page_exported_with_or_without_widgets(
    chromium, notebook, tmp_path, stored, words
):
    NotebookClient(notebook, timeout=600, store_widget_state=stored).execute()
    path = export(notebook, tmp_path / "page.html")
    context = chromium.new_context(offline=True)  # a stored widget would request its script
    page = context.new_page()
    page.goto(path.as_uri())
    expect(rows(page)).to_have_text(["a cat", "a cat"])
    shown = page.locator(".jp-OutputArea-output:not(:has(.bert-box))")
    assert [text.strip() for text in shown.all_inner_texts()[:-1]] == words
    assert "Error" not in page.locator("body").inner_text()
    rows(page).first.locator(".piece").first.focus()
    assert tip(rows(page).first.locator(".piece").first) == ["a   id 97", "characters 0 to 1"]
    context.close()
