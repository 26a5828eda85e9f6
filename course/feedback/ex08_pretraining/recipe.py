"""Checks of exercise 8 about the recipe: a schedule, an ablation, a prediction."""

from collections.abc import Callable, Sequence

import torch

from course.feedback.checks import Check, Passed
from course.feedback.differences import short
from course.feedback.ex08_pretraining.batches import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck

PARTS = ("warm-up", "way down", "clipping")


class ScheduleCheck(TensorCheck):
    """A check of a factor for each step."""

    refused = OWN_CODE

    def factors(
        self,
        numbers: Sequence[int],
        plan: tuple[int, int, int],
        gives: Sequence[float],
        because: str,
    ) -> None:
        """The factors of some steps of a training; plan: its steps, rising ones, falling ones."""
        answers = [self.call(number, *plan, because=because) for number in numbers]
        shown = f"{self.name}(step, {', '.join(map(str, plan))}) for step = {list(numbers)}"
        for answer in answers:
            self.law(
                isinstance(answer, int | float),
                f"{shown}\nit must return a number; it returned {short(answer)}",
            )
        self.equals(
            torch.tensor(answers, dtype=torch.float64),
            torch.tensor(gives, dtype=torch.float64),
            shown,
            because=because,
        )


@task("ex08_pretraining", 4)
def plateau_schedule(function: Callable) -> Passed:
    """A linear rise, a constant part, and a fall in the last steps."""
    check = ScheduleCheck(
        "plateau_schedule",
        function,
        hints=(
            "one line for the way up, one for the way down, and never more than 1",
            "down: how many steps are left, this one included, of `decay`",
        ),
    )
    check.factors(
        *(range(1, 4), (9, 3, 4), [1 / 3, 2 / 3, 1.0]),
        because="the warm-up of 3 steps: a third more at each, 1 at its end",
    )
    check.factors(
        *(range(4, 10), (9, 3, 4), [1.0, 1.0, 1.0, 0.75, 0.5, 0.25]),
        because="level in steps 4 and 5; when step 6 begins, four of four steps are left",
    )
    check.done("9 steps by hand")
    check.factors(
        *(range(1, 6), (5, 4, 4), [0.25, 0.5, 0.75, 0.5, 0.25]),
        because="4 steps up and 4 down in a training of 5: the smaller factor counts",
    )
    check.factors(
        range(1, 5), (4, 0, 2), [1.0, 1.0, 1.0, 0.5], because="without a warm-up, warmup = 0"
    )
    check.factors(
        range(1, 5), (4, 2, 0), [0.5, 1.0, 1.0, 1.0], because="without a way down, decay = 0"
    )
    check.factors([1], (1, 0, 0), [1.0], because="a training of one step")
    check.done("ways that overlap; no way up; no way down")
    return check.passed()


class AblationCheck(TensorCheck):
    """A check of rises and their errors; its losses record their calls."""

    refused = OWN_CODE
    ready_made = ()

    def rises(
        self, losses: dict[str, Sequence[float]], gives: Sequence[Sequence[float]], because: str
    ) -> None:
        """An ablation of the parts that `losses` names; "" is the whole recipe."""
        parts, seeds = [part for part in losses if part], list(range(len(losses[""])))
        asked: list[tuple[str, int]] = []

        def loss(some: frozenset[str], seed: int) -> float:
            missing = set(parts) - set(some)
            if len(missing) > 1 or not set(some) <= set(parts):
                raise ValueError(f"leave out one part at a time; got the parts {short(set(some))}")
            asked.append(("".join(missing), seed))
            return losses[asked[-1][0]][seed]

        answer = self.call(loss, parts, seeds, because=because)
        shown = self.shown((loss, parts, seeds))
        self.law(
            isinstance(answer, dict) and set(answer) == set(parts),
            f"{shown}\nit must return a dictionary with the parts as keys; it returned "
            f"{short(answer)}",
        )
        pairs = [answer[part] for part in parts]
        self.law(
            all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs),
            f"{shown}\neach part has two numbers, its mean rise and the standard error; it "
            f"returned {short(answer)}",
        )
        found = torch.tensor([[float(x) for x in pair] for pair in pairs], dtype=torch.float64)
        wanted = torch.tensor(gives, dtype=torch.float64)
        self.equals(found, wanted, shown, because=because)
        self.law(
            len(asked) == len(set(asked)),
            f"{shown}\ntrains {len(asked)} models, where {len(set(asked))} are enough\n→ train the "
            "whole recipe once for each seed, before the loop over the parts",
        )

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(loss, {arguments[1]}, {arguments[2]})"

    def _same(self, given: tuple, arguments: tuple) -> bool:
        return given[1:] == arguments[1:]


@task("ex08_pretraining", 8)
def ablation(function: Callable) -> Passed:
    """How much the loss rises without each part, with the standard error."""
    check = AblationCheck(
        "ablation",
        function,
        hints=(
            "rises = [loss(everything - {part}, seed) - whole[i] for i, seed in enumerate(seeds)]",
            "the standard error is the rises' standard deviation (n - 1) over the root of n",
        ),
    )
    check.rises(
        {"": [2.0, 3.0, 4.0], "a": [3.0, 3.5, 5.5], "b": [1.5, 2.5, 4.0]},
        [[1.0, 0.28868], [-1 / 3, 0.16667]],
        because="the rises without a are 1, 0.5, 1.5; without b -0.5, -0.5, 0",
    )
    check.rises(
        {"": [1.0, 9.0], "x": [1.25, 9.25]},
        [[0.25, 0.0]],
        because="seeds that differ by 8, and a rise that is the same with both: an error of 0",
    )
    check.done("rises, falls, seeds that differ much")
    return check.passed()


@task("ex08_pretraining", 9)
def predict_parts(function: Callable) -> Passed:
    """Two of the three parts, of the student's choice."""
    check = Check("predict_parts", function, hints=("return two names, with a comma",))
    answer = check.call()
    check.law(
        isinstance(answer, tuple | list) and len(answer) == 2 and set(answer) <= set(PARTS),
        f"it must be two of {', '.join(PARTS)}; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]} at 0.01 and {answer[1]} at 0.03; now measure")
    return check.passed()
