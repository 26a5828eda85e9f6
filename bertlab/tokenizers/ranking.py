"""Learn merges by a changing score: WordPiece's `likelihood` and `gain`, exactly.

In BPE the count of a pair only falls, so an old count is a bound, and a lazy heap is enough. A
likelihood is different: a merge removes symbols a and b, so n_a and n_b fall, and the score of
*every other* pair with a or b **rises**. Computing all those scores again after each merge is exact
and slow.

`Ranking` stores bounds of scores instead. Both scores rise as n_a and n_b fall. So each pair has
lower limits, floors, for n_a and n_b: while the counts are not below them, the score cannot exceed
its value at the floors. Only when a count falls below a pair's floor does it need a new bound.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from bertlab.tokenizers.learning import corpus_of
from bertlab.tokenizers.likelihood import GAIN, Criterion, gain
from bertlab.tokenizers.merges import Pair
from bertlab.tokenizers.pieces import glue
from bertlab.tokenizers.symbols import BASE, Symbols, TieBreak, Words

if TYPE_CHECKING:
    from bertlab.tokenizers.corpus import Corpus


def learn_by_score(
    words: Words,
    vocab: Mapping[str, int],
    vocab_size: int,
    criterion: Criterion,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
    progress: bool = False,
) -> tuple[dict[str, int], list[Pair], list[float]]:
    """Join the pair with the highest score until the vocabulary holds `vocab_size` symbols.

    The arguments are those of `learning.learn_merges`; symbols are pieces, as `pieces.glue`
    joins them. Returns the new vocabulary, the merges, and each merge's gain in log-likelihood, in
    nats. It stops early if no pair that occurs `min_frequency` times has a score above 0.
    """
    symbols = Symbols(vocab, tie_break, glue)
    corpus = corpus_of(words, symbols)
    unigrams = Unigrams(corpus)
    ranking = Ranking(unigrams, criterion, max(min_frequency, 1))
    gains = []
    with tqdm(total=vocab_size, initial=len(vocab), disable=not progress, desc="vocabulary") as bar:
        while len(symbols.vocab) < vocab_size and (pair := ranking.best()) is not None:
            gains.append(gain(*unigrams.of(pair)))
            new = symbols.add(pair)
            unigrams.take(pair, new)
            ranking.renew(pair, new, corpus.merge(pair, new))
            bar.update(len(symbols.vocab) - bar.n)
    return symbols.vocab, symbols.merges, gains


class Unigrams:
    """How often each symbol occurs in a corpus during merging."""

    def __init__(self, corpus: "Corpus") -> None:
        self.corpus, self.symbols = corpus, corpus.symbols
        self.counts: dict[int, int] = defaultdict(int, corpus.symbol_counts())
        self.total = sum(self.counts.values())
        self._joins: dict[int, tuple[tuple[int, int], int]] = {}

    def joins(self, pair: int) -> int:
        """How often a pair can be joined (see `Corpus.joins`), counted again after a change."""
        a, b = divmod(pair, BASE)
        standing = self.corpus.pair_counts[pair]
        if a != b:
            return standing
        # A count that falls changes the first number, one that rises the second.
        state = standing, len(self.corpus.places[pair])
        known, joins = self._joins.get(pair, (None, 0))
        if known != state:
            joins = self.corpus.joins(pair)
            self._joins[pair] = (state, joins)
        return joins

    def of(self, pair: int, criterion: Criterion = GAIN) -> tuple[int, int, int, int, int, bool]:
        """The arguments of a score: n_ab, n_a, n_b, n, n_made, same (see `likelihood.gain`)."""
        a, b = divmod(pair, BASE)
        n_a, n_b = self.counts[a], self.counts[b]
        if not criterion.of_joins:  # a likelihood needs nothing else
            return self.corpus.pair_counts[pair], n_a, n_b, self.total, 0, a == b
        made = self.symbols.made(pair)
        n_made = self.counts[made] if made is not None else 0
        return self.joins(pair), n_a, n_b, self.total, n_made, a == b

    def take(self, pair: int, new: int) -> None:
        """Update the counts for joining `pair` into `new`; to be called before the merge."""
        joins = self.joins(pair)
        for symbol in divmod(pair, BASE):
            self.counts[symbol] -= joins
        self.counts[new] += joins
        self.total -= joins


class Gains:
    """Records each merge's gain, in nats, while `learning.learn_merges` chooses merges."""

    def __init__(self) -> None:
        self.unigrams: Unigrams | None = None
        self.so_far: list[float] = []

    def note(self, corpus: "Corpus", pair: int, new: int) -> None:
        """Record that `pair` is about to be joined into `new`."""
        self.unigrams = self.unigrams or Unigrams(corpus)
        self.so_far.append(gain(*self.unigrams.of(pair)))
        self.unigrams.take(pair, new)


