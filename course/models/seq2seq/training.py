"""Teacher forcing: the decoder reads the true target so far and is scored on the next symbol.

Source: Vaswani et al. (2017), section 5; Phuong & Hutter (2022), Algorithm 11 (EDTraining).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm

from bertlab.tokenizers.checks import entries
from bertlab.training.steps import restored_random_state, update
from course.models.seq2seq.decoding import EncoderDecoder, device_of, greedy_decode
from course.models.seq2seq.vocabulary import PAD_ID, Pair, Vocabulary


@dataclass
class History:
    """The history of a training: a loss per step, an accuracy every `test_every` steps."""

    losses: list[float] = field(default_factory=list)
    tested_at: list[int] = field(default_factory=list)  # steps
    accuracies: list[float] = field(default_factory=list)  # on the held-out pairs, exact match


def train(
    model: Any,
    pairs: Sequence[Pair],
    vocabulary: Vocabulary,
    *,
    steps: int,
    rate: Callable[[int], float],
    batch_size: int = 64,
    label_smoothing: float = 0.1,
    held_out: Sequence[Pair] = (),
    test_every: int = 100,
    seed: int = 0,
    progress: bool = True,
) -> History:
    """Train a model of the protocol with Adam; it is changed in place.

    model: an `EncoderDecoder`; rate: step, counted from 1, to learning rate,
    for example `lambda step: warmup_rate(step, d_model=64, warmup=400)`; held_out: pairs whose
    exact-match accuracy is measured every `test_every` steps and at the end.

    Each step: source [B, L], target inputs [B, T], scored against the target outputs [B, T].
    Source: Phuong & Hutter (2022), Algorithm 11 (EDTraining), with Adam and batches.

    The same seed on the same CPU gives the same weights; the global random state does not
    change. Raises ValueError if there are no pairs, or if a number is out of range.
    """
    pairs = list(entries("train", "pairs", pairs))
    held_out = list(entries("train", "held_out", held_out))
    _check(pairs, steps, batch_size, test_every)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    history, drawn = History(), _batches(pairs, batch_size, random.Random(seed))
    device = device_of(model)
    with restored_random_state(device):
        torch.manual_seed(seed)  # for dropout, which uses the global state
        for step in tqdm(range(1, steps + 1), desc="training", disable=not progress):
            model.train()
            batch = vocabulary.batch(next(drawn)).to(device)
            memory = model.encode(batch.source_ids, batch.source_mask)
            logits = model.decode(batch.target_inputs, memory, batch.source_mask)  # [B, T, V]
            loss = label_smoothed_loss(logits, batch.target_outputs, label_smoothing)
            # Recurrent models need gradient clipping.
            history.losses.append(update(model, optimizer, loss, step, rate=rate(step), clip=1.0))
            if held_out and (step % test_every == 0 or step == steps):
                history.tested_at.append(step)
                history.accuracies.append(exact_match(model, held_out, vocabulary))
    model.eval()
    return history


def label_smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.1) -> Tensor:
    """Cross-entropy against a target that gives every symbol a small probability.

    logits: [B, T, V]; targets: [B, T], <pad> is ignored. The target probability of the true symbol
    is 1 - smoothing + smoothing / V, that of any other smoothing / V. The mean is over the symbols
    that are not padding; 0 if there are none.

    Raises ValueError if the shapes do not fit, or if smoothing is not from 0 to 1.

    Source: Szegedy et al. (2016), section 7; Vaswani et al. (2017), section 5.4.
    """
    check_scored(logits, targets, smoothing)
    log_probabilities = logits.log_softmax(dim=-1)  # [B, T, V]
    true = log_probabilities.gather(-1, targets[..., None])[..., 0]  # [B, T]
    losses = -(1 - smoothing) * true - smoothing * log_probabilities.mean(dim=-1)
    asked = targets != PAD_ID
    return (losses * asked).sum() / asked.sum().clamp(min=1)


def warmup_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """The learning rate of the paper: a linear rise, then a decay as 1 / sqrt(step).

    step: counted from 1. Source: Vaswani et al. (2017), eq. 3.

    >>> round(warmup_rate(4000, 512), 6)
    0.000699
    """
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def exact_match(
    model: EncoderDecoder, pairs: Sequence[Pair], vocabulary: Vocabulary, batch_size: int = 256
) -> float:
    """The share of pairs for which greedy decoding gives exactly the target."""
    longest = max(len(pair.target) for pair in pairs) + 1  # and <end>
    right, device = 0, device_of(model)
    for start in range(0, len(pairs), batch_size):
        some = pairs[start : start + batch_size]
        ids, mask = vocabulary.sources([p.source for p in some])
        decoded = greedy_decode(model, ids.to(device), mask.to(device), longest)
        right += sum(
            vocabulary.decode(written) == pair.target
            for written, pair in zip(decoded.ids, some, strict=True)
        )
    return right / len(pairs)


def _batches(
    pairs: Sequence[Pair], batch_size: int, generator: random.Random
) -> Iterator[list[Pair]]:
    """Endless batches: all pairs in a new order, then again."""
    while True:
        order = generator.sample(range(len(pairs)), len(pairs))
        for start in range(0, len(order), batch_size):
            yield [pairs[i] for i in order[start : start + batch_size]]


def check_scored(logits: Tensor, targets: Tensor, smoothing: float) -> None:
    """Raise ValueError unless the shapes fit and smoothing is from 0 to 1."""
    if logits.dim() != 3 or targets.shape != logits.shape[:2]:
        raise ValueError(
            "label_smoothed_loss: logits must be [B, T, V] and targets [B, T]; "
            f"got {list(logits.shape)} and {list(targets.shape)}"
        )
    if not 0 <= smoothing <= 1:
        raise ValueError(f"label_smoothed_loss: smoothing must be from 0 to 1; got {smoothing}")


def _check(pairs: Sequence[Pair], steps: int, batch_size: int, test_every: int) -> None:
    if not pairs:
        raise ValueError("train: pairs must hold at least one pair; got none")
    for name, value in (("steps", steps), ("batch_size", batch_size), ("test_every", test_every)):
        if value < 1:
            raise ValueError(f"train: {name} must be at least 1; got {value}")
