"""A student opens JupyterLab, runs a page from the menu, and sees attention: no network."""

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from bertlab.viz.frames import frame
from course.feedback import memory
from course.publishing.notebooks import PROOF, normal_form
from tests.browser.conftest import SMALL_PAGE, notebook_of, visible_lines
from tests.conftest import ROOT

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("notebook_7", [False, True])
def test_a_small_page_draws_everything_on_the_first_run(tab, lab, notebook_7):
    lab.run(tab.page, f"small-{notebook_7}", notebook_of(*SMALL_PAGE), notebook_7=notebook_7)
    if notebook_7:
        tab.errors.clear()  # it misses settings of JupyterLab's while it starts
    assert visible_lines(tab.in_sight("Head view")) == 3 * 5 * 5
    assert visible_lines(tab.in_sight("Head view", 1)) == 5 * 5

    book = tab.frame("Byte pair encoding, merge by merge")
    book.locator("h1").click()
    tab.page.keyboard.press("ArrowRight")
    assert book.locator(".caption").text_content().startswith("Merge 1 of 2")


def test_a_plot_has_light_ink_on_a_dark_page(tab, lab, keep_screenshot):
    source = "from bertlab import viz\nviz.bars({'a': 3, 'b': 1}, 'count by pair')"
    lab.run(tab.page, "plot", notebook_of(source))
    plot = tab.page.get_by_role("img", name="Bars, count by pair")
    expect(plot).to_have_css("content", "normal")
    tab.page.evaluate("() => { document.body.dataset.jpThemeLight = false; }")
    expect(plot).to_have_css("content", re.compile(r'^url\("data:image/webp'))
    keep_screenshot(tab.page, "dark")


def test_a_red_check_does_not_stop_run_all(tab, lab):
    path = ROOT / "solutions" / "ex00_warm_up" / "ex00_warm_up.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith("hidden-")]
    first = next(cell for cell in notebook.cells if "BEGIN SOLUTION" in cell.source)
    first.source = f"{first.source.split(':')[0]}:\n    return 'wrong'"
    lab.run(tab.page, "ex00_warm_up", notebook)
    expect(tab.page.get_by_text("✗ token_ids: ")).to_have_count(1)
    expect(tab.page.get_by_role("status").filter(has_text=" passes: ")).to_have_count(3)
    row = tab.page.get_by_role("row").filter(has_text="✗ not yet")
    expect(row).to_contain_text("it returned 'wrong', a str")
    row.get_by_role("link", name="token_ids").click()
    heading = tab.page.get_by_role("heading", name="Task 1 · Write: from tokens to ids")
    expect(heading).to_be_in_viewport(timeout=20_000)


# Of each exercise a function that passes. The check runs while there is a file `ask` beside it.
MEMORY = {
    "ex00_warm_up": ("predict_growth", "def predict_growth():\n    return 3"),
    "ex01_bpe": ("predict_tokens", "def predict_tokens():\n    return 1.5"),
}


def test_what_passed_is_there_after_a_restart_in_two_notebooks_and_with_a_damaged_file(tab, lab):
    page, folder = tab.page, lab.folder / "exercises"
    row = page.get_by_role("row").filter(has_text="predict_")
    for exercise, (name, function) in MEMORY.items():
        (folder / exercise).mkdir(parents=True)
        (folder / exercise / "ask").touch()
        notebook = notebook_of(
            f"from pathlib import Path\nfrom course.feedback import {exercise} as check",
            function,
            f'if Path("ask").exists():\n    display(check.{name}({name}))',
            "check.progress()",
        )
        nbformat.write(notebook, folder / exercise / f"{exercise}.ipynb")
        lab.open(page, f"exercises/{exercise}/{exercise}.ipynb")
        lab.run_all(page)
        expect(row).to_contain_text("✓ passes")
        (folder / exercise / "ask").unlink()
    file = folder / "progress.json"
    assert memory.everything(folder).keys() == MEMORY.keys(), "both kernels run"
    for exercise in MEMORY:
        lab.open(page, f"exercises/{exercise}/{exercise}.ipynb")
        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name="Restart Kernel and Run All Cells…").click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        expect(row).to_contain_text("◩ passed before")
    file.write_text("{")
    lab.run_all(page)
    expect(row).to_contain_text("○ not tried")
    assert (folder / "progress-damaged.json").read_text() == "{"


