"""What the three tokenizers share: text to ids and back, pairs, special tokens, offsets.

A tokenizer cuts text in three steps, from coarse to fine:

1. special tokens, such as [MASK], are found first and are never cut;
2. the text between them is cut into *chunks* that do not depend on each other;
3. a chunk is cut into words, and a word into tokens; since both repeat, the results are cached
   (`Kept`).

`BPE`, `ByteBPE` and `WordPiece` define chunks, words and tokens.

Offsets: tokens are adjacent, so their widths are enough: each begins where the previous one ends,
and it ends at the sum of all widths up to it. They cover not the text itself but its units in the
tokenizer, for example bytes, or characters without white space. So each end is looked up in a list
of `places`.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import accumulate, chain, compress, pairwise
from operator import index
from pathlib import Path
from sys import getsizeof
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from bertlab.tokenizers.checks import check_merges, check_vocab, read_texts, texts_or_pairs
from bertlab.tokenizers.words import CLS, SEP

Span = tuple[int, int]


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

    def cut(self, stop: int, start: int = 0) -> "Part":
        """The tokens before `stop`, from `start` on."""
        return Part(self.ids[start:stop], lambda: self.spans()[start:stop], self.segment)


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


# 1 for a byte that begins a character in UTF-8, 0 for the others, which start with the bits 10.
_BEGINS = bytes(byte & 0b1100_0000 != 0b1000_0000 for byte in range(256))


def spans_of_widths(widths: Iterable[int], places: Sequence[int], shift: int = 0) -> list[Span]:
    """(start, end) of the characters that each token covers.

    widths: how many units each token covers; places: for each unit the character it comes from;
    shift: added to all.

    The word "né" has three bytes; one token has its first two, another the last:

    >>> spans_of_widths([2, 1], [0, 1, 1])
    [(0, 2), (1, 2)]
    """
    if isinstance(places, range):  # every unit is a character
        return list(pairwise(accumulate(widths, initial=shift)))
    edges = pairwise(accumulate(widths, initial=0))
    after = shift + 1
    return [(places[start] + shift, places[end - 1] + after) for start, end in edges]


def places_of_bytes(text: str) -> Sequence[int]:
    """For each byte of `text` in UTF-8 the character it belongs to.

    >>> places_of_bytes("né")
    [0, 1, 1]
    """
    if text.isascii():
        return range(len(text))
    begins = text.encode("utf-8", "surrogatepass").translate(_BEGINS)
    return list(accumulate(begins, initial=-1))[1:]


def places_of_units(text: str, width: Callable[[str], int]) -> list[int]:
    """For each unit the character it comes from, where a character has `width(character)` units.

    >>> places_of_units("a bc", lambda character: 0 if character == " " else 1)
    [0, 2, 3]
    """
    width_of = {character: width(character) for character in set(text)}
    if max(width_of.values(), default=0) <= 1:
        return list(compress(range(len(text)), map(width_of.__getitem__, text)))
    return [place for place, character in enumerate(text) for _ in range(width_of[character])]


@dataclass(frozen=True, repr=False)
class Tokenizer(ABC):
    """A trained tokenizer; it is immutable.

    vocab: token -> id; merges: pairs in the order learned; special_tokens: never cut, and omitted
    by `decode`; adds_special_tokens: whether `encode` puts [CLS] before a text and [SEP] after it,
    as BERT needs (None: if the vocabulary has both).

    Raises ValueError if an id is not a whole number, if two tokens have the same id, if a merge is
    not a pair of tokens, or if a special token is empty or not in the vocabulary.
    """

    vocab: Mapping[str, int]
    merges: tuple[tuple[str, str], ...] = ()
    special_tokens: tuple[str, ...] = ()
    adds_special_tokens: bool | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        set_field = partial(object.__setattr__, self)
        set_field("vocab", MappingProxyType(check_vocab(name, self.vocab)))
        set_field("merges", check_merges(name, self.merges))
        special = read_texts(name, "special_tokens", self.special_tokens)
        set_field("special_tokens", tuple(special))
        if len(self._token_of) < len(self.vocab):
            raise ValueError(f"{name}: vocab must give every token an id of its own")
        if "" in self.special_tokens:
            raise ValueError(f"{name}: special_tokens holds an empty one; omit it")
        unknown = [token for token in self.special_tokens if token not in self.vocab]
        if unknown:
            raise ValueError(
                f"{name}: special_tokens holds {unknown[0]!r}, which is not in the vocabulary "
                f"of {len(self.vocab):,} tokens; omit it, or train with it"
            )
        has_both = CLS in self.special_tokens and SEP in self.special_tokens
        if self.adds_special_tokens is None:
            set_field("adds_special_tokens", has_both)
        elif self.adds_special_tokens and not has_both:
            raise ValueError(f"{name}: adds_special_tokens needs {CLS} and {SEP}; one is missing")

    @abstractmethod
    def _chunks(self, text: str) -> Iterable[str]:
        """The chunks of a text without special tokens."""

    @abstractmethod
    def _words(self, chunk: str) -> list[str]:
        """The words of a chunk."""

    @abstractmethod
    def _cut(self, word: str) -> tuple[int, ...]:
        """The ids of a word."""

    @abstractmethod
    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        """How many units of a text without special tokens each token covers, and their places.

        A unit is a byte or a character; its place is that of its character in the text.
        """

    def tokenize(self, text: str) -> list[str]:
        """Cut `text` into tokens, without adding special ones."""
        return [self._token_of[id] for id in self._part(text, 0).ids]

    def encode(
        self,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
    ) -> Encoding:
        """Turn a text, or two, into `ids`, `tokens`, `segment_ids` and `offsets`.

        add_special_tokens: add [CLS] and [SEP], if this tokenizer does that.
        max_length: at most this many tokens, special ones included; of a pair, the longer text is
            cut first.

        Raises TypeError if `text` is not a string, ValueError if `max_length` has no room for
        the special tokens, or if `text` holds an unknown character and there is no [UNK].
        """
        texts = [text] if pair is None else [text, pair]
        parts = [self._part(text, segment) for segment, text in enumerate(texts)]
        adds = add_special_tokens and self.adds_special_tokens
        if max_length is not None:
            added = len(texts) + 1 if adds else 0
            if max_length < added:
                raise ValueError(
                    f"encode: max_length must be at least {added}, the number of special tokens "
                    f"that are added; got {max_length}"
                )
            lengths = [len(part.ids) for part in parts]
            kept = cut_lengths(lengths[0], sum(lengths[1:]), max_length - added)
            parts = [part.cut(length) for part, length in zip(parts, kept, strict=False)]
        if adds:
            ends = [self._special_part(SEP, part.segment) for part in parts]
            between = chain.from_iterable(zip(parts, ends, strict=True))
            parts = [self._special_part(CLS, 0), *between]
        return Encoding(tuple(parts), self._token_of.__getitem__)

    def encode_batch(
        self,
        texts: Iterable[str | tuple[str, str]],
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
    ) -> list[Encoding]:
        """`encode` for many texts, or pairs of texts; TypeError names an entry that is neither."""
        encode = partial(self.encode, add_special_tokens=add_special_tokens, max_length=max_length)
        return [encode(*entry) for entry in texts_or_pairs("encode_batch", "texts", texts)]

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Turn ids back into text.

        Raises ValueError if an id is not in the vocabulary.
        """
        tokens = []
        for id in map(index, ids):  # also from tensors and arrays
            if id not in self._token_of:
                raise ValueError(
                    f"{type(self).__name__}.decode: ids must be from 0 to "
                    f"{max(self._token_of)}; got {id}"
                )
            if not (skip_special_tokens and self._token_of[id] in self.special_tokens):
                tokens.append(self._token_of[id])
        return self._join(tokens)

    @abstractmethod
    def _join(self, tokens: Sequence[str]) -> str:
        """Tokens to text."""

    def save(self, path: str | os.PathLike) -> Path:
        """Write the tokenizer as Hugging Face's `tokenizer.json`; returns the path."""
        from bertlab.tokenizers import files  # for reading and writing alone

        return files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a `tokenizer.json` of this kind.

        Raises FileNotFoundError, or ValueError if the file is damaged, of another kind, or has an
        option that this tokenizer does not support (`files.py`). Truncation, padding and a
        decoder's clean-up are left to the caller, with a warning.
        """
        from bertlab.tokenizers import files

        given = files.fields_of(cls, path)
        try:
            return cls(**given)
        except ValueError as error:
            raise ValueError(f"{path} is inconsistent: {error}") from error

    @cached_property
    def _token_of(self) -> dict[int, str]:
        return {id: token for token, id in self.vocab.items()}

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], int]:
        """Each merge's position; of two that join the same pair the later one's, as HF has it."""
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @cached_property
    def _ids_of_chunk(self) -> Kept:
        ids_of_word = Kept(self._cut)

        def ids_of_words(chunk: str) -> tuple[int, ...]:
            words = self._words(chunk)
            if len(words) == 1:  # most chunks
                return ids_of_word[words[0]]
            return tuple(chain.from_iterable(map(ids_of_word.__getitem__, words)))

        return Kept(ids_of_words)

    def _part(self, text: str, segment: int) -> Part:
        """A single text."""
        if not isinstance(text, str):
            raise TypeError(
                f"encode: text must be a string; got {type(text).__name__}. "
                "For several texts there is encode_batch"
            )
        stretches = list(self._stretches(text))
        if len(stretches) == 1:
            ids = stretches[0].ids
        else:
            ids = list(chain.from_iterable(stretch.ids for stretch in stretches))
        return Part(ids, partial(self._spans, text, stretches), segment)

    def _stretches(self, text: str) -> Iterator[Stretch]:
        """Everything in `text`: its special tokens, and the text between them."""
        end = 0
        for found in self._special.finditer(text) if self._special else ():
            yield Stretch(end, found.start(), False, self._ids(text[end : found.start()]))
            yield Stretch(*found.span(), True, [self.vocab[found.group()]])
            end = found.end()
        yield Stretch(end, len(text), False, self._ids(text[end:]))

    def _ids(self, text: str) -> list[int]:
        """The ids of a text without special tokens."""
        return list(chain.from_iterable(map(self._ids_of_chunk.__getitem__, self._chunks(text))))

    def _spans(self, text: str, stretches: Iterable[Stretch]) -> list[Span]:
        spans: list[Span] = []
        for start, end, special, ids in stretches:
            if special:
                spans.append((start, end))
            else:
                spans += spans_of_widths(*self._widths(text[start:end], ids), shift=start)
        return spans

    def _special_part(self, token: str, segment: int) -> Part:
        return Part([self.vocab[token]], lambda: [(0, 0)], segment)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.vocab):,} tokens, {len(self.merges):,} merges)"

    def __getstate__(self) -> dict[str, Any]:
        """What a copy in another process needs: no caches."""
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return state | {"vocab": dict(self.vocab)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        type(self).__init__(self, **state)
