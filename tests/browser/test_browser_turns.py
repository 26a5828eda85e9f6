"""The reader's turn in JupyterLab and in an exported page, by mouse and by keyboard."""

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from course.widgets import blank
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
RIGHT = "✓ You said 2; it is 1.91."


def turns():
    """A question with choices, a blank, a slider; not run yet."""
    notebook = notebook_of(TURNS, "widgets.sliders(squares, n=(1, 9, 3))")
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(CHOICES, id="choices"))
    return notebook


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The address of the turns, run and exported."""
    notebook = turns()
    NotebookClient(notebook, timeout=600, store_widget_state=False).execute()
    return export(notebook, tmp_path_factory.mktemp("exported") / "turns.html").as_uri()


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


@pytest.mark.parametrize(
    ("label", "answer", "typed", "said"),
    [
        ("share", 0.73, "0,73 .73 0.73 73% 73\u202f% 73_percent", "✓ You said 0.73; it is 0.73."),
        ("percent of the draws", 61.4, "61 61% 61,4 61.4_% 61_percent", "✓ You said"),
        ("squares", 144, "144 12*12 12×12 12_x_12 12·12 12^2 12**2 (6+6)*12 144. =144", "✓"),
        ("share", 1 / 6, "1/6 1_/_6 2:12 0,1667 16,67% (1/6) 50/300", "✓ You said 0.166"),
        ("million parameters", 109.5, "110 110_million 109,5 109.482 ≈110 about_110", "✓"),
        ("parameters", 1_050_624, "1050624 1,050,624 1.050.624 1_050_624 1’050’624 1.05e6", "✓"),
        ("ratio", 30_522, "30,522 30_000 30,522.0 30.522,0 3.1e4", "✓"),
        ("gap", -0.5, "-0.5 −0,5 -1/2 -(1/2) 0-0.5", "✓ You said -0.5; it is -0.5."),
        ("share", 0.73, "1,2 1.2 120% 38,25", "is too high"),
        ("words", 12, "38,25 12,345 1.234.567 2*12", "is too high"),
        ("words", 1_234, "1.234", "can mean 1.234 or 1234. Type it without a mark of thousands"),
        ("words", 1.234, "1,234", "can mean 1234 or 1.234. Type it without a mark"),
        ("words", 12, "many 1_2 1,23,456 12*12* 1/0 ( 1..2 12_dogs --", "A number is asked for"),
        ("a a a becomes", "aa a", "aa_a aa__a _AA_a_", "✓ aa a is right."),
        ("a a a becomes", "aa a", "a_aa aaa", "✗ Not a"),
    ],
)
def test_a_blank_reads_an_answer_as_people_write_it(tab, tmp_path, label, answer, typed, said):
    tab.page.goto(blank(label, answer, within=0.02).save(tmp_path / "blank.html").as_uri())
    box, status = tab.page.get_by_label(label), tab.page.get_by_role("status")
    expect(status).to_have_text("Type your answer and press Enter.")
    told = {}
    for text in typed.split(" "):
        box.fill(text.replace("_", " "))
        box.press("Enter")
        told[text] = status.inner_text()
    assert {text: words for text, words in told.items() if said not in words} == {}


def test_a_reader_answers_in_jupyterlab(tab, lab, keep_screenshot):
    lab.run(tab.page, "turns", turns())
    choose(tab.page)
    frame = tab.page.frame_locator(".bertlab-frame iframe")
    box, said = frame.get_by_label("tokens"), frame.get_by_role("status")
    expect(frame.get_by_text("1.91", exact=True)).to_be_hidden()
    box.click()
    for typed, answer in (("3", "✗ 3 is too high"), ("2", RIGHT)):
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
    tab.page.keyboard.press("Control+s")
    expect(tab.page.locator(".jp-mod-dirty")).to_have_count(0)
    tab.page.reload()  # the next day: the page answers again, and still has what was typed
    expect(said).to_have_text(RIGHT)
    expect(box).to_have_value("2")


def test_an_exported_page_folds_the_answers_and_shows_the_first_picture(tab, exported):
    tab.page.goto(exported)
    choose(tab.page)
    frame = tab.page.frame_locator(".bertlab-frame iframe")
    expect(frame.get_by_role("status")).to_have_text("Type your answer and press Enter.")
    assert "1.91" not in frame.locator(":root").inner_html()  # before it is asked for
    frame.get_by_label("tokens").fill("2")
    frame.get_by_role("button", name="Check").click()
    expect(frame.get_by_role("status")).to_have_text(RIGHT)
    answer = frame.get_by_text("1.91", exact=True)
    expect(answer).to_be_hidden()
    frame.get_by_text("The answer").focus()
    tab.page.keyboard.press("Space")
    expect(answer).to_be_visible()
    expect(tab.page.locator(".jp-OutputArea td")).to_have_text(["0", "1", "4"])


def test_where_storage_is_refused_a_blank_answers_and_forgets(tab, exported):
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw Error('refused'); }})"
    tab.page.add_init_script(refuse)
    tab.page.goto(exported)
    frame = tab.page.frame_locator(".bertlab-frame iframe")
    for typed, answer in (("3", "✗ 3 is too high"), ("2", RIGHT)):
        frame.get_by_label("tokens").fill(typed)
        frame.get_by_label("tokens").press("Enter")
        expect(frame.get_by_role("status")).to_contain_text(answer)
    tab.page.reload()
    expect(frame.get_by_role("status")).to_have_text("Type your answer and press Enter.")
    expect(frame.get_by_label("tokens")).to_have_value("")


def test_two_tabs_keep_what_was_typed_last_and_neither_loses_its_own(tab, exported):
    other = tab.page.context.new_page()
    for page, typed in ((tab.page, "3"), (other, "2")):
        page.goto(exported)
        box = page.frame_locator(".bertlab-frame iframe").get_by_label("tokens")
        box.fill(typed)
        box.press("Enter")
    first = tab.page.frame_locator(".bertlab-frame iframe")
    expect(first.get_by_label("tokens")).to_have_value("3")
    expect(first.get_by_role("status")).to_contain_text("✗ 3 is too high")
    tab.page.reload()
    expect(first.get_by_label("tokens")).to_have_value("2")
    expect(first.get_by_role("status")).to_have_text(RIGHT)
