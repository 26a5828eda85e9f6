"""Byte pair encoding on bytes, as in GPT-2: no text contains unknown symbols.

Source: Radford et al. (2019), "Language Models are Unsupervised Multitask Learners", section 2.2,
and the `encoder.py` that came with it.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import regex

from bertlab._files import check_no_folder, read_json
from bertlab.parts import part
from bertlab.tokenizers.bpe import TieBreak, apply_merges, first_vocab, learn_merges
from bertlab.tokenizers.checks import check_merges_fit, is_whole
from bertlab.tokenizers.tokenizer import Tokenizer, places_of_bytes
from bertlab.tokenizers.words import WHITE_SPACE, WHITE_SPACES, count_words

# Words keep the space before them; 's, 't, 're ... are words; letters, digits and other signs are
# separated; of several spaces, the last one belongs to the next word.
_SPACES = rf"[{WHITE_SPACE}]+(?![^{WHITE_SPACE}])|[{WHITE_SPACE}]+"
_SPLIT = rf"'s|'t|'re|'ve|'m|'ll|'d| ?%s+| ?%s+| ?%s+|{_SPACES}"
_WORD = regex.compile(_SPLIT % (r"\p{L}", r"\p{N}", rf"[^{WHITE_SPACE}\p{{L}}\p{{N}}]"))
_ASCII_WORD = re.compile(_SPLIT % ("[A-Za-z]", "[0-9]", rf"[^{WHITE_SPACE}A-Za-z0-9]"))

# No word crosses their borders: a run without white space, with at most one space before it.
BYTE_CHUNK = re.compile(rf" ?[^{WHITE_SPACE}]+|{_SPACES}")


def split_byte_chunks(text: str) -> list[str]:
    """Cut `text` coarsely, and fast: no word of GPT-2's is in two chunks.

    A text can be cut before each space, unless a space follows other white space.
    """
    if "\0" in text or any(w in text and w + " " in text for w in WHITE_SPACES):
        return BYTE_CHUNK.findall(text)
    return text.replace(" ", "\0 ").split("\0")


def split_byte_words(text: str) -> list[str]:
    """Cut `text` as GPT-2 does before learning merges; nothing is lost, not even spaces.

    >>> split_byte_words("I didn't see 2 men!")
    ['I', ' didn', "'t", ' see', ' 2', ' men', '!']
    """
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@part("02")
def byte_symbols() -> list[str]:
    """One printable character for each of the 256 bytes, by the byte's value.

    A vocabulary that is stored as text needs a visible character for every byte. The 188 bytes
    that are visible in Latin-1 represent themselves, the others get characters from U+0100 on: the
    space becomes `Ġ`, the newline `Ċ`.

    >>> byte_symbols()[ord("b")], byte_symbols()[ord(" ")]
    ('b', 'Ġ')
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)]
    printable += range(ord("®"), ord("ÿ") + 1)
    others = iter(range(256))
    return [chr(byte) if byte in printable else chr(256 + next(others)) for byte in range(256)]


SYMBOL_OF_BYTE = byte_symbols()
BYTE_OF_SYMBOL = {symbol: byte for byte, symbol in enumerate(SYMBOL_OF_BYTE)}
_LATIN_TO_SYMBOLS = dict(enumerate(SYMBOL_OF_BYTE))


def to_bytes(text: str) -> bytes:
    """UTF-8; half of a surrogate pair, which no text should contain, becomes its three bytes.

    >>> to_bytes("best").hex(" "), to_bytes("你好").hex(" ")
    ('62 65 73 74', 'e4 bd a0 e5 a5 bd')
    """
    return text.encode("utf-8", "surrogatepass")


def to_symbols(text: str) -> str:
    """The bytes of `text`, each as its printable character.

    >>> to_symbols(" né")
    'ĠnÃ©'
    """
    return to_bytes(text).decode("latin-1").translate(_LATIN_TO_SYMBOLS)


def from_symbols(symbols: str) -> str:
    """The text that `symbols` spell; bytes that are not UTF-8 become U+FFFD.

    >>> from_symbols("ĠnÃ©"), from_symbols("Ã")
    (' né', '�')
    """
    raw = bytes(BYTE_OF_SYMBOL[symbol] for symbol in symbols)
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


