"""Checks of exercise 8 about the schedule and the optimizer's groups."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.feedback.checks import Passed
from course.feedback.differences import short
from course.feedback.ex08_pretraining.batches import OWN_CODE
from course.feedback.ex08_pretraining.probes import NotCopied
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck


class ScheduleCheck(TensorCheck):
    """A check of a factor for each step."""

    refused = OWN_CODE

    def factors(
        self,
        numbers: Sequence[int],
        steps: int,
        warmup: int,
        gives: Sequence[float],
        because: str,
        mistakes: Sequence[tuple[Any, str]] = (),
    ) -> None:
        """The factors of some steps of a training."""
        answers = [self.call(number, steps, warmup, because=because) for number in numbers]
        shown = f"linear_schedule(step, {steps}, {warmup}) for step = {short(list(numbers), 40)}"
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
            mistakes=mistakes,
        )


@task("ex08_pretraining", 3)
def linear_schedule(function: Callable) -> Passed:
    """Up in a straight line, then down."""
    check = ScheduleCheck(
        "linear_schedule",
        function,
        hints=(
            "two cases: step <= warmup, and the rest",
            "down: how many steps are left, this one included, of those after the warm-up",
        ),
    )
    check.factors(
        *(range(1, 5), 9, 4, [0.25, 0.5, 0.75, 1.0]),
        because="the warm-up of 4 steps: a quarter more at each, 1 at its end",
        mistakes=[
            ([0.0, 0.25, 0.5, 0.75], "steps are counted from 1: a first step with 0 moves nothing"),
            ([0.2, 0.4, 0.6, 0.8], "divide by warmup: at step `warmup` the factor is 1"),
            ([1 / 9, 2 / 9, 3 / 9, 4 / 9], "the way up has `warmup` steps, not all of them"),
            ([1.0] * 4, "the warm-up is missing"),
            ([1.0, 0.75, 0.5, 0.25], "upside down: the warm-up begins small"),
            ([1, 8 / 9, 7 / 9, 6 / 9], "the warm-up is missing"),
            ([4.0, 2.0, 4 / 3, 1.0], "upside down: step / warmup, not warmup / step"),
        ],
    )
    check.factors(
        *(range(5, 10), 9, 4, [1.0, 0.8, 0.6, 0.4, 0.2]),
        because="5 steps are left when step 5 begins: 5/5, 4/5, 3/5, 2/5, 1/5",
        mistakes=[
            (
                [0.8, 0.6, 0.4, 0.2, 0.0],
                "one off: the last step would have 0 and move nothing. 0 comes after it",
            ),
            (
                [5 / 9, 4 / 9, 3 / 9, 2 / 9, 1 / 9],
                "divide by the steps of the way down, steps - warmup: it begins with 1",
            ),
            (
                [4 / 9, 3 / 9, 2 / 9, 1 / 9, 0.0],
                "divide by the steps of the way down, steps - warmup: it begins with 1",
            ),
            ([5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6], "the way down has steps - warmup steps"),
            ([1.0] * 5, "the way down is missing"),
            ([1.25, 1.5, 1.75, 2.0, 2.25], "the way down is missing: it goes up for ever"),
            ([0.2, 0.4, 0.6, 0.8, 1.0], "upside down: the steps that are left become fewer"),
            ([0.0, 0.2, 0.4, 0.6, 0.8], "upside down: the steps that are left become fewer"),
        ],
    )
    check.done("9 steps by hand")
    check.factors(
        *(range(1, 6), 5, 0, [1.0, 0.8, 0.6, 0.4, 0.2]),
        because="without a warm-up, warmup = 0, the way down begins at once",
    )
    check.factors([1], 1, 0, [1.0], because="a training of one step")
    check.factors(
        [1, 2, 3], 3, 2, [0.5, 1.0, 1.0], because="the last step is the only one after it"
    )
    check.factors(
        *([1, 5_000, 10_000, 10_001, 505_001, 1_000_000], 1_000_000, 10_000),
        [1e-4, 0.5, 1.0, 1.0, 0.5, 1 / 990_000],
        because="BERT's own training: a million steps, 10,000 of warm-up",
    )
    check.done("no warm-up; one step; BERT's million")
    return check.passed()


class SmallModel(NotCopied, nn.Module):
    """Some parameters of every kind, one of them tied."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(6, 4)
        self.norm = nn.LayerNorm(4)
        self.dense = nn.Linear(4, 4)
        self.other_norm = nn.Module()
        self.other_norm.gamma = nn.Parameter(torch.ones(4))
        self.other_norm.beta = nn.Parameter(torch.zeros(4))
        self.unembedding = nn.Linear(4, 6)
        self.unembedding.weight = self.token.weight


