"""Texts and their targets: labels to numbers, and both into batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from bertlab.finetuning.heads import Head
from bertlab.finetuning.texts import TextBatch, check_encodings, check_fits, collate, encode_texts
from bertlab.model.config import BertConfig
from bertlab.tokenizers.checks import entries
from bertlab.tokenizers.tokenizer import Encoding, Tokenizer


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
    check_fits(tokenizer, config)
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
