"""One step of a training: ETraining's lines 8 to 10, as in practice.

Adam moves the weights, at a learning rate that rises linearly and then falls to zero.

Source: Phuong & Hutter (2022), Algorithm 12 (ETraining); Devlin et al. (2019), appendix A.2; Kingma
& Ba (2015), "Adam: A Method for Stochastic Optimization", Algorithm 1; Loshchilov & Hutter (2019),
"Decoupled Weight Decay Regularization", Algorithm 2.
"""

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.model.heads import PreTrainingOutput
from bertlab.parts import part
from bertlab.pretraining.batches import Batch
from bertlab.pretraining.losses import mlm_loss, nsp_loss


@part("08")
def linear_schedule(step: int, steps: int, warmup: int) -> float:
    """The factor of the learning rate at a step: 1 at the end of the warm-up, 0 after the last.

    step: counted from 1; steps: of the whole training; warmup: steps of the rise. Step 1 has
    1 / warmup, the last one slightly more than 0.

    >>> [round(linear_schedule(step, 9, 4), 2) for step in range(1, 10)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    """
    if step <= warmup:
        return step / warmup
    return (steps - step + 1) / (steps - warmup)


class Moments(NamedTuple):
    """Adam's running means of a parameter's gradients."""

    mean: Tensor  # m, a running mean of the gradient
    square: Tensor  # v, a running mean of the squared gradient

    @classmethod
    def start(cls, parameter: Tensor) -> "Moments":
        """Zeros in the parameter's shape."""
        return cls(torch.zeros_like(parameter), torch.zeros_like(parameter))