class Convolutions(NotCopied, nn.Sequential):
    """A model with matrices of three dimensions."""


class GroupsCheck(TensorCheck):
    """A check of what an optimizer is given."""

    refused = OWN_CODE

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(model, {arguments[1]})"

    def decays(self, model: nn.Module, weight_decay: float) -> dict[str, float]:
        """The weight decay of each parameter, by name; the check fails if one has none or two."""
        answer = self.call(model, weight_decay)
        shown = self.shown((model, weight_decay))
        form = 'a list of dicts, each with "params" and "weight_decay"'
        self.law(
            isinstance(answer, list | tuple)
            and all(isinstance(g, dict) and {"params", "weight_decay"} <= set(g) for g in answer),
            f"{shown}\nit must return {form}; it returned {short(answer)}",
        )
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        decays: dict[str, float] = {}
        for group in answer:
            for parameter in group["params"]:
                self.law(
                    id(parameter) in names,
                    f'{shown}\n"params" must hold the parameters themselves, as model.parameters() '
                    f"gives them; it holds {short(parameter, 80)}",
                )
                name = names[id(parameter)]
                self.law(
                    name not in decays,
                    f"{shown}\n{name} is there twice\n→ each parameter stands in one group, once, "
                    "a tied one, too: model.parameters() names it once",
                )
                decays[name] = group["weight_decay"]
        missing = [name for name in names.values() if name not in decays]
        self.law(
            not missing,
            f"{shown}\n{short(missing)} stands in no group\n→ what no group holds is never trained",
        )
        return decays


@task("ex08_pretraining", 4)
def parameter_groups(function: Callable) -> Passed:
    """Weight decay for matrices alone."""
    check = GroupsCheck(
        "parameter_groups",
        function,
        hints=(
            "what do biases and norms have in common that matrices have not? print their shapes",
            "p.ndim is 1 for a vector, 2 for a matrix",
        ),
    )
    model = SmallModel()
    for weight_decay in (0.01, 0.5):
        shown = check.shown((model, weight_decay))
        for name, decay in check.decays(model, weight_decay).items():
            matrix = model.get_parameter(name).ndim >= 2
            self_said = f"{shown}\n{name} has weight decay {decay}"
            if matrix and decay == 0:
                because = "matrices are pulled to zero, those of the embedding, too"
            elif matrix:
                because = f"it must be the one that is given, {weight_decay}"
            elif "norm" in name:
                because = (
                    "norms have none, whatever their parts are called (weight, bias, gamma, beta): "
                    "a scale that is pulled to zero makes nothing simpler"
                )
            else:
                because = "biases have none"
            check.law(decay == (weight_decay if matrix else 0), f"{self_said}\n→ {because}")
    check.done("matrices decay; biases and norms do not; a tied matrix counts once")
    wide = Convolutions(nn.Conv1d(2, 3, 3), nn.Conv1d(3, 3, 3), nn.Linear(3, 2, bias=False))
    decays = check.decays(wide, 0.1)
    vectors = {name: decay for name, decay in decays.items() if name.endswith("bias")}
    check.law(not any(vectors.values()), "a bias of another model has weight decay")
    check.law(
        all(decays[name] == 0.1 for name in decays if name not in vectors),
        "the weights of another model have none; what is no vector decays, whatever its name",
    )
    check.done("another model")
    return check.passed()
