"""Item analysis: against a table worked by hand, other formulas, and a real gradebook."""

from contextlib import closing
from math import sqrt

import numpy as np
import pytest
from nbgrader.api import Gradebook
from scipy.stats import pearsonr

from course.gradebook import item_analysis
from course.gradebook.item_analysis import Points, analyse, cronbach_alpha, discrimination

# Four students, three tasks of one point: each task is solved by one student fewer.
GUTTMAN = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]])


def points(table, most=None):
    """The table with names."""
    names = [f"task{number}" for number in range(len(table[0]))]
    rows = {f"s{n}": dict(zip(names, row, strict=True)) for n, row in enumerate(table)}
    return Points(rows, dict(zip(names, most or [1] * len(names), strict=True)))


def test_a_table_worked_by_hand():
    """Task A: 1 1 1 0, the rest 2 1 0 0. Deviations' products 3/4, squares 3/4 and 11/4."""
    doubled = analyse(points(2 * GUTTMAN, [2, 2, 2]))
    assert [item.difficulty for item in doubled.items] == [0.75, 0.5, 0.25]
    expected = [sqrt(3 / 11), 1 / sqrt(2), sqrt(3 / 11)]
    assert discrimination(GUTTMAN) == pytest.approx(expected)
    # Variances 3/16 + 1/4 + 3/16 = 5/8, of the sums 5/4: 3/2 (1 - 1/2).
    assert cronbach_alpha(GUTTMAN) == pytest.approx(0.75)


@pytest.fixture
def table():
    """200 students, 9 tasks with several levels of points and a common factor."""
    random = np.random.default_rng(8)
    ability = random.normal(size=(200, 1))
    return np.clip(np.round(2 + ability + random.normal(size=(200, 9))), 0, 4) / 2


def test_discrimination_is_scipys_correlation_with_the_rest(table):
    for task, found in enumerate(discrimination(table)):
        rest = np.delete(table, task, axis=1).sum(axis=1)
        assert found == pytest.approx(pearsonr(table[:, task], rest).statistic, abs=1e-12)


def test_alpha_is_what_the_mean_covariance_gives(table):
    """The other textbook formula: k c / (v + (k - 1) c), c the mean covariance, v variance."""
    covariances = np.cov(table.T)
    k, v = len(covariances), np.diag(covariances).mean()
    c = covariances[~np.eye(k, dtype=bool)].mean()
    assert cronbach_alpha(table) == pytest.approx(k * c / (v + (k - 1) * c), abs=1e-12)


def test_the_task_itself_is_not_in_the_sum():
    """With it, a task unrelated to the others would seem to discriminate between students."""
    table = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0]])
    assert discrimination(table)[0] == pytest.approx(0, abs=1e-12)
    with_itself = np.corrcoef(table[:, 0], table.sum(axis=1))[0, 1]
    assert with_itself == pytest.approx(1 / sqrt(5))


def test_constant_columns_get_no_number():
    found = discrimination(np.array([[1, 0, 2], [1, 1, 3], [1, 2, 1]]))
    assert found[0] is None
    assert None not in found[1:]
    alone = np.array([[0, 2], [1, 2]])
    assert discrimination(alone) == [None, None], "there is no rest to compare with"
    assert cronbach_alpha(np.array([[1, 0], [0, 1]])) is None
    assert cronbach_alpha(np.array([[1], [0]])) is None
    # A third of a point, three times, is not exactly one: this must not give a correlation.
    tenths = np.array([[0.1 + 0.2, 1], [0.3, 2], [0.3, 3]])
    assert discrimination(tenths) == [None, None]
    with pytest.raises(ValueError, match="at least one student and one task are needed; got none"):
        analyse(Points({}, {}))


def test_the_text_points_out_a_task_that_weaker_students_solve():
    text = analyse(points([[1, 0, 2], [1, 1, 3], [1, 2, 1]], [1, 2, 4])).text()
    assert "task0       1        1.00  all alike" in text
    assert "3 students, 3 tasks, Cronbach's alpha" in text
    assert "cannot be told" in analyse(points([[1, 0], [0, 1]])).text()
    text = analyse(points([[0, 1, 1, 1], [0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1]])).text()
    (line,) = [line for line in text.splitlines() if "look at this task" in line]
    assert line.startswith("task0")


def test_visible_and_hidden_tests_are_one_task_and_ungraded_work_is_omitted():
    most = {"test-a": 1, "hidden-a": 2, "test-b": 1, "explain": 4}
    scores = {
        "ada": {"test-a": 1.0, "hidden-a": 0.0, "test-b": 1.0, "explain": None},
        "bob": {"test-a": 1.0, "hidden-a": 2.0, "test-b": 0.0, "explain": 3.0},
        "cyd": dict.fromkeys(most),
    }
    found = item_analysis.by_task(scores, most)
    assert found.table == {"ada": {"a": 1.0, "b": 1.0}, "bob": {"a": 3.0, "b": 0.0}}
    assert found.most == {"a": 3.0, "b": 1.0}
    assert found.left_out == ("explain: waits for a person", "cyd: not graded")


@pytest.mark.slow
def test_it_reads_nbgraders_gradebook(tmp_path):
    with closing(Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}")) as book:
        book.add_assignment("ex01")
        book.add_notebook("ex01", "ex01")
        for name, most in [("test-b", 1), ("hidden-b", 2), ("test-a", 1), ("explain", 4)]:
            book.add_grade_cell(name, "ex01", "ex01", max_score=most, cell_type="code")
            book.add_source_cell(name, "ex01", "ex01", cell_type="code")
        for student, scores in [("ada", (1, 2, 0, 4)), ("bob", (1, 0, 1, 3))]:
            book.add_student(student)
            book.add_submission("ex01", student)
            for name, score in zip(("test-b", "hidden-b", "test-a"), scores, strict=False):
                book.find_grade(name, "ex01", "ex01", student).auto_score = score
            book.find_grade("explain", "ex01", "ex01", student).manual_score = scores[-1]
        book.find_grade("test-a", "ex01", "ex01", "ada").manual_score = 0.5  # a person's correction
        book.db.commit()
        found = item_analysis.from_gradebook(book, "ex01")
        assert found.most == {"b": 3, "a": 1, "explain": 4}
        assert found.table["ada"] == {"b": 3, "a": 0.5, "explain": 4}
        assert found.table["bob"] == {"b": 1, "a": 1, "explain": 3}
        with pytest.raises(ValueError, match="nothing of ex02 is in the gradebook"):
            item_analysis.from_gradebook(book, "ex02")
