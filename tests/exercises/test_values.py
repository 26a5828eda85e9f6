"""The checks recognise mistakes by their values. Each value occurs with a wrong answer."""

from contextlib import suppress
from operator import eq

import pytest
from torch import Tensor

from course.feedback.checks import Check
from tests.exercises.test_answers import ASSIGNMENTS, OTHER_WAYS, WRONG, run_task
from tests.exercises.test_assignments import PROJECT

pytestmark = pytest.mark.slow


# The project's checks test laws, without expected values.
@pytest.mark.parametrize("assignment", [name for name in ASSIGNMENTS if name != PROJECT])
def test_each_known_value_occurs_with_a_wrong_answer(assignment, monkeypatch, record_property):
    known, given = set(), set()

    def compared(self, found, answer, shown, because, mistakes, same=eq):
        rows = [(wrong, (f"{self.name}: {shown}", str(wrong), said)) for wrong, said in mistakes]
        # A tensor is not a literal value: the check has computed it.
        known.update(row for wrong, row in rows if not isinstance(wrong, Tensor))
        # Only the first matching row's sentence is shown.
        given.update([row for wrong, row in rows if found and same(wrong, answer)][:1])

    # No comparison ends a check, so that a wrong answer reaches the examples after the first.
    monkeypatch.setattr(Check, "compared", compared)
    for row in [*OTHER_WAYS[assignment], *WRONG[assignment]]:
        with suppress(Exception):  # a check may still end, as where an answer raises an error
            run_task(assignment, row.task, row.solution, tests=["test"])

    unknown = sorted(known - given)
    record_property("counted", f"{assignment}: {len(known)} typed values, {len(unknown)} unproved")
    assert known, "no check has been run"
    assert not unknown, "\n" + "\n".join(map(repr, unknown))
