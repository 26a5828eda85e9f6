"""Pairs of sentences that belong together, and the same number that do not."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from bertlab.data.corpora import Documents
from course.experiments.labels import Example

Partners = Callable[[list[str], np.random.Generator], Iterator[tuple[str, str]]]
ROUNDS = 4  # pairs that a sentence of `any_two` is in


def draw_pairs(
    documents: Documents,
    partners: Partners,
    labels: tuple[str, str],
    generator: np.random.Generator,
) -> list[Example]:
    """Pairs of one document; half of them get a second sentence from another document.

    partners: gives the pairs of a document; labels: of an unchanged pair, and of a changed one.
    Every sentence is equally likely to be the wrong partner, so neither sentence alone reveals the
    label.

    Raises ValueError if there are fewer than two documents.
    """
    if len(documents) < 2:
        raise ValueError(
            "draw_pairs: documents must be at least two, or no sentence could come from another "
            f"one; got {len(documents)}"
        )
    pairs = [
        (home, *pair) for home, text in enumerate(documents) for pair in partners(text, generator)
    ]
    sentences = [(home, sentence) for home, text in enumerate(documents) for sentence in text]
    parted = set(generator.permutation(len(pairs))[: len(pairs) // 2].tolist())
    examples = []
    for number, (home, first, second) in enumerate(pairs):
        if number in parted:
            second = _from_elsewhere(sentences, home, generator)
        examples.append(Example(first, labels[number in parted], second))
    return examples


def neighbours(document: list[str], _generator: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Every sentence and the one after it."""
    yield from pairwise(document)


def any_two(document: list[str], generator: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Random pairs of a document's sentences, `ROUNDS` times; none with itself."""
    for _ in range(ROUNDS):
        shuffled = [document[n] for n in generator.permutation(len(document))]
        yield from zip(shuffled[::2], shuffled[1::2], strict=False)


def _from_elsewhere(
    sentences: list[tuple[int, str]], home: int, generator: np.random.Generator
) -> str:
    """A sentence of any document except `home`."""
    while True:
        document, sentence = sentences[generator.integers(len(sentences))]
        if document != home:
            return sentence
