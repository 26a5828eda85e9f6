"""Fine-tuning: encoder and head together, for a few epochs, with a small learning rate.

Source: Devlin et al. (2019), sections 4 and 5.3, appendix A.3.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.finetuning.heads import Head
from bertlab.finetuning.texts import (
    TuningData,
    batch_of,
    batches_by_length,
    check_data,
    check_encodings,
    collate,
    cut,
)
from bertlab.model.bert import evaluation_mode
from bertlab.model.checks import check_fields, require
from bertlab.tokenizers.checks import entries
from bertlab.tokenizers.tokenizer import Encoding
from bertlab.training.loop import check_rates
from bertlab.training.runs import Row, gather_rows
from bertlab.training.steps import (
    adamw,
    apply_gradients,
    check_number,
    linear_schedule,
    seed_dropout,
)

Some = TypeVar("Some")  # a batch of any type
PIECE = 8  # texts that go through the model together in training


@dataclass(frozen=True)
class TuningConfig:
    """How to fine-tune.

    epochs: passes over all texts; learning_rate: at the end of the warm-up; warmup: its share of
    the steps; weight_decay: of matrices; clip: the largest norm of all gradients together; seed:
    of the order of the texts and of dropout.

    BERT itself: 2 to 4 epochs, batches of 16 or 32, rates of 2e-5 to 5e-5. A small model needs a
    larger rate.

    Raises ValueError if a value has the wrong type or is out of range.

    Source: Devlin et al. (2019), appendix A.3.
    """

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        require(self, "epochs", self.epochs >= 1, "must be at least 1")
        require(self, "batch_size", self.batch_size >= 1, "must be at least 1")
        check_rates(self)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 1, of `steps`."""
        return self.learning_rate * linear_schedule(step, steps, round(self.warmup * steps))


class Score(NamedTuple):
    """How good a head is on texts that have targets."""

    loss: float  # nats per target
    accuracy: float  # share of targets predicted correctly; for spans, both ends
    n_targets: int  # texts, or tokens that have a tag


