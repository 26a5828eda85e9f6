"""Byte pair encoding on characters; the algorithm itself is in `merges.py`.

Not included: bytes (a character never seen in training is unknown) and BERT's normalisation (case
and accents are kept).
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bertlab.tokenizers import tokenizer_json
from bertlab.tokenizers.cutting import Cutter
from bertlab.tokenizers.encoding import UNKNOWN
from bertlab.tokenizers.file_options import BPE_MODEL, Options
from bertlab.tokenizers.learning import TieBreak, first_vocab, learn_merges
from bertlab.tokenizers.offsets import places_of_units
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.tokenizer_reading import TokenizerFile
from bertlab.tokenizers.words import (
    WHITE_SPACES,
    count_words,
    is_punctuation,
    split_chunks,
    split_words,
)


@dataclass(frozen=True, repr=False)
class BPE(Tokenizer):
    """A trained BPE tokenizer; make one with `BPE.train` or `BPE.load`.

    >>> corpus = ["cost best menu men camel", "cost best"]
    >>> bpe = BPE.train(corpus, 14, special_tokens=(), tie_break="highest-id")
    >>> bpe.merges
    (('s', 't'), ('m', 'e'), ('me', 'n'))
    >>> bpe.tokenize("men test")
    ['men', 't', 'e', 'st']
    """

    end_of_word: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_mark("BPE", self.end_of_word)
        self._cutter  # noqa: B018 - rejects merges that do not fit the vocabulary

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
        processes: int = 1,
        progress: bool = False,
    ) -> "BPE":
        """Learn a vocabulary of `vocab_size` tokens from `texts`.

        Ids are assigned in this order: special tokens, the alphabet by code point, merges as
        learned. Without `end_of_word` and with the default `tie_break`, vocabulary and merges
        equal those of Hugging Face's `BpeTrainer`, id by id.

        min_frequency: a pair that occurs less often is not joined.
        tie_break: among pairs of equal count, "lowest-id" takes the one with the oldest symbols,
            "highest-id" the one with the newest (as the worked example of lecture 01 needs).
        end_of_word: a mark, such as "</w>", appended to the last character of each word, so that
            `decode` knows where words end (Sennrich et al., section 3.2).
        processes: count words in this number of processes. progress: show a bar.

        Raises ValueError if the corpus holds no word, if `vocab_size` has no room for the
        special tokens and the alphabet, or if a special token is given twice.
        """
        _check_mark("BPE.train", end_of_word)
        counts = count_words(texts, processes=processes)
        words = {_characters(word, end_of_word): count for word, count in counts.items()}
        # By code point; forms with the end-of-word mark come after all plain characters.
        alphabet = sorted({c for word in words for c in word}, key=lambda c: (len(c) > 1, c))
        vocab, merges = learn_merges(
            words,
            first_vocab(alphabet, special_tokens, vocab_size),
            vocab_size,
            min_frequency=min_frequency,
            tie_break=tie_break,
            progress=progress,
        )
        return cls(vocab, tuple(merges), tuple(special_tokens), end_of_word=end_of_word)

    def _chunks(self, text: str) -> list[str]:
        return split_chunks(text)

    def _words(self, chunk: str) -> list[str]:
        return split_words(chunk)

    def _cut(self, word: str) -> tuple[int, ...]:
        try:
            return self._cutter.cut(_characters(word, self.end_of_word))
        except KeyError as error:
            raise ValueError(
                f"BPE.encode: text holds {error}, which is not in the alphabet learned, and there "
                f'is no unk_token; train with special_tokens=("{UNKNOWN}",) to allow unknown '
                "characters"
            ) from None

    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        places = places_of_units(text, lambda character: character not in WHITE_SPACES)
        return map(self._width_of.__getitem__, ids), places

    def _join(self, tokens: Sequence[str]) -> str:
        """With an end-of-word mark, words are separated by one space.

        Without one, tokens are, because the ends of words are unknown.
        """
        mark = self.end_of_word
        words = [
            token.removesuffix(mark) + " " if token.endswith(mark) else token for token in tokens
        ]
        return "".join(words).removesuffix(" ")

    def _json(self) -> dict[str, Any]:
        mark = self.end_of_word
        return {
            "normalizer": None,
            "pre_tokenizer": tokenizer_json.BERT_WORDS,
            "decoder": {"type": "BPEDecoder", "suffix": mark} if mark else None,
            "model": tokenizer_json.bpe_model(
                self.vocab,
                self.merges,
                unknown=UNKNOWN if UNKNOWN in self.vocab else None,
                end_of_word=mark or None,
            ),
        }

    @classmethod
    def _read(cls, path: str | os.PathLike) -> dict[str, Any]:
        file = TokenizerFile(path, "BPE")
        model = file.model
        file.expect("normalizer", None)
        file.expect("pre-tokenizer", "BertPreTokenizer")
        # Without an unk_token, Hugging Face skips unknown characters, even if there is an [UNK].
        unknown: Options = {"unk_token": (UNKNOWN if UNKNOWN in model["vocab"] else None,)}
        others = ("vocab", "merges", "end_of_word_suffix")
        file.expect("model", "BPE", BPE_MODEL | unknown, others=others)
        mark = ""
        if model.get("end_of_word_suffix") is not None:
            mark = file.entry("model", model, "end_of_word_suffix", str)
        suffix: Options = {"suffix": (mark,)}
        file.expect("decoder", "BPEDecoder" if mark else None, suffix, optional=True)
        return {"end_of_word": mark, **file.common(mark=mark)}

    @cached_property
    def _cutter(self) -> Cutter:
        return Cutter(self.vocab, self.merges, unknown=self.vocab.get(UNKNOWN))

    @cached_property
    def _width_of(self) -> dict[int, int]:
        """How many characters of a text a token covers; an unknown one is always one."""
        return {
            id: 1 if token == UNKNOWN else len(token.removesuffix(self.end_of_word))
            for token, id in self.vocab.items()
        }


def _check_mark(name: str, end_of_word: str) -> None:
    """Raise ValueError unless the mark differs from every possible end of a word."""
    if end_of_word == "":
        return
    if not isinstance(end_of_word, str) or not any(map(is_punctuation, end_of_word)):
        raise ValueError(
            f"{name}: end_of_word must hold a punctuation mark, such as '</w>', so that no word "
            f"can end in it by itself; got {end_of_word!r} (end_of_word_suffix in a file)"
        )


def _characters(word: str, end_of_word: str) -> Sequence[str]:
    """The characters of a word, the last one with the end-of-word mark."""
    return (*word[:-1], word[-1] + end_of_word) if end_of_word else word