@dataclass(frozen=True, repr=False)
class ByteBPE(Tokenizer):
    """A trained byte-level BPE tokenizer; make one with `train`, `load` or `from_gpt2`.

    Tokens are written with one printable character per byte, as in GPT-2's own files
    (`byte_symbols` has the table); `decode(encode(text).ids)` is `text` for every string.

    >>> corpus = ["cost best menu men camel", "cost best"]
    >>> bpe = ByteBPE.train(corpus, 258)
    >>> bpe.merges
    (('s', 't'), ('m', 'e'))
    >>> bpe.decode(bpe.encode("你好, best!").ids)
    '你好, best!'
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        missing = [symbol for symbol in SYMBOL_OF_BYTE if symbol not in self.vocab]
        if missing:
            raise ValueError(
                f"ByteBPE: vocab must hold all 256 bytes; {len(missing)} are missing, the first "
                f"is {missing[0]!r}"
            )
        check_merges_fit(self.vocab, self.merges)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = (),
        min_frequency: int = 1,
        tie_break: TieBreak = "lowest-id",
        processes: int = 1,
        progress: bool = False,
    ) -> "ByteBPE":
        """Learn a vocabulary of `vocab_size` tokens from `texts`; 256 of them are the bytes.

        The arguments are those of `BPE.train`. Ids: special tokens, bytes by the code point of
        their printable character, merges as learned. With the default `tie_break`, vocabulary
        and merges equal those of Hugging Face's `BpeTrainer` with its byte-level alphabet.

        Raises ValueError if the corpus is empty, if `vocab_size` is below 256 and the special
        tokens, or if a special token is given twice.
        """
        words = count_words(
            texts, chunks=split_byte_chunks, split=split_byte_words, processes=processes
        )
        vocab, merges = learn_merges(
            {tuple(to_symbols(word)): count for word, count in words.items()},
            first_vocab(
                sorted(SYMBOL_OF_BYTE) if words else (), special_tokens, vocab_size, progress
            ),
            vocab_size,
            min_frequency=min_frequency,
            tie_break=tie_break,
        )
        return cls(vocab, tuple(merges), tuple(special_tokens))

    def _chunks(self, text: str) -> list[str]:
        return split_byte_chunks(text)

    def _words(self, chunk: str) -> list[str]:
        return split_byte_words(chunk)

    def _cut(self, word: str) -> tuple[int, ...]:
        symbols = apply_merges(tuple(to_symbols(word)), self._ranks)
        return tuple([self.vocab[symbol] for symbol in symbols])

    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        return map(self._width_of.__getitem__, ids), places_of_bytes(text)

    def _join(self, tokens: Sequence[str]) -> str:
        """Bytes of an incomplete character, as at a missing token, become U+FFFD."""
        texts = []
        for special, group in groupby(tokens, self.special_tokens.__contains__):
            symbols = "".join(self._symbols_of.get(token, token) for token in group)
            texts.append(symbols if special else from_symbols(symbols))
        return "".join(texts)

    @classmethod
    def from_gpt2(
        cls,
        vocab: str | os.PathLike,
        merges: str | os.PathLike,
        *,
        special_tokens: Sequence[str] = ("<|endoftext|>",),
    ) -> "ByteBPE":
        """Read GPT-2's two files: `vocab.json` (or `encoder.json`), `merges.txt` (`vocab.bpe`).

        Raises FileNotFoundError, or ValueError if one of them is damaged or of another kind.
        """
        tokens = read_json(vocab)
        if not isinstance(tokens, dict) or not all(map(is_whole, tokens.values())):
            raise ValueError(f"{vocab} is not a vocabulary: expected one object, token -> id")
        try:
            lines = check_no_folder(merges).read_text(encoding="utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{merges} is not UTF-8 text ({error}); fetch it again") from error
        rules = [line for line in lines if line and not line.startswith("#version")]
        wrong = [line for line in rules if line.count(" ") != 1]
        if wrong:
            raise ValueError(
                f"{merges} is not a list of merges: each line must be two symbols with a space "
                f"between; got {wrong[0]!r}"
            )
        pairs: Any = (line.split(" ") for line in rules)
        return cls(tokens, pairs, tuple(special_tokens))

    @cached_property
    def _symbols_of(self) -> dict[str, str]:
        """Tokens written in other characters, as their own bytes: so Hugging Face decodes them."""
        others = (token for token in self.vocab if not BYTE_OF_SYMBOL.keys() >= set(token))
        return {token: to_symbols(token) for token in others if token not in self.special_tokens}

    @cached_property
    def _width_of(self) -> dict[int, int]:
        """How many bytes a token represents."""
        return {id: len(token) for token, id in self.vocab.items()}
