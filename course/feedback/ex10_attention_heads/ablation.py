"""Checks of exercise 10 about a head's contribution: the loss without it, and a prediction."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from course.feedback.checks import Check, Passed
from course.feedback.ex10_attention_heads.patterns import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal, same


class ToyLoss:
    """A loss that depends on a model's output matrices; both are copied together.

    values: factors of the matrices, one [D] per layer, or None for the plain sum of all weights;
    fails_at: the call that raises an error instead, counted from 1.
    """

    def __init__(
        self,
        outputs: Sequence[Tensor],
        values: Sequence[Tensor] | Tensor | None = None,
        fails_at: int | None = None,
    ) -> None:
        self.outputs, self.values, self.fails_at, self.calls = outputs, values, fails_at, 0

    def __call__(self) -> float:
        """The loss, as a number."""
        self.calls += 1
        if self.calls == self.fails_at:
            raise MemoryError("no memory left for this batch")
        if self.values is None:
            return sum(float(weight.detach().sum()) for weight in self.outputs)
        total = torch.zeros(len(self.values[0]))
        for weight, value in zip(self.outputs, self.values, strict=True):
            # Layers are combined in a product, so that heads zeroed at the same time interact.
            total = torch.tanh(total + weight.detach() @ (value + total))
        return float(((total - 1) ** 2).mean())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers; the number of calls does not matter."""
        return isinstance(other, ToyLoss) and same(list(self.outputs), list(other.outputs))

    def __repr__(self) -> str:
        return "loss"


class AblationCheck(TensorCheck):
    """A check of a function that changes a model's weights and restores them."""

    refused = OWN_CODE
    changed = (
        "afterwards every weight must be what it was, bit for bit. `kept = weight[:, a:b]` is a "
        "view, which changes with the weights; `kept = weight[:, a:b].clone()` is a copy, to be "
        "written back after each head"
    )

    def restored_after_error(self, outputs: list[nn.Parameter], n_heads: int) -> None:
        """The weights must be restored even if the loss raises an error."""
        given = [nn.Parameter(weight.detach().clone()) for weight in outputs]
        _, error = self._run((given, n_heads, ToyLoss(given, fails_at=4)), "")
        shown = f"{self.shown((outputs, n_heads, 'loss'))}, where the 4th call of loss() fails"
        self.law(
            isinstance(error, MemoryError),
            f"{shown}\nthe error of loss() must reach the caller: finally, not except",
        )
        self.law(
            same(given, outputs),
            f"{shown}\nthe weights are left without a head. The model stays broken if a long run "
            "is stopped: try: ... finally: restores them in any case",
        )

    def fail(self, message: str, because: str = "") -> NoReturn:
        """As in `Check`, with its own words for a common error of PyTorch."""
        if "used in an in-place operation" in message:
            because = "PyTorch assumes that you train: use `with torch.no_grad():`"
        super().fail(message, because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        outputs, n_heads, loss = arguments
        if len(outputs) == 1 and outputs[0].numel() <= 16:
            rows = [[round(x, 2) for x in row] for row in outputs[0].tolist()]
            return f"{self.name}([{rows}], {n_heads}, {loss})"
        layers = f"{len(outputs)} matrices {list(outputs[0].shape)}"
        return f"{self.name}({layers}, {n_heads}, {loss})"


@task("ex10_attention_heads", 6)
def ablate_each_head(function: Callable) -> Passed:
    """How much the loss rises without each head."""
    check = AblationCheck(
        "ablate_each_head",
        function,
        hints=(
            "first call loss() with all heads; then for each head: set its columns to 0, call "
            "loss(), and restore the columns",
            "head h's columns are weight[:, h * d : (h + 1) * d], with d = D // n_heads",
            "with torch.no_grad(): kept = columns.clone(); columns.zero_(); ...; "
            "columns.copy_(kept), where columns is weight[:, h * d : (h + 1) * d]",
        ),
    )
    _by_hand(check)
    outputs, values = _model(3, 12, seed=1)
    for n_heads in (1, 3, 4, 12):
        check.example(
            *(outputs, n_heads, ToyLoss(outputs, values)),
            gives=_one_at_a_time(outputs, values, n_heads),
            because=f"3 layers, {n_heads} heads, and a loss in which layers interact: silence one "
            "head at a time, and keep all others",
        )
    check.restored_after_error(outputs, 3)
    check.done("3 layers of 1, 3, 4 and 12 heads; a loss that fails")
    outputs, values = _model(12, 96, seed=2)
    check.example(
        *(outputs, 12, ToyLoss(outputs, values)),
        gives=_one_at_a_time(outputs, values, 12),
        because="12 layers of 12 heads",
    )
    check.done("12 layers of 12 heads")
    return check.passed()


def _by_hand(check: AblationCheck) -> None:
    """One layer of two heads, and a loss that is the sum of all weights."""
    weight = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8], [0, 1, 0, 2], [1, 1, 1, 2]])
    outputs = [nn.Parameter(weight)]
    check.example(
        *(outputs, 2, ToyLoss(outputs)),
        gives=[[-17.0, -27.0]],
        because="loss() is the sum of all weights here, 44. Without the columns 0 and 1 it is 27, "
        "without the columns 2 and 3 it is 17",
    )
    check.done("one layer of two heads, by hand")


def _model(n_layers: int, size: int, seed: int) -> tuple[list[nn.Parameter], Tensor]:
    """Output matrices [D, D], and the heads' values, [n_layers, D]."""
    weights = normal(n_layers, size, size, seed=seed) / size**0.5
    return [nn.Parameter(weight.clone()) for weight in weights], normal(n_layers, size, seed=9)


def _one_at_a_time(outputs: Sequence[Tensor], values: Tensor, n_heads: int) -> Any:
    """The changes, from models without the head."""
    before = ToyLoss(outputs, values)()
    size = outputs[0].shape[1] // n_heads
    changes = torch.empty(len(outputs), n_heads)
    for layer, weight in enumerate(outputs):
        for head in range(n_heads):
            speaks = torch.arange(weight.shape[1]) // size != head
            without = [*outputs[:layer], weight.detach() * speaks, *outputs[layer + 1 :]]
            changes[layer, head] = ToyLoss(without, values)() - before
    return changes


@task("ex10_attention_heads", 8)
def predict_head(function: Callable) -> Passed:
    """One of the heads, of the student's choice."""
    check = Check("predict_head", function, hints=('write `return` and a head, such as "2.0"',))
    answer = check.call()
    heads = [f"{layer}.{head}" for layer in range(4) for head in range(4)]
    check.law(answer in heads, f'it must be a head from "0.0" to "3.3"; it returned {answer!r}')
    check.done(f"you predict {answer}; now measure")
    return check.passed()