@part("07")
def adam_step(
    parameter: Tensor,
    gradient: Tensor,
    moments: Moments,
    step: int,
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> tuple[Tensor, Moments]:
    """One step of Adam: the new parameter and the new moments; nothing is changed in place.

    parameter, gradient and both moments: tensors of the same shape; step: counted from 1, needed
    because the running means start at zero and are too small at first.
    """
    mean = betas[0] * moments.mean + (1 - betas[0]) * gradient
    square = betas[1] * moments.square + (1 - betas[1]) * gradient**2
    unbiased_mean = mean / (1 - betas[0] ** step)
    unbiased_square = square / (1 - betas[1] ** step)
    moved = parameter - learning_rate * unbiased_mean / (unbiased_square.sqrt() + eps)
    return moved, Moments(mean, square)


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay: each step first shrinks a weight, then moves it.

    parameters: groups, as in `torch.optim`; their state has PyTorch's names.
    """

    def __init__(self, parameters: list[dict], lr: float, eps: float) -> None:
        super().__init__(parameters, {"lr": lr, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.move(parameter, parameter.grad, group)

    def move(self, parameter: Tensor, gradient: Tensor, group: dict) -> None:
        """One step of one parameter, in place."""
        state = self.state[parameter]
        moments = Moments(state["exp_avg"], state["exp_avg_sq"]) if state else None
        step = state["step"].item() + 1 if state else 1
        shrunk = parameter * (1 - group["lr"] * group["weight_decay"])
        moved, moments = adam_step(
            shrunk,
            gradient,
            moments or Moments.start(parameter),
            step,
            group["lr"],
            eps=group["eps"],
        )
        parameter.copy_(moved)
        state["step"] = torch.tensor(float(step))
        state["exp_avg"], state["exp_avg_sq"] = moments


@part("08", twin=True)
def adamw(
    model: nn.Module, learning_rate: float, weight_decay: float = 0.01
) -> torch.optim.Optimizer:
    """AdamW with betas (0.9, 0.999) and weight decay for matrices only.

    Biases and the scales and shifts of the norms are vectors: decaying them to zero would not make
    the model simpler. Each parameter is in one group, a tied one once.

    Source: Devlin et al. (2019), appendix A.2; `optimization.py` in BERT's repository, which
    excludes LayerNorm and biases, has eps 1e-6 and omits Adam's bias correction.
    """
    return AdamW(parameter_groups(model, weight_decay), lr=learning_rate, eps=1e-6)


@part("08", twin=True)
def clip_gradients(parameters: Iterable[Tensor], longest: float) -> None:
    """Shorten all gradients by the same factor if together they are longer than `longest`."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    length = math.sqrt(sum(gradient.square().sum().item() for gradient in gradients))
    for gradient in gradients:
        gradient *= min(1.0, longest / (length + 1e-6))


@part("08")
def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """Two groups for an optimizer: matrices with weight decay, vectors without."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]


class StepResult(NamedTuple):
    """The losses of one batch and its correct predictions, before the update."""

    mlm_loss: float  # nats per masked word
    nsp_loss: float  # nats per pair
    mlm_correct: int
    n_words: int
    nsp_correct: int
    n_pairs: int

    @classmethod
    def of(cls, sums: Tensor, batch: Batch) -> "StepResult":
        """From the sums of `accumulate_gradients`, over the whole batch."""
        n_words, n_pairs = len(batch.words), len(batch.next_sentence)
        mlm, nsp, mlm_correct, nsp_correct = sums.tolist()
        losses = mlm / max(1, n_words), nsp / n_pairs
        return cls(*losses, int(mlm_correct), n_words, int(nsp_correct), n_pairs)

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


@part("08")
def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    *,
    rate: float | None = None,
    clip: float = 1.0,
) -> StepResult:
    """Both losses, their gradients and one update of the weights; changes model and optimizer.

    model: as `BertForPreTraining`; rate, clip: as in `apply_gradients`.
    """
    optimizer.zero_grad()
    n_words, n_pairs = max(1, len(batch.words)), len(batch.next_sentence)
    sums = accumulate_gradients(model, [batch], n_words, n_pairs)
    apply_gradients(model, optimizer, rate=rate, clip=clip)
    return StepResult.of(sums, batch)


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
    check_number(loss.item(), step, rate)
    apply_gradients(model, optimizer, rate=rate, clip=clip)
    return loss.item()


@part("08")
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
    clip_gradients(model.parameters(), clip)
    optimizer.step()


def check_number(loss: float, step: int, rate: float) -> None:
    """Raise FloatingPointError if a loss is not finite: the model cannot recover from it."""
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"training: the loss of step {step} is {loss}; start another training with a smaller "
            f"learning rate than {rate:g}, or with more warm-up"
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


@part("08")
def accumulate_gradients(
    model: nn.Module, pieces: Iterable[Batch], n_words: float, n_pairs: float
) -> Tensor:
    """Add the gradients of both losses to those of the parameters, piece by piece.

    n_words, n_pairs: masked words and pairs of all pieces together. Each piece's mean loss would
    be wrong: pieces with few masked words would have the same weight as those with many.

    Returns four sums over all pieces, [4]: loss of the words and of the pairs in nats, correct
    words and correct pairs.
    """
    sums = []
    for piece in pieces:
        output = forward(model, piece)
        words = mlm_loss(output.mlm_logits, piece.words) * len(piece.words)
        pairs = nsp_loss(output.nsp_logits, piece.next_sentence) * len(piece.next_sentence)
        (words / n_words + pairs / n_pairs).backward()
        sums.append(torch.stack([words.detach(), pairs.detach(), *correct(output, piece)]))
    return torch.stack(sums).sum(dim=0)


@part("08")
def forward(model: nn.Module, batch: Batch) -> PreTrainingOutput:
    """The model's scores at the masked positions."""
    return model(batch.ids, batch.segment_ids, batch.attention_mask, batch.predict)


@part("08")
def correct(output: PreTrainingOutput, batch: Batch) -> tuple[Tensor, Tensor]:
    """How many words and how many relations have the highest score."""
    words = (output.mlm_logits.argmax(dim=-1) == batch.words).sum()
    return words, (output.nsp_logits.argmax(dim=-1) == batch.next_sentence).sum()
