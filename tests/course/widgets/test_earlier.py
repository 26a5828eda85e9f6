"""Before you start: questions that an earlier lecture asks, three of them, chosen."""

import itertools
import re

import pytest

from course.widgets import before_you_start
from course.widgets.earlier import BLANK, questions, turns
from tests.conftest import ROOT, read_page

LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
LATER = [path for path in LECTURES if path.stem >= "03"]
FOLD = re.compile(r'<details data-key="(\S+) (\d+)"( hidden)?><summary>(.*?) <em>', re.DOTALL)


def sources(path):
    """The source of each cell."""
    return [cell.source for cell in read_page(path).cells]


def shown(path):
    """Lecture and question of what a new reader is asked."""
    folds = FOLD.findall(before_you_start(path.stem).html)
    return [(lecture, question) for lecture, _, hidden, question in folds if not hidden]


@pytest.mark.parametrize("path", LATER, ids=lambda path: path.stem)
def test_a_lecture_begins_with_three_questions_of_earlier_ones(path):
    cell = read_page(path).cells[2]
    assert cell.source == f'widgets.before_you_start("{path.stem}")'
    asked = shown(path)
    assert len(asked) == 3
    assert len({lecture for lecture, _ in asked}) == 3
    for lecture, question in asked:
        assert lecture < path.stem
        assert lecture[2] == "_", "everybody has read it"
        assert question in "\n".join(sources(ROOT / f"lectures/{lecture}.ipynb"))


def test_two_lectures_in_a_row_ask_something_else():
    asked = [{question for _, question in shown(path)} for path in LATER]
    assert all(len(one & other) <= 1 for one, other in itertools.pairwise(asked))


def test_each_question_has_its_answer_and_points_at_nothing_on_its_page():
    found = [fold for path in LECTURES for fold in questions(path)]
    assert len(found) > 50
    assert [question for question, _ in found if not question.endswith("?")] == []
    assert [q for q, _ in found if re.search(r"\b(above|below|section)\b", q)] == []
    assert [answer for _, answer in found if len(answer) < 20 or "](" in answer] == []
    assert any(question.startswith("Layer norm of (3, 3, 5, 5)") for question, _ in found)


def test_a_missed_blank_is_known_by_its_label_alone():
    labels = [label for path in LECTURES for label in BLANK.findall("\n".join(sources(path)))]
    assert len(labels) == len(set(labels)) > 40, "a label is the name of what was missed"
    found = [turn for path in LECTURES for turn in turns(path)]
    assert len(found) > 20
    assert [question for _, question in found if "?" not in question] == []
    page = before_you_start("06_bert").html
    assert '<details data-key="03_static_to_contextual cosine" data-label="cosine" hidden>' in page
    assert 'data-label="ones"' not in page


def test_an_answer_is_html_with_its_formulas():
    page = before_you_start("04_attention")
    assert "<code>[UNK]</code>" in page.html
    assert "hidden><summary>" in page.html
    assert str(page).count("\n") == 3
