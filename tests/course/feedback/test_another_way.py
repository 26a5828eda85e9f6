"""Other right answers: after a task has passed, where the solutions are, and nowhere else."""

import shutil

import pytest
from bs4 import BeautifulSoup

from course.answers import answers_of
from course.feedback import ex01_bpe as check
from course.feedback import memory
from tests.conftest import ROOT
from tests.course.feedback.test_progress import counted, fails, glued


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A course in which a notebook of exercise 1 runs; without solutions, as students have it."""
    (tmp_path / "exercises").mkdir()
    file = tmp_path / "exercises" / memory.FILE
    monkeypatch.setattr(memory, "file_of", lambda assignment: file)
    return tmp_path


def shown(passed):
    return BeautifulSoup(passed._repr_html_(), "html.parser").find_all("details")


def test_a_students_copy_shows_none(copy):
    assert shown(check.count_pairs(counted)) == []


def test_the_whole_repository_shows_them_once_a_task_has_passed(copy):
    shutil.copytree(ROOT / "solutions" / "ex01_bpe", copy / "solutions" / "ex01_bpe")
    first, second = shown(check.merge_pair(glued))
    known = [row for row in answers_of("ex01_bpe").right if row.task == "merge-pair"]
    assert first.summary.get_text() == f"Another way: {known[0].manner}"
    assert first.pre.get_text() == known[0].solution.strip()
    assert "open" not in first.attrs | second.attrs
    fails(check.merge_pair, lambda symbols, pair: symbols)


def test_outside_of_the_exercises_folder_there_is_none():
    assert shown(check.count_pairs(counted)) == []
