"""The book in a browser, opened from a file without network."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import nbformat
import pytest
import torch
from playwright.sync_api import expect

from bertlab.viz import heatmap
from course import ROOT, widgets
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


def all_code():
    """A page with the code of all lectures, as it is in them, below a folded cell."""
    page = page_of("5 · Fifth", "Code.")
    page.cells[1].metadata["tags"] = ["hide-input"]
    for path in sorted(ROOT.glob("lectures/*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        page.cells += [
            nbformat.v4.new_code_cell(cell.source) for cell in cells if cell.cell_type == "code"
        ]
    return page


@pytest.fixture(scope="module")
def first_page(tmp_path_factory):
    """Lectures with a frame, plots, maths, a live box and code; the first page of their book."""
    folder = tmp_path_factory.mktemp("book")
    stepper = widgets.merge_stepper({"cost": 2, "best": 2, "men": 1}, [("s", "t"), ("m", "e")])
    picture = '<img alt="a plot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
    plot = heatmap(torch.eye(2), "ab", "xy", "share by row and column", alt="Two bright.")
    text = (
        "It is ($\\sqrt{d}$), 9 %.\n\n<details><summary>Why?</summary>\n\nFor $x^2$.\n\n</details>"
    )
    table = (
        f"| attention | queries from | keys and values from |\n|---|---|---|\n{'| camels ' * 3}|"
    )
    camels = (
        f"No camels [act](glossary.md#gelu).\n\n{table}\n\n## More\n\n*{FURTHER}*\n\n### Once\n\n"
        "A dromedary."
    )
    pages = {
        "01_first": page_of("1 · First", text, stepper._repr_html_(), picture),
        "02_second": page_of("2 · Second", camels, picture),
        "03_third": page_of(
            "3 · Third", "Type.", live_box(("guess",), "A [MASK]."), plot._repr_html_()
        ),
        "04_attention": page_of("4 · Fourth", "Asked.", *ASKED),
        "05_code": all_code(),
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


@pytest.mark.parametrize("name", ["01_first", "02_second", "03_third", "glossary"])
def test_axe_finds_nothing_serious_on_other_pages(tab, first_page, name):
    tab.page.goto((first_page.parent / f"{name}.html").as_uri())
    assert serious_violations(tab.page) == []


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
    tab.wait_until_kept("1,9")
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
        if theme == "dark":  # a picture's letters are black, unless it has a dark twin
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


def test_paper_has_all_folds_open_and_the_screen_then_those_that_were(tab, first_page):
    page = tab.page
    page.goto((first_page.parent / "01_first.html").as_uri())
    folds, closed = page.locator("details"), page.locator("details:not([open])")
    assert closed.count() == folds.count() > 0
    count = "() => { left = document.querySelectorAll('details:not([open])').length; }"
    page.evaluate(f"() => addEventListener('beforeprint', {count})")
    page.pdf()
    assert page.evaluate("left") == 0
    expect(closed).to_have_count(folds.count())
    page.emulate_media(media="print")
    said = page.locator("figcaption", has_text="Byte pair encoding")
    after = said.evaluate("caption => getComputedStyle(caption, '::after').content")
    assert "One state of it is printed" in after
    page.goto((first_page.parent / "05_code.html").as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    moves = "all => [...new Set(all.map(one => getComputedStyle(one).animationName))]"
    assert page.locator("details > :not(summary)").evaluate_all(moves) == ["none"]


def test_on_a_phone_a_wide_table_scrolls_and_its_words_stay_whole(tab, first_page):
    tab.page.set_viewport_size({"width": 240, "height": 844})
    tab.page.goto((first_page.parent / "02_second.html").as_uri())
    lines = tab.page.locator("th, td").evaluate_all(
        """all => all.flatMap(cell => {
            const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
            return [...text.data.matchAll(/\\S+/g)].map(({ index, 0: word }) => {
                const range = document.createRange();
                range.setStart(text, index);
                range.setEnd(text, index + word.length);
                return range.getClientRects().length;
            });
        })"""
    )
    assert lines == [1] * 10
    box = tab.page.locator("div:has(> table)")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")


@pytest.mark.parametrize("width", [1440, 1200, 390])
def test_no_line_of_the_lectures_code_is_cut_and_what_wraps_is_further_right(
    tab, first_page, width
):
    page = tab.page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((first_page.parent / "05_code.html").as_uri())
    cells = page.locator("div.cell_input pre:visible")
    assert cells.count() > 1000
    cut = "all => all.filter(pre => pre.scrollWidth > pre.clientWidth).length"
    assert cells.evaluate_all(cut) == 0
    (begin, later), *_ = page.locator("pre .line").evaluate_all(
        """lines => lines.map(line => {
            const range = document.createRange();
            range.selectNodeContents(line);
            const rows = [...range.getClientRects()].filter(row => row.width > 0);
            return [rows[0]?.left, rows.find(row => row.top > rows[0].top + 10)?.left];
        }).filter(([, later]) => later)"""
    )
    assert later > begin + 20


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_plots_ink_follows_the_theme_and_its_words_stay(tab, first_page, theme):
    page = tab.page
    page.emulate_media(color_scheme=theme)
    page.goto((first_page.parent / "03_third.html").as_uri())
    plot = page.get_by_role("figure").get_by_role("img", name="Two bright.")
    shown = plot.evaluate("image => getComputedStyle(image).content")
    assert shown.startswith('url("data:image/webp' if theme == "dark" else "normal")
    expect(plot).to_have_css("filter", "none")  # the theme's would change what colours mean
    assert background(plot) == "rgba(0, 0, 0, 0)"
    page.emulate_media(media="print")  # paper is light
    assert plot.evaluate("image => getComputedStyle(image).content") == "normal"
    expect(page.locator(".numbered > figcaption")).to_have_text("Figure 3.1. Two bright.")


def test_the_glossary_finds_terms_and_keeps_its_addresses(tab, first_page):
    page, address = tab.page, (first_page.parent / "glossary.html").as_uri()
    page.goto(f"{address}#gelu")
    terms = page.locator("#glossary > section > section")
    field, gelu = page.get_by_label("Find a term"), page.locator("#gelu")
    expect(gelu).to_be_in_viewport()
    name, means = (gelu.locator(part).bounding_box() for part in ("h3", "p"))
    assert name["x"] + name["width"] <= means["x"]
    top = "one.querySelector('{}').getBoundingClientRect().top"
    below = f"all => all.map(one => Math.abs({top.format('h3')} - {top.format('p')}))"
    assert max(terms.evaluate_all(below)) < 5
    field.fill("attention p")
    expect(terms.locator("visible=true").locator("h3")).to_have_text(["attention pattern#"])
    expect(page.get_by_text(re.compile(r"^1 of \d+ terms$"))).to_be_visible()
    field.fill("gaussian error")  # in no term, but in a sentence
    expect(terms.locator("visible=true")).to_have_attribute("id", "gelu")
    page.evaluate("location.hash = 'attention'")
    expect(page.locator("#attention")).to_be_in_viewport()
    expect(field).to_have_value("")


def test_a_link_to_a_term_says_what_it_means_by_mouse_and_keyboard(tab, first_page):
    page = tab.page
    page.goto((first_page.parent / "02_second.html").as_uri())
    term, says = page.get_by_role("link", name="act", exact=True), page.get_by_role("tooltip")
    expect(says).to_have_count(0)  # hidden
    term.hover()
    expect(says).to_contain_text("Gaussian error linear unit")
    says.hover()
    page.wait_for_timeout(400)
    expect(says).to_be_visible()
    page.keyboard.press("Escape")
    expect(says).to_have_count(0)
    term.focus()
    expect(says).to_be_visible()
    expect(term).to_have_accessible_description(says.inner_text())
    page.keyboard.press("Tab")
    expect(says).to_have_count(0)


def test_the_first_tap_says_what_a_term_means_and_the_second_goes_there(chromium, first_page):
    phone = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = phone.new_page()
    page.goto((first_page.parent / "02_second.html").as_uri())
    term = page.get_by_role("link", name="act", exact=True)
    term.tap()
    box = page.get_by_role("tooltip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.url.endswith("02_second.html")
    term.tap()
    page.wait_for_url("**/glossary.html#gelu")
    phone.close()


def test_the_search_finds_a_word_of_a_lecture(tab, first_page):
    tab.page.goto((first_page.parent / "search.html").as_uri() + "?q=dromedary")
    found = tab.page.locator("#search-results li a")
    found.first.wait_for()
    assert "2 · Second" in found.first.inner_text()


def test_a_phone_shows_every_page_without_scrolling_sideways(lecture, first_page):
    lecture.page.set_viewport_size({"width": 360, "height": 700})
    for name in ("glossary", "02_second", "03_third", "04_attention", "05_code", "01_first"):
        lecture.page.goto((first_page.parent / f"{name}.html").as_uri())
        assert lecture.page.evaluate("document.documentElement.scrollWidth") <= 360, name
    assert lecture.page.locator(".bd-sidebar-primary").bounding_box()["x"] < 0
