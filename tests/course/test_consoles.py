"""No command ends in a traceback because the console cannot show a character."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_notebook

from course.grading import grade_workers
from tests.conftest import ROOT
from tests.course.gradebook.test_gradebook import threads
from tests.course.small_course import NAME, copied, grade, make

pytestmark = pytest.mark.slow

WHO = "\u738b\u5c0f\u660e"  # a student
SHOWN = r"\u738b\u5c0f\u660e"
# Programs that print a student's name, or anything; FOLDER is a course with a graded hand-in.
COURSE = ["-m", "course", "--root", "FOLDER"]
PROGRAMS = {
    "status": [*COURSE, "status", NAME],
    "collect": [*COURSE, "collect", NAME, "--from", "FOLDER/in"],
    "grade": [*COURSE, "grade", NAME, "--no-sandbox"],
    "lectures": ["-m", "course.publishing.lectures", f"FOLDER/{WHO}.ipynb"],
    "check": [
        "-c",
        f"from course.feedback import __main__ as it; it.how_far = lambda _: {WHO!r}; it.main()",
        "ex00_warm_up",
    ],
    "bertlab": [
        "-c",
        f"import bertlab.__main__ as it; it.show_guesses = lambda _: print({WHO!r}); it.main()",
        *("fill-mask", "model", "text"),
    ],
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(grade_workers, "cluster", threads)
    monkeypatch.delenv("BERTLAB_GRADEBOOK", raising=False)


def term(folder):
    course = make(folder, {WHO: {"note": True}})
    grade(course)
    (course.root / "in").mkdir()
    (course.root / "in" / f"{WHO}.ipynb").write_text("of nobody")
    budget = {"seconds": 90, "megabytes": 1000, "network": True}
    lecture = new_notebook(metadata={"bertlab": {"budget": budget}})
    nbformat.write(lecture, course.root / f"{WHO}.ipynb")
    return course


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_name_that_the_console_lacks_is_printed_in_escapes(tmp_path, program, encoding):
    course = copied(term, tmp_path / "c")
    command = [part.replace("FOLDER", str(course.root)) for part in PROGRAMS[program]]
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, cwd=ROOT, env=environment
    )
    said = (done.stdout + done.stderr).decode(encoding)
    assert "Traceback" not in said
    assert SHOWN in said
