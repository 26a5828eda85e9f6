"""Byte pair encoding on bytes, as in GPT-2: no text contains unknown symbols."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from bertlab._files import check_no_folder, read_json
from bertlab.tokenizers import tokenizer_json
from bertlab.tokenizers.byte_level import (
    BYTE_OF_SYMBOL,
    SYMBOL_OF_BYTE,
    from_symbols,
    split_byte_chunks,
    split_byte_words,
    to_bytes,
    to_symbols,
)
from bertlab.tokenizers.checks import is_whole
from bertlab.tokenizers.cutting import Cutter
from bertlab.tokenizers.file_options import BPE_MODEL, BYTE_DECODER, BYTE_LEVEL
from bertlab.tokenizers.learning import TieBreak, first_vocab, learn_merges
from bertlab.tokenizers.offsets import places_of_bytes
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.tokenizer_reading import TokenizerFile
from bertlab.tokenizers.words import count_words

WORDS: dict[str, Any] = {  # Hugging Face's name for `split_byte_words`
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": False,
    "use_regex": True,
}


@dataclass(frozen=True, repr=False)
class ByteBPE(Tokenizer):
    """A trained byte-level BPE tokenizer; make one with `train`, `load` or `from_gpt2`.

    Tokens are written with one printable character per byte, as in GPT-2's own files (`byte_level`
    has the table); `decode(encode(text).ids)` is `text` for every string.

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
        self._cutter  # noqa: B018 - rejects merges that do not fit the vocabulary

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
            {to_symbols(word): count for word, count in words.items()},
            first_vocab(sorted(SYMBOL_OF_BYTE) if words else (), special_tokens, vocab_size),
            vocab_size,
            min_frequency=min_frequency,
            tie_break=tie_break,
            progress=progress,
        )
        return cls(vocab, tuple(merges), tuple(special_tokens))

    def _chunks(self, text: str) -> list[str]:
        return split_byte_chunks(text)

    def _words(self, chunk: str) -> list[str]:
        return split_byte_words(chunk)

    def _cut(self, word: str) -> tuple[int, ...]:
        return self._cutter.ids(to_bytes(word).decode("latin-1").translate(self._character_of))

    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        return map(self._width_of.__getitem__, ids), places_of_bytes(text)

    def _join(self, tokens: Sequence[str]) -> str:
        """Bytes of an incomplete character, as at a missing token, become U+FFFD."""
        texts = []
        for special, group in groupby(tokens, self.special_tokens.__contains__):
            symbols = "".join(self._symbols_of.get(token, token) for token in group)
            texts.append(symbols if special else from_symbols(symbols))
        return "".join(texts)

    def _json(self) -> dict[str, Any]:
        return {
            "normalizer": None,
            "pre_tokenizer": WORDS,
            "decoder": WORDS,
            "model": tokenizer_json.bpe_model(self.vocab, self.merges),
        }

    @classmethod
    def _read(cls, path: str | os.PathLike) -> dict[str, Any]:
        file = TokenizerFile(path, "BPE")
        file.expect("normalizer", None)
        file.expect("pre-tokenizer", "ByteLevel", BYTE_LEVEL)
        options = BPE_MODEL | {"end_of_word_suffix": (None, "")}
        # With any unk_token: if all bytes are in the vocabulary, nothing is unknown.
        file.expect("model", "BPE", options, others=("vocab", "merges", "unk_token"))
        if file.model.get("unk_token") is not None:
            file.entry("model", file.model, "unk_token", str)
        file.expect("decoder", "ByteLevel", BYTE_DECODER, optional=True)
        return file.common()

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
    def _cutter(self) -> Cutter:
        return Cutter(self.vocab, self.merges)

    @cached_property
    def _character_of(self) -> dict[int, str]:
        """The character that represents each byte in the cutter's strings."""
        return {byte: chr(self.vocab[symbol]) for byte, symbol in enumerate(SYMBOL_OF_BYTE)}

    @cached_property
    def _symbols_of(self) -> dict[str, str]:
        """Tokens written in other characters, as their own bytes: so Hugging Face decodes them."""
        others = (token for token in self.vocab if not BYTE_OF_SYMBOL.keys() >= set(token))
        return {token: to_symbols(token) for token in others if token not in self.special_tokens}

    @cached_property
    def _width_of(self) -> dict[int, int]:
        """How many bytes a token represents."""
        return {id: len(token) for token, id in self.vocab.items()}
