"""A page of feedback, opened from a file with the network cut."""

import pytest

from course.grading import feedback_pages
from tests.course.gradebook.test_gradebook import quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, grade, make

pytestmark = pytest.mark.browser

TAGS = ("mo", "msqrt", "msub")


@pytest.mark.usefixtures("quick")
def test_formulas_are_drawn_without_a_script_and_nobody_is_asked(tab, tmp_path):
    answer = r"Each score is $\frac{q \cdot k}{\sqrt{d_k}}$. <b class=glyphicon>x</b>"
    course = make(tmp_path / "c", {"ada": {"explain": answer}})
    grade(course)
    assert feedback_pages.generate(course, [NAME], say=lambda _line: None) == 0
    page = course.room("feedback") / "ada" / NAME / f"{NAME}.html"
    tab.page.goto(page.as_uri())
    dot, root, under = (tab.page.locator(f"math {tag}").bounding_box() for tag in TAGS)
    assert root["width"] > under["width"] + 3, "the sign of the root"
    assert dot["y"] < root["y"], "the numerator"
    # Bootstrap's font of icons is not fetched either, and Chromium says so.
    assert all(error.startswith("Loading the font") for error in tab.errors)
    tab.errors.clear()
