"""Every lecture's slides in a browser, opened from a file without network."""

import nbformat
import pytest
from playwright.sync_api import expect

from course.publishing.slides import write_slides
from tests.browser.accessibility import serious_violations
from tests.lectures.counts import lectures

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:.*Check CHANGES for Sphinx API modifications"),
]

# In place of each output, a picture that is too large for a slide.
LARGE = '<img alt="" width="1700" height="900" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
# Go to every slide, and report what is higher or wider than 1280 x 720, text below 24 px, and
# slides without anything below the heading.
FAULTS = """async () => {
    await window.MathJax?.startup.promise;
    const found = [];
    const texts = "h1, h2, p, li, td, th, pre";
    for (const slide of Reveal.getSlides()) {
        const { h, v } = Reveal.getIndices(slide);
        Reveal.slide(h, v);
        await new Promise(requestAnimationFrame);
        const fault = (text) => found.push(`${slide.innerText.slice(0, 60)}: ${text}`);
        if (slide.scrollHeight > 721 || slide.scrollWidth > 1281)
            fault(`${slide.scrollWidth} x ${slide.scrollHeight}`);
        for (const part of slide.querySelectorAll(texts)) {
            if (part.closest("aside") || !part.innerText.trim()) continue;
            const size = parseFloat(getComputedStyle(part).fontSize);
            if (size < 24) fault(`${size} px: ${part.innerText.slice(0, 40)}`);
        }
        const shown = [...slide.children].filter((part) => part.tagName !== "ASIDE");
        if (shown.length < 2) fault("nothing below the heading");
    }
    return found;
}"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """The folder of all decks."""
    folder = tmp_path_factory.mktemp("decks")
    for path in lectures():
        page = nbformat.read(path, as_version=4)
        for cell in page.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": LARGE})]
        nbformat.write(page, folder / path.name)
    return write_slides(sorted(folder.glob("*.ipynb")), folder).parent


@pytest.mark.parametrize("name", [path.stem for path in lectures()])
def test_no_slide_is_larger_than_the_screen_or_too_small_to_read(name, decks, tab):
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.page.goto((decks / f"{name}.html").as_uri())
    tab.page.locator(".reveal.ready").wait_for()
    assert 12 <= tab.page.evaluate("Reveal.getTotalSlides()") <= 24
    assert tab.page.evaluate(FAULTS) == []


def test_axe_finds_nothing_serious_in_a_deck(decks, tab):
    tab.page.goto((decks / "04_attention.html").as_uri())
    tab.page.locator(".reveal.ready").wait_for()
    for _ in range(8):
        assert serious_violations(tab.page) == []
        tab.page.keyboard.press("ArrowRight")


def test_arrows_turn_the_slides_and_the_speaker_has_the_prose(decks, tab):
    tab.page.goto((decks / "12b_in_context_learning.html").as_uri())
    heading = tab.page.locator("section.present section.present :is(h1, h2)")
    expect(heading).to_have_text("12b · Learning from the prompt")
    tab.page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("After this lecture you can")
    notes = tab.page.evaluate("Reveal.getSlides().map(s => s.querySelector('aside')?.textContent)")
    told = "1 A task given in the text"  # a heading of the lecture
    assert any(told in text for text in notes if text)
    assert told not in tab.page.locator(".slides").inner_text()
