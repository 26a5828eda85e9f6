"""Every display fits pages of three widths, and its texts can be read in both themes."""

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from bertlab.viz import Frame
from tests.browser.conftest import export, notebook_of, put_on_theme, wait_for_height
from tests.browser.displays import displays

pytestmark = pytest.mark.browser

READABLE = (Path(__file__).parent / "readable.js").read_text(encoding="utf-8")
NOTE = '<div class="alert alert-info">\n\n**Where** a source differs.\n\n</div>'
LATER = 400  # milliseconds: a page that moves after a click has moved


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All displays in a page as JupyterLab exports it; theme -> its path."""
    notebook = notebook_of(*(f"# {name}" for name in displays()))
    for cell, shown in zip(notebook.cells, displays().values(), strict=True):
        html = {"text/html": shown._repr_html_()}
        cell.outputs = [nbformat.v4.new_output("display_data", html)]
    notebook.cells.append(nbformat.v4.new_markdown_cell(NOTE, id="note"))
    folder = tmp_path_factory.mktemp("themes")
    return {
        theme: export(notebook, folder / f"{theme}.html", theme=theme, exclude_input=True)
        for theme in ("light", "dark")
    }


@pytest.fixture
def open_page(tab, pages):
    """`open_page("dark", 600)`: all displays of that page, each with its name."""

    def opened(theme, width):
        # A browser whose theme is set, as here, does not pass the page's on to its frames.
        tab.page.emulate_media(color_scheme="light")
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.page.goto(pages[theme].as_uri())
        for iframe in tab.page.locator("iframe").all():
            wait_for_height(iframe)
        height = tab.page.evaluate("document.documentElement.scrollHeight")
        tab.page.set_viewport_size({"width": width, "height": height})
        for (name, shown), output in zip(
            displays().items(), tab.page.locator(".jp-OutputArea-output").all(), strict=True
        ):
            framed = isinstance(shown, Frame)
            yield name, output.frame_locator("iframe").locator("body") if framed else output
        yield "note", tab.page.locator(".alert")

    return opened


@pytest.mark.parametrize("width", [600, 900, 1400])
def test_nothing_is_cut_off_and_views_are_as_narrow_as_the_page(
    open_page, width, keep_screenshot, tab
):
    cut, wider = {}, {}
    for name, body in open_page("light", width):
        cut[name] = body.evaluate(f"(body) => {READABLE}.cut(body)")
        if isinstance(displays().get(name), Frame):
            wider[name] = body.locator("main").evaluate("main => main.scrollWidth - innerWidth")
    keep_screenshot(tab.page, "whole")
    assert {name: texts for name, texts in cut.items() if texts} == {}
    assert {name: pixels for name, pixels in wider.items() if pixels > 0} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read_in_both_themes(open_page, theme, keep_screenshot, tab):
    faint = {}
    for name, body in open_page(theme, 900):
        if isinstance(displays().get(name), Frame):
            expect(body).to_have_css("color-scheme", theme)
        faint[name] = body.evaluate(f"(body) => {READABLE}.faint(body)")
    keep_screenshot(tab.page, "whole")
    assert {name: texts for name, texts in faint.items() if texts} == {}


def test_a_frame_changes_its_theme_with_the_page(tab, open_page):
    assert "blank" in dict(open_page("light", 900))
    for theme in ("dark", "light"):
        put_on_theme(tab, tab.frame("Your turn: million parameters"), theme)


@pytest.mark.parametrize("width", [500, 600, 900, 1400])
def test_a_click_in_the_gallery_moves_nothing(tab, pages, width):
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.page.goto(pages["light"].as_uri())
    gallery = tab.in_sight("All heads").locator(".gallery")
    for number in (30, 7, 45):
        button = gallery.get_by_role("button").nth(number)
        button.scroll_into_view_if_needed()
        before = button.bounding_box()
        button.click()
        tab.page.wait_for_timeout(LATER)
        assert button.bounding_box() == before
        assert button.get_attribute("aria-pressed") == "true"
    cut = gallery.evaluate(f"(gallery) => {READABLE}.cut(gallery)")
    assert cut == []
    assert gallery.evaluate("e => e.scrollWidth - e.clientWidth") == 0
