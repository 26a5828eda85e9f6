"""An error or the end of a process costs what it was about, never a task that has points."""

import copy
from types import SimpleNamespace

import pytest

from course.collecting import opening
from course.grading import cells, submissions
from course.grading.exam import OURS, Exam
from course.grading.grader import ATTEMPTS, Grader
from course.grading.orders import Broken, Graded, Order
from course.grading.room import Room
from course.grading.sandbox import Sandbox
from course.grading.submissions import read_submission
from course.settings import Limits
from tests.course.grading.damaged import ASSIGNMENT, CODE, FULL, at, code, right, text, written

LIMITS = Limits(call_seconds=20, submission_seconds=200)
DIES = "import os, signal\nif most(['a']) == 7:\n    os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.slow
def test_a_test_in_which_the_process_ends_waits_for_a_person_and_the_others_count(tmp_path):
    source = copy.deepcopy(ASSIGNMENT.source)
    (hidden,) = (one for one in source.cells if one.id == "hidden-most")
    hidden.source = f"{DIES}\n{hidden.source}"
    mine = right()
    mine[at(mine, "most")]["source"] += "\n_most = most\ndef most(words):\n"
    mine[at(mine, "most")]["source"] += "    return 7 if words == ['a'] else _most(words)"
    with Grader(ASSIGNMENT._replace(source=source), LIMITS, sandboxed=False) as grader:
        result = grader.grade(written(tmp_path, mine))
        assert result.scores == FULL | {"hidden-most": None}
        (note,) = result.notes
        assert str(note) == f"hidden-most: {OURS} (the tests' process ended); a person must look"
        assert note.waits
        assert grader.grade(written(tmp_path, right())).scores == FULL


@pytest.fixture
def exam(tmp_path):
    """An exam in this process, without a sandbox."""
    room, sandbox = Room(ASSIGNMENT), Sandbox(LIMITS, sandboxed=False)
    room.prepare()
    assert sandbox.prepare(room.warm_cells()) == []
    yield lambda mine: Exam(
        room, sandbox, LIMITS, Order(written(tmp_path, mine)), lambda _: None
    ).grade()
    sandbox.close()


@pytest.mark.slow
def test_an_error_of_ours_costs_a_cell_its_outputs_and_a_test_its_result(exam, monkeypatch):
    def fails(self, id):
        if id == "hidden-count":
            raise ZeroDivisionError("ours")
        return run(self, id)

    run = Room.run
    monkeypatch.setattr(Room, "run", fails)
    monkeypatch.setattr(cells, "past_the_watch", lambda source: 1 / 0)
    graded = exam(right())
    assert graded.lost == {"hidden-count"}
    outputs = {one.id: one.outputs for one in graded.notebook.cells if one.cell_type == "code"}
    assert [id for id in outputs if outputs[id]] == ["hidden-count"], "the others have full points"
    waits = {note.cell: note.waits for note in graded.notes if note.text.startswith(OURS)}
    assert waits == {**dict.fromkeys(CODE, False), "hidden-count": True}


def attempts(*answers):
    """The orders of a Grader whose attempts have these answers, and its own answer."""
    orders = []

    def tried(order):
        orders.append(order)
        return answers[min(len(orders), len(answers)) - 1]

    grader = SimpleNamespace(setup=(None, LIMITS), _try=tried)
    return Grader._answer(grader, Order("x")), [(sorted(one.lost), one.bare) for one in orders]


def test_a_failed_attempt_is_repeated_then_without_what_it_failed_in():
    good = Graded(None, (), frozenset(), False)
    here, there, nowhere = Broken("", "a"), Broken("", "b"), Broken("")
    assert attempts(good) == (good, [([], False)])
    assert attempts(here, good) == (good, [([], False)] * 2), "the machine's fault"
    assert attempts(here, here, good)[1][2:] == [(["a"], False)]
    assert attempts(here, here, there, good)[1][3:] == [(["a", "b"], False)]
    assert attempts(nowhere, nowhere, good)[1][2:] == [([], True)]
    assert attempts(here, here, nowhere, good)[1][3:] == [(["a"], True)]
    assert (attempts(nowhere)[0], len(attempts(nowhere)[1])) == (nowhere, ATTEMPTS)


def test_outputs_and_pictures_that_cannot_be_read_are_left_out(tmp_path, monkeypatch):
    def fails(cells, raw):
        return [1 / (not (one.get("outputs") or one.get("attachments"))) for one in raw][:0]

    monkeypatch.setattr(opening, "CAN_FORK", False)
    monkeypatch.setattr(submissions, "attach", fails)
    assert read_submission(written(tmp_path, right()), ASSIGNMENT, LIMITS).notes == ()
    picture = text("![x](attachment:x)", attachments={"x": {"image/png": "eA=="}})
    output = {"output_type": "stream", "name": "stdout", "text": "said"}
    for own in (picture, code("print('said')", outputs=[output])):
        path = written(tmp_path, [*right(), own])
        found = read_submission(path, ASSIGNMENT, LIMITS)
        (note,) = found.notes
        assert note.text == (
            "its outputs and pictures were left out: with them it cannot be read "
            "(ZeroDivisionError)"
        )
        assert [one.source for one in found.cells if one.id == "count"] == [
            one["source"] for one in right() if one["id"] == "count"
        ]
