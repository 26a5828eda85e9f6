"""From token ids on disk to batches, each of which can be reproduced on its own.

Pairs and their order depend on (seed, epoch), masks on (seed, epoch, batch): so the batches are the
same with any number of processes and wherever a training resumes.
"""

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from bertlab.data.token_store import TokenStore
from bertlab.model.checks import check_kind, require
from bertlab.pretraining.masking import Masking, mask_tokens
from bertlab.pretraining.pairs import ANYWHERE, Negatives, Pairs, plan_pairs
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import CLS, PAD, SEP

WINDOW = 64  # batches whose pairs are sorted by length together
MULTIPLE = 8  # lengths are rounded up to a multiple: few different shapes, and fast ones


class Position(NamedTuple):
    """A position in the endless sequence of batches."""

    epoch: int
    batch: int


BEGINNING = Position(0, 0)


class Batch(NamedTuple):
    """The input of a training step: pairs with masked words, and the true words."""

    ids: Tensor  # [B, L], [CLS] A [SEP] B [SEP] and padding, with masked words
    segment_ids: Tensor  # [B, L], 0 up to the first [SEP], 1 up to the second, then 0
    attention_mask: Tensor  # [B, L], boolean, False at padding
    predict: Tensor  # [B, L], boolean, the tokens to predict
    words: Tensor  # [N], their true ids, row by row
    next_sentence: Tensor  # [B], 0 = IsNext, 1 = NotNext

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        return Batch(*(tensor.to(device) for tensor in self))

    def rows(self, start: int, stop: int) -> "Batch":
        """Some of its sequences, with their words."""
        before = int(self.predict[:start].sum())
        inside = int(self.predict[start:stop].sum())
        return Batch(
            self.ids[start:stop],
            self.segment_ids[start:stop],
            self.attention_mask[start:stop],
            self.predict[start:stop],
            self.words[before : before + inside],
            self.next_sentence[start:stop],
        )


class Batches(ABC):
    """An endless sequence of batches, each of which can be reproduced on its own."""

    @abstractmethod
    def epoch(self, number: int) -> Dataset[Batch]:
        """The batches of an epoch, counted from 0: `epoch[i]` is batch i, always the same one."""

    def batches(
        self, position: Position = BEGINNING, workers: int = 0
    ) -> Iterator[tuple[Position, Batch]]:
        """Endless batches, epoch after epoch, each with the position of the next one.

        position: where to begin; workers: processes that make batches ahead of time (0: none).

        Raises ValueError if an epoch has fewer batches than `position` says.
        """
        number, first = position
        while True:
            epoch: Any = self.epoch(number)  # has a length, which a Dataset need not have
            if not 0 <= first <= len(epoch):
                raise ValueError(
                    f"batches: position must be within epoch {number}, which has {len(epoch)} "
                    f"batches; got batch {first}; has the batch size changed?"
                )
            for done, batch in enumerate(_in_order(epoch, first, workers), start=first + 1):
                more = done < len(epoch)
                yield (Position(number, done) if more else Position(number + 1, 0)), batch
            number, first = number + 1, 0


class PretrainingData(Batches):
    """Batches of sentence pairs with masked words, from a store.

    max_length: of a pair, special tokens included; masking: `Masking.of(tokenizer)` if None;
    negatives: the source of sentences that are not the next one, as in `plan_pairs`; drop_last:
    omit the last pairs of an epoch if they do not fill a batch (keep them for evaluation).

    Pairs of similar length share a batch, so that there is less padding.

    Raises ValueError if the store was written with another tokenizer, if the vocabulary lacks a
    special token, or if an argument is out of range.
    """

    def __init__(
        self,
        store: TokenStore,
        tokenizer: Tokenizer,
        *,
        max_length: int = 128,
        batch_size: int = 32,
        masking: Masking | None = None,
        negatives: Negatives = ANYWHERE,
        seed: int = 0,
        drop_last: bool = True,
    ) -> None:
        for name, value in (("max_length", max_length), ("batch_size", batch_size), ("seed", seed)):
            check_kind("PretrainingData", name, value, int)
        self.max_length, self.batch_size, self.seed = max_length, batch_size, seed
        require(self, "batch_size", batch_size >= 1, "must be at least 1")
        require(self, "seed", seed >= 0, "must not be negative")
        missing = [token for token in (PAD, CLS, SEP) if token not in tokenizer.vocab]
        if missing:
            raise ValueError(
                f"PretrainingData: the tokenizer's vocabulary has no {missing[0]}; train it with "
                f"special_tokens that hold {PAD}, {CLS}, {SEP}, or use WordPiece, which has them"
            )
        store.check_tokenizer(tokenizer)
        self.store = store
        self.masking = Masking.of(tokenizer) if masking is None else masking
        self.negatives, self.drop_last = negatives, drop_last
        self.pad_id, self.cls_id, self.sep_id = (tokenizer.vocab[t] for t in (PAD, CLS, SEP))

    def epoch(self, number: int) -> "Epoch":
        """One pass over the documents: different pairs and masks for every number.

        Raises ValueError as `plan_pairs` does, or if the pairs do not fill a batch.
        """
        return Epoch(self, number)


