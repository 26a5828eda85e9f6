"""The checks know mistakes by the values they give. Each is what a wrong answer really gives."""

from contextlib import suppress
from operator import eq

import pytest
from torch import Tensor

from course.feedback.checks import Check
from tests.exercises.test_answers import ASSIGNMENTS, OTHER_WAYS, WRONG, run_task

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_some_wrong_answer_gives_each_known_value(assignment, monkeypatch, record_property):
    known, given = set(), set()

    def compared(self, found, answer, shown, because, mistakes, same=eq):
        rows = [(f"{self.name}: {shown}", str(wrong), said) for wrong, said in mistakes]
        # A tensor is no typed value: the check has worked it out.
        typed = [not isinstance(wrong, Tensor) for wrong, _ in mistakes]
        known.update(row for row, by_hand in zip(rows, typed, strict=True) if by_hand)
        its_own = (n for n, (wrong, _) in enumerate(mistakes) if same(wrong, answer))
        if found and (n := next(its_own, None)) is not None:
            given.add(rows[n])

    # No comparison ends a check, so that a wrong answer reaches the examples behind its first one.
    monkeypatch.setattr(Check, "compared", compared)
    for row in [*OTHER_WAYS[assignment], *WRONG[assignment]]:
        with suppress(Exception):  # a check may still end, as where an answer raises an error
            run_task(assignment, row.task, row.solution, hidden=False)

    unknown = sorted(known - given)
    record_property("counted", f"{assignment}: {len(known)} typed values, {len(unknown)} unproved")
    assert not unknown, "\n" + "\n".join(map(repr, unknown))
