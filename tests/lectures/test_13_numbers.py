"""Lecture 13 with every exercise solved: its own training is the library's; random mistakes."""

import random

import pytest

from bertlab.parts import using
from course import mine
from course.answers import answers_of
from course.fitting import asked
from tests.course.test_mine import solved_into
from tests.exercises.test_assignments import ASSIGNMENTS

pytestmark = [pytest.mark.slow, pytest.mark.notebooks]

WRITTEN = ("01", "02", "04", "06", "07", "08")
SHORT = {"STEPS = 2000": "STEPS = 50"}  # the page itself trains to the end


@pytest.fixture(scope="module")
def page(its_lecture, tmp_path_factory):
    """What the page's cells define up to the comparison, run with our solutions."""
    scope = {}
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(mine, "EXERCISES", solved_into(tmp_path_factory.mktemp("e"), *WRITTEN))
        for cell in its_lecture.code:
            source = cell.source
            for old, new in SHORT.items():
                source = source.replace(old, new)
            if "proof" not in cell.metadata.get("tags", ()):
                exec(source, scope)
            if cell.id == "train-compare":
                return scope


def test_the_map_is_full_and_the_curves_of_yours_and_of_the_library_are_one(page):
    assert {row.state for row in page["yours"].rows} == {mine.YOURS}
    assert len(page["apart"]) == 50
    assert max(page["apart"]) < 1e-4
    assert page["own_rows"][-1]["mlm_loss"] < page["own_rows"][0]["mlm_loss"] - 1


def test_the_first_difference_finds_each_of_the_ten_mistakes_of_the_page(its_lecture):
    scope = {}
    for cell in its_lecture.code:
        if cell.id in ("imports", "whatif-attention", "whatif-others", "whatif-list"):
            exec(cell.source, scope)
    calls = {}
    with using(**{one.part.name: mine._recorder(one, calls) for one in asked()}):
        mine._small_run()
    by_part = {one.part.name: one for one in asked()}
    mistakes = {name: parts for name, parts in scope["MISTAKES"].items() if parts}
    assert len(mistakes) == 10
    for name, parts in mistakes.items():
        ((part, wrong),) = parts.items()
        assert mine._first_difference(by_part[part], wrong, calls[part]), name


def test_about_twenty_functions_are_asked_for(states):
    assert len(asked()) == 18
    states("about twenty small functions")


def test_berts_own_training_is_told_as_published(states):
    states("a million steps of 256 sequences with Adam", "learning rate $10^{-4}$")
    states("10,000 steps of warm-up", "four days on 4 to 16 Cloud TPUs")


@pytest.mark.parametrize("seed", range(3))
def test_with_random_mistakes_the_first_difference_names_a_wrong_function(seed, tmp_path):
    chance = random.Random(seed)
    rows = []
    for one in chance.sample(asked(), chance.randint(1, 3)):
        (name,) = (name for name in ASSIGNMENTS if name[2:4] == one.exercise)
        task = one.function.replace("_", "-")
        known = [row for row in answers_of(name).wrong if row.task == task]
        rows.append((one.function, chance.choice(known).solution))
    changed = {function.replace("_", "-"): source for function, source in rows}
    said = mine.compare(solved_into(tmp_path, *WRITTEN, changed=changed))
    assert any(function in said for function, _ in rows), (rows, said)
