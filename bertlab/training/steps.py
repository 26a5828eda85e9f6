"""One step of a training: ETraining's lines 8 to 10, as in practice.

Source: Phuong & Hutter (2022), Algorithm 12 (ETraining); Devlin et al. (2019), appendix A.2.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.model.heads import PreTrainingOutput
from bertlab.pretraining.batches import Batch
from bertlab.pretraining.losses import mlm_loss, nsp_loss
from bertlab.training.processes import ALONE, Processes, add_up, exchange


class StepResult(NamedTuple):
    """The losses of one batch and its correct predictions, before the update."""

    mlm_loss: float  # nats per masked word
    nsp_loss: float  # nats per pair
    mlm_correct: int
    n_words: int
    nsp_correct: int
    n_pairs: int

    @property
    def loss(self) -> float:
        """The sum that the step minimises."""
        return self.mlm_loss + self.nsp_loss

    def as_dict(self) -> dict[str, float]:
        """For the metrics: losses in nats, and the shares of correct predictions."""
        return {
            "loss": self.loss,
            "mlm_loss": self.mlm_loss,
            "nsp_loss": self.nsp_loss,
            "mlm_accuracy": self.mlm_correct / max(1, self.n_words),
            "nsp_accuracy": self.nsp_correct / self.n_pairs,
        }


def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    *,
    rate: float | None = None,
    clip: float = 1.0,
    accumulate: int = 1,
    precision: str = "float32",
    processes: Processes = ALONE,
) -> StepResult:
    """Both losses, their gradients and one update of the weights; changes model and optimizer.

    model: as `BertForPreTraining`; rate, clip: as in `apply_gradients`; accumulate: pieces of the
    batch that the model reads one after the other; precision: as in `TrainingConfig`. The
    gradients are those of the whole batch, with any number of pieces and processes.
    """
    pieces = cut(batch, accumulate * processes.count)
    mine = pieces[processes.rank * accumulate :][:accumulate]
    n_words, n_pairs = max(1, len(batch.words)), len(batch.next_sentence)
    optimizer.zero_grad()
    # Several processes average their gradients: each divides only by its share of the batch.
    shares = n_words / processes.count, n_pairs / processes.count
    sums = add_up(accumulate_gradients(model, mine, *shares, precision), processes)
    apply_gradients(model, optimizer, rate=rate, clip=clip)
    mlm, nsp, mlm_correct, nsp_correct = sums.tolist()
    return StepResult(
        mlm / n_words, nsp / n_pairs, int(mlm_correct), len(batch.words), int(nsp_correct), n_pairs
    )


def update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Tensor,
    step: int,
    *,
    rate: float,
    clip: float,
) -> float:
    """One step of any other training, with the gradient of one loss. Returns the loss.

    step: its number, for the message; rate, clip: as in `apply_gradients`. Raises
    FloatingPointError, before the update, if the loss is not finite.
    """
    optimizer.zero_grad()
    loss.backward()
    check_number(loss.item(), step)
    apply_gradients(model, optimizer, rate=rate, clip=clip)
    return loss.item()


def apply_gradients(
    model: nn.Module, optimizer: torch.optim.Optimizer, *, rate: float | None = None, clip: float
) -> None:
    """Update the weights with their gradients.

    rate: the learning rate, None keeps the optimizer's; clip: the largest norm of all gradients
    together.
    """
    if rate is not None:
        for group in optimizer.param_groups:
            group["lr"] = rate
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()


def check_number(loss: float, step: int) -> None:
    """Raise FloatingPointError if a loss is not finite: the model cannot recover from it."""
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"training: the loss of step {step} is {loss}; start again with a smaller learning "
            "rate, or with more warm-up"
        )


def restored_random_state(device: torch.device) -> AbstractContextManager:
    """Restore PyTorch's global random state at the end, on the CPU and on the model's device."""
    others = [] if device.type == "cpu" else [device]
    return torch.random.fork_rng(others, device_type=device.type)


def seed_dropout(seed: int, *numbers: int) -> None:
    """Seed PyTorch's global random state for a step; do it inside `restored_random_state`.

    numbers: of the step, and of the process if there are several. A step's random numbers depend
    on nothing else, in particular not on earlier draws.
    """
    # Well mixed, because PyTorch's generator on the CPU uses only 32 bits of a seed.
    sequence = np.random.SeedSequence(seed, spawn_key=numbers)
    state = int(sequence.generate_state(1, np.uint64)[0])
    if torch.accelerator.is_available():
        torch.manual_seed(state)
    else:  # the same numbers; torch.manual_seed records a stack trace, 0.4 ms in a notebook
        torch.default_generator.manual_seed(state)


def accumulate_gradients(
    model: nn.Module,
    pieces: Sequence[Batch],
    n_words: float,
    n_pairs: float,
    precision: str = "float32",
) -> Tensor:
    """Add the gradients of both losses to those of the parameters, piece by piece.

    n_words, n_pairs: masked words and pairs of all pieces together. Each piece's mean loss would
    be wrong: pieces with few masked words would have the same weight as those with many.

    Returns four sums over all pieces, [4]: loss of the words and of the pairs in nats, correct
    words and correct pairs.
    """
    sums = torch.zeros(4, device=pieces[0].ids.device)
    for piece in pieces:
        with exchange(model, piece is pieces[-1]):
            output = forward(model, piece, precision)
            words = mlm_loss(output.mlm_logits.float(), piece.words) * len(piece.words)
            pairs = nsp_loss(output.nsp_logits.float(), piece.next_sentence)
            pairs = pairs * len(piece.next_sentence)
            (words / n_words + pairs / n_pairs).backward()
        sums += torch.stack([words.detach(), pairs.detach(), *correct(output, piece)])
    return sums


def forward(model: nn.Module, batch: Batch, precision: str = "float32") -> PreTrainingOutput:
    """The model's scores at the masked positions; precision: as in `TrainingConfig`."""
    half = precision == "bfloat16"
    with torch.autocast(batch.ids.device.type, torch.bfloat16, enabled=half):
        return model(batch.ids, batch.segment_ids, batch.attention_mask, batch.predict)


def correct(output: PreTrainingOutput, batch: Batch) -> tuple[Tensor, Tensor]:
    """How many words and how many relations have the highest score."""
    words = (output.mlm_logits.argmax(dim=-1) == batch.words).sum()
    return words, (output.nsp_logits.argmax(dim=-1) == batch.next_sentence).sum()


def cut(batch: Batch, pieces: int) -> list[Batch]:
    """A batch in pieces of rows, as even as possible.

    Raises ValueError if it has fewer rows than pieces.
    """
    rows = len(batch.ids)
    if pieces > rows:
        raise ValueError(
            f"cut: a batch of {rows} sequences cannot be cut into {pieces} pieces (pieces to "
            "accumulate, times processes); make batch_size larger"
        )
    if pieces == 1:
        return [batch]
    edges = [rows * piece // pieces for piece in range(pieces + 1)]
    return [batch.rows(start, stop) for start, stop in pairwise(edges)]
