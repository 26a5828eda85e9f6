"""The words of a corpus with their counts: row i of every matrix here belongs to word i."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bertlab.tokenizers.checks import entries

Sentence = Sequence[str]


@dataclass(frozen=True)
class Vocabulary:
    """Words, the most frequent first, and how often each occurs.

    Words of equal count are in the order of the corpus.

    >>> vocabulary = Vocabulary.of([["the", "cat", "saw", "the", "dog"], ["the", "cat"]])
    >>> vocabulary.words
    ('the', 'cat', 'saw', 'dog')
    >>> vocabulary.encode(["dog", "saw", "it"])
    [3, 2]
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(
        cls, sentences: Iterable[Sentence], *, min_count: int = 1, max_size: int | None = None
    ) -> "Vocabulary":
        """Count the words of sentences; rare ones are omitted.

        min_count: how often a word must occur; max_size: keep this number of the most frequent
        words. Raises ValueError if no word is left, or if a sentence is a string; TypeError if a
        word is not one.
        """
        counts: Counter[str] = Counter()
        for sentence in entries("Vocabulary.of", "sentences", sentences):
            if isinstance(sentence, str):
                raise ValueError(
                    "Vocabulary.of: a sentence must be a list of words; got the string "
                    f"{sentence[:40]!r}; split it first"
                )
            counts.update(sentence)
        if odd := [word for word in counts if not isinstance(word, str)]:
            raise TypeError(f"Vocabulary.of: words must be strings; got {odd[0]!r}; omit it")
        kept = [(word, n) for word, n in counts.most_common(max_size) if n >= min_count]
        if not kept:
            raise ValueError(
                f"Vocabulary.of: some word must occur at least {min_count} times; got "
                f"{len(counts)} different words, the most frequent "
                f"{max(counts.values(), default=0)} times"
            )
        words, numbers = zip(*kept, strict=True)
        return cls(words, numbers)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> its number."""
        return {word: id for id, word in enumerate(self.words)}

    def encode(self, sentence: Sentence) -> list[int]:
        """The ids of the known words; the others are skipped, as in word2vec."""
        return [self.ids[word] for word in sentence if word in self.ids]


def replace_rare(
    sentences: Iterable[Sentence], vocabulary: Vocabulary, unknown: str = "<unk>"
) -> list[list[str]]:
    """Sentences in which every word outside the vocabulary is replaced by `unknown`.

    >>> replace_rare([["the", "okapi", "sat"]], Vocabulary(("the", "sat"), (9, 3)))
    [['the', '<unk>', 'sat']]
    """
    return [
        [word if word in vocabulary else unknown for word in sentence] for sentence in sentences
    ]
