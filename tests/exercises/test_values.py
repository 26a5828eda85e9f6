"""The checks know mistakes by the values they give. Each is what a wrong answer really gives."""

from contextlib import suppress
from operator import eq

import pytest
from torch import Tensor

from course.feedback.checks import Check
from tests.exercises.test_answers import ASSIGNMENTS, OTHER_WAYS, WRONG, run_task
from tests.exercises.test_assignments import PROJECT

pytestmark = pytest.mark.slow


# The project's checks know laws alone, no value to expect.
@pytest.mark.parametrize("assignment", [name for name in ASSIGNMENTS if name != PROJECT])
def test_some_wrong_answer_gives_each_known_value(assignment, monkeypatch, record_property):
    known, given = set(), set()

    def compared(self, found, answer, shown, because, mistakes, same=eq):
        rows = [(wrong, (f"{self.name}: {shown}", str(wrong), said)) for wrong, said in mistakes]
        # A tensor is no typed value: the check has worked it out.
        known.update(row for wrong, row in rows if not isinstance(wrong, Tensor))
        # Only the first row that fits has its sentence shown.
        given.update([row for wrong, row in rows if found and same(wrong, answer)][:1])

    # No comparison ends a check, so that a wrong answer reaches the examples behind its first one.
    monkeypatch.setattr(Check, "compared", compared)
    for row in [*OTHER_WAYS[assignment], *WRONG[assignment]]:
        with suppress(Exception):  # a check may still end, as where an answer raises an error
            run_task(assignment, row.task, row.solution, tests=["test"])

    unknown = sorted(known - given)
    record_property("counted", f"{assignment}: {len(known)} typed values, {len(unknown)} unproved")
    assert known, "no check has been run"
    assert not unknown, "\n" + "\n".join(map(repr, unknown))
