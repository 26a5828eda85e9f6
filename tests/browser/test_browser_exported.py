"""A notebook exported to HTML, opened from a file without network and without kernel."""

import pytest
from nbclient import NotebookClient

from course.grading import feedback_pages
from tests.browser.conftest import export, notebook_of, wait_for_height
from tests.course.gradebook.test_gradebook import quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, grade, make

pytestmark = pytest.mark.browser


# A view and two flipbooks: one with one slider, one with two.
CELLS = [
    """
import torch
from bertlab import viz
from course import widgets

viz.head_view([torch.full((1, 3, 5, 5), 0.2)], list("abcde"))
""",
    'widgets.merge_stepper({"cost": 2, "best": 2, "men": 1}, [("s", "t"), ("m", "e")])',
    """
names = {"row_name": "Layer", "column_name": "Head", "title": "Letters"}
widgets.flipbook_grid(["abc", "def"], ["0", "1"], "xyz", **names)
""",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The cells, run and exported."""
    notebook = notebook_of(*CELLS)
    NotebookClient(notebook, timeout=600).execute()
    path = tmp_path_factory.mktemp("exported") / "page.html"
    return export(notebook, path, exclude_input=True)


@pytest.fixture
def page(tab, exported):
    """The exported page in a tab."""
    tab.page.goto(exported.as_uri())
    return tab


def test_the_keys_turn_the_pages_of_a_flipbook(page):
    book = page.frame("Byte pair encoding, merge by merge")
    caption = book.locator(".caption")
    book.locator("h1").click()
    seen = [caption.text_content()]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"):
        page.page.keyboard.press(key)
        seen.append(caption.text_content())
    start, first, last = seen[:3]
    assert start == "Start: 8 characters, no merge yet"
    assert first.startswith("Merge 1 of 2: s + t")
    assert last.startswith("Merge 2 of 2: m + e")
    assert seen[3:] == [last, first, last, start]
    assert book.locator(".page:visible").count() == 1
    assert book.locator("#step").input_value() == "0"


def test_the_arrows_are_those_of_the_slider_that_has_the_focus(page):
    book = page.frame("Letters")
    row, column = book.get_by_role("slider").all()
    book.locator("h1").click()
    for focus, key, shown in (
        (None, "ArrowRight", "0, y"),
        (None, "ArrowDown", "1, y"),
        (row, "ArrowLeft", "0, y"),
        (row, "ArrowRight", "1, y"),
        (column, "Home", "1, x"),
        (row, "Home", "0, x"),
    ):
        if focus:
            focus.focus()
        page.page.keyboard.press(key)
        assert book.locator(".caption").text_content() == shown
        assert book.locator(".page:visible").get_attribute("data-label") == shown


def test_buttons_and_keys_work_together(page):
    book = page.frame("Byte pair encoding, merge by merge")
    forward = book.get_by_role("button", name="Step: one forward")
    forward.click()
    forward.click()
    assert forward.is_disabled()
    page.page.keyboard.press("ArrowLeft")  # the button that had the focus is disabled
    assert "Merge 1 of 2" in book.locator(".caption").text_content()
    page.page.keyboard.press("Home")
    book.locator("#step").focus()
    page.page.keyboard.press("ArrowRight")  # the slider must not move a second time by itself
    assert book.locator("#step").input_value() == "1"


def test_play_goes_to_the_end_and_stops(page):
    book = page.frame("Byte pair encoding, merge by merge")
    book.locator("h1").click()
    page.page.clock.install()
    page.page.clock.pause_at("2100-01-01")
    page.page.keyboard.press("Space")
    assert book.locator("#play").text_content() == "Pause"
    page.page.clock.run_for(1600)
    assert "Merge 1 of 2" in book.locator(".caption").text_content()
    page.page.clock.run_for(1600)
    assert "Merge 2 of 2" in book.locator(".caption").text_content()
    assert book.locator("#play").text_content() == "Play"


def test_every_frame_is_as_high_as_its_content_and_hides_the_words_beside_it(page):
    frames = page.page.locator(".bertlab-frame")
    assert frames.count() == 3
    for frame in frames.all():
        wait_for_height(frame.locator("iframe"))
        assert frame.locator(".bertlab-alt").is_hidden()


def test_a_frame_can_only_send_messages_and_other_windows_are_ignored(page):
    inside = page.frame("Head view").locator("html")
    assert inside.evaluate("() => origin") == "null"
    page.page.evaluate(
        """() => new Promise(heard => {
            addEventListener("message", ({ data }) => data.height === 7 && heard());
            const srcdoc = "<script>parent.postMessage({height: 7}, '*')</script>";
            document.body.append(Object.assign(document.createElement("iframe"), { srcdoc }));
        })"""
    )
    assert page.page.locator('iframe[style*="height: 7px"]').count() == 0
    ask = """(_, height) => new Promise(answered => {
        addEventListener("message", () => answered(), { once: true });
        parent.postMessage({ height, key: "any" }, "*");
    })"""
    for height in (1e9, -1, "9", None):
        inside.evaluate(ask, height)
    assert page.page.locator('iframe[style*="height: 20000px"]').count() == 1


def test_without_scripts_the_words_and_the_first_page_are_there(chromium, exported):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(exported.as_uri())
    assert page.locator(".bertlab-alt").first.is_visible()
    book = page.frame_locator('iframe[title="Byte pair encoding, merge by merge"]')
    assert book.locator(".page:visible").count() == 1
    assert "Start: 8 characters" in book.locator(".caption").text_content()
    assert book.locator(".controls").is_hidden()  # they would have no effect
    context.close()


def test_feedback_draws_its_formulas_without_scripts_and_requests(tab, tmp_path):
    answer = r"Each score is $\frac{q \cdot k}{\sqrt{d_k}}$. <b class=glyphicon>x</b>"
    course = make(tmp_path / "c", {"ada": {"explain": answer}})
    grade(course)
    assert feedback_pages.generate(course, [NAME], say=str) == 0
    tab.page.goto((course.room("feedback") / "ada" / NAME / f"{NAME}.html").as_uri())
    root, under = (tab.page.locator(f"math {tag}").bounding_box() for tag in ("msqrt", "msub"))
    assert root["width"] > under["width"] + 3, "the sign of the root"
    # Bootstrap's font of icons is not fetched either, and Chromium says so.
    assert all(error.startswith("Loading the font") for error in tab.errors)
    tab.errors.clear()
