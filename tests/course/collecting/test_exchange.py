"""A real nbgrader exchange on this machine, from the hand-out to the feedback."""

from contextlib import closing

import nbformat
import pytest

from course.collecting import collect
from course.grading import feedback_pages
from course.publishing import releasing
from course.settings import Course
from tests.course.gradebook.test_gradebook import quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, grade, hand_in, make, nbgrader, scores

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick")]


@pytest.fixture
def course(tmp_path):
    (tmp_path / "exchange").mkdir()
    (tmp_path / "exchange").chmod(0o777)
    folder = make(tmp_path / "c").root
    with (folder / "course" / "nbgrader_config.py").open("a") as settings:
        settings.write(f"\nconfig.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    return Course(folder)


@pytest.fixture
def student(tmp_path):
    """nbgrader's commands as a student runs them, in a separate folder."""
    home = tmp_path / "home"
    home.mkdir()
    settings = ["--course=bertlab", f"--Exchange.root={tmp_path / 'exchange'}"]

    def command(name):
        folder = {"JUPYTER_CONFIG_DIR": str(home / "settings")}
        done = nbgrader(home, name, NAME, *settings, **folder)
        assert done.returncode == 0, done.stderr

    return command


def test_from_hand_out_to_feedback_through_the_exchange(course, student, tmp_path):
    said = []
    assert releasing.release(course, [NAME], exchange=True, say=said.append) == 0, said
    assert said[-1] == f"{NAME}: handed out through the exchange"
    student("fetch_assignment")
    path = tmp_path / "home" / NAME / f"{NAME}.ipynb"
    page = nbformat.read(path, as_version=4)
    assert not any("secret" in cell.source for cell in page.cells)
    page.cells[1].source = "def double(x):\n    return 2 * x"
    page.metadata["fake"] = {"share": 0.5}
    nbformat.write(page, path)
    for kind in ("json", "py"):  # settings, which the formgrader would read
        path.with_name(f"nbgrader_config.{kind}").write_text("{}")
    student("submit")
    assert collect.collect_from_exchange(course, NAME, said.append) == 0, said
    assert said[-1] == f"{NAME}: collected from the exchange"
    (who,) = course.students(NAME)
    assert not [*course.hand_in(NAME, who).parent.glob("nbgrader_config*")]
    hand_in(course, "0-by-mail")
    assert grade(course)[0] == 0
    assert scores(course)[who, "hidden-double"] == (1.5, None, False)
    assert feedback_pages.generate(course, [NAME], release=True, say=said.append) == 0, said
    assert said[-2:] == [
        f"{NAME}: 1 of 2 pages handed out through the exchange",
        "  not handed out, as they did not hand in there: 0-by-mail",
    ]
    student("fetch_feedback")
    (told,) = (tmp_path / "home" / NAME / "feedback").rglob("*.html")
    text = told.read_text(encoding="utf-8")
    assert "1.5 / 3.0" in text
    assert "secret" not in text


def test_an_exchange_that_cannot_be_used_is_reported(course, tmp_path):
    (tmp_path / "exchange").rmdir()
    said = []
    (tmp_path / "exchange").write_text("no folder")
    assert releasing.release(course, [NAME], exchange=True, say=said.append) == 1
    assert "handed out" not in said[-1]
    assert "exchange" in said[-1].lower()
    with closing(course.gradebook()) as book:
        assert [one.name for one in book.assignments] == [NAME], "it is released all the same"
