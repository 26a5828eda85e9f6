"""Checks of exercise 5, tasks 7 and 8: a part that adds nothing, and a prediction."""

from collections.abc import Callable

import torch
from torch import Tensor

from bertlab.model.transformer import Transformer, TransformerConfig
from course.feedback.checks import Check, Passed
from course.feedback.differences import a, short
from course.feedback.progress import task

PARTS = ("positions", "encoder attention", "decoder attention", "cross-attention")
# A source and a target of two texts, and the same with other tokens in front.
SOURCE, OTHER_SOURCE = torch.tensor([[5, 6, 7], [8, 9, 5]]), torch.tensor([[4, 8, 7], [6, 4, 5]])
TARGET, OTHER_TARGET = torch.tensor([[1, 5, 9], [1, 7, 4]]), torch.tensor([[1, 8, 9], [1, 6, 4]])


class Model(Transformer):
    """A small Transformer without parameters at 0; a check passes it without a copy."""

    def __init__(self, n_layers: int = 2) -> None:
        super().__init__(TransformerConfig(10, 8, n_layers, 2, 16, max_length=6, dropout=0.0))
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))

    def __deepcopy__(self, memo: dict) -> "Model":
        return self

    def learn(self, but: set[str]) -> None:
        """Take a step with all parameters except these."""
        self.zero_grad()
        self(SOURCE, TARGET).logits.square().mean().backward()
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name not in but and parameter.grad is not None:
                    parameter.sub_(0.1 * parameter.grad)


def trace_of(model: Transformer, part: str) -> Tensor:
    """How far the part's own inputs change the last position: 0 if the part adds nothing."""
    with torch.no_grad():
        if part == "positions":  # the source in another order: the same vectors in that order
            return model.encode(SOURCE)[:, 0] - model.encode(SOURCE.flip(1))[:, -1]
        if part == "encoder attention":
            return (model.encode(SOURCE) - model.encode(OTHER_SOURCE))[0, -1]
        memory = model.encode(SOURCE)
        other = (
            model.decode(TARGET, model.encode(OTHER_SOURCE))
            if part == "cross-attention"
            else model.decode(OTHER_TARGET, memory)
        )
        return (model.decode(TARGET, memory) - other)[:, -1]


STILL = {
    "positions": "a source in another order still gets other vectors",
    "encoder attention": "a source's last vector still depends on the tokens before it",
    "decoder attention": "what is written still depends on the token before the last",
    "cross-attention": "what is written still depends on the source",
}


class PartCheck(Check):
    """A check of a function that changes a model."""

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}(model, {arguments[1]!r})"

    def silent(self, part: str) -> None:
        """This part adds nothing, also after a step; the others have not changed."""
        before, model = Model(), Model()
        answer, shown = self.call(model, part), self.shown((model, part))
        self.law(
            isinstance(answer, set) and all(isinstance(name, str) for name in answer),
            f"{shown}\nit must return a set of names; it returned {short(answer)}, {a(answer)}",
        )
        names = dict(model.named_parameters())
        unknown = sorted(answer - names.keys())
        self.law(not unknown, f"{shown}\nthe model has no parameter named {unknown}")
        self.law(not trace_of(model, part).abs().max() > 1e-5, f"{shown}\n{STILL[part]}")
        changed = {
            name
            for name, was in before.named_parameters()
            if not torch.equal(was, names[name]) and not names[name].eq(0).all()
        }
        self.law(not changed, f"{shown}\nchanges {sorted(changed)}, and not to 0")
        for other in PARTS:
            if other != part:
                gone = not trace_of(model, other).abs().max() > 1e-5
                self.law(not gone, f"{shown}\nalso silences the {other}")
        zeros = {name for name, parameter in names.items() if parameter.eq(0).all()}
        model.learn(but=answer)
        if trace_of(model, part).abs().max() > 1e-5:
            self.fail(
                f"{shown}\nafter one step of training {STILL[part]}",
                "what you set to 0 has a gradient: return all of its names",
            )
        self.law(
            answer == zeros,
            f"{shown}\nreturn the names of what you set to 0, {len(zeros)} of them, and no others; "
            f"it returned {short(sorted(answer))}",
        )


@task("ex05_transformer", 7)
def silence(function: Callable) -> Passed:
    """A part that adds nothing, now and after training."""
    check = PartCheck(
        "silence",
        function,
        hints=(
            "what an attention adds is the result of its last linear map, `output`",
            "for name, parameter in model.named_parameters(): is '.cross_attention.output.' in the "
            "name?",
            "with torch.no_grad(): parameter.zero_()",
        ),
    )
    for part in PARTS:
        check.silent(part)
    check.done("four parts, before and after a step of training")
    return check.passed()


@task("ex05_transformer", 8)
def predict_parts(function: Callable) -> Passed:
    """Two of the four parts, of the student's choice."""
    check = Check("predict_parts", function, hints=('return "positions", "positions" is a pair',))
    answer = check.call()
    check.law(
        isinstance(answer, tuple) and len(answer) == 2 and all(part in PARTS for part in answer),
        f"it must be two of {', '.join(PARTS)}; it returned {answer!r}",
    )
    check.done(f"you predict {answer[0]} and {answer[1]}; now measure")
    return check.passed()
