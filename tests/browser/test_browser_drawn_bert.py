"""The drawn BERT in a browser: mouse, keyboard, both themes, without scripts, on paper."""

import pytest

from course.widgets import drawn_bert
from course.widgets.drawn_berts import DRAWINGS, PARTS
from tests.bertlab.viz.test_head_choosers import contrast

pytestmark = pytest.mark.browser

# The box's rectangle, then its texts: left, right, top, bottom and the colour.
PLACES = """box => ["rect", "text"].flatMap(kind => [...box.querySelectorAll(kind)]).map(e => {
    const {left, right, top, bottom} = e.getBoundingClientRect();
    return [left, right, top, bottom, getComputedStyle(e).fill.match(/\\d+/g).map(n => n / 255)];
})"""


@pytest.fixture
def page(tab, tmp_path):
    """The drawing, opened as a separate file."""
    tab.page.goto(drawn_bert().save(tmp_path / "bert.html").as_uri())
    return tab.page


def shown(page):
    return [name for name in DRAWINGS if page.locator(f"#{name}").is_visible()]


def test_a_click_opens_a_box_and_closes_it_with_all_inside(page):
    assert shown(page) == ["bert"]
    for name in ("layer", "attention", "final"):
        page.locator(f'[aria-controls="{name}"]').click()
    assert shown(page) == list(DRAWINGS)
    page.locator('[aria-controls="layer"]').click()
    assert shown(page) == ["bert", "final"]


def test_everything_works_by_keyboard(page):
    for key, at, opened in (
        ("Tab", "layer", []),
        ("Enter", "layer", ["layer"]),
        ("Tab", "final", ["layer"]),
        ("Tab", "attention", ["layer"]),
        (" ", "attention", ["layer", "attention"]),
        ("Escape", "attention", ["layer"]),
        ("Escape", "layer", []),
        ("Escape", "layer", []),
    ):
        page.keyboard.press(key)
        assert page.locator(":focus").get_attribute("aria-controls") == at
        assert shown(page) == ["bert", *opened]
    rect = page.locator(":focus rect")
    assert rect.evaluate("e => parseFloat(getComputedStyle(e).strokeWidth)") >= 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_stay_in_their_boxes_apart_and_readable(page, theme):
    page.emulate_media(color_scheme=theme)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert shown(page) == list(DRAWINGS)  # on paper, too
    page.locator(".box").first.evaluate("box => box.classList.add('lit')")
    for box in page.locator(".box").all():
        rect, *texts = box.evaluate(PLACES)
        assert len(texts) == 6
        for left, right, top, bottom, colour in texts:
            assert rect[0] + 4 < left < right < rect[1] - 4
            assert rect[2] < top < bottom < rect[3]
            assert contrast(rect[4], colour) >= 4.5  # WCAG's level AA
        for left, right in ((0, 1), (3, 4)):  # boxes in one row
            assert texts[left][1] + 4 < texts[right][0]


def test_without_scripts_everything_is_there(chromium, tmp_path):
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(drawn_bert("pooling").save(tmp_path / "bert.html").as_uri())
        assert shown(page) == list(DRAWINGS)
        assert page.locator(".how").is_hidden()


def test_a_notebook_shows_the_lit_part_in_a_frame(tab, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html>{drawn_bert('head')._repr_html_()}", encoding="utf-8")
    tab.page.goto(path.as_uri())
    view = tab.in_sight("BERT, drawn")
    assert view.locator(".lit .title").text_content() == PARTS["head"].title
    view.locator('[aria-controls="attention"]').press("Escape")
    assert view.locator("#attention").is_hidden()
