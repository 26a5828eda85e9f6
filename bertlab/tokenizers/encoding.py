"""Encoded texts, and how long ones are cut: the same for every tokenizer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from sys import getsizeof
from typing import NamedTuple

Span = tuple[int, int]

# BERT's names: for a word that cannot be cut, for the start and the end of a text.
PAD, UNKNOWN, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"  # of BERT


class Stretch(NamedTuple):
    """A special token in a text, or the text between two: its position and its ids."""

    start: int
    end: int
    special: bool
    ids: list[int]


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of an encoding: one text, or the special tokens between two."""

    ids: list[int]
    spans: Callable[[], list[Span]]  # called only if offsets are requested
    segment: int

    def cut(self, length: int) -> "Part":
        """The first `length` tokens."""
        return Part(self.ids[:length], lambda: self.spans()[:length], self.segment)


@dataclass(frozen=True, eq=False)
class Encoding:
    """One encoded text, or a pair: lists of the same length, one entry per token.

    `ids` are available at once; the rest is computed on request, so that a training loop, which
    needs only ids, does not pay for offsets.
    """

    parts: tuple[Part, ...]
    token_of: Callable[[int], str]

    @cached_property
    def ids(self) -> list[int]:
        """The model's input."""
        if len(self.parts) == 1:
            return self.parts[0].ids
        return list(chain.from_iterable(part.ids for part in self.parts))

    @cached_property
    def tokens(self) -> list[str]:
        """The entries of the vocabulary."""
        return [self.token_of(id) for id in self.ids]

    @cached_property
    def segment_ids(self) -> list[int]:
        """0 for the first text and its special tokens, 1 for the second."""
        return [part.segment for part in self.parts for _ in part.ids]

    @cached_property
    def offsets(self) -> list[Span]:
        """(start, end) of the characters of its text that a token covers.

        (0, 0) for added special tokens; offsets of a pair's second text count from its own first
        character.
        """
        return [span for part in self.parts for span in part.spans()]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        shown = 12
        more = f", … {len(self.ids) - shown} more" if len(self.ids) > shown else ""
        return f"Encoding({len(self.ids)} tokens: {', '.join(self.tokens[:shown])}{more})"


def cut_lengths(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of two texts fit into `room`: the longer one is cut first.

    If both must be cut, each gets half, the second one the odd token: equal to Hugging Face's
    strategy of this name. A single text is a pair whose second text is empty.

    >>> cut_lengths(10, 3, 9), cut_lengths(10, 10, 9)
    ((6, 3), (4, 5))
    """
    if first + second <= room:
        return first, second
    shorter = min(first, second)
    if 2 * shorter <= room:
        return (shorter, room - shorter) if first == shorter else (room - shorter, shorter)
    half = room // 2
    return (half, room - half) if first <= second else (room - half, half)


class Kept(dict):
    """A cache of the results of `work`; words repeat, so most results are already there.

    It keeps at most `most` results, together about `MOST_BYTES`, and then starts again empty; it
    keeps none for keys of more than 256 characters. So its memory is bounded for any text: a
    tokenizer has two of these, together below 100 MB.

    work: string -> tuple of numbers. A tuple, because the garbage collector need not track it; a
    hundred thousand lists would cost noticeable time.
    """

    MOST_BYTES = 40_000_000
    ENTRY = 100  # bytes that a dictionary needs per entry, besides key and value

    def __init__(self, work: Callable[[str], tuple[int, ...]], most: int = 131_072) -> None:
        super().__init__()
        self.work, self.most, self.bytes = work, most, 0

    def __missing__(self, key: str) -> tuple[int, ...]:
        answer = self.work(key)
        if len(key) <= 256:
            if len(self) >= self.most or self.bytes >= self.MOST_BYTES:
                self.clear()
                self.bytes = 0
            self[key] = answer
            self.bytes += self.ENTRY + getsizeof(key) + getsizeof(answer)
        return answer
