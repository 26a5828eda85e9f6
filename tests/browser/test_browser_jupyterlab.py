"""A student opens JupyterLab, runs a page from the menu, and sees attention: no network."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


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
    lines.first.wait_for(state="attached")
    return lines.evaluate_all(
        "lines => lines.filter(line => +line.getAttribute('stroke-opacity') > 0).length"
    )


def test_a_small_page_draws_everything_on_the_first_run(tab, lab, small_page):
    lab.run(tab.page, "small", small_page)
    assert drawn_lines(tab) == 3 * 5 * 5
    assert drawn_lines(tab, 1) == 5 * 5

    book = tab.frame("Byte pair encoding, merge by merge")
    book.locator("h1").click()
    tab.page.keyboard.press("ArrowRight")
    assert book.locator(".caption").text_content().startswith("Merge 1 of 2")


def test_notebook_7_draws_the_same_lines(tab, lab, small_page):
    lab.run(tab.page, "seven", small_page, notebook_7=True)
    tab.errors.clear()  # Notebook 7 misses settings of JupyterLab's while it starts
    assert drawn_lines(tab) == 3 * 5 * 5
    assert drawn_lines(tab, 1) == 5 * 5
