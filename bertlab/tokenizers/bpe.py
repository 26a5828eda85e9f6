"""A tokenizer made with byte pair encoding; the algorithm itself is in `merges.py`.

Left out: bytes (a character never seen in training is unknown) and BERT's normalisation (case
and accents stay as they are).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from bertlab.tokenizers import tokenizer_json
from bertlab.tokenizers.merges import Pair, TieBreak, apply_merges, learn_merges
from bertlab.tokenizers.words import count_words, is_punctuation, word_spans

UNKNOWN = "[UNK]"
PRE_TOKENIZER = {"type": "BertPreTokenizer"}  # Hugging Face's name for `split_words`


class Encoding(NamedTuple):
    """One encoded text: three lists of the same length."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]  # characters of the text that each token covers


@dataclass(frozen=True, eq=True)
class BPE:
    """A trained BPE tokenizer; make one with `BPE.train` or `BPE.load`.

    >>> corpus = ["cost best menu men camel", "cost best"]
    >>> bpe = BPE.train(corpus, 14, special_tokens=(), tie_break="highest-id")
    >>> bpe.merges
    (('s', 't'), ('m', 'e'), ('me', 'n'))
    >>> bpe.tokenize("men test")
    ['men', 't', 'e', 'st']
    """

    vocab: Mapping[str, int]
    merges: tuple[Pair, ...]
    special_tokens: tuple[str, ...] = ()
    end_of_word: str = ""
    _cache: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vocab", MappingProxyType(dict(self.vocab)))
        object.__setattr__(self, "merges", tuple((left, right) for left, right in self.merges))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        special_tokens: Sequence[str] = (UNKNOWN,),
        min_frequency: int = 1,
        tie_break: TieBreak = "lowest-id",
        end_of_word: str = "",
        progress: bool = False,
    ) -> "BPE":
        """Learn a vocabulary of `vocab_size` tokens from `texts`.

        Ids are given in this order: special tokens, the alphabet by code point, merges as
        learned. Without `end_of_word` and with the default `tie_break`, vocabulary and merges
        equal those of Hugging Face's `BpeTrainer`, id by id.

        min_frequency: a pair that occurs less often is not joined.
        tie_break: among pairs of equal count, "lowest-id" takes the one whose symbols came
            first, "highest-id" the one whose symbols were made last (as the worked example of
            lecture 01 needs).
        end_of_word: a mark, such as "</w>", glued to the last character of each word, so that
            `decode` knows where words end (Sennrich et al., section 3.2).
        progress: show a bar.

        Raises ValueError if the corpus holds no word, if `vocab_size` has no room for the
        special tokens and the alphabet, or if a special token is given twice.
        """
        if tie_break not in ("lowest-id", "highest-id"):
            raise ValueError(
                f'BPE.train: tie_break must be "lowest-id" or "highest-id"; got {tie_break!r}'
            )
        if end_of_word and not any(is_punctuation(character) for character in end_of_word):
            raise ValueError(
                "BPE.train: end_of_word must hold a punctuation mark, such as '</w>', so that no "
                f"word can end in it by itself; got {end_of_word!r}"
            )
        if len(set(special_tokens)) < len(special_tokens):
            raise ValueError(f"BPE.train: special_tokens holds one twice: {list(special_tokens)}")
        words = {
            _characters(word, end_of_word): count for word, count in count_words(texts).items()
        }
        if not words:
            raise ValueError(
                "BPE.train: texts holds no word, so there is nothing to learn from; "
                "check the path or the filter that the texts come from"
            )
        alphabet = {symbol for word in words for symbol in word}
        # By code point; the forms with the end-of-word mark come after all plain characters.
        ordered = sorted(alphabet, key=lambda symbol: (len(symbol) > 1, symbol))
        tokens = list(dict.fromkeys([*special_tokens, *ordered]))
        if vocab_size < len(tokens):
            raise ValueError(
                f"BPE.train: vocab_size must be at least {len(tokens)} for this corpus "
                f"({len(special_tokens)} special tokens and an alphabet of {len(alphabet)}); "
                f"got {vocab_size}"
            )
        vocab, merges = learn_merges(
            words,
            {token: id for id, token in enumerate(tokens)},
            vocab_size,
            min_frequency=min_frequency,
            tie_break=tie_break,
            progress=progress,
        )
        return cls(vocab, tuple(merges), tuple(special_tokens), end_of_word)

    def tokenize(self, text: str) -> list[str]:
        """Cut `text` into tokens; a character that is not in the alphabet becomes [UNK]."""
        return self.encode(text).tokens

    def encode(self, text: str) -> Encoding:
        """Turn `text` into ids, tokens and offsets (`text[start:end]` is what a token covers).

        Raises ValueError if `text` holds an unknown character and the vocabulary has no [UNK].
        """
        encoding = Encoding([], [], [])
        for start, end in word_spans(text):
            for symbol in self._cut(text[start:end]):
                width = len(symbol) - (len(self.end_of_word) if self._ends(symbol) else 0)
                token = symbol if symbol in self.vocab else self._unknown(symbol)
                encoding.ids.append(self.vocab[token])
                encoding.tokens.append(token)
                encoding.offsets.append((start, start + width))
                start += width
        return encoding

    def decode(self, ids: Iterable[int]) -> str:
        """Turn ids back into text, without special tokens.

        With an end-of-word mark the words come back whole, one space apart; without one the
        tokens do, since nothing says where a word ended.

        Raises ValueError if an id is not in the vocabulary.
        """
        tokens = []
        for id in ids:
            if id not in self._token_of:
                raise ValueError(
                    f"BPE.decode: ids must be from 0 to {len(self.vocab) - 1}; got {id}"
                )
            if self._token_of[id] not in self.special_tokens:
                tokens.append(self._token_of[id])
        if not self.end_of_word:
            return " ".join(tokens)
        pieces = [
            token.removesuffix(self.end_of_word) + " " if self._ends(token) else token
            for token in tokens
        ]
        return "".join(pieces).removesuffix(" ")

    def save(self, path: str | os.PathLike) -> Path:
        """Write the tokenizer as Hugging Face's `tokenizer.json`; returns the path."""
        decoder = {"type": "BPEDecoder", "suffix": self.end_of_word} if self.end_of_word else None
        model = {
            "type": "BPE",
            "dropout": None,
            "unk_token": UNKNOWN if UNKNOWN in self.vocab else None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": self.end_of_word or None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": dict(self.vocab),
            "merges": [list(pair) for pair in self.merges],
        }
        added = {token: self.vocab[token] for token in self.special_tokens}
        return tokenizer_json.write(path, model, added, PRE_TOKENIZER, decoder)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "BPE":
        """Read a `tokenizer.json` that holds a BPE model.

        Raises FileNotFoundError, or ValueError if the file is damaged or of another kind.
        """
        content = tokenizer_json.read(path, "BPE", PRE_TOKENIZER)
        model = content["model"]
        return cls(
            model["vocab"],
            model["merges"],
            tuple(token["content"] for token in content["added_tokens"]),
            model.get("end_of_word_suffix") or "",
        )

    @cached_property
    def _ranks(self) -> dict[Pair, int]:
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def _token_of(self) -> dict[int, str]:
        return {id: token for token, id in self.vocab.items()}

    def _cut(self, word: str) -> tuple[str, ...]:
        """The symbols of one word; words repeat, so the answer is kept."""
        if word not in self._cache:
            if len(self._cache) >= 100_000:
                self._cache.clear()
            self._cache[word] = apply_merges(_characters(word, self.end_of_word), self._ranks)
        return self._cache[word]

    def _ends(self, symbol: str) -> bool:
        return bool(self.end_of_word) and symbol.endswith(self.end_of_word)

    def _unknown(self, symbol: str) -> str:
        if UNKNOWN not in self.vocab:
            raise ValueError(
                f"BPE.encode: text holds {symbol!r}, which is not in the alphabet learned; "
                f'train with special_tokens=("{UNKNOWN}",) to allow unknown characters'
            )
        return UNKNOWN


def _characters(word: str, end_of_word: str) -> tuple[str, ...]:
    """The characters of a word, the last one with the end-of-word mark."""
    return (*word[:-1], word[-1] + end_of_word)
