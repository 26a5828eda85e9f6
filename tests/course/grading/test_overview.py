"""The term on one page: numbers worked by hand, and no student's code in the page."""

import pytest
from bs4 import BeautifulSoup

from course.__main__ import main
from tests.course.gradebook.test_gradebook import by_hand, grade, quick  # noqa: F401 (a fixture)
from tests.course.small_course import NAME, hand_in, make

pytestmark = pytest.mark.slow


def test_the_page_has_the_numbers_worked_by_hand_and_runs_nothing(tmp_path, capsys):
    """Points 4 + 4, 2 + 2 and 0 + 1 of 8: mean 13/3. Deviations 2 0 -2 and 5/3 -1/3 -4/3, so the
    two tasks' correlation is 6 / sqrt(8 * 42/9) = 0.98; shares 6/12 and 7/12."""
    ask = "regrade: <script>alert(1)</script>"
    course = make(tmp_path / "c", {"ada": {}, "bob": {"share": 0.5, "own": [ask]}})
    hand_in(course, "cyd", share=0, note=True)
    hand_in(course, "dan", fail=True)
    grade(course)
    for student, points, waits in (("ada", 4.0, False), ("bob", 2.0, True), ("cyd", 1.0, False)):
        by_hand(course, student, "explain", manual_score=points, needs_manual_grade=waits)
    hand_in(course, "eve")
    hand_in(course, "cyd", share=1, note=True)
    (course.root / "to-sort-out" / NAME).mkdir(parents=True)
    (course.root / "to-sort-out" / NAME / "Ada L.ipynb").touch()
    capsys.readouterr()
    assert main(["--root", str(course.root), "status"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("Protection here: ")
    status = said.out.splitlines()
    assert [line.split(": ")[1] for line in status[2:]] == ["cyd, eve", "dan", "bob", "regrade"]
    assert main(["--root", str(course.root), "overview"]) == 0
    page = BeautifulSoup((course.root / "overview.html").read_text(), "html.parser")
    rows = [[cell.text.strip() for cell in row.select("th, td")] for row in page.select("tr")]
    assert rows[1][:9] == [NAME, "5", "2", "2", "1", "1", "0", "4.3", "8"]
    assert rows[3:] == [["double", "4", "0.50", "0.98", ""], ["explain", "4", "0.58", "0.98", ""]]
    heights = [float(bar["height"]) for bar in page.select("rect")]
    assert heights == [0, 30, 0, 0, 0, 30, 0, 0, 0, 30], "1, 4 and 8 of 8 points, in tenths"
    assert [line.text for line in page.select("li")] == [
        "bob: regrade: explain: <script>alert(1)</script>",
        "bob: explain, points given, then changed or asked for",
        "dan: NOT GRADED: OSError: no zygote",
        "cyd: seed 2026-fall/cyd",
        f"to-sort-out/{NAME}/Ada L.ipynb",
    ]
    assert not page.select("script, link, img, [src], [onclick]")
