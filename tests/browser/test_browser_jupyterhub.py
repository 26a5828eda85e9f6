"""A real JupyterHub on the loopback interface: from the release to grades, and access rights."""

import contextlib
import os
from urllib.parse import urlsplit

import nbformat
import pytest

from tests.browser import jupyterhub_box, jupyterhub_spy, jupyterhub_visitors
from tests.browser.conftest import notebook_of
from tests.browser.jupyterhub_visitors import NAME, fetch, log_in, press, solve, submit, validate

pytestmark = pytest.mark.browser

SETTINGS = """
instructors = ["emmy"]
students = ["ada", "grace"]
[limits]
memory_gb = 2
processes = 300
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A class server with one instructor and two students."""
    if reason := jupyterhub_box.why_not():
        # CI has all requirements: there a missing one must be an error.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with jupyterhub_box.class_server(tmp_path_factory.mktemp("hub"), SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def visitors(chromium, server):
    """`visitors("ada")`: Ada's browser, logged in once for all tests."""
    opened = {}

    def visitor(name):
        if name not in opened:
            opened[name] = log_in(chromium, server, name, server.passwords()[name])
        return opened[name]

    yield visitor
    for one in opened.values():
        one.page.context.close()
        assert one.asked == []


def test_from_the_release_to_grades(server, visitors, keep_screenshot):
    emmy, ada, grace = (visitors(name).page for name in ("emmy", "ada", "grace"))
    row = emmy.locator("tr", has_text=NAME)  # the formgrader is where an instructor arrives
    assert "Successfully created" in press(emmy, row, "assign")
    assert "Successfully released" in press(emmy, row, "release")
    keep_screenshot(emmy, "the instructor, released")

    for student in (ada, grace):
        fetch(student)
    keep_screenshot(ada, "a student, fetched")
    solve(server, "ada")
    assert "passes all the tests" in validate(ada, jupyterhub_visitors.open_notebook(ada))
    listed = jupyterhub_visitors.notebook_row(grace)
    assert "row_softmax: not written yet" in validate(grace, listed)
    keep_screenshot(grace, "a student, validated")
    for student in (ada, grace):
        submit(student)
    keep_screenshot(ada, "a student, submitted")
    forge(server)

    assert "Successfully collected" in press(emmy, row, "collect")
    row.locator("td.num-submissions a").click()
    scores = {}
    for student in ("ada", "grace"):
        line = emmy.locator("tr", has=emmy.locator("td.student-id", has_text=student))
        assert "Successfully autograded" in press(emmy, line, "autograde")
        scores[student] = line.locator("td.score").inner_text()
        assert " UTC" in line.locator("td.timestamp").inner_text()
    keep_screenshot(emmy, "the instructor, graded")
    # 28 points for code and 4 that a person gives; the forged hand-in would have made it 0.
    assert scores == {"ada": "28 / 32", "grace": "0 / 32"}

    # The formgrader's links to notebooks lead to the course's JupyterLab.
    opened = emmy.request.get(f"{server.address}/tree/solutions/{NAME}")
    assert opened.ok
    assert urlsplit(opened.url).path == f"/services/bertlab/lab/tree/solutions/{NAME}"


def forge(server):
    """Grace hands in her empty notebook in Ada's name, later than Ada: nbgrader would accept it."""
    command = f"cd && nbgrader submit {NAME} --student ada"
    made = as_student(server, "grace", command)
    assert made.returncode == 0, made.stderr
    assert len(list(submissions(server, "ada"))) == 2


def as_student(server, student, command):
    """Run a command line as a student's server would."""
    environment = [
        "JUPYTER_CONFIG_PATH=/opt/bertlab/shared/jupyter/student",
        "BERTLAB_EXCHANGE=/srv/bertlab/exchange",
        f"HOME=/home/{student}",
    ]
    return server.run(student, "env", *environment, "bash", "-c", command)


def submissions(server, student):
    """The folders handed in under a student's name, the oldest first."""
    return sorted(server.inside(jupyterhub_box.EXCHANGE / "inbound").glob(f"{student}+*"))


@pytest.fixture
def handed_in(server, visitors):
    """The folder in which Ada has handed in, as the class server sees it."""
    visitors("ada").page.wait_for_url("**/user/ada/lab**")
    if not submissions(server, "ada"):  # this test runs alone
        fresh = server.inside(jupyterhub_box.EXCHANGE / "outbound") / NAME
        fresh.mkdir(mode=0o755)
        (fresh / f"{NAME}.ipynb").write_text("{}")
        command = f"cd && nbgrader fetch_assignment {NAME} && nbgrader submit {NAME}"
        done = as_student(server, "ada", command)
        assert done.returncode == 0, done.stderr
    return jupyterhub_box.EXCHANGE / "inbound" / submissions(server, "ada")[0].name


def test_a_students_code_cannot_access_others(server, visitors, handed_in, keep_screenshot):
    places = {
        "submission": str(handed_in),
        "proxy_api": server.proxy_api,
        "course_server": f"{server.course_server}/services/bertlab",
    }
    spy = notebook_of(*(source.format(**places) for source in jupyterhub_spy.CELLS))
    nbformat.write(spy, server.inside("/home/grace/spy.ipynb"))

    page = visitors("grace").page
    page.goto(f"{server.address}/user/grace/lab/tree/spy.ipynb")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".jp-OutputArea-output", has_text="that is all").wait_for()
    keep_screenshot(page, "at the end")
    printed = "\n".join(page.locator(".jp-OutputArea-output").all_inner_texts())
    outcomes = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)

    expected = jupyterhub_spy.ALLOWED | jupyterhub_spy.LIMITED
    assert {name: outcomes.pop(name) for name in expected} == expected
    assert len(outcomes) >= 30, printed
    reached = {n: o for n, o in outcomes.items() if o not in jupyterhub_spy.REFUSALS}
    assert reached == {}
    assert server.inside(handed_in).is_dir()


@pytest.mark.parametrize(
    "path",
    [
        "/services/bertlab/formgrader/manage_assignments",
        "/services/bertlab/formgrader/api/students",
        "/services/bertlab/api/contents/solutions",
        "/user/grace/formgrader/manage_assignments",  # her own server does not have one
        "/user/ada/lab",
        "/user/ada/api/contents",
        "/user/emmy/lab",
        "/hub/admin",
        "/hub/api/users",
        "/hub/spawn/ada",
    ],
)
def test_a_students_browser_is_rejected(server, visitors, path):
    page = visitors("grace").page
    page.wait_for_url("**/user/grace/lab**")
    answer = page.request.get(server.address + path)
    assert answer.status in (403, 404), answer.text()[:300]


def test_an_instructor_reaches_the_formgrader_but_no_students_server(server, visitors):
    page = visitors("emmy").page
    page.wait_for_url("**/services/bertlab/formgrader/**")
    assert page.request.get(f"{server.address}/services/bertlab/formgrader/api/students").ok
    for path in ("/user/ada/api/contents", "/hub/admin", "/hub/api/users/ada"):
        assert page.request.get(server.address + path).status in (403, 404)


def test_another_users_password_is_rejected(chromium, server):
    password = server.passwords()["grace"]
    with contextlib.ExitStack() as stack:
        refused = []
        for name in ("ada", "bertlab", "root", "nobody"):
            visitor = log_in(chromium, server, name, password)
            stack.callback(visitor.page.context.close)
            refused.append(visitor.page.get_by_text("Invalid username or password"))
        for sentence in refused:  # each takes some seconds, so wait for them together
            sentence.wait_for()