def test_a_memory_that_cannot_be_written_is_said_once_and_checks_go_on(tab, lab):
    folder = lab.folder / "forgetful" / "exercises" / "ex00_warm_up"
    folder.mkdir(parents=True)
    (folder.parent / "progress.json").mkdir()  # for root, too, something that cannot be written
    show = "from course.feedback import ex00_warm_up as check\ncheck.predict_growth(lambda: 3)"
    notebook = notebook_of(show, f"{show}\ncheck.progress()")
    nbformat.write(notebook, folder / "ex00_warm_up.ipynb")
    lab.open(tab.page, "forgetful/exercises/ex00_warm_up/ex00_warm_up.ipynb")
    lab.run_all(tab.page)
    expect(tab.page.get_by_text("progress.json cannot be written")).to_have_count(1)
    row = tab.page.get_by_role("row").filter(has_text="predict_growth")
    expect(row).to_contain_text("✓ passes")


def test_menus_that_need_an_exchange_are_not_on_ones_own_machine(tab, lab):
    nbformat.write(notebook_of("1"), lab.folder / "menus.ipynb")
    lab.open(tab.page, "menus.ipynb")
    expect(tab.page.get_by_role("menuitem", name="Kernel", exact=True)).to_be_visible()
    expect(tab.page.get_by_role("menuitem", name="Nbgrader", exact=True)).to_have_count(0)


def test_an_untrusted_notebook_shows_only_the_text(tab, lab):
    notebook = notebook_of("show()")
    shown = {"text/html": frame("<p>x</p>", title="Heads", alt="Lines.")._repr_html_()}
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", shown)]
    nbformat.write(notebook, lab.folder / "stranger.ipynb")
    lab.open(tab.page, "stranger.ipynb")
    words = "Heads. Lines. (Run this cell, or trust the notebook, to see it.)"
    expect(tab.page.locator(".jp-OutputArea-output")).to_have_text(words)
    assert tab.page.locator("iframe").count() == 0


def test_a_term_opens_the_glossary_at_its_entry(tab, lab):
    shutil.copy(ROOT / "lectures" / "glossary.md", lab.folder)
    notebook = notebook_of("1")
    link = nbformat.v4.new_markdown_cell("[activated](glossary.md#gelu)", id="link")
    notebook.cells.insert(0, link)
    nbformat.write(notebook, lab.folder / "terms.ipynb")
    lab.open(tab.page, "terms.ipynb")
    tab.page.get_by_role("link", name="activated").click()
    entry = tab.page.locator(".jp-MarkdownViewer").get_by_role("heading", name="GELU")
    expect(entry).to_be_in_viewport()


def test_a_proof_is_one_line_that_opens_and_what_goes_further_is_folded(tab, lab):
    notebook = notebook_of("assert 1 + 1 == 2")
    notebook.cells[0].metadata["tags"] = ["proof"]
    heading = nbformat.v4.new_markdown_cell("## More", id="more", metadata={"tags": ["further"]})
    end = nbformat.v4.new_markdown_cell("## End", id="end")
    further, last = (nbformat.v4.new_code_cell(f"'{id}'", id=id) for id in ("further", "last"))
    notebook.cells += [heading, further, end, last]
    lab.run(tab.page, "folded", nbformat.reads(normal_form(notebook), as_version=4))
    expect(tab.page.get_by_text("✓ 1 check of this section holds")).to_be_visible()
    proof = tab.page.get_by_text("assert 1 + 1 == 2")
    expect(proof).to_be_hidden()
    expect(tab.page.locator(".jp-Cell", has_text="'further'")).to_be_hidden()
    tab.page.get_by_text(PROOF).click()
    expect(proof).to_be_visible()
