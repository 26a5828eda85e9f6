"""From a model's next-symbol probabilities to a text: greedy or beam search.

Every step reads the whole target so far again, which is simple and shows what is computed.
Libraries that serve many users cache the keys and values of earlier steps instead.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from course.models.seq2seq.vocabulary import END_ID, START_ID


class EncoderDecoder(Protocol):
    """The methods that decoding and training need; `memory` is a tensor with B rows."""

    training: bool

    def train(self, mode: bool) -> Any:
        """As every module has it."""

    def eval(self) -> Any:
        """As every module has it."""

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> Tensor:
        """[B, L], [B, L] -> memory [B, ...]."""

    def decode(self, target_ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """[B, T] -> logits [B, T, V], at each position for the next symbol."""


class Decoded(NamedTuple):
    """The output of greedy decoding, and the probabilities of all symbols."""

    ids: list[list[int]]  # a list per source: <start> ... <end>, or cut at max_length
    steps: list[Tensor]  # the probabilities at every step: [B, V]


def greedy_decode(
    model: EncoderDecoder, source_ids: Tensor, source_mask: Tensor, max_length: int
) -> Decoded:
    """Append the most likely symbol, and repeat until <end>.

    source_ids, source_mask: [B, L]; max_length: the most symbols to write, <end> included.

    Source: Phuong & Hutter (2022), Algorithm 15 (EDInference) with temperature 0.
    """
    check_max_length("greedy_decode", max_length)
    ids = torch.full_like(source_ids[:, :1], START_ID)  # [B, 1]
    finished = torch.zeros_like(ids[:, 0], dtype=torch.bool)  # [B]
    steps = []
    with evaluating(model):
        memory = model.encode(source_ids, source_mask)
        for _ in range(max_length):
            logits = model.decode(ids, memory, source_mask)[:, -1]  # [B, V]: after the last symbol
            steps.append(logits.softmax(dim=-1))
            best = logits.argmax(dim=-1)  # [B]
            ids = torch.cat([ids, best[:, None]], dim=1)
            finished |= best == END_ID
            if finished.all():
                break
    return Decoded([until_end(row) for row in ids.tolist()], steps)


class Hypothesis(NamedTuple):
    """A target, or the beginning of one, and its probability under the model."""

    ids: tuple[int, ...]  # begins with <start>
    log_probability: float  # of all symbols after <start> together

    @property
    def finished(self) -> bool:
        """Whether it ends with <end>."""
        return self.ids[-1] == END_ID

    def score(self, alpha: float) -> float:
        """Log-probability over length penalty; finished hypotheses are ranked by it."""
        return self.log_probability / length_penalty(len(self.ids) - 1, alpha)


class Beam(NamedTuple):
    """The result of beam search for one source."""

    hypotheses: list[Hypothesis]  # best score first; those cut at max_length are last
    steps: list[list[Hypothesis]]  # those kept at each step, most likely first


def beam_search(
    model: EncoderDecoder,
    source_ids: Tensor,
    source_mask: Tensor,
    max_length: int,
    *,
    beam_size: int = 4,
    alpha: float = 0.6,
) -> list[Beam]:
    """Extend the `beam_size` most likely hypotheses at once; a finished one stays in the beam.

    source_ids, source_mask: [B, L]; max_length: the most symbols to write, <end> included; alpha:
    strength of the length penalty, 0 for none. Returns a beam for each source. With
    `beam_size=1` this is greedy decoding.

    Source: Sutskever et al. (2014), section 3.2; the penalty: Wu et al. (2016), section 7;
    Vaswani et al. (2017), section 6.1, for 4 and 0.6.
    """
    check_max_length("beam_search", max_length)
    if beam_size < 1 or alpha < 0:
        raise ValueError(
            "beam_search: beam_size must be at least 1 and alpha at least 0; "
            f"got beam_size={beam_size}, alpha={alpha}"
        )
    growing = [[Hypothesis((START_ID,), 0.0)] for _ in source_ids]
    finished: list[list[Hypothesis]] = [[] for _ in source_ids]
    steps: list[list[list[Hypothesis]]] = [[] for _ in source_ids]
    with evaluating(model):
        memory = model.encode(source_ids, source_mask)
        for _ in range(max_length):
            owners = [source for source, beam in enumerate(growing) for _ in beam]  # [N]
            if not owners:
                break
            ids = source_ids.new_tensor([h.ids for beam in growing for h in beam])  # [N, T]
            logits = model.decode(ids, memory[owners], source_mask[owners])[:, -1]  # [N, V]
            rows = logits.cpu().double().log_softmax(dim=-1).split([len(beam) for beam in growing])
            for source, beam in enumerate(growing):
                if beam:
                    kept = most_likely(beam, rows[source], beam_size - len(finished[source]))
                    steps[source].append(kept)
                    finished[source] += [h for h in kept if h.finished]
                    growing[source] = [h for h in kept if not h.finished]
    return [
        Beam(sorted(done, key=lambda h: -h.score(alpha)) + cut_off, kept)
        for done, cut_off, kept in zip(finished, growing, steps, strict=True)
    ]


def most_likely(beam: list[Hypothesis], rows: Tensor, room: int) -> list[Hypothesis]:
    """The `room` most likely hypotheses that are one symbol longer, most likely first.

    rows: [N, V], log-probabilities of the next symbol after each of the N hypotheses.
    """
    so_far = torch.tensor([hypothesis.log_probability for hypothesis in beam], dtype=rows.dtype)
    totals = rows + so_far[:, None]  # [N, V]
    best = totals.flatten().topk(min(room, totals.numel()))
    return [
        Hypothesis((*beam[place // rows.shape[1]].ids, place % rows.shape[1]), total)
        for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def length_penalty(length: int, alpha: float) -> float:
    """Divides the log-probability, to compensate for the small probability of long texts.

    ((5 + length) / 6) ** alpha. Source: Wu et al. (2016), eq. 14.

    >>> length_penalty(1, 0.6), round(length_penalty(7, 1.0), 2)
    (1.0, 2.0)
    """
    return ((5 + length) / 6) ** alpha


def device_of(model: EncoderDecoder) -> torch.device:
    """Where a model reads: on the device of its weights; without weights, on the CPU."""
    weights = model.parameters() if isinstance(model, nn.Module) else iter(())
    return next((weight.device for weight in weights), torch.device("cpu"))


@contextmanager
def evaluating(model: EncoderDecoder) -> Iterator[None]:
    """Without dropout and gradients; afterwards the model's mode is restored."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def until_end(ids: list[int]) -> list[int]:
    """Up to and including the first <end>."""
    return ids[: ids.index(END_ID) + 1] if END_ID in ids else ids


def check_max_length(where: str, max_length: int) -> None:
    """Raise ValueError unless at least one symbol may be written."""
    if max_length < 1:
        raise ValueError(f"{where}: max_length must be at least 1; got {max_length}")
