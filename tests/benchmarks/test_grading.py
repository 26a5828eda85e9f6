"""The benchmark of grading reports its measurements; nothing is graded here."""

import nbformat

from benchmarks.bench_grading import Turn, hand_ins, table
from tests.conftest import ROOT

NAME = "ex04_attention"


def test_the_table_compares_with_nbgrader_and_counts_points_that_differ():
    points = {("ada", "test-a"): 1.0, ("ada", "hidden-a"): 2.0}
    turns = {
        "ours, 2 workers": Turn(30.0, points),
        "nbgrader": Turn(120.0, points | {("ada", "hidden-a"): 0.0}),
        "ours, 4 workers": Turn(60.0, points),
    }
    two, nbgrader, four = table(NAME, 40, turns).splitlines()[-3:]
    assert two == "| ours, 2 workers | yes | 30.0 | 80.0 | 4.00 | 4 | met | 1 of 2 |"
    assert nbgrader == "| nbgrader | no | 120.0 | 20.0 | 1.00 |  |  | 0 of 2 |"
    assert four == "| ours, 4 workers | yes | 60.0 | 40.0 | 2.00 |  |  | 1 of 2 |"


def test_a_class_is_right_other_wrong_and_untouched_in_turn():
    pages = [nbformat.reads(text, as_version=4) for text in hand_ins(NAME, 8)]
    right, other, wrong, untouched, *rest = pages
    released = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    assert [cell.source for cell in untouched.cells] == [cell.source for cell in released.cells]
    for page in (right, other, wrong):
        assert not any(" SOLUTION" in cell.source for cell in page.cells)
        assert not any("HIDDEN TESTS" in cell.source for cell in page.cells)
    for page in (other, wrong):
        changed = [a.id for a, b in zip(page.cells, right.cells, strict=True) if a != b]
        assert len(changed) == 1
    assert rest[1] != other, "the next one is another one"
    assert rest[2] != wrong
