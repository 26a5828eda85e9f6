"""Characters to ids and back, and batches of pairs, the input of every model here."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.tokenizers.checks import read_texts

PAD_ID, START_ID, END_ID = 0, 1, 2
SPECIALS = ("<pad>", "<start>", "<end>")


class Pair(NamedTuple):
    """One example: a source text and its target text."""

    source: str
    target: str


class Batch(NamedTuple):
    """Pairs as ids, padded at the end to the longest of the batch.

    The decoder reads `target_inputs`, <start> and the target, and must predict `target_outputs`,
    the target and <end>: at each position the next character, given the true ones before it. That
    is teacher forcing.
    """

    source_ids: Tensor  # [B, L]
    source_mask: Tensor  # [B, L], True for characters
    target_inputs: Tensor  # [B, T]
    target_outputs: Tensor  # [B, T]

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        return Batch(*(tensor.to(device) for tensor in self))


class Vocabulary:
    """The characters of some texts, each with an id; 0 to 2 are <pad>, <start> and <end>.

    >>> vocabulary = Vocabulary("cabbage")
    >>> vocabulary.encode("bag")
    [4, 3, 7]
    >>> vocabulary.decode([1, 4, 3, 7, 2, 0])
    'bag'
    """

    def __init__(self, characters: Iterable[str]) -> None:
        self.symbols = [*SPECIALS, *sorted(set(characters))]
        self._ids = {symbol: id for id, symbol in enumerate(self.symbols)}

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "Vocabulary":
        """The characters of all sources and targets: one vocabulary for both sides."""
        return cls("".join(pair.source + pair.target for pair in pairs))

    def __len__(self) -> int:
        return len(self.symbols)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.symbols == other.symbols

    __hash__ = None  # type: ignore[assignment]  # as for every mutable object with an equality

    def encode(self, text: str) -> list[int]:
        """The id of each character. Raises ValueError for an unknown character."""
        unknown = sorted(set(text) - self._ids.keys())
        if unknown:
            raise ValueError(
                f"Vocabulary.encode: text must consist of the {len(self) - len(SPECIALS)} known "
                f"characters; got {unknown} in {text!r}"
            )
        return [self._ids[character] for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the first <end>, without <start> and padding."""
        characters = []
        for id in ids:
            if id == END_ID:
                break
            if id not in (PAD_ID, START_ID):
                characters.append(self.symbols[id])
        return "".join(characters)

    def sources(self, texts: Iterable[str]) -> tuple[Tensor, Tensor]:
        """Ids [B, L] and mask [B, L] of source texts; each ends with <end>."""
        texts = read_texts("Vocabulary.sources", "texts", texts)
        ids = pad([[*self.encode(text), END_ID] for text in texts])
        return ids, ids != PAD_ID

    def batch(self, pairs: Sequence[Pair]) -> Batch:
        """Pairs as padded ids. Raises ValueError if there is none."""
        source_ids, source_mask = self.sources([pair.source for pair in pairs])
        targets = [self.encode(pair.target) for pair in pairs]
        return Batch(
            source_ids,
            source_mask,
            target_inputs=pad([[START_ID, *ids] for ids in targets]),
            target_outputs=pad([[*ids, END_ID] for ids in targets]),
        )


def pad(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Sequences of ids as one tensor [B, L], padded with <pad> at the end.

    >>> pad([[5, 6, 7], [8]])
    tensor([[5, 6, 7],
            [8, 0, 0]])
    """
    if not sequences:
        raise ValueError("pad: sequences must hold at least one sequence; got none")
    longest = max(map(len, sequences))
    return torch.tensor([[*ids, *[PAD_ID] * (longest - len(ids))] for ids in sequences])