class Ranking:
    """Pairs in the exact order of their scores, although merges change the scores.

    A heap orders pairs by their bounds, and each symbol has a heap of floors: when its count falls
    below a floor, the floor's pair gets a new bound. The floors of a pair far from the best are
    low and rarely reached; those of a pair near the best are the counts themselves.
    """

    def __init__(self, unigrams: Unigrams, criterion: Criterion, min_frequency: int) -> None:
        self.unigrams, self.criterion, self.min_frequency = unigrams, criterion, min_frequency
        self.heap: list[tuple[float, int]] = []
        self.floors: dict[int, list[tuple[int, int]]] = defaultdict(list)  # symbol -> a heap
        # A pair's current bound and floors. Other entries are outdated.
        self.waiting: dict[int, tuple[float, int, int]] = {}
        self.ways: dict[str, list[int]] = defaultdict(list)  # a piece -> the pairs that make it
        self.highest = 0.0  # the last merge's score, or a lower bound
        self._arrive(unigrams.corpus.pair_counts)

    def best(self) -> int | None:
        """Remove and return the pair with the highest score; None if no score is above 0."""
        while self.heap:
            negative, pair = heappop(self.heap)
            bound, *_ = self.waiting.get(pair, (None,))
            if bound != -negative:
                continue
            if bound <= 0:
                return None
            counts = self.unigrams.of(pair, self.criterion)
            if counts[0] >= self.min_frequency and self.criterion.score(*counts) == bound:
                self.highest = bound
                del self.waiting[pair]
                return pair
            self.highest = min(self.highest, bound)
            self._wait(pair)
        return None

    def renew(self, pair: int, new: int, risen: Iterable[int]) -> None:
        """Correct the bounds after `pair` was joined into `new`, which made `risen` pairs."""
        self._arrive(risen)
        for symbol in set(divmod(pair, BASE)):
            count, floors = self.unigrams.counts[symbol], self.floors[symbol]
            while floors and -floors[0][0] > count:
                floor, other = heappop(floors)
                if -floor in self.waiting.get(other, ())[1:]:
                    self._wait(other)
        # A more frequent symbol raises the scores of other pairs that make it.
        for other in self.ways[self.unigrams.symbols.symbol_of[new]]:
            if other in self.waiting:
                self._wait(other)

    def _arrive(self, pairs: Iterable[int]) -> None:
        """Add pairs that are new, or more frequent than before."""
        for pair in pairs:
            self.ways[self.unigrams.symbols.joined(pair)].append(pair)
            self._wait(pair)

    def _wait(self, pair: int) -> None:
        """Put a pair into the heap, with a bound below the highest score if possible."""
        n_ab, n_a, n_b, n, n_made, same = self.unigrams.of(pair, self.criterion)
        if n_ab < self.min_frequency:
            self.waiting.pop(pair, None)
            return
        bound = self.criterion.score(n_ab, n_a, n_b, n, n_made, same)
        if bound < self.highest:
            share = self.criterion.share(bound, bound + (self.highest - bound) / 5, n_ab)
            # No floor below the number of joins, where a gain is not defined.
            least = 2 * n_ab if same else n_ab
            low_a = min(n_a, max(int(share * n_a), least))
            low_b = min(n_b, max(int(share * n_b), least))
            loose = self.criterion.score(n_ab, low_a, low_b, n, n_made, same)
            if loose < self.highest:
                bound, n_a, n_b = loose, low_a, low_b
        self.waiting[pair] = (bound, n_a, n_b)
        heappush(self.heap, (-bound, pair))
        a, b = divmod(pair, BASE)
        heappush(self.floors[a], (-n_a, pair))
        heappush(self.floors[b], (-n_b, pair))
