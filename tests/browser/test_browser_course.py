"""The course in JupyterLab: where it opens, what a link says, one task again, what is not there."""

import json
import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from course.feedback import memory
from tests.browser.conftest import notebook_of
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

SETTINGS = json.loads((ROOT / "course" / "jupyterlab" / "lab.json").read_text())["LabApp"]
FIRST = "lectures/00_start_here.ipynb"
EXERCISE = "released/ex00_warm_up.ipynb"  # other tests of this server have `exercises`
CURRENT = ".jp-NotebookPanel:not(.lm-mod-hidden)"


@pytest.fixture
def page(tab, lab):
    """JupyterLab as `make lab` opens it, with lecture 0, the glossary and an exercise."""
    for name in (FIRST, "lectures/glossary.md", EXERCISE):
        (lab.folder / name).parent.mkdir(exist_ok=True)
    for name in (FIRST, "lectures/glossary.md"):
        shutil.copy(ROOT / name, lab.folder / name)
    shutil.copy(ROOT / "exercises" / "ex00_warm_up" / "ex00_warm_up.ipynb", lab.folder / EXERCISE)
    tab.page.goto(f"{lab.address}{SETTINGS['default_url']}?reset&token={lab.token}")
    opened(tab.page, "00_start_here.ipynb")
    return tab.page


def opened(page, name):
    """Wait until a notebook is the one in front, and has its kernel; returns its tab."""
    front = page.get_by_role("tab", name=name)
    expect(front).to_have_attribute("aria-selected", "true", timeout=60_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    return front


def open_exercise(page, lab):
    """The exercise in the same workspace, as a link opens it."""
    page.goto(f"{lab.address}{SETTINGS['default_url']}/tree/{EXERCISE}?token={lab.token}")
    return opened(page, "ex00_warm_up.ipynb")


def test_it_opens_lecture_0_first_and_then_what_was_open_last(page, lab):
    open_exercise(page, lab)
    address = f"{lab.address}/lab/api/workspaces/bertlab?token={lab.token}"
    for _ in range(300):  # JupyterLab saves the layout a little after it changed
        layout = page.request.get(address).json()["data"].get("layout-restorer:data", {})
        if layout.get("main", {}).get("current") == f"notebook:{EXERCISE}":
            break
        page.wait_for_timeout(200)
    page.goto(f"{lab.address}{SETTINGS['default_url']}?token={lab.token}")
    opened(page, "ex00_warm_up.ipynb")
    expect(page.get_by_role("tab", name="00_start_here.ipynb")).to_have_count(1)


def test_the_launcher_leads_to_lecture_0(page):
    page.get_by_role("tab", name="00_start_here.ipynb").click(button="middle")
    page.get_by_role("button", name="Start Here").click()
    opened(page, "00_start_here.ipynb")


def test_a_link_to_the_glossary_says_what_the_term_means(page):
    link = page.locator(CURRENT).get_by_role("link", name="tokenizer").first
    link.hover()
    meaning = re.compile("A program that cuts a text into tokens of a fixed vocabulary")
    expect(link).to_have_attribute("title", meaning)


def test_what_was_typed_is_there_in_another_browser(tab, lab):
    (lab.folder / "exercises").mkdir(exist_ok=True)
    file = lab.folder / "exercises" / "progress.json"
    file.unlink(missing_ok=True)
    lab.run(
        tab.page, "typed", notebook_of('from course import widgets\nwidgets.blank("cosine", 0.8)')
    )
    box = tab.page.frame_locator(".bertlab-frame iframe").get_by_label("cosine")
    box.fill("0.5")
    address = f"{lab.address}/bertlab/answers?token={lab.token}"
    with tab.page.expect_response(lambda response: response.request.method == "PUT"):
        box.press("Enter")
    ((key, text),) = json.loads(file.read_text())["in the pages"].items()
    assert json.loads(text) == {"typed": "0.5", "missed": ["cosine", "0.8"]}
    assert tab.page.request.get(address).json() == {key: text}
    tab.page.locator(".jp-CodeCell .cm-content").click()  # the keyboard is no longer the frame's
    tab.page.keyboard.press("Control+s")
    expect(tab.page.locator(".jp-mod-dirty")).to_have_count(0)
    tab.page.evaluate("localStorage.clear()")  # as another browser
    tab.page.reload()
    expect(box).to_have_value("0.5")
    for wrong in ([1], {"bertlab one": 1}, {"other": "1"}, {"bertlab one": "1" * 100_001}):
        headers = {"Authorization": f"token {lab.token}"}
        assert tab.page.request.put(address, data=wrong, headers=headers).status == 400
    assert memory.answers(file.parent) == {key: text}


def test_a_page_is_saved_until_a_cell_changes_and_a_lecture_has_no_validate(page, lab):
    lecture, exercise = opened(page, "00_start_here.ipynb"), open_exercise(page, lab)
    expect(page.locator(CURRENT).get_by_role("button", name="Validate")).to_be_visible()
    for front in (exercise, lecture):
        front.click()
        page.wait_for_timeout(500)
        expect(front).not_to_contain_class("jp-mod-dirty")
    expect(page.locator(CURRENT).get_by_role("button", name="Validate")).to_have_count(0)
    cell = page.locator(CURRENT).locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    page.keyboard.type("1")
    expect(lecture).to_contain_class("jp-mod-dirty")


def test_one_task_is_as_it_was_released_and_the_old_text_stays_below(page, lab):
    open_exercise(page, lab)
    released = nbformat.read(lab.folder / EXERCISE, as_version=4)
    stub = next(cell for cell in released.cells if cell.id == "token-ids")
    text = page.locator(CURRENT).locator(".jp-CodeCell", has_text="def token_ids").first
    code = text.locator(".cm-content")
    code.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("def token_ids(tokens, vocab):\nreturn []")
    code.click(button="right")
    page.get_by_role("menuitem", name="Reset This Task").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("tab", name="ex00_warm_up.ipynb")).not_to_contain_class("jp-mod-dirty")
    saved = nbformat.read(lab.folder / EXERCISE, as_version=4)
    cell = next(cell for cell in saved.cells if cell.id == "token-ids")
    assert cell.source.startswith(stub.source)
    old = cell.source.removeprefix(stub.source).strip().splitlines()
    assert old == ["# Before the reset:", "# def token_ids(tokens, vocab):", "#     return []"]
    given = page.locator(CURRENT).locator(".jp-CodeCell", has_text="check.token_ids")
    given.locator(".cm-content").click(button="right")
    expect(page.get_by_role("menuitem", name="Copy Cell")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Reset This Task")).to_be_hidden()
