"""The reader's turn in JupyterLab and in an exported page, by mouse and by keyboard."""

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from tests.browser.conftest import export, notebook_of

pytestmark = pytest.mark.browser

CHOICES = """
**Your turn.** How many tokens?

<details><summary>A. two</summary>

No. Two words.

</details>
<details><summary>B. three</summary>

Yes. Three pieces.

</details>
"""
TURNS = """
from bertlab.viz import table
from course import widgets

def squares(n):
    return table(["square"], [[i * i] for i in range(n)])

widgets.blank("tokens", 191 / 100)
"""


@pytest.fixture
def turns():
    """A question with choices, a blank, a slider; not run yet."""
    notebook = notebook_of(TURNS, "widgets.sliders(squares, n=(1, 9, 3))")
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(CHOICES, id="choices"))
    return notebook


def choose(page):
    """One choice by mouse, the other by keyboard."""
    wrong, right = (page.locator("details p", has_text=text) for text in ("Two", "Three"))
    expect(wrong).to_be_hidden()
    page.locator("summary", has_text="A. two").click()
    expect(wrong).to_be_visible()
    expect(right).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(right).to_be_visible()


def test_a_reader_answers_in_jupyterlab(tab, lab, turns, keep_screenshot):
    lab.run(tab.page, "turns", turns)
    choose(tab.page)
    box, said = tab.page.get_by_label("tokens"), tab.page.get_by_role("status")
    expect(tab.page.get_by_text("1.91", exact=True)).to_be_hidden()
    box.click()
    for typed, answer in (("3", "✗ 3 is too high"), ("2", "✓ You said 2; it is 1.91.")):
        tab.page.keyboard.press("Control+a")
        tab.page.keyboard.type(typed)
        tab.page.keyboard.press("Enter")
        expect(said.filter(has_text=answer)).to_be_visible()
    table = tab.page.locator(".jp-OutputArea td")
    expect(table).to_have_text(["0", "1", "4"])
    handle = tab.page.get_by_role("slider")
    handle.focus()
    tab.page.keyboard.press("ArrowRight")
    expect(table).to_have_text(["0", "1", "4", "9"])
    rail = tab.page.locator(".noUi-base").bounding_box()
    tab.page.mouse.click(rail["x"] + rail["width"] - 2, rail["y"] + rail["height"] / 2)
    expect(table).to_have_count(9)
    keep_screenshot(tab.page, "answered")


def test_an_exported_page_folds_the_answers_and_shows_the_first_picture(tab, turns, tmp_path):
    NotebookClient(turns, timeout=600, store_widget_state=False).execute()
    tab.page.goto(export(turns, tmp_path / "turns.html").as_uri())
    choose(tab.page)
    answer = tab.page.get_by_text("1.91", exact=True)
    expect(answer).to_be_hidden()
    tab.page.get_by_text("The answer").focus()
    tab.page.keyboard.press("Space")
    expect(answer).to_be_visible()
    expect(tab.page.locator(".jp-OutputArea td")).to_have_text(["0", "1", "4"])
