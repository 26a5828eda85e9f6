"""The book in a browser, opened from a file without network."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import nbformat
import pytest
from playwright.sync_api import expect

from course import widgets
from course.live.tours import live_box
from course.publishing import reference
from course.publishing.book import write_site
from course.publishing.notebooks import FURTHER
from tests.browser.accessibility import serious_violations
from tests.browser.conftest import type_without_kernel

pytestmark = pytest.mark.browser

TITLE = "Byte pair encoding, merge by merge"
ASKED = (
    widgets.before_you_start("04_attention")._repr_html_(),
    widgets.blank("tokens", 191 / 100)._repr_html_(),
)


def page_of(title, text, *outputs):
    """A notebook that has run: a title, a text and a cell with outputs."""
    data = [nbformat.v4.new_output("display_data", {"text/html": html}) for html in outputs]
    cells = [
        nbformat.v4.new_markdown_cell(f"# {title}\n\n{text}", id="title"),
        nbformat.v4.new_code_cell("show()", id="cell", outputs=data),
    ]
    return nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


@pytest.fixture(scope="module")
def first_page(tmp_path_factory):
    """Four lectures with a frame, a plot, maths and a live box; the first page of their book."""
    folder = tmp_path_factory.mktemp("book")
    stepper = widgets.merge_stepper({"cost": 2, "best": 2, "men": 1}, [("s", "t"), ("m", "e")])
    picture = '<img alt="a plot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
    text = (
        "It is ($\\sqrt{d}$), 9 %.\n\n<details><summary>Why?</summary>\n\nFor $x^2$.\n\n</details>"
    )
    camels = f"Nothing about camels.\n\n## More\n\n*{FURTHER}*\n\n### Once\n\nA dromedary."
    pages = {
        "01_first": page_of("1 · First", text, stepper._repr_html_(), picture),
        "02_second": page_of("2 · Second", camels, picture),
        "03_third": page_of("3 · Third", "Type.", live_box(("guess",), "A [MASK].")),
        "04_attention": page_of("4 · Fourth", "Asked.", *ASKED),
    }
    for name, page in pages.items():
        nbformat.write(page, folder / f"{name}.ipynb")
    with pytest.MonkeyPatch.context() as patch:  # one room is like the other: test_book.py has all
        patch.setattr(reference, "rooms", lambda: ["pretraining"])
        return write_site([folder / f"{name}.ipynb" for name in pages], folder)


@pytest.fixture
def lecture(tab, first_page):
    """The first lecture in a tab."""
    tab.page.goto((first_page.parent / "01_first.html").as_uri())
    return tab


@pytest.fixture(scope="module")
def served(first_page):
    """The address of the same pages on a server, below a prefix."""
    folder = first_page.parents[2]
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        below = first_page.relative_to(folder).as_posix()
        yield f"http://127.0.0.1:{server.server_port}/{below}"
        server.shutdown()


@pytest.mark.parametrize("way", ["from a file", "from a server"])
def test_every_page_opens_and_the_first_one_runs_bert(tab, first_page, served, way):
    first = first_page.as_uri() if way == "from a file" else served
    for page in sorted(first_page.parent.glob("*.html")):
        tab.page.goto(first.replace("index.html", page.name))
        expect(tab.page.locator("h1:visible").first).to_be_visible()
        icon = tab.page.locator("link[rel=icon]").get_attribute("href")
        assert icon.startswith("data:")  # the browser asks the server for no other
    tab.page.goto(first)
    tab.page.get_by_role("textbox", name="Your sentence").fill("The [MASK] was old.")
    expect(tab.page.locator(".pieces button")).to_have_count(7)
    expect(tab.page.locator(".guesses th")).to_have_count(5)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing_serious_on_the_first_page(tab, first_page, theme, width):
    tab.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.page.goto(first_page.as_uri())
    assert serious_violations(tab.page) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_lectures_box_reads_a_typed_sentence_without_a_kernel(tab, first_page):
    page = tab.page
    page.goto((first_page.parent / "03_third.html").as_uri())
    type_without_kernel(page, page.locator(".bert-box"), "The dog [MASK] and [MASK].")
    expect(page.locator(".guesses th")).to_have_count(10)


def test_a_readers_turn_and_questions_of_earlier_lectures_answer_in_the_book(tab, first_page):
    address = (first_page.parent / "04_attention.html").as_uri()
    tab.page.goto(address)
    folds = tab.page.locator(".bertlab-earlier details:not([hidden])")
    expect(folds).to_have_count(3)
    folds.first.locator("summary").click()
    folds.first.get_by_role("button", name="Not yet").click()
    expect(folds.first.get_by_role("button", name="✓ Not yet")).to_be_visible()
    frame = tab.frame("Your turn: tokens")
    frame.get_by_label("tokens").fill("1,9")
    frame.get_by_role("button", name="Check").click()
    expect(frame.get_by_role("status")).to_have_text("✓ You said 1.9; it is 1.91.")
    tab.page.goto(address)
    expect(frame.get_by_label("tokens")).to_have_value("1,9")


def background(locator):
    return locator.evaluate("element => getComputedStyle(element).backgroundColor")


def test_maths_is_set_and_not_shown_as_source(lecture):
    root = lecture.page.locator("article mjx-container mjx-msqrt")
    root.wait_for()
    assert root.bounding_box()["height"] > 10
    text = lecture.page.locator("article p", has_text="It is")
    assert "sqrt" not in text.inner_text()
    kept = text.locator("span[style*=nowrap]")  # no line begins with a bracket or a full stop
    assert kept.evaluate("line => line.firstChild.data + line.lastChild.data") == "(),"
    assert text.inner_text().endswith("9\N{NO-BREAK SPACE}%.")
    lecture.page.locator("article summary").click()
    assert lecture.page.locator("details mjx-container mjx-msup").is_visible()


def test_a_view_in_the_book_is_interactive(lecture):
    view = lecture.frame(TITLE)
    slider = view.locator("input[type=range]")
    before = view.locator("main").inner_text()
    slider.focus()
    slider.press("ArrowRight")
    assert view.locator("main").inner_text() != before
    assert lecture.page.locator(".bertlab-alt").is_hidden()


def test_the_switch_turns_page_and_view_dark_and_light(lecture):
    page = lecture.page
    for choice, theme in (("Dark", "dark"), ("Light", "light"), ("System Settings", "light")):
        page.get_by_role("button", name="Color mode").click()
        page.get_by_role("button", name=choice).click()
        assert page.locator("html").get_attribute("data-theme") == theme
        paper = {"dark": "rgb(18, 18, 18)", "light": "rgb(255, 255, 255)"}[theme]
        assert background(page.locator("body")) == paper
        expect(lecture.frame(TITLE).locator("html")).to_have_css("color-scheme", theme)
        if theme == "dark":  # a plot's letters are black
            assert background(page.get_by_alt_text("a plot")) == "rgb(255, 255, 255)"
            assert background(page.locator(".cell_output .text_html").first) == "rgba(0, 0, 0, 0)"


def test_the_book_begins_as_dark_as_the_readers_system(tab, first_page):
    tab.page.emulate_media(color_scheme="dark")
    tab.page.goto(first_page.as_uri())
    assert tab.page.locator("html").get_attribute("data-theme") == "dark"


def test_next_previous_and_contents_links_work(lecture):
    page = lecture.page
    heading = page.locator("article h1")
    page.locator("a[title='next page']").click()
    expect(heading).to_contain_text("2 · Second")
    page.locator(".bd-sidebar-primary").get_by_role("link", name="1 · First").click()
    expect(heading).to_contain_text("1 · First")
    page.locator("a[title='previous page']").click()
    expect(heading).to_contain_text("How do I really understand BERT?")
    expect(page.locator("article").get_by_role("link", name="2 · Second")).to_be_visible()


def test_a_further_section_is_folded_until_it_is_asked_for(tab, first_page):
    page, address = tab.page, (first_page.parent / "02_second.html").as_uri()
    text, plot = page.get_by_text("A dromedary."), page.get_by_alt_text("a plot")
    page.goto(address)
    for part in (text, plot):
        expect(part).to_be_hidden()
    page.emulate_media(media="print")
    for part in (text, plot):
        expect(part).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_text(FURTHER).press("Enter")
    for part in (text, plot):
        expect(part).to_be_visible()
    page.set_viewport_size({"width": 1400, "height": 900})  # with contents on the right
    for follow in (
        lambda: page.locator(".bd-sidebar-secondary").get_by_role("link", name="More").click(),
        lambda: page.goto(f"{address}#once"),
    ):
        page.goto(address)
        expect(text).to_be_hidden()
        follow()
        expect(text).to_be_visible()
        page.reload()  # now its heading is in the address
        expect(text).to_be_visible()


def test_the_search_finds_a_word_of_a_lecture(tab, first_page):
    tab.page.goto((first_page.parent / "search.html").as_uri() + "?q=dromedary")
    found = tab.page.locator("#search-results li a")
    found.first.wait_for()
    assert "2 · Second" in found.first.inner_text()


def test_a_phone_shows_a_page_without_scrolling_sideways(lecture):
    lecture.page.set_viewport_size({"width": 360, "height": 700})
    assert lecture.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert lecture.page.locator(".bd-sidebar-primary").bounding_box()["x"] < 0