def fine_tune(
    model: Head,
    data: TuningData,
    config: TuningConfig,
    *,
    pad_id: int,
    validation: TuningData | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train a head and, unless it is frozen, the encoder below it; both are changed in place.

    pad_id: the tokenizer's [PAD]; validation: held-out texts, scored after every epoch; watch:
    called with every row as soon as it is available.

    Returns rows {"step", "epoch", "kind": "train", "loss", "learning_rate"} and, after an epoch,
    {"step", "epoch", "kind": "held-out", "loss", "accuracy"}; losses are in nats per target.

    With the same seed on the same CPU the weights are identical, bit by bit; PyTorch's global
    random state does not change. Raises ValueError if data and model do not fit each other,
    FloatingPointError if the loss is not finite.
    """
    check_data("fine_tune", model, data)
    if validation is not None:
        check_data("fine_tune: validation", model, validation)

    def train(numbers: list[int]) -> Row:
        return {"loss": add_gradients(model.train(), data, numbers, pad_id)}

    def held_out(epoch: int) -> Iterator[Row]:
        if epoch and validation is not None:
            loss, accuracy, _ = score(model, validation, pad_id=pad_id)
            yield {"loss": loss, "accuracy": accuracy}

    lengths = [len(encoding) for encoding in data.encodings]
    batches = partial(batches_by_length, lengths, config.batch_size)
    n_batches = math.ceil(len(data) / config.batch_size)
    shown = {"label": "fine-tuning", "watch": watch, "progress": progress}
    return tune(model, config, n_batches, batches, train, held_out, **shown)


def tune(
    model: nn.Module,
    config: TuningConfig,
    n_batches: int,
    batches: Callable[[np.random.Generator], Iterable[Some]],
    train: Callable[[Some], Row],
    held_out: Callable[[int], Iterable[Row]],
    **shown: Any,
) -> list[Row]:
    """The loop of every fine-tuning: epochs of batches, AdamW, a rate that rises and falls.

    model: everything that is trained; n_batches: per epoch; batches: draws them in a new order;
    train: adds the gradients of one batch and returns its "loss"; held_out: the metrics after an
    epoch, and before the first step (epoch 0); shown: label, watch and progress of `gather_rows`.
    """
    steps = config.epochs * n_batches

    def rows() -> Iterator[Row]:
        optimizer, step = adamw(model, config.learning_rate, config.weight_decay), 0
        yield from ({"step": 0, "epoch": 0, "kind": "held-out", **row} for row in held_out(0))
        for epoch in range(1, config.epochs + 1):
            seed = np.random.SeedSequence(config.seed, spawn_key=(epoch - 1,))
            for batch in batches(np.random.default_rng(seed)):
                step += 1
                rate = config.rate(step, steps)
                seed_dropout(config.seed, step)
                optimizer.zero_grad()
                row = {"step": step, "epoch": epoch, "kind": "train", **train(batch)}
                check_number(row["loss"], step, config.learning_rate)
                apply_gradients(model, optimizer, rate=rate, clip=config.clip)
                yield {**row, "learning_rate": rate}
            for row in held_out(epoch):
                yield {"step": step, "epoch": epoch, "kind": "held-out", **row}

    gathered = gather_rows(rows(), steps=steps, device=next(model.parameters()).device, **shown)
    model.eval()
    return gathered


def add_gradients(model: Head, data: TuningData, numbers: list[int], pad_id: int) -> float:
    """Add the gradients of a batch to those of the parameters, and return its mean loss.

    numbers: of its texts, sorted by length. The model reads them in pieces, so that short texts are
    not padded to the longest: the same gradients for less work.
    """
    pieces = [batch_of(model, data, piece, pad_id) for piece in cut(numbers, PIECE)]
    n_asked = max(1, sum(model.n_asked(targets) for _, targets in pieces))
    total = 0.0
    for inputs, targets in pieces:
        loss = model.loss(model(*inputs), targets) * (model.n_asked(targets) / n_asked)
        loss.backward()
        total += loss.item()
    return total


def score(model: Head, data: TuningData, *, pad_id: int, batch_size: int = 64) -> Score:
    """Loss and accuracy, every target with equal weight; without dropout; the mode is restored.

    Raises ValueError if data and model do not fit each other, or if there are no targets.
    """
    check_data("score", model, data)
    sums = torch.zeros(3, dtype=torch.float64)  # nats, right predictions, targets
    with evaluation_mode(model), torch.no_grad():
        for numbers in batches_by_length([len(e) for e in data.encodings], batch_size):
            inputs, targets = batch_of(model, data, numbers, pad_id)
            logits = model(*inputs)
            right = model.correct(logits, targets)
            loss = model.loss(logits, targets).item()
            sums += torch.tensor([loss * len(right), right.sum().item(), len(right)])
    loss, n_right, n_targets = sums.tolist()
    if not n_targets:
        raise ValueError("score: data must have targets; all of them are IGNORED")
    return Score(loss / n_targets, n_right / n_targets, int(n_targets))


def predict(
    model: Head, encodings: Iterable[Encoding], *, pad_id: int, batch_size: int = 64
) -> list[Tensor]:
    """The logits of every text, in the order given, without padding: [C], or [L, C] for L tokens.

    Without dropout and gradients; the model's mode is restored. Raises ValueError if a text does
    not fit the model.
    """
    encodings = list(entries("predict", "encodings", encodings))
    check_encodings("predict", encodings, model.bert.config)
    device = next(model.parameters()).device
    lengths = [len(encoding) for encoding in encodings]
    logits = [torch.empty(0)] * len(encodings)
    with evaluation_mode(model), torch.no_grad():
        for numbers in batches_by_length(lengths, batch_size):
            batch = collate([encodings[number] for number in numbers], pad_id)
            for number, row in zip(numbers, model(*batch.to(device)).cpu(), strict=True):
                logits[number] = row[: lengths[number]] if row.dim() == 2 else row
    return logits
