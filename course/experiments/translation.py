"""A real language pair for lecture 5b: a split without leaks, subwords, batches."""

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from bertlab.tokenizers import ByteBPE
from course.models.seq2seq.vocabulary import END_ID, SPECIALS, Pair, Vocabulary


class Subwords(Vocabulary):
    """The tokens of a trained ByteBPE as the symbols of one vocabulary for both languages.

    Ids 0 to 2 are <pad>, <start> and <end>; the tokenizer's own follow. Encoded texts are cached,
    since training uses each text many times.

    >>> subwords = Subwords(ByteBPE.train(["le noyau, le notebook"], 260))
    >>> subwords.decode([1, *subwords.encode("le noyau"), 2, 0])
    'le noyau'
    """

    def __init__(self, tokenizer: ByteBPE) -> None:
        self.tokenizer = tokenizer
        self.symbols = [*SPECIALS, *sorted(tokenizer.vocab, key=tokenizer.vocab.__getitem__)]
        self._encoded: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The id of each token."""
        if text not in self._encoded:
            self._encoded[text] = [id + len(SPECIALS) for id in self.tokenizer.encode(text).ids]
        return self._encoded[text]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the first <end>, without <start> and padding."""
        ids = list(ids)
        written = ids[: ids.index(END_ID)] if END_ID in ids else ids
        return self.tokenizer.decode([i - len(SPECIALS) for i in written if i >= len(SPECIALS)])


def split_translations(
    pairs: Sequence[Pair], n_held_out: int, seed: int = 0
) -> tuple[list[Pair], list[Pair]]:
    """Training pairs and test pairs; no source is in both.

    Sources that differ only in case, punctuation or spaces count as one, and stay together; of
    those held out, the first is kept. Raises ValueError if nothing would be left for training.
    """
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(" ".join(re.findall(r"\w+", pair.source.lower())), []).append(pair)
    if not 0 < n_held_out < len(groups):
        raise ValueError(
            f"split_translations: n_held_out must be from 1 to {len(groups) - 1}, one less than "
            f"there are different sources; got {n_held_out}"
        )
    order = random.Random(seed).sample(list(groups.values()), len(groups))
    return [p for group in order[n_held_out:] for p in group], [g[0] for g in order[:n_held_out]]


def batches_by_length(
    pairs: Sequence[Pair], vocabulary: Vocabulary, batch_size: int, seed: int = 0
) -> Iterator[list[Pair]]:
    """Endless batches, each of pairs with targets of about the same length: little padding.

    Each epoch takes every pair once, in a new order.
    """
    generator = random.Random(seed)
    while True:
        order = generator.sample(pairs, len(pairs))
        order.sort(key=lambda pair: len(vocabulary.encode(pair.target)))
        batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
        yield from generator.sample(batches, len(batches))
