"""A student opens JupyterLab, runs a page from the menu, and sees attention: no network."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.conftest import ROOT

pytestmark = pytest.mark.browser
LECTURE = ROOT / "lectures" / "04_attention.ipynb"


def drawn_lines(tab, number=0):
    """Bring a head view into sight; how many lines of it have some ink."""
    iframe = tab.page.locator('iframe[title="Head view"]').nth(number)
    # JupyterLab draws cells when they come near; those above may then push the view away again.
    for _ in range(20):
        iframe.evaluate("iframe => iframe.scrollIntoView({block: 'center'})")
        tab.page.wait_for_timeout(100)
    view = tab.frame("Head view", number)
    expect(view.locator("#vis")).to_be_in_viewport(ratio=0.9)
    lines = view.locator("#attention line")
    lines.first.wait_for(state="attached", timeout=30_000)
    return lines.evaluate_all(
        "lines => lines.filter(line => +line.getAttribute('stroke-opacity') > 0).length"
    )


def test_a_small_page_draws_everything_on_the_first_run(tab, lab, small_page, tmp_path):
    nbformat.write(small_page, lab.folder / "small.ipynb")
    lab.open(tab.page, "small.ipynb")
    lab.run_all(tab.page, seconds=90)
    assert drawn_lines(tab) == 3 * 5 * 5
    assert drawn_lines(tab, 1) == 5 * 5

    book = tab.frame("Byte pair encoding, merge by merge")
    book.locator("h1").click()
    tab.page.keyboard.press("ArrowRight")
    assert book.locator(".caption").text_content().startswith("Merge 1 of 2")
    tab.page.screenshot(path=tmp_path / "jupyterlab.png")


def test_notebook_7_draws_the_same_lines(tab, lab, small_page):
    nbformat.write(small_page, lab.folder / "seven.ipynb")
    lab.open_in_notebook_7(tab.page, "seven.ipynb")
    lab.run_all(tab.page, seconds=90)
    assert drawn_lines(tab) == 3 * 5 * 5
    assert drawn_lines(tab, 1) == 5 * 5


def test_lecture_04_draws_the_lines_of_its_head_view(tab, lab, tmp_path):
    notebook = nbformat.read(LECTURE, as_version=4)
    nbformat.write(notebook, lab.folder / LECTURE.name)
    lab.open(tab.page, LECTURE.name)
    seconds = notebook.metadata["bertlab"]["budget"]["seconds"]
    lab.run_all(tab.page, seconds=2 * seconds)  # twice: a browser runs beside the kernel here
    failed = tab.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]')
    assert failed.all_text_contents() == []
    tokens = tab.frame("Head view").locator("#left text")
    # One head is shown; a line has no ink if its probability rounds to 0.
    assert drawn_lines(tab) > tokens.count()
    picture = tmp_path / "lecture-04.png"
    tab.page.screenshot(path=picture)
    print(f"screenshot: {picture}")
