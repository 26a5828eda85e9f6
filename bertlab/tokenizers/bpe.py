"""Byte pair encoding (BPE): which symbols to join, and the tokenizer on characters.

A word is a tuple of symbols, at first its characters. Training repeats `count_pairs`, `best_pair`
and `merge_pair`; `apply_merges` cuts a new word with the learned merges.

Not included: bytes (a character never seen in training is unknown) and BERT's normalisation (case
and accents are kept).

Source: Sennrich et al. (2016), "Neural Machine Translation of Rare Words with Subword Units",
Algorithm 1 (arXiv 1508.07909).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Literal

from tqdm.auto import tqdm

from bertlab.parts import part
from bertlab.tokenizers.checks import check_first_vocab, check_learning, check_merges_fit
from bertlab.tokenizers.tokenizer import Tokenizer, places_of_units
from bertlab.tokenizers.words import (
    UNKNOWN,
    WHITE_SPACES,
    count_words,
    is_punctuation,
    split_chunks,
    split_words,
)

Pair = tuple[str, str]
Word = tuple[str, ...]
Join = Callable[[str, str], str]
TieBreak = Literal["lowest-id", "highest-id"]


@part("01", exercise="01")
def count_pairs(words: Mapping[Word, int]) -> Counter[Pair]:
    """Count how often each pair of neighbouring symbols occurs.

    words: symbols of a word -> how often the word occurs in the corpus.

    >>> count_pairs({("m", "e", "n", "u"): 1, ("m", "e", "n"): 1})["m", "e"]
    2
    """
    counts: Counter[Pair] = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    return counts


@part("01")
def best_pair(
    scores: Mapping[Pair, float], vocab: Mapping[str, int], tie_break: TieBreak = "lowest-id"
) -> Pair:
    """The pair with the highest score; in a tie, the ids of its symbols decide.

    scores: pair -> a number, in BPE its count; vocab: symbol -> id.

    >>> best_pair({("m", "e"): 2, ("s", "t"): 2}, {"e": 0, "m": 1, "s": 2, "t": 3})
    ('m', 'e')
    """
    sign = -1 if tie_break == "lowest-id" else 1

    def strength(pair: Pair) -> tuple[float, int, int]:
        left, right = pair
        return scores[pair], sign * vocab[left], sign * vocab[right]

    return max(scores, key=strength)


@part("01")
def merge_pair(symbols: Word, pair: Pair, join: Join = add) -> Word:
    """Join every occurrence of `pair` in `symbols`, from left to right.

    join: makes one symbol of two.

    >>> merge_pair(("m", "e", "n", "u"), ("m", "e"))
    ('me', 'n', 'u')
    >>> merge_pair(("a", "a", "a"), ("a", "a"))
    ('aa', 'a')
    """
    merged: list[str] = []
    i = 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(join(*pair))
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)


@part("01", twin=True, check=check_learning)
def learn_merges(
    words: Mapping[Word, int],
    vocab: dict[str, int],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
) -> tuple[dict[str, int], list[Pair]]:
    """Join the most frequent pair until the vocabulary holds `vocab_size` symbols.

    words: symbols of a word -> its count; vocab: symbol -> id, with every symbol of `words`.
    Returns the new vocabulary and the merges in the order learned. It stops early if no pair
    occurs `min_frequency` times.
    """
    vocab, merges = vocab.copy(), []
    while len(vocab) < vocab_size:
        counts = count_pairs(words)
        if not counts or max(counts.values()) < min_frequency:
            break
        pair = best_pair(counts, vocab, tie_break)
        vocab.setdefault("".join(pair), len(vocab))
        merges.append(pair)
        words = {merge_pair(symbols, pair): count for symbols, count in words.items()}
    return vocab, merges


@part("01", exercise="01", twin=True)
def apply_merges(symbols: Word, ranks: Mapping[Pair, int]) -> Word:
    """Cut a new word: of the learned pairs in it, join the one learned first; repeat.

    ranks: pair -> its position in the list of merges (0 was learned first).

    >>> apply_merges(("m", "e", "n", "t"), {("m", "e"): 0, ("me", "n"): 1})
    ('men', 't')
    """
    while len(symbols) > 1:
        pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, math.inf))
        if pair not in ranks:
            break
        symbols = merge_pair(symbols, pair)
    return symbols


class Growing(dict):
    """A vocabulary that shows its size in a bar while a training loop adds to it."""

    def __init__(self, vocab: Mapping[str, int], vocab_size: int, progress: bool) -> None:
        super().__init__(vocab)
        self.bar = tqdm(
            total=vocab_size, initial=len(vocab), disable=not progress, desc="vocabulary"
        )

    def copy(self) -> "Growing":
        """Itself: the loop's copy is the one that is shown, and nobody needs this one."""
        return self

    def setdefault(self, symbol: str, id: int) -> int:  # type: ignore[override]
        """The symbol's id; a new symbol gets `id`."""
        self.bar.update(symbol not in self)
        return super().setdefault(symbol, id)


def first_vocab(
    alphabet: Sequence[str], special_tokens: Sequence[str], vocab_size: int, progress: bool = False
) -> dict[str, int]:
    """The vocabulary before the first merge: special tokens, then the alphabet, as given.

    progress: show a bar while the vocabulary grows.

    Raises ValueError if the alphabet is empty, if a special token is given twice, or if
    `vocab_size` is not a whole number or has no room for all of them.
    """
    special = check_first_vocab(alphabet, special_tokens, vocab_size)
    tokens = dict.fromkeys([*special, *alphabet])
    return Growing({token: id for id, token in enumerate(tokens)}, vocab_size, progress)


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
        check_merges_fit(self.vocab, self.merges)

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
            first_vocab(alphabet, special_tokens, vocab_size, progress),
            vocab_size,
            min_frequency=min_frequency,
            tie_break=tie_break,
        )
        return cls(vocab, tuple(merges), tuple(special_tokens), end_of_word=end_of_word)

    def _chunks(self, text: str) -> list[str]:
        return split_chunks(text)

    def _words(self, chunk: str) -> list[str]:
        return split_words(chunk)

    def _cut(self, word: str) -> tuple[int, ...]:
        symbols = apply_merges(_characters(word, self.end_of_word), self._ranks)
        try:
            return tuple([self.vocab[symbol] for symbol in symbols])
        except KeyError as error:
            if UNKNOWN in self.vocab:
                return tuple(self.vocab.get(symbol, self.vocab[UNKNOWN]) for symbol in symbols)
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


def _characters(word: str, end_of_word: str) -> Word:
    """The characters of a word, the last one with the end-of-word mark."""
    return (*word[:-1], word[-1] + end_of_word) if end_of_word else tuple(word)
