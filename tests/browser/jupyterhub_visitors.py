"""Actions of users of the class server in a browser: log in, fetch, validate, submit, click."""

import nbformat
from playwright.sync_api import expect

from tests.browser import jupyterhub_box
from tests.browser.conftest import Tab, note_requests

NAME = "ex04_attention"
SLOW = 300_000  # milliseconds: a server starts, or a notebook runs, on two busy cores


def log_in(chromium, server, name, password):
    context = chromium.new_context(viewport={"width": 1200, "height": 850})
    visitor = Tab(context.new_page())
    note_requests(context, visitor.asked)
    visitor.page.set_default_timeout(SLOW)
    visitor.page.goto(server.address)
    visitor.page.fill("#username_input", name)
    visitor.page.fill("#password_input", password)
    visitor.page.click("#login_submit")
    return visitor


def press(page, row, button):
    """Click one of the formgrader's buttons in a row of its table; returns its message."""
    row.locator(f"td.{button} a").click()
    dialog = page.locator(".modal")
    dialog.locator(".modal-title").wait_for()
    said = dialog.inner_text()
    page.wait_for_timeout(400)  # it fades in, and ignores earlier clicks
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="detached")
    return said


def fetch(page):
    """A student fetches the assignment through JupyterLab's menu."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    offered = page.locator(".lm-Menu-item[data-type=command]")
    expect(offered.filter(visible=True)).to_have_text(["Assignment List"])  # no formgrader
    page.get_by_role("menuitem", name="Assignment List").click()
    page.get_by_role("button", name="Fetch").click()
    page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").wait_for()


def solve(server, student):
    """Simulate a student's typing: the solution's code in all solution cells."""
    place = server.inside(f"/home/{student}/{NAME}/{NAME}.ipynb")
    notebook = nbformat.read(place, as_version=4)
    solved = nbformat.read(jupyterhub_box.ROOT / f"solutions/{NAME}/{NAME}.ipynb", as_version=4)
    answers = {cell.id: cell.source for cell in solved.cells}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[cell.id]
    nbformat.write(notebook, place)


def notebook_row(page):
    """The assignment's notebook in the list of fetched files."""
    downloaded = page.locator("#fetched_assignments_list")
    downloaded.get_by_role("button", name=NAME).click()
    return downloaded.locator(".nested_list_item")


def open_notebook(page):
    notebook_row(page).get_by_role("link", name=NAME).click()
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    return page.locator(".jp-NotebookPanel")


def validate(page, place):
    """Click the Validate button in `place`; returns the message."""
    place.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    dialog.get_by_text("Validation Results").wait_for()
    return dialog.inner_text()


def submit(page):
    page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    page.get_by_role("tab", name="Assignments").click()
    page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
    page.locator("#submitted_assignments_list").get_by_text(NAME).first.wait_for()
