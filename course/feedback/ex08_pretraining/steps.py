"""Checks of exercise 8 about a model: gradients, a step, an evaluation.

They use the models of `probes.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.pretraining.batches import Batch
from course.feedback.checks import Passed
from course.feedback.differences import short
from course.feedback.ex08_pretraining.batches import OWN_CODE
from course.feedback.ex08_pretraining.probes import (
    LOSS,
    CountedSGD,
    Once,
    Probe,
    Table,
    TwoWeights,
    many_pieces,
    piece,
    two_pieces,
    whole,
)
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, written


class StepsCheck(TensorCheck):
    """A check of a function that does something to a model."""

    refused = OWN_CODE
    ready_made = ()

    def number(self, answer: Any, gives: float, shown: str, because: str = "") -> None:
        """An answer that is one number, or a tensor without dimensions."""
        if isinstance(answer, Tensor) and answer.requires_grad:
            self.fail(
                f"{shown}\nwhat it returns still holds the graph of its gradients\n→ add up "
                ".detach() or .item(); otherwise all pieces stay in memory",
            )
        if isinstance(answer, float | int):
            answer = torch.tensor(float(answer))
        double = answer.double() if isinstance(answer, Tensor) else answer
        self.equals(double, torch.tensor(gives, dtype=torch.float64), shown, because=because)

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        return f"{self.name}({', '.join(map(_written, arguments))})"


def _written(value: Any) -> str:
    if isinstance(value, nn.Module):
        return "model"
    if isinstance(value, torch.optim.Optimizer):
        return "optimizer"
    if isinstance(value, list) and value and isinstance(value[0], Batch):
        words = [len(piece.words) for piece in value]
        return f"{len(value)} pieces with {', '.join(map(str, words))} masked words"
    return written(value)


@task("ex08_pretraining", 5)
def accumulate_gradients(function: Callable) -> Passed:
    """Gradients of the whole batch, piece by piece."""
    check = StepsCheck(
        "accumulate_gradients",
        function,
        hints=(
            "for each piece: its sum of -log p of words / n_words, plus that of pairs / n_pairs",
            'F.cross_entropy(..., reduction="sum") is the sum; then .backward(), piece by piece',
        ),
    )
    pieces = two_pieces()
    model: Any = TwoWeights(pieces)
    answer = check.call(model, pieces, 4, 3)
    shown = check.shown((model, pieces, 4, 3))
    _calls(check, model, shown, 2)
    check.equals(
        *(model.slope()[0], 0.15, f"{shown}: gradient of the words' loss"),
        because="the sums are -0.6 and +1.2, and there are 4 words: 0.6 / 4",
    )
    check.equals(
        *(model.slope()[1], 0.41667, f"{shown}: gradient of the next sentences' loss"),
        because="the sums are 1.5 and -0.25, and there are 3 pairs: 1.25 / 3",
    )
    check.law(
        not model.calls[0].gradient_before and model.calls[1].gradient_before,
        f"{shown}\nthe second piece goes through the model before the first one's backward()\n→ "
        "call .backward() right after each piece: with a single call at the end, all pieces are "
        "in memory together, which cutting the batch was meant to avoid",
    )
    check.number(
        *(answer, LOSS, f"{shown}: what it returns"),
        because="the loss of the whole batch: 4.528 nats / 4 words + 3.060 nats / 3 pairs",
    )
    check.done("a batch in two uneven pieces, by hand")
    _adds_up(check, pieces)
    return check.passed()


def _calls(check: StepsCheck, model: Probe, shown: str, times: int) -> None:
    check.law(
        len(model.calls) == times,
        f"{shown}\nthe model was called {len(model.calls)} times, for {times} pieces",
    )


def _adds_up(check: StepsCheck, pieces: list[Batch]) -> None:
    model: Any = TwoWeights(pieces)
    model.word.grad = model.next.grad = torch.tensor(10.0, dtype=torch.float64)
    model.next.grad = model.next.grad.clone()
    check.call(model, pieces, 4, 3)
    check.equals(
        *(model.slope(), [10.15, 10.41667], "with gradients of 10 from before"),
        because="gradients are added to those that are there: the caller decides about zero_grad",
    )
    pieces = many_pieces()
    model, n_words, n_pairs = Table(pieces), 29, 19
    expected = whole(model, pieces)
    slopes = torch.autograd.grad(expected, [model.word, model.pair])
    because = "PyTorch's gradient of the batch as a whole; the third piece has no masked word, and "
    because += "a mean of nothing is nan"
    answer = check.call(model, pieces, n_words, n_pairs, because=because)
    for slope, weight in zip(slopes, (model.word, model.pair), strict=True):
        got = torch.zeros_like(slope) if weight.grad is None else weight.grad
        check.equals(
            got, slope, f"{check.shown((model, pieces, 29, 19))}: gradient", because=because
        )
    check.number(answer, expected.item(), "five pieces: what it returns", because=because)
    check.done("five pieces, one without a masked word, as PyTorch computes the whole batch")


@task("ex08_pretraining", 6)
def training_step(function: Callable) -> Passed:
    """From gradients to one update of the weights."""
    check = StepsCheck(
        "training_step",
        function,
        hints=(
            "in this order: zero_grad, gradients, clip, learning rate, step",
            "for group in optimizer.param_groups: group['lr'] = learning_rate",
        ),
    )
    pieces = two_pieces()
    model, optimizer, answer = _stepped(check, pieces, 0.1, 1.0)
    shown = f"{check.shown((model, optimizer, pieces, 0.1, 1.0))}, plain gradient descent"
    check.law(
        optimizer.taken == 1,
        f"{shown}\noptimizer.step() was called {optimizer.taken} times\n→ one step per batch, "
        "after all its pieces: only then is the gradient that of the batch",
    )
    check.equals(
        *(model.moved(), [0.015, 0.041667], f"{shown}: how much the weights decreased"),
        because="0.1 times the gradients 0.15 and 0.4167; together their norm is 0.44, so nothing "
        "is clipped",
    )
    check.number(
        *(answer, LOSS, f"{shown}: what it returns"),
        because="the loss of the batch, before the update",
    )
    _clipped(check, pieces)
    _second_step(check, pieces)
    return check.passed()


def _stepped(
    check: StepsCheck, pieces: list[Batch], rate: float, clip: float
) -> tuple[TwoWeights, CountedSGD, Any]:
    """A new model after one step, its optimizer, and what the function returned."""
    model: Any = TwoWeights(pieces)
    optimizer = CountedSGD(model)
    return model, optimizer, check.call(model, optimizer, pieces, rate, clip)


def _clipped(check: StepsCheck, pieces: list[Batch]) -> None:
    model, optimizer, _ = _stepped(check, pieces, 0.1, 0.1)
    check.equals(
        *(model.moved(), [0.003387, 0.009409]),
        f"{check.shown((model, optimizer, pieces, 0.1, 0.1))}: how much the weights decreased",
        because="the norm of all gradients together, 0.4428, is scaled to 0.1: each of them times "
        "0.2258. nn.utils.clip_grad_norm_(model.parameters(), clip) does that",
        tolerance=1e-5,
    )
    check.done("one step; clipping")


def _second_step(check: StepsCheck, pieces: list[Batch]) -> None:
    model: Any = TwoWeights(pieces)
    optimizer = CountedSGD(model)
    check.call(model, optimizer, pieces, 0.0, 1.0)
    check.call(model, optimizer, pieces, 0.1, 1.0)
    check.equals(
        *(model.moved(), [0.015, 0.041667], "a step with rate 0, then one with 0.1"),
        because="the first step changes nothing, and the second one is as if it were the first",
    )
    nothing = [piece([], [1]), piece([], [0, 1])]
    model, _, answer = _stepped(check, nothing, 0.1, 1.0)
    check.law(
        bool(model.moved().isfinite().all()) and float(answer) == float(answer),
        "a batch without any masked word: nan\n→ divide by max(1, n_words)",
    )
    check.done("two steps; a batch without a masked word")


@task("ex08_pretraining", 7)
def evaluate(function: Callable) -> Passed:
    """How good a model is, every word and every pair with the same weight."""
    check = StepsCheck(
        "evaluate",
        function,
        hints=(
            "add up nats, right words, right pairs, words and pairs; divide at the end",
            "was = model.training; model.eval(); with torch.no_grad(): ...; model.train(was)",
        ),
    )
    batches = two_pieces()
    model: Any = TwoWeights(batches).train()
    _evaluated(
        *(check, model, batches, (1.1321, 0.25, 1 / 3)),
        because=(
            "4.528 nats for 4 words",
            "one word of four is right: the highest logit is the guess",
            "one pair of three is right",
        ),
    )
    _left_alone(check, model, batches)
    check.done("two uneven batches, by hand; without dropout and gradients")
    batches = many_pieces()
    model = Table(batches).eval()
    with torch.no_grad():
        scores = [model.scores(piece) for piece in batches]
        words, pairs = torch.cat([p.words for p in batches]), torch.cat([p[5] for p in batches])
        logits = torch.cat([s.mlm_logits for s in scores])
        said = torch.cat([s.nsp_logits for s in scores]).argmax(dim=1)
        right = (logits.argmax(dim=1) == words).double().mean().item()
    gives = (F.cross_entropy(logits, words).item(), right, (said == pairs).double().mean().item())
    because = "five batches, one of which has no masked word: a mean of nothing is nan"
    _evaluated(check, model, Once(batches), gives, because=(because,) * 3)
    check.law(not model.training, "a model that was in eval() must still be in eval() afterwards")
    check.done("five batches, one without a masked word")
    return check.passed()


def _evaluated(
    check: StepsCheck,
    model: Probe,
    batches: Any,
    gives: Sequence[float],
    because: Sequence[str],
) -> None:
    """All three numbers of an evaluation."""
    answer = check.call(model, batches, because="batches may be read once, from first to last")
    shown = f"evaluate(model, {len(model.pieces)} batches)"
    check.law(
        isinstance(answer, tuple) and len(answer) == 3,
        f"{shown}\nit must return three numbers: loss and accuracy of the words, accuracy of the "
        f"pairs; it returned {short(answer)}",
    )
    calls = model.calls
    check.law(
        not any(call.training for call in calls),
        f"{shown}\nthe model is in training mode while it is evaluated\n→ model.eval() first: "
        "dropout would make it look worse, and different each time",
    )
    check.law(
        not any(call.with_gradients for call in calls),
        f"{shown}\ngradients are recorded, though an evaluation needs none\n→ with "
        "torch.no_grad():",
    )
    names = ("loss of the words", "accuracy of the words", "accuracy of the pairs")
    for name, number, right, reason in zip(names, answer, gives, because, strict=True):
        check.number(number, right, f"{shown}: {name}", because=reason)


def _left_alone(check: StepsCheck, model: Probe, batches: list[Batch]) -> None:
    check.law(
        model.training,
        "the model was in training mode and no longer is\n→ leave it as it was: "
        "model.train(was), or the training continues without dropout",
    )
    off = not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    check.law(not off, "gradients stay off\n→ the block of `with torch.no_grad():` ends by itself")
    model.eval()
    check.call(model, batches)
    check.law(
        not model.training,
        "the model was in eval() and is in training mode now\n→ leave it as it was: remember "
        "model.training first",
    )
