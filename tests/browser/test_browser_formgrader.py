"""nbgrader's formgrader, opened on a notebook that poses as its boxes: only typed points arrive."""

import os
import secrets
import subprocess
import sys
from contextlib import closing

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_output

from course import ROOT
from tests.browser.jupyterhub_box import free_port, wait_for
from tests.course.gradebook.test_gradebook import grade, quick  # noqa: F401 (a fixture)
from tests.course.grading.hostile.texts import posing
from tests.course.small_course import NAME, make, scores

pytestmark = pytest.mark.browser

GRADED = ("test-double", "hidden-double", "explain")
# What the student wrote, and what it printed.
THEIRS = ".rendered_html, .rendered_html *, .output_area *, .input_area *"
CLICK_ALL = """elements => elements.forEach(one => {
    one.click();
    for (const kind of ["change", "input", "keydown"])
        one.dispatchEvent(new Event(kind, {bubbles: true}));
})"""
# Of the instructor's buttons and boxes, those that something else covers.
COVERED = """boxes => boxes.filter(box => {
    box.scrollIntoView({block: "center"});
    const {x, y, width, height} = box.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) !== box;
}).map(box => box.outerHTML)"""


@pytest.fixture
def course(tmp_path, quick):  # noqa: F811
    """Eve's code, its output, her answer and her own text pose as boxes; Ada's is honest."""
    made = make(tmp_path / "term" / "course", {"ada": {}, "eve": {"share": 0.0}})
    grade(made)
    path = made.graded_copy(NAME, "eve")
    notebook = nbformat.read(path, as_version=4)
    html = posing(GRADED)
    headings = "".join(f"\n\n# {one}\n\n## {one}-comment" for one in GRADED)
    notebook.cells[1].outputs = [new_output("display_data", {"text/html": html})]
    notebook.cells[4].source = html + headings
    notebook.cells.insert(0, new_markdown_cell(f"{html}{headings}"))
    notebook.cells.append(new_markdown_cell(html, metadata={"tags": ["x full-credit"]}))
    nbformat.write(notebook, path)
    return made


@pytest.fixture
def formgrader(course, tmp_path, tab):
    """The address of a student's page in a running formgrader, in which `tab` is logged in."""
    port, token, log = free_port(), secrets.token_hex(16), tmp_path / "server.log"
    folders = ("CONFIG", "DATA", "RUNTIME")
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in folders}
    command = [
        *(sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={course.root.parent}"),
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            env=os.environ | own | {"PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=course.root / "course",  # where nbgrader finds the course's settings
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(server, f"{address}/api/status?token={token}", log)
            with closing(course.gradebook()) as book:
                found = {
                    one.student.id: f"{address}/formgrader/submissions/{one.id}/"
                    for one in book.notebook_submissions(NAME, NAME)
                }
            tab.page.set_extra_http_headers({"Authorization": f"token {token}"})
            yield found.__getitem__
        finally:
            server.terminate()
            server.wait(timeout=60)


@pytest.mark.parametrize("student", ["eve", "ada"])
def test_only_what_is_typed_in_the_real_box_arrives(student, course, formgrader, tab):
    page, sent, before = tab.page, [], scores(course)
    page.on("request", lambda one: sent.append(one.url) if one.method != "GET" else None)
    page.goto(formgrader(student))
    page.wait_for_function("formgrader.loaded && formgrader.grades.loaded")
    page.wait_for_function("formgrader.comments.loaded")
    theirs = page.locator(THEIRS)
    assert theirs.count() > (60 if student == "eve" else 2)
    theirs.evaluate_all(CLICK_ALL)
    for box in page.locator(".rendered_html").all():
        box.click(position={"x": 9, "y": 9})
        page.keyboard.type("3")
    assert sent == []
    assert scores(course) == before
    real = page.locator(".score, .comment, .btn:visible")
    assert real.count() >= 8
    assert real.evaluate_all(COVERED) == []

    for name in GRADED:
        assert page.locator(f"[id='{name}']").count() == 1
    with page.expect_response(lambda one: one.request.method == "PUT") as saved:
        page.locator("#explain").fill("3")
        page.locator("#explain").press("Tab")
    assert saved.value.ok
    assert len(sent) == 1
    tested, _, _ = before[student, "explain"]
    assert scores(course) == before | {(student, "explain"): (tested, 3.0, False)}