class Epoch(Dataset):
    """The batches of one epoch: `epoch[i]` is batch i, always the same one."""

    def __init__(self, data: PretrainingData, number: int) -> None:
        self.data, self.number = data, number
        generator = np.random.default_rng(np.random.SeedSequence(data.seed, spawn_key=(number,)))
        pairs = plan_pairs(data.store, data.max_length, generator, negatives=data.negatives)
        if data.drop_last and len(pairs) < data.batch_size:
            raise ValueError(
                f"PretrainingData: batch_size must be at most the number of pairs, {len(pairs)} in "
                f"epoch {number}; got {data.batch_size}; use smaller batches or more text"
            )
        order = shuffled(pairs.lengths, data, generator)
        self.pairs = pairs[order]
        # Batches in random order; otherwise the short ones of a window would be first.
        self.starts = generator.permutation(np.arange(0, len(order), data.batch_size))

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Batch:
        index = range(len(self))[index]  # raises IndexError, which ends a `for`
        start = self.starts[index]
        pairs = self.pairs[start : start + self.data.batch_size]
        sequence = np.random.SeedSequence(self.data.seed, spawn_key=(self.number, index))
        generator = torch.Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]))
        ids, segment_ids, attention_mask = self.lay_out(pairs)
        holes, predict = mask_tokens(ids, self.data.masking, generator)
        next_sentence = torch.from_numpy(pairs.not_next)
        return Batch(holes, segment_ids, attention_mask, predict, ids[predict], next_sentence)

    def lay_out(self, pairs: Pairs) -> tuple[Tensor, ...]:
        """As the function `lay_out`, as long as the longest pair needs."""
        data, tokens = self.data, np.asarray(self.data.store.ids)
        longest = -(-int(pairs.lengths.max()) // MULTIPLE) * MULTIPLE
        spans = zip(pairs.a_start, pairs.a_end, pairs.b_start, pairs.b_end, strict=True)
        segments = [(tokens[a:a_end], tokens[b:b_end]) for a, a_end, b, b_end in spans]
        length = min(longest, data.max_length)
        return lay_out(segments, length, data.cls_id, data.sep_id, data.pad_id)


def lay_out(
    segments: Sequence[tuple[Sequence[int] | np.ndarray, Sequence[int] | np.ndarray]],
    length: int,
    cls_id: int,
    sep_id: int,
    pad_id: int,
) -> tuple[Tensor, ...]:
    """[CLS] A [SEP] B [SEP] and padding: ids, segment ids and attention mask, [B, L] each.

    segments: A's and B's token ids, one pair per row; length: L, enough for the longest pair.

    >>> ids, segment_ids, attention_mask = lay_out([([7], [8, 9])], 8, cls_id=2, sep_id=3, pad_id=0)
    >>> ids.tolist(), segment_ids.tolist()
    ([[2, 7, 3, 8, 9, 3, 0, 0]], [[0, 0, 0, 1, 1, 1, 0, 0]])
    """
    ids = np.full((len(segments), length), pad_id)
    segment_ids, attention_mask = np.zeros_like(ids), np.zeros(ids.shape, dtype=bool)
    for row, (a, b) in enumerate(segments):
        first_sep, second_sep = 1 + len(a), 2 + len(a) + len(b)
        ids[row, 0], ids[row, first_sep], ids[row, second_sep] = cls_id, sep_id, sep_id
        ids[row, 1:first_sep], ids[row, first_sep + 1 : second_sep] = a, b
        segment_ids[row, first_sep + 1 : second_sep + 1] = 1
        attention_mask[row, : second_sep + 1] = True
    return tuple(map(torch.from_numpy, (ids, segment_ids, attention_mask)))


def shuffled(
    lengths: np.ndarray, data: PretrainingData, generator: np.random.Generator
) -> np.ndarray:
    """The order [N] in which an epoch's pairs go into batches.

    lengths: [N]. Only pairs that are near each other in a shuffled order are sorted by length: a
    batch is still a random mixture of documents.
    """
    order = generator.permutation(len(lengths))
    if data.drop_last:
        order = order[: len(order) - len(order) % data.batch_size]
    size = WINDOW * data.batch_size
    windows = [order[start : start + size] for start in range(0, len(order), size)]
    return np.concatenate([w[np.argsort(lengths[w], kind="stable")] for w in windows])


def _in_order(epoch: Any, first: int, workers: int) -> Iterator[Batch]:
    """The batches of an epoch from `first` on, made here or by workers."""
    numbers = range(first, len(epoch))
    if not workers:
        return map(epoch.__getitem__, numbers)
    return iter(
        DataLoader(
            epoch,
            batch_size=None,  # an item is already a batch
            sampler=numbers,
            num_workers=workers,
            collate_fn=_as_it_is,
            worker_init_fn=_leave_interrupts_to_main,
            generator=torch.Generator(),  # the loader would draw a number from the global generator
        )
    )


def _as_it_is(batch: Any) -> Any:
    return batch


def _leave_interrupts_to_main(_worker: int) -> None:
    """Ctrl-C reaches all processes, but only the training process decides when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
