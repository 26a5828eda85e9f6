"""Texts and their targets into batches: encoded, numbered, checked, padded, grouped by length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertlab.finetuning.heads import Head
from bertlab.model.checks import check_fits
from bertlab.model.config import BertConfig
from bertlab.tokenizers.checks import entries, read_texts
from bertlab.tokenizers.tokenizer import Encoding, Tokenizer
from bertlab.tokenizers.words import CLS, PAD, SEP


class TextBatch(NamedTuple):
    """The input of `Bert` and of every head: `model(*batch)`."""

    ids: Tensor  # [B, L], int64
    segment_ids: Tensor  # [B, L], int64, 0 for the first text and for padding, 1 for the second
    attention_mask: Tensor  # [B, L], boolean, False at padding

    def to(self, device: torch.device | str) -> "TextBatch":
        """The same batch on a device."""
        return TextBatch(*(tensor.to(device) for tensor in self))


def encode_texts(
    texts: Iterable[str],
    tokenizer: Tokenizer,
    *,
    max_length: int,
    pairs: Iterable[str] | None = None,
    truncate: bool = False,
) -> list[Encoding]:
    """Every text as [CLS] text [SEP], or with its pair as [CLS] text [SEP] pair [SEP].

    pairs: a second text for each of `texts`; max_length: of an encoding, special tokens included,
    at most what the model reads (`config.max_length`); truncate: cut longer ones, in a pair the
    longer text first, instead of rejecting them; the model learns nothing from what is cut.

    Raises ValueError if a text is empty or too long (it says which one), if there is not one pair
    for each text, or if the tokenizer has no [CLS], [SEP] or [PAD]. Raises TypeError, which names
    the entry, if one is not a string, such as a missing value of a table.

    Source: Devlin et al. (2019), figure 4.
    """
    texts = list(read_texts("encode_texts", "texts", texts))
    pairs = None if pairs is None else list(read_texts("encode_texts", "pairs", pairs))
    check_texts(texts, tokenizer, max_length, pairs)
    limit = max_length if truncate else None
    encodings = []
    for number, text in enumerate(texts):
        pair = None if pairs is None else pairs[number]
        encoding = tokenizer.encode(text, pair, max_length=limit)
        check_not_empty(encoding, number)
        if len(encoding) > max_length:
            raise ValueError(
                f"encode_texts: texts must have at most max_length={max_length} tokens, special "
                f"ones included; texts[{number}] has {len(encoding)}; truncate=True cuts it"
            )
        encodings.append(encoding)
    return encodings


def collate(encodings: Sequence[Encoding], pad_id: int) -> TextBatch:
    """A batch of encodings, padded on the right to the longest of them.

    Raises ValueError if there are none.
    """
    if not encodings:
        raise ValueError("collate: encodings must hold at least one encoding; got none")
    lengths = np.array([len(encoding) for encoding in encodings])
    attention_mask = np.arange(lengths.max()) < lengths[:, None]  # [B, L]
    ids = np.full(attention_mask.shape, pad_id)
    segment_ids = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding)] = encoding.ids
        segment_ids[row, : len(encoding)] = encoding.segment_ids
    return TextBatch(*map(torch.from_numpy, (ids, segment_ids, attention_mask)))


def batches_by_length(
    lengths: Sequence[int], batch_size: int, generator: np.random.Generator | None = None
) -> list[list[int]]:
    """Which texts go into which batch; the longest text of a batch is first.

    lengths: of all texts, in tokens. Without a generator, for prediction, the batches are sorted
    from long to short: texts of similar length are together, so there is little padding; and if
    memory is too small, the first batch fails. With one, for training, each batch is drawn at
    random from all texts: long texts often belong to other classes than short ones, and training
    suffers if the shares of the classes vary between batches.

    Returns each batch as the numbers of its texts; every text is in one batch, and one batch may
    be smaller. Raises ValueError if `batch_size` is below 1.

    >>> batches_by_length([3, 9, 4, 8], batch_size=2)
    [[1, 3], [2, 0]]
    """
    if batch_size < 1:
        raise ValueError(f"batches_by_length: batch_size must be at least 1; got {batch_size}")
    lengths = list(entries("batches_by_length", "lengths", lengths))
    if generator is None:
        return cut(longest_first(range(len(lengths)), lengths), batch_size)
    batches = cut(generator.permutation(len(lengths)).tolist(), batch_size)
    return [longest_first(batch, lengths) for batch in batches]


def longest_first(numbers: Iterable[int], lengths: Sequence[int]) -> list[int]:
    """The numbers of texts, sorted by the lengths of those texts."""
    return sorted(numbers, key=lengths.__getitem__, reverse=True)


def cut(numbers: list[int], size: int) -> list[list[int]]:
    """Pieces of `size` numbers; the last one may be shorter.

    >>> cut([5, 2, 4], 2)
    [[5, 2], [4]]
    """
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def check_encodings(where: str, encodings: Sequence[Encoding], config: BertConfig) -> None:
    """Raise ValueError or TypeError, naming the encoding, if the model cannot read one."""
    for number, encoding in enumerate(encodings):
        if not isinstance(encoding, Encoding):
            raise TypeError(
                f"{where}: encodings must be as encode_texts gives them; encodings[{number}] is a "
                f"{type(encoding).__name__}"
            )
        if not 1 <= len(encoding) <= config.max_length:
            raise ValueError(
                f"{where}: encodings must have 1 to {config.max_length} tokens, the most that the "
                f"model reads; encodings[{number}] has {len(encoding)}"
            )
        if not 0 <= min(encoding.ids) <= max(encoding.ids) < config.vocab_size:
            raise ValueError(
                f"{where}: encodings must hold ids from 0 to {config.vocab_size - 1}; "
                f"encodings[{number}] has {max(encoding.ids)}; do tokenizer and model belong "
                "together?"
            )


def check_texts(
    texts: Sequence[str], tokenizer: Tokenizer, max_length: int, pairs: Sequence[str] | None
) -> None:
    """Raise ValueError if `encode_texts` cannot begin."""
    if pairs is not None and len(pairs) != len(texts):
        raise ValueError(
            f"encode_texts: pairs must hold one text for each of texts, {len(texts)}; "
            f"got {len(pairs)}"
        )
    missing = [token for token in (PAD, CLS, SEP) if token not in tokenizer.special_tokens]
    if missing or not tokenizer.adds_special_tokens:
        raise ValueError(
            f"encode_texts: tokenizer must have the special tokens {PAD}, {CLS}, {SEP} and add "
            f"the last two itself; got one "
            + (f"without {missing[0]}" if missing else "with adds_special_tokens=False")
        )
    least = 3 if pairs is None else 5
    if max_length < least:
        raise ValueError(
            f"encode_texts: max_length must be at least {least}, the special tokens and one token "
            f"of each text; got {max_length}"
        )


def check_not_empty(encoding: Encoding, number: int) -> None:
    """Raise ValueError if a text has no tokens, for example only blanks."""
    for name, part in zip(("texts", "pairs"), encoding.parts[1::2], strict=False):
        if not part.ids:  # the parts are [CLS], text, [SEP], and perhaps pair, [SEP]
            raise ValueError(
                f"encode_texts: {name} must not be empty; {name}[{number}] has no tokens; omit it"
            )


@dataclass(frozen=True)
class TuningData:
    """Encoded texts and one target for each; both become lists, in the order given.

    targets: what the head's `check_target` accepts: a number (True is 1, False is 0), a list of
        numbers, (start, end).

    Raises ValueError if there are none, or if their numbers differ.
    """

    encodings: Sequence[Encoding]
    targets: Sequence[Any]

    def __post_init__(self) -> None:
        for name in ("encodings", "targets"):
            given = list(entries("TuningData", name, getattr(self, name)))
            object.__setattr__(self, name, given)
        if not len(self.encodings) or len(self.encodings) != len(self.targets):
            raise ValueError(
                "TuningData: there must be one target for each encoding, and at least one; got "
                f"{len(self.encodings)} encodings and {len(self.targets)} targets"
            )

    def __len__(self) -> int:
        return len(self.encodings)


def labelled_data(
    texts: Iterable[str],
    labels: Iterable[str],
    names: Iterable[str],
    tokenizer: Tokenizer,
    config: BertConfig,
    *,
    pairs: Iterable[str] | None = None,
    max_length: int | None = None,
    truncate: bool = False,
) -> TuningData:
    """Texts, or pairs of texts, and their labels, ready for a `SequenceClassifier`.

    names: all labels; class number 0 is the first; config: of the model that will read them;
    max_length: of an encoding, None for the model's maximum; pairs, truncate: as in `encode_texts`.

    Raises ValueError as `check_fits`, `encode_texts` and `label_numbers` do, or if `max_length` is
    more than the model reads.
    """
    check_fits("labelled_data", tokenizer, config)
    longest = config.max_length if max_length is None else max_length
    if longest > config.max_length:
        raise ValueError(
            f"labelled_data: max_length must be at most {config.max_length}, the most that the "
            f"model reads; got {max_length}"
        )
    encodings = encode_texts(texts, tokenizer, max_length=longest, pairs=pairs, truncate=truncate)
    return TuningData(encodings, label_numbers(labels, names))


def label_numbers(labels: Iterable[str], names: Iterable[str]) -> list[int]:
    """The number of each label: its place in `names`.

    Raises ValueError if a label is not among the names, or if a name occurs twice.

    >>> label_numbers(["spam", "ham", "ham"], names=["ham", "spam"])
    [1, 0, 0]
    """
    labels = list(entries("label_numbers", "labels", labels))
    names = list(entries("label_numbers", "names", names))
    number_of = {name: number for number, name in enumerate(names)}
    if len(number_of) < len(names):
        raise ValueError(f"label_numbers: names must differ; got {names}")
    for number, label in enumerate(labels):
        if label not in number_of:
            raise ValueError(
                f"label_numbers: labels must be among {names}; labels[{number}] is {label!r}"
            )
    return [number_of[label] for label in labels]


def batch_of(
    model: Head, data: TuningData, numbers: Sequence[int], pad_id: int
) -> tuple[TextBatch, Tensor]:
    """The texts of these numbers and their targets, on the model's device."""
    device = next(model.parameters()).device
    inputs = collate([data.encodings[number] for number in numbers], pad_id)
    targets: Any = [data.targets[number] for number in numbers]
    targets = model.collate_targets(targets, inputs.ids.shape[1])
    return inputs.to(device), targets.to(device)


def check_data(where: str, model: Head, data: TuningData) -> None:
    """Raise ValueError if a text does not fit the encoder, or a target the head."""
    check_encodings(where, data.encodings, model.bert.config)
    for number, (encoding, target) in enumerate(zip(data.encodings, data.targets, strict=True)):
        try:
            model.check_target(target, len(encoding))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{where}: targets[{number}] does not fit a {type(model).__name__}: {error}"
            ) from error
