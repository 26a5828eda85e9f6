"""Learning merges by a score that moves: WordPiece's `likelihood` and `gain`, exactly.

Under BPE the count of a pair only falls, so an old count is a bound, and a lazy heap will do. A
likelihood is different: a merge takes symbols a and b away, n_a and n_b fall, and with them the
score of *every other* pair that holds a or b **rises**. Scoring all those anew after each merge
is exact and slow.

`Ranking` lets pairs wait under bounds instead. Both scores grow as n_a and n_b fall, so with
floors under n_a and n_b the score cannot exceed what it would be at the floors. Only when a
count falls through the floor that a pair stands on does that pair need a new bound.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from tqdm.auto import tqdm

from bertlab.tokenizers.learning import Corpus, Symbols, TieBreak
from bertlab.tokenizers.likelihood import Criterion, gain
from bertlab.tokenizers.merges import Pair
from bertlab.tokenizers.pieces import glue, ways


def learn_by_score(
    words: Mapping[Sequence[str], int],
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
    joins them. Returns the grown vocabulary, the merges, and for each merge the gain of
    log-likelihood that it brought, in nats. It stops early when no pair that occurs
    `min_frequency` times has a score above 0.
    """
    symbols = Symbols(vocab, tie_break, glue)
    corpus = Corpus(words, symbols)
    unigrams = Unigrams(corpus)
    ranking = Ranking(unigrams, criterion, max(min_frequency, 1))
    gains = []
    with tqdm(total=vocab_size, initial=len(vocab), disable=not progress, desc="merges") as bar:
        while len(symbols.vocab) < vocab_size and (pair := ranking.best()) is not None:
            gains.append(gain(*unigrams.of(pair)))
            new = symbols.add(pair)
            unigrams.take(pair, new)
            ranking.renew(pair, new, corpus.merge(pair, new))
            bar.update(len(symbols.vocab) - bar.n)
    return symbols.vocab, symbols.merges, gains


class Unigrams:
    """How often each symbol stands in a corpus while it is merged."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.symbols = corpus, corpus.symbols
        self.counts: dict[str, int] = defaultdict(int)
        for word, count in zip(corpus.words, corpus.counts, strict=True):
            for character in word:
                self.counts[character] += count
        self.total = sum(self.counts.values())
        self._doubled: dict[str, tuple[int, int]] = {}

    def times(self, pair: str) -> int:
        """How often a pair can be joined: a a a holds a a twice, but only one can be joined."""
        count = self.corpus.pair_counts[pair]
        if pair[0] != pair[1] or count == 0:
            return count
        known, times = self._doubled.get(pair, (None, 0))
        if known != count:  # whatever changes the one number changes the other
            words, counts = self.corpus.words, self.corpus.counts
            places = set(self.corpus.places[pair])
            times = sum(counts[index] * words[index].count(pair) for index in places)
            self._doubled[pair] = (count, times)
        return times

    def of(self, pair: str) -> tuple[int, int, int, int, int, bool]:
        """What a score looks at: n_ab, n_a, n_b, n, n_made, same (see `likelihood.gain`)."""
        a, b = pair
        made = self.symbols.made(pair)
        n_made = self.counts[made] if made is not None else 0
        return self.times(pair), self.counts[a], self.counts[b], self.total, n_made, a == b

    def take(self, pair: str, new: str) -> None:
        """Count what joining `pair` into `new` takes away and brings; to be called before."""
        times = self.times(pair)
        for character in pair:
            self.counts[character] -= times
        self.counts[new] += times
        self.total -= times


class Gains:
    """Notes what each merge brings, in nats, while `learning.learn_merges` goes its own way."""

    def __init__(self) -> None:
        self.unigrams: Unigrams | None = None
        self.so_far: list[float] = []

    def note(self, corpus: Corpus, pair: str, new: str) -> None:
        """Take note that `pair` is about to be joined into `new`."""
        self.unigrams = self.unigrams or Unigrams(corpus)
        self.so_far.append(gain(*self.unigrams.of(pair)))
        self.unigrams.take(pair, new)


class Ranking:
    """Pairs in the order of their scores, exactly, though scores rise behind its back.

    A heap holds each pair under a bound, and each symbol has a heap of floors: when its count
    falls below one, the pair that stands on it gets a new bound. A pair far from the best stands
    on low floors, which hold for long; one near to it stands on its counts themselves.
    """

    def __init__(self, unigrams: Unigrams, criterion: Criterion, min_frequency: int) -> None:
        self.unigrams, self.criterion, self.min_frequency = unigrams, criterion, min_frequency
        self.heap: list[tuple[float, str]] = []
        self.floors: dict[str, list[tuple[int, str]]] = defaultdict(list)  # symbol -> a heap
        # What a pair waits under: its bound and its floors. Other entries are outdated.
        self.waiting: dict[str, tuple[float, int, int]] = {}
        self.highest = 0.0  # the score to beat: that of the last merge, or a bound below it
        for pair in unigrams.corpus.pair_counts:
            self._wait(pair)

    def best(self) -> str | None:
        """Take out the pair with the highest score; None if no score is above 0."""
        while self.heap:
            negative, pair = heappop(self.heap)
            bound, *_ = self.waiting.get(pair, (None,))
            if bound != -negative:
                continue
            if bound <= 0:
                return None
            counts = self.unigrams.of(pair)
            if counts[0] >= self.min_frequency and self.criterion.score(*counts) == bound:
                self.highest = bound
                del self.waiting[pair]
                return pair
            self.highest = min(self.highest, bound)
            self._wait(pair)
        return None

    def renew(self, pair: str, new: str, risen: Iterable[str]) -> None:
        """Correct the bounds after `pair` was joined into `new`, which made `risen` pairs."""
        for other in risen:
            self._wait(other)
        for symbol in set(pair):
            count, floors = self.unigrams.counts[symbol], self.floors[symbol]
            while floors and -floors[0][0] > count:
                floor, other = heappop(floors)
                if -floor in self.waiting.get(other, ())[1:]:
                    self._wait(other)
        # A symbol that stands more often makes the other ways to it look better.
        symbols = self.unigrams.symbols
        for other in map(symbols.characters, ways(symbols.symbol_of[new])):
            if other in self.waiting:
                self._wait(other)

    def _wait(self, pair: str) -> None:
        """Put a pair into the heap, under a bound that lies below the score to beat if it can."""
        n_ab, n_a, n_b, n, n_made, same = self.unigrams.of(pair)
        if n_ab < self.min_frequency:
            self.waiting.pop(pair, None)
            return
        bound = self.criterion.score(n_ab, n_a, n_b, n, n_made, same)
        if bound < self.highest:
            share = self.criterion.share(bound, bound + (self.highest - bound) / 5, n_ab)
            least = 2 * n_ab if same else n_ab
            low_a, low_b = max(int(share * n_a), least), max(int(share * n_b), least)
            loose = self.criterion.score(n_ab, low_a, low_b, n, n_made, same)
            if loose < self.highest:
                bound, n_a, n_b = loose, low_a, low_b
        self.waiting[pair] = (bound, n_a, n_b)
        heappush(self.heap, (-bound, pair))
        for symbol, floor in zip(pair, (n_a, n_b), strict=True):
            heappush(self.floors[symbol], (-floor, pair))
