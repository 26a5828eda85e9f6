"""A notebook exported to HTML, opened from a file without network and without kernel."""

import pytest
from nbclient import NotebookClient

from course.grading import feedback_pages
from tests.browser.conftest import export, put_on_theme, visible_lines, wait_for_height
from tests.course.gradebook.test_gradebook import quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, grade, make

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def exported(small_page, tmp_path_factory):
    """The small page, run and exported."""
    NotebookClient(small_page, timeout=600).execute()
    path = tmp_path_factory.mktemp("exported") / "page.html"
    return export(small_page, path, exclude_input=True)


@pytest.fixture
def page(tab, exported):
    """The exported page in a tab."""
    tab.page.goto(exported.as_uri())
    return tab


def test_two_head_views_on_one_page_both_draw_their_lines(page):
    for number, heads in ((0, 3), (1, 1)):
        view = page.frame("Head view", number)
        assert visible_lines(view) == heads * 5 * 5


def test_a_click_disables_a_head_and_a_double_click_isolates_it(page):
    view = page.frame("Head view")
    squares = view.locator("svg > g:last-of-type > rect")
    squares.first.click()
    assert visible_lines(view) == 2 * 5 * 5
    squares.nth(1).dblclick()
    assert visible_lines(view) == 1 * 5 * 5
    assert visible_lines(page.frame("Head view", 1)) == 1 * 5 * 5  # the other view is independent


def test_pointing_at_a_token_shows_only_its_lines(page):
    view = page.frame("Head view")
    view.locator("#left text", has_text="cat").hover()
    assert visible_lines(view) == 3 * 5
    page.page.mouse.move(0, 0)


def test_another_layer_has_other_lines(page):
    view = page.frame("Head view")

    def first_line():
        return view.locator("#attention line").first.get_attribute("stroke-opacity")

    before = first_line()
    view.locator("#layer").select_option("1")
    assert first_line() != before


def test_a_token_that_looks_like_markup_is_shown_as_it_is(page):
    tokens = page.frame("Head view").locator("#left text").all_text_contents()
    assert tokens == ["[CLS]", "the", "</script>", "cat", "[SEP]"]


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
    heads = page.frame("What each head attends to")
    layer, head = heads.get_by_role("slider").all()
    heads.locator("h1").click()
    places = []
    for focus, key in (
        (None, "ArrowRight"),
        (layer, "ArrowRight"),
        (head, "Home"),
        (layer, "Home"),
    ):
        if focus:
            focus.focus()
        page.page.keyboard.press(key)
        places.append((layer.input_value(), head.input_value()))
    assert places == [("0", "1"), ("1", "1"), ("1", "0"), ("0", "0")]


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
    page.page.keyboard.press("Space")
    assert book.locator("#play").text_content() == "Pause"
    book.locator(".caption", has_text="Merge 2 of 2").wait_for()
    assert book.locator("#play").text_content() == "Play"


def test_two_sliders_choose_a_layer_and_a_head(page):
    book = page.frame("What each head attends to")
    book.locator("h1").click()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.page.keyboard.press(key)
    assert book.locator(".caption").text_content() == "layer 1, head 2"
    assert book.locator(".page:visible").get_attribute("data-label") == "layer 1, head 2"


def test_every_frame_is_as_high_as_its_content_and_hides_the_words_beside_it(page):
    frames = page.page.locator(".bertlab-frame")
    assert frames.count() == 4
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


def test_the_picture_has_its_alt_text(page):
    image = page.page.locator('img[alt^="Attention. A heat map of 5 query tokens"]')
    assert image.evaluate("image => image.complete && image.naturalWidth > 0")


def test_frames_follow_the_theme_of_the_page(page):
    view = page.frame("Head view")
    colours = set()
    for theme in ("light", "dark"):
        put_on_theme(page, view, theme)
        colours.add(view.locator("body").evaluate("body => getComputedStyle(body).color"))
    assert len(colours) == 2


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
