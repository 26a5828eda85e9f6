"""WordPiece, as BERT uses it: normalise, split into words, cut each word into pieces."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from bertlab.tokenizers import tokenizer_json
from bertlab.tokenizers.checks import check_gains, check_longest_word, check_normalization
from bertlab.tokenizers.encoding import CLS, MASK, PAD, SEP, UNKNOWN
from bertlab.tokenizers.file_options import (
    BERT_NORMALIZER,
    WORDPIECE_DECODER,
    WORDPIECE_ENTRIES,
    WORDPIECE_MODEL,
)
from bertlab.tokenizers.learning import TieBreak, first_vocab, learn_merges
from bertlab.tokenizers.likelihood import SCORED
from bertlab.tokenizers.longest_match import LongestMatcher, longest_match
from bertlab.tokenizers.normalize import CHUNK, normalize, normalized_places
from bertlab.tokenizers.pieces import CONTINUES, first_alphabet, first_pieces, glue
from bertlab.tokenizers.ranking import Gains, learn_by_score
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.tokenizer_reading import TokenizerFile
from bertlab.tokenizers.vocab_txt import read_vocab, write_vocab
from bertlab.tokenizers.words import count_words, split_chunks, split_words, word_spans

ORDINARY = 100  # characters; longer words are rare, and cut by another algorithm
BERT_SPECIAL_TOKENS = (PAD, UNKNOWN, CLS, SEP, MASK)
CRITERIA = (*SCORED, "frequency")
NORMALIZER = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}


@dataclass(frozen=True, repr=False)
class WordPiece(Tokenizer):
    """A trained WordPiece tokenizer; make one with `train`, `from_vocab` or `load`.

    lowercase, strip_accents: BERT's normalisation (`normalize`); longest_word: a word of more
    characters is [UNK]; gains: each merge's gain in log-likelihood, in nats, if known.

    >>> corpus = ["cost best menu men camel", "cost best"]
    >>> wordpiece = WordPiece.train(corpus, 28, special_tokens=["[UNK]"], criterion="likelihood")
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
        check_normalization("WordPiece", self.lowercase, self.strip_accents)
        check_longest_word("WordPiece", self.longest_word)
        if UNKNOWN not in self.vocab:
            raise ValueError(
                f"WordPiece: vocab must hold {UNKNOWN}, for words that cannot be cut; add it to "
                "special_tokens"
            )

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        *,
        criterion: Literal["gain", "likelihood", "frequency"] = "gain",
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
            the corpus most, as in Schuster & Nakajima (2012). "likelihood": the highest
            n_ab / (n_a n_b), as in textbooks; it prefers rare pairs, so set `min_frequency`.
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
        if criterion not in CRITERIA:
            raise ValueError(
                f"WordPiece.train: criterion must be one of {', '.join(CRITERIA)}; "
                f"got {criterion!r}"
            )
        if UNKNOWN not in special_tokens:
            raise ValueError(
                f"WordPiece.train: special_tokens must hold {UNKNOWN}, for words that cannot be "
                f"cut; got {list(special_tokens)}"
            )
        split = partial(_split_normalized, lowercase=lowercase, strip_accents=strip_accents)
        chunks = partial(split_chunks, chunk=CHUNK)
        counts = count_words(texts, chunks=chunks, split=split, processes=processes)
        words = {first_pieces(word): count for word, count in counts.items()}
        vocab = first_vocab(first_alphabet(words), special_tokens, vocab_size)
        how: Any = {"min_frequency": min_frequency, "tie_break": tie_break, "progress": progress}
        if criterion == "frequency":
            notes = Gains()
            vocab, merges = learn_merges(
                words, vocab, vocab_size, join=glue, before_merge=notes.note, **how
            )
            gains = notes.so_far
        else:
            vocab, merges, gains = learn_by_score(
                words, vocab, vocab_size, SCORED[criterion], **how
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
        vocab = read_vocab(path)
        special = tuple(token for token in BERT_SPECIAL_TOKENS if token in vocab)
        return cls(vocab, (), special, lowercase=lowercase, strip_accents=strip_accents)

    def save_vocab(self, path: str | os.PathLike) -> Path:
        """Write `vocab.txt`, one token per line in the order of ids; returns the path.

        Raises ValueError if the file would give other ids: an id below the highest has no token,
        or a token contains a line break.
        """
        return write_vocab(path, self.vocab)

    def _chunks(self, text: str) -> list[str]:
        return split_chunks(text, CHUNK)

    def _words(self, chunk: str) -> list[str]:
        return _split_normalized(chunk, self.lowercase, self.strip_accents)

    def _cut(self, word: str) -> tuple[int, ...]:
        if ORDINARY < len(word) <= self.longest_word:
            pieces = self._matcher.cut(word)
        else:
            pieces = longest_match(word, self.vocab, self.longest_word)
        return tuple(map(self.vocab.__getitem__, pieces))

    @cached_property
    def _matcher(self) -> LongestMatcher:
        return LongestMatcher(self.vocab, self.longest_word)

    def _widths(self, text: str, ids: Sequence[int]) -> tuple[Iterable[int], Sequence[int]]:
        places = normalized_places(text, **self._normalization)
        if self.vocab[UNKNOWN] not in ids:
            return map(self._width_of.__getitem__, ids), places
        # [UNK] covers its word: the next one if a token does not continue a word.
        words = word_spans(normalize(text, **self._normalization))
        widths = []
        for id in ids:
            if id not in self._continuing:
                start, end = next(words)
            widths.append(self._width_of.get(id, end - start))
        return widths, places

    @property
    def _normalization(self) -> dict[str, Any]:
        return {"lowercase": self.lowercase, "strip_accents": self.strip_accents}

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

    def _json(self) -> dict[str, Any]:
        return {
            "normalizer": NORMALIZER | self._normalization,
            "pre_tokenizer": tokenizer_json.BERT_WORDS,
            "decoder": {"type": "WordPiece", "prefix": CONTINUES, "cleanup": False},
            "model": {
                "type": "WordPiece",
                "unk_token": UNKNOWN,
                "continuing_subword_prefix": CONTINUES,
                "max_input_chars_per_word": self.longest_word,
                "vocab": dict(self.vocab),
                # Hugging Face's library ignores these two.
                "merges": [list(pair) for pair in self.merges],
                "gains": list(self.gains),
            },
        }

    @classmethod
    def _read(cls, path: str | os.PathLike) -> dict[str, Any]:
        file = TokenizerFile(path, "WordPiece")
        model = file.model
        file.expect("normalizer", "BertNormalizer", BERT_NORMALIZER)
        file.expect("pre-tokenizer", "BertPreTokenizer")
        file.expect("model", "WordPiece", WORDPIECE_MODEL, others=WORDPIECE_ENTRIES)
        if UNKNOWN not in model["vocab"]:
            raise ValueError(f"{path}: vocab of the model must hold its unk_token, {UNKNOWN}")
        file.expect("decoder", "WordPiece", WORDPIECE_DECODER, optional=True)
        for name in ("merges", "gains"):  # which only our files have
            model.setdefault(name, [])
        return {
            "lowercase": file.parts["normalizer"]["lowercase"],
            "strip_accents": file.parts["normalizer"].get("strip_accents"),
            "longest_word": model.get("max_input_chars_per_word"),
            "gains": file.entry("model", model, "gains", list),
            **file.common(mark=CONTINUES),
        }


def _split_normalized(chunk: str, lowercase: bool, strip_accents: bool | None) -> list[str]:
    return split_words(normalize(chunk, lowercase=lowercase, strip_accents=strip_accents))
