"""WordPiece, as BERT uses it: normalise, split into words, cut each word into pieces.

A word is a tuple of pieces; `##` marks those that continue it. Which merge is best? The one that
makes the corpus more likely. The language model is the simplest one: each symbol x has the
probability n_x / N, with n_x its occurrences among the N symbols of the corpus, and the symbols are
independent. Two answers:

- `ratio`: p(ab) / (p(a) p(b)), up to the factor N: how much more often a and b are adjacent than by
  chance (the exponential of a pointwise mutual information); textbooks call it the likelihood;
- `gain`: by how many nats the log-likelihood of the whole corpus rises when a and b are joined.

Sources: Schuster & Nakajima (2012), "Japanese and Korean Voice Search", section 2, whose words
mean `gain`; most textbooks print `ratio`. Devlin et al. (2019), `WordpieceTokenizer`, for
`longest_match`.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from math import log, log1p
from pathlib import Path
from typing import Literal

from bertlab.parts import part
from bertlab.tokenizers.bpe import (
    Pair,
    TieBreak,
    Word,
    best_pair,
    count_pairs,
    first_vocab,
    merge_pair,
)
from bertlab.tokenizers.checks import (
    check_criterion,
    check_gains,
    check_learning,
    check_wordpiece,
)
from bertlab.tokenizers.tokenizer import Tokenizer, places_of_units
from bertlab.tokenizers.words import (
    BERT_CHUNK,
    CLS,
    CONTINUES,
    MASK,
    PAD,
    SEP,
    UNKNOWN,
    count_words,
    normalize,
    replacements,
    split_chunks,
    split_words,
    word_spans,
)


@part("02")
def first_pieces(word: str) -> tuple[str, ...]:
    """The characters of a word as pieces, before anything is joined.

    >>> first_pieces("men")
    ('m', '##e', '##n')
    """
    return (word[0], *(CONTINUES + character for character in word[1:]))


def first_alphabet(words: Collection[tuple[str, ...]]) -> list[str]:
    """The pieces a vocabulary starts with: every character, and those that continue a word.

    words: in first pieces. Any character may start a word, so each is included without `##`.

    >>> first_alphabet([("m", "##e"), ("e",)])
    ['e', 'm', '##e']
    """
    starts = {piece.removeprefix(CONTINUES) for word in words for piece in word}
    continuations = {piece for word in words for piece in word[1:]}
    return [*sorted(starts), *sorted(continuations)]


@part("02", exercise="02")
def glue(left: str, right: str) -> str:
    """Join two pieces.

    >>> glue("m", "##e"), glue("##e", "##n")
    ('me', '##en')
    """
    return left + right.removeprefix(CONTINUES)


@part("02")
def ratio(
    n_ab: int,
    n_a: int,
    n_b: int,
    n: int = 0,  # noqa: ARG001 - as `gain` has it, and so the other two
    n_made: int = 0,  # noqa: ARG001
    same: bool = False,  # noqa: ARG001
) -> float:
    """n_ab / (n_a n_b), the score of the textbooks, which call it the likelihood.

    n_ab: how often a and b are adjacent, as in `bpe.count_pairs`: twice in a a a, where `gain`
    counts once; n_a, n_b: occurrences of each.

    The last three arguments are ignored; they are those of `gain`.

    >>> ratio(4, 4, 4), ratio(3, 3, 6)
    (0.25, 0.16666666666666666)
    """
    return n_ab / (n_a * n_b)


@part("02")
def gain(n_ab: int, n_a: int, n_b: int, n: int, n_made: int = 0, same: bool = False) -> float:
    """How much the log-likelihood of the corpus rises, in nats, if a and b are joined.

    n_ab: how often they will be joined: once in a a a, although a a occurs twice, since only joins
    change the corpus; n_a, n_b: occurrences of each; n: symbols in the corpus; n_made:
    occurrences of the symbol `ab` so far (it may have been made from other parts); same: whether
    a and b are one symbol, which then loses two for each join.

    The log-likelihood is the sum of n_x ln(n_x / n) over all symbols x. With f(x) = x ln x that is
    sum f(n_x) - f(n), and a merge with k = n_ab changes four of these terms:

        f(n_a - k) - f(n_a) + f(n_b - k) - f(n_b) + f(n_made + k) - f(n_made) + f(n) - f(n - k)

    >>> round(gain(4, 4, 4, 28), 2)
    11.48
    """
    lost = _drop(n_a, 2 * n_ab) if same else _drop(n_a, n_ab) + _drop(n_b, n_ab)
    return _drop(n_made + n_ab, n_ab) + _drop(n, n_ab) - lost


def _drop(x: int, k: int) -> float:
    """f(x) - f(x - k) for f(x) = x ln x, without the rounding error of the difference."""
    return x * log(x) if k == x else k * log(x) - (x - k) * log1p(-k / x)


def frequency(n_ab: int, *_: float) -> float:
    """n_ab: WordPiece as Hugging Face trains it, which is BPE on pieces."""
    return n_ab


SCORES: dict[str, Callable[..., float]] = {
    "gain": gain,
    "ratio": ratio,
    "frequency": frequency,
    "likelihood": ratio,  # another name of the ratio, not the likelihood of the corpus
}


@part("02")
def count_symbols(words: Mapping[Word, int]) -> Counter[str]:
    """How often each symbol occurs.

    words: symbols of a word -> how often the word occurs in the corpus.
    """
    n: Counter[str] = Counter()
    for symbols, count in words.items():
        for symbol in symbols:
            n[symbol] += count
    return n


@part("02")
def count_joins(words: Mapping[Word, int]) -> Counter[Pair]:
    """How often each pair of neighbours can be joined: as `count_pairs`, but once in a a a.

    >>> count_joins({("a", "a", "a", "b"): 1})
    Counter({('a', 'a'): 1, ('a', 'b'): 1})
    """
    joins = count_pairs(words)
    for symbols, count in words.items():
        for symbol, run in groupby(symbols):
            length = len(list(run))
            if length > 2:
                joins[symbol, symbol] -= count * (length - 1 - length // 2)
    return joins


@part("02")
def pair_scores(
    words: Mapping[Word, int], score: Callable[..., float], min_frequency: int = 1
) -> dict[Pair, float]:
    """The score of each pair of neighbours that occurs at least `min_frequency` times.

    score: `gain`, `ratio` or another function of the same numbers.
    """
    n = count_symbols(words)
    total = n.total()
    counts = count_joins(words) if score is gain else count_pairs(words)
    return {
        (a, b): score(count, n[a], n[b], total, n[glue(a, b)], a == b)
        for (a, b), count in counts.items()
        if count >= min_frequency
    }


@part("02", twin=True, check=check_learning)
def learn_pieces(
    words: Mapping[Word, int],
    vocab: dict[str, int],
    vocab_size: int,
    *,
    criterion: str = "gain",
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
) -> tuple[dict[str, int], list[Pair], list[float]]:
    """Join the pair with the highest score until the vocabulary holds `vocab_size` pieces.

    The arguments are those of `bpe.learn_merges`; words are in pieces, as `first_pieces` cuts
    them; criterion: "gain", "ratio" or "frequency". Returns the new vocabulary, the merges, and
    each merge's gain in log-likelihood, in nats. It stops early if no pair that occurs
    `min_frequency` times has a score above 0.
    """
    vocab, merges, gains = vocab.copy(), [], []
    while len(vocab) < vocab_size:
        scores = pair_scores(words, SCORES[criterion], min_frequency)
        if max(scores.values(), default=0) <= 0:
            break
        pair = best_pair(scores, vocab, tie_break)
        gains.append(pair_scores(words, gain)[pair])
        vocab.setdefault(glue(*pair), len(vocab))
        merges.append(pair)
        words = {merge_pair(symbols, pair, glue): count for symbols, count in words.items()}
    return vocab, merges, gains


@part("02", exercise="02", twin=True)
def longest_match(word: str, vocab: Collection[str], longest_word: int = 100) -> list[str]:
    """Cut a word into pieces of the vocabulary, from left to right, the longest first.

    A word that cannot be cut completely, or of more than `longest_word` characters, becomes one
    [UNK]. Source: Devlin et al. (2019), `WordpieceTokenizer`.

    >>> longest_match("menus", {"me", "men", "##u", "##us", "##s"})
    ['men', '##us']
    >>> longest_match("mental", {"men"})
    ['[UNK]']
    """
    if len(word) > longest_word:
        return [UNKNOWN]
    pieces, start = [], 0
    while start < len(word):
        mark = CONTINUES if start else ""
        for end in range(len(word), start, -1):
            piece = mark + word[start:end]
            if piece in vocab:
                break
        else:
            return [UNKNOWN]
        pieces.append(piece)
        start = end
    return pieces


BERT_SPECIAL_TOKENS = (PAD, UNKNOWN, CLS, SEP, MASK)


@dataclass(frozen=True, repr=False)
class WordPiece(Tokenizer):
    """A trained WordPiece tokenizer; make one with `train`, `from_vocab` or `load`.

    lowercase, strip_accents: BERT's normalisation (`normalize`); longest_word: a word of more
    characters is [UNK]; gains: each merge's gain in log-likelihood, in nats, if known.

    >>> corpus = ["cost best menu men camel", "cost best"]
    >>> wordpiece = WordPiece.train(corpus, 28, special_tokens=["[UNK]"], criterion="ratio")
    >>> wordpiece.tokenize("Men cost")
    ['m', '##e', '##n', 'cost']
    """

    lowercase: bool = True
    strip_accents: bool | None = None
    longest_word: int = 100
    gains: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gains", check_gains("WordPiece", self.gains, len(self.merges)))
        check_wordpiece(self, UNKNOWN)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        criterion: Literal["gain", "ratio", "frequency", "likelihood"] = "gain",
        special_tokens: Sequence[str] = BERT_SPECIAL_TOKENS,
        min_frequency: int = 1,
        tie_break: TieBreak = "lowest-id",
        lowercase: bool = True,
        strip_accents: bool | None = None,
        processes: int = 1,
        progress: bool = False,
    ) -> "WordPiece":
        """Learn a vocabulary of `vocab_size` tokens from `texts`.

        criterion: which pair is joined next. "gain": the one that raises the log-likelihood of
            the corpus most, as in Schuster & Nakajima (2012). "ratio", or "likelihood" as in
            textbooks: the highest n_ab / (n_a n_b); it prefers rare pairs, so set `min_frequency`.
            "frequency": the most frequent, as in BPE and in Hugging Face's `WordPieceTrainer`,
            whose ids change from run to run.
        lowercase, strip_accents: for an uncased model True and None, for a cased one False.

        The other arguments are those of `BPE.train`. Ids: special tokens, characters that start a
        word, characters that continue one (`##e`), both by code point, merges as learned.
        Training stops early if no pair occurs `min_frequency` times or, by gain, if no merge would
        raise the likelihood.

        Raises ValueError if the corpus holds no word, if `vocab_size` has no room for special
        tokens and alphabet, if a special token is given twice, or [UNK] is not among them.
        """
        check_criterion(criterion, SCORES, special_tokens, UNKNOWN)
        split = partial(_split_normalized, lowercase=lowercase, strip_accents=strip_accents)
        chunks = partial(split_chunks, chunk=BERT_CHUNK)
        counts = count_words(texts, chunks=chunks, split=split, processes=processes)
        words = {first_pieces(word): count for word, count in counts.items()}
        vocab, merges, gains = learn_pieces(
            words,
            first_vocab(first_alphabet(words), special_tokens, vocab_size, progress),
            vocab_size,
            criterion=criterion,
            min_frequency=min_frequency,
            tie_break=tie_break,
        )
        return cls(
            vocab,
            tuple(merges),
            tuple(special_tokens),
            lowercase=lowercase,
            strip_accents=strip_accents,
            gains=tuple(gains),
        )

    @classmethod
    def from_vocab(
        cls,
        path: str | os.PathLike,
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
    ) -> "WordPiece":
        """Read a published model's `vocab.txt`: one token per line, its id is the line's number.

        lowercase: True for an uncased model, False for a cased one.

        Raises FileNotFoundError, or ValueError if the file is not a vocabulary.
        """
        from bertlab.tokenizers.files import read_vocab

        vocab = read_vocab(path)
        special = tuple(token for token in BERT_SPECIAL_TOKENS if token in vocab)
        return cls(vocab, (), special, lowercase=lowercase, strip_accents=strip_accents)

    def save_vocab(self, path: str | os.PathLike) -> Path:
        """Write `vocab.txt`, one token per line in the order of ids; returns the path.

        Raises ValueError if the file would give other ids: an id below the highest has no token,
        or a token contains a line break.
        """
        from bertlab.tokenizers.files import write_vocab

        return write_vocab(path, self.vocab)

    def _chunks(self, text: str) -> list[str]:
        return split_chunks(text, BERT_CHUNK)

    def _words(self, chunk: str) -> list[str]:
        return _split_normalized(chunk, self.lowercase, self.strip_accents)

    def _cut(self, word: str) -> tuple[int, ...]:
        pieces = longest_match(word, self.vocab, self.longest_word)
        return tuple([self.vocab[piece] for piece in pieces])

    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        # The units are the characters of the normalised text, without white space.
        replacement = replacements(self.lowercase, self.strip_accents)
        places = places_of_units(text, lambda character: len(replacement[ord(character)].strip()))
        if self.vocab[UNKNOWN] not in ids:
            return map(self._width_of.__getitem__, ids), places
        # [UNK] covers its word: the next one if a token does not continue a word.
        words = word_spans(
            normalize(text, lowercase=self.lowercase, strip_accents=self.strip_accents)
        )
        widths = []
        for id in ids:
            if id not in self._continuing:
                start, end = next(words)
            widths.append(self._width_of.get(id, end - start))
        return widths, places

    @cached_property
    def _continuing(self) -> set[int]:
        return {id for piece, id in self.vocab.items() if piece.startswith(CONTINUES)}

    @cached_property
    def _width_of(self) -> dict[int, int]:
        """How many characters a piece covers; [UNK], which covers a whole word, is not here."""
        return {
            id: len(piece.removeprefix(CONTINUES))
            for piece, id in self.vocab.items()
            if piece != UNKNOWN
        }

    def _join(self, tokens: Sequence[str]) -> str:
        """Pieces joined, words and punctuation marks separated by one space."""
        return " ".join(tokens).replace(f" {CONTINUES}", "")


def _split_normalized(chunk: str, lowercase: bool, strip_accents: bool | None) -> list[str]:
    return split_words(normalize(chunk, lowercase=lowercase, strip_accents=strip_accents))
