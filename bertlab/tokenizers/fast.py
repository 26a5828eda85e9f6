"""The fast twins of this room's parts. `bertlab.parts` says when they run.

Two ideas make learning fast. A merge changes few words, so counts are corrected only where the
pair was. The words are one long row of symbols, and for each pair its places in the row are known:

    EDGE  m  e  n  u  EDGE  m  e  n  EDGE

A symbol is an integer here, and a place is an index into the row. A merge writes the new symbol
at the place of the left one and removes the place of the right one: `after` and `before` link
each place to its neighbours, as in a linked list. So the cost of a merge depends on the number of
joins, not on the length of words.

And in BPE the count of an existing pair can only fall, so pairs are stored by
count, and an outdated count is harmless: it is corrected when the pairs of that count are
processed.

Ratio and gain are different: a merge removes symbols a and b, so n_a and n_b fall, and the score of
*every other* pair with a or b **rises**. Computing all those scores again after each merge is exact
and slow. `Ranking` stores bounds of scores instead. Both scores rise as n_a and n_b fall. So each
pair has lower limits, floors, for n_a and n_b: while the counts are not below them, the score
cannot exceed its value at the floors. Only when a count falls below a pair's floor does it need a
new bound.
"""

from array import array
from bisect import insort
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from inspect import unwrap
from itertools import pairwise, repeat
from math import exp, inf, sqrt
from operator import add, neg
from typing import Any, NamedTuple

import numpy as np

from bertlab.tokenizers import wordpiece
from bertlab.tokenizers.bpe import Join, Pair, TieBreak
from bertlab.tokenizers.wordpiece import gain, glue, ratio
from bertlab.tokenizers.words import CONTINUES, UNKNOWN

LONG = 128  # symbols; from about here on `LongWord` is faster
ORDINARY = 100  # characters; longer words are rare, and cut by another algorithm

# Parts as they are: a call through their names, by the million, would cost time.
join_pieces, ratio_of, gain_of = unwrap(glue), unwrap(ratio), unwrap(gain)
match_simply = unwrap(wordpiece.longest_match)

Words = Mapping[tuple[str, ...], int]  # the symbols of a word -> how often the word occurs

EDGE = 0  # before and after each word, and in place of a removed symbol
BASE = 2**31  # the pair of symbols a and b is a * BASE + b: one number, fast to look up


class Symbols:
    """Symbols and their numbers, from 1 to BASE - 1.

    Numbers rise with the ids, or fall if ties go to the highest id: in both cases the lowest pair
    wins a tie.
    """

    def __init__(self, vocab: dict[str, int], tie_break: TieBreak, join: Join) -> None:
        self.vocab, self.join = vocab.copy(), join
        self.merges: list[Pair] = []
        self.lowest_first = tie_break == "lowest-id"
        self.symbol_of = {self.number(symbol): symbol for symbol in vocab}

    def number(self, symbol: str) -> int:
        """The number of a symbol."""
        id = self.vocab[symbol]
        return id + 1 if self.lowest_first else BASE - 1 - id

    def parts(self, pair: int) -> Pair:
        """The two symbols of a pair."""
        a, b = divmod(pair, BASE)
        return self.symbol_of[a], self.symbol_of[b]

    def joined(self, pair: int) -> str:
        """The symbol that a pair becomes, which need not exist yet."""
        return self.join(*self.parts(pair))

    def made(self, pair: int) -> int | None:
        """The number of the symbol that a pair would become, None if it does not exist yet."""
        symbol = self.join(*self.parts(pair))
        return self.number(symbol) if symbol in self.vocab else None

    def add(self, pair: int) -> int:
        """Learn a merge; returns the number of the pair's new symbol.

        One symbol can be made in two ways, `ab` + `c` and `a` + `bc`: it keeps its first id.
        """
        left, right = self.parts(pair)
        symbol = self.join(left, right)
        self.vocab.setdefault(symbol, len(self.vocab))
        self.merges.append((left, right))
        number = self.number(symbol)
        self.symbol_of[number] = symbol
        return number


def learn_merges(
    words: Words,
    vocab: dict[str, int],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
) -> tuple[dict[str, int], list[Pair]]:
    """With counts corrected after each merge."""
    symbols = Symbols(vocab, tie_break, add)
    learn_by_count(Corpus(words, symbols), vocab_size, min_frequency)
    return symbols.vocab, symbols.merges


def learn_pieces(
    words: Words,
    vocab: dict[str, int],
    vocab_size: int,
    *,
    criterion: str = "gain",
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
) -> tuple[dict[str, int], list[Pair], list[float]]:
    """With scores computed again only where a bound says so."""
    symbols = Symbols(vocab, tie_break, join_pieces)
    unigrams, gains = Unigrams(Corpus(words, symbols)), []

    def note(pair: int, new: int) -> None:
        gains.append(gain_of(*unigrams.of(pair)))
        unigrams.take(pair, new)

    if criterion == "frequency":
        learn_by_count(unigrams.corpus, vocab_size, min_frequency, note)
    else:
        ranking = Ranking(unigrams, CRITERIA[criterion], max(min_frequency, 1))
        while len(symbols.vocab) < vocab_size and (pair := ranking.best()) is not None:
            new = symbols.add(pair)
            note(pair, new)
            ranking.renew(pair, new, unigrams.corpus.merge(pair, new))
    return symbols.vocab, symbols.merges, gains


def apply_merges(symbols: Sequence[str], ranks: Mapping[Pair, int]) -> tuple[str, ...]:
    """With the rank of each pair of neighbours in a list, corrected at each merge.

    Of the word's pairs, the one learned first is joined, the leftmost of several.
    """
    if len(symbols) >= LONG:
        return LongWord(symbols, ranks).join()
    left, rank_of, never = list(symbols), ranks.get, len(ranks)
    found = list(map(rank_of, pairwise(symbols), repeat(never)))
    while found and (rank := min(found)) < never:
        place = found.index(rank)
        new = left[place] + left[place + 1]
        left[place] = new
        del left[place + 1], found[place]
        if place > 0:
            found[place - 1] = rank_of((left[place - 1], new), never)
        if place < len(found):
            found[place] = rank_of((new, left[place + 1]), never)
    return tuple(left)


def longest_match(word: str, vocab: Collection[str], longest_word: int = 100) -> list[str]:
    """In linear time for a word of more than 100 characters, which is rare."""
    if ORDINARY < len(word) <= longest_word:
        return _matcher(Known(vocab)).cut(word)
    return match_simply(word, vocab, longest_word)


def learn_by_count(
    corpus: "Corpus",
    vocab_size: int,
    min_frequency: int,
    before_merge: Callable[[int, int], None] | None = None,
) -> None:
    """Join the most frequent pair again and again.

    before_merge: called before each merge with the pair and its new symbol.
    """
    symbols, pair_counts = corpus.symbols, corpus.pair_counts
    pairs_of: dict[int, list[int]] = defaultdict(list)  # count -> pairs
    counts: list[int] = []  # a heap of the counts, negated

    def store(pair: int, count: int) -> None:
        if count not in pairs_of:
            heappush(counts, -count)
        pairs_of[count].append(pair)

    for pair, count in pair_counts.items():
        store(pair, count)
    while counts and len(symbols.vocab) < vocab_size:
        highest = -heappop(counts)
        if highest < max(min_frequency, 1):
            break
        # The lowest pair wins a tie: it is last, where a list is fast.
        tied = sorted(pairs_of.pop(highest), reverse=True)
        while tied and len(symbols.vocab) < vocab_size:
            pair = tied.pop()
            if pair_counts[pair] < highest:
                store(pair, pair_counts[pair])
                continue
            new = symbols.add(pair)
            if before_merge is not None:
                before_merge(pair, new)
            for risen in corpus.merge(pair, new):
                count = pair_counts[risen]
                if count == highest:
                    insort(tied, risen, key=neg)
                else:
                    store(risen, count)
            if counts and -counts[0] > highest:
                # A symbol that can be made in two ways was now made in the second way.
                for waiting in tied:
                    store(waiting, highest)
                break


class Criterion(NamedTuple):
    """A way to choose merges, for `Ranking`.

    score(n_ab, n_a, n_b, n, n_made, same) rises as n_a and n_b fall. share(score, target, n_ab):
    the share of both, about, to which they must fall for the score to rise to the target. of_joins:
    whether n_ab of a a a is 1, the possible joins, or 2, the occurrences of a a.
    """

    score: Callable[[int, int, int, int, int, bool], float]
    share: Callable[[float, float, int], float]
    of_joins: bool


# The ratio goes with 1 / (n_a n_b), the gain with - n_ab (ln n_a + ln n_b).
RATIO = Criterion(ratio_of, lambda score, target, _: sqrt(score / target), False)
GAIN = Criterion(gain_of, lambda score, target, n_ab: exp((score - target) / (2 * n_ab)), True)
CRITERIA = {"gain": GAIN, "ratio": RATIO, "likelihood": RATIO}  # two names, as in `SCORES`


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
        """The arguments of a score: n_ab, n_a, n_b, n, n_made, same (see `wordpiece.gain`)."""
        a, b = divmod(pair, BASE)
        n_a, n_b = self.counts[a], self.counts[b]
        if not criterion.of_joins:  # a ratio needs nothing else
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


class LongWord:
    """Replays merges on a long word in time linear in its length, not quadratic.

    DNA, base64, minified code and languages without spaces give long words. Two steps of
    `apply_merges` pass over the whole word at each merge: finding the lowest rank, and deleting
    from a list. Here all places of a rank are collected and processed in one pass from left to
    right, and each symbol is linked to its neighbours, so that nothing moves.

    word: its symbols; ranks: pair -> its position in the list of merges.
    """

    def __init__(self, word: Sequence[str], ranks: Mapping[Pair, int]) -> None:
        self.rank_of = ranks
        self.pair_of: dict[int, Pair] = {}  # of the ranks in this word
        # "" is where a symbol was joined to its left neighbour, and beyond both ends.
        self.symbols = [*word, ""]
        self.before, self.after = list(range(-1, len(word))), list(range(1, len(word) + 1))
        self.places_of: defaultdict[int, list[int]] = defaultdict(list)  # rank -> left symbols
        for place, pair in enumerate(pairwise(word)):
            if (rank := ranks.get(pair)) is not None:
                self.places_of[rank].append(place)
                self.pair_of[rank] = pair
        self.ranks: list[Any] = [*sorted(self.places_of), inf]  # a heap, as every sorted list is

    def join(self) -> tuple[str, ...]:
        """The symbols after all merges: the lowest rank first, its places from left to right."""
        begun: list[tuple[int, Iterator[int]]] = []
        while begun or self.ranks[0] < inf:
            if begun and begun[-1][0] < self.ranks[0]:
                rank, places = begun.pop()
            else:
                rank = heappop(self.ranks)
                places = iter(sorted(self.places_of.pop(rank)))
            self._join_all(rank, places)
            if self.ranks[0] < rank:
                begun.append((rank, places))
        return tuple(filter(None, self.symbols))

    def _join_all(self, rank: int, places: Iterator[int]) -> None:
        """Join a pair at `places`, or until that makes a pair of a lower rank.

        That cannot happen after training, because a merge makes a new symbol. But a file may list
        its merges in any order.
        """
        left, right = self.pair_of[rank]
        new = left + right
        symbols, before, after = self.symbols, self.before, self.after
        rank_of, places_of, ranks = self.rank_of.get, self.places_of, self.ranks
        for place in places:
            taken = after[place]
            if symbols[place] != left or symbols[taken] != right:
                continue  # an earlier merge has changed one of the two
            symbols[place], symbols[taken] = new, ""
            previous, following = before[place], after[taken]
            after[place], before[following] = following, place
            made = (previous, (symbols[previous], new)), (place, (new, symbols[following]))
            for start, beside in made:
                if (found := rank_of(beside)) is not None:
                    if found not in places_of:
                        heappush(ranks, found)
                    places_of[found].append(start)
                    self.pair_of[found] = beside
            if ranks[0] < rank:
                return


@dataclass(eq=False)
class Node:
    """A node in the tree (trie) of all pieces: the characters on its path spell their beginning."""

    children: dict[str, "Node"] = field(default_factory=dict)
    piece: str | None = None  # the piece that ends here
    # If the next character has no child: where to continue, and which pieces are then certain.
    failure: "Node | None" = None
    certain: list[str] = field(default_factory=list)


class LongestMatcher:
    """LinMaxMatch: cut words in time linear in their length.

    The simple algorithm goes back when a longer piece does not fit. Here each node stores in
    advance the pieces that are cut at this point, and the node of the rest.

    Source: Song et al. (2021), "Fast WordPiece Tokenization", Algorithms 1 and 2
    (arXiv 2012.15524).

    >>> LongestMatcher(["me", "men", "##u", "##us", "##s"]).cut("menus")
    ['men', '##us']
    """

    def __init__(self, vocab: Iterable[str]) -> None:
        self.first, self.later = Node(), Node()  # the first piece of a word, and those after it
        for piece in vocab:
            node = self.later if piece.startswith(CONTINUES) else self.first
            for character in piece.removeprefix(CONTINUES):
                node = node.children.setdefault(character, Node())
            if node is not self.first and node is not self.later:
                node.piece = piece
        self._link()

    def _link(self) -> None:
        """Algorithm 2: failure links, shallow nodes first, because deeper ones depend on them."""
        queue = deque([self.first, self.later])
        while queue:
            parent = queue.popleft()
            for character, node in parent.children.items():
                queue.append(node)
                if node.piece is not None:
                    node.failure, node.certain = self.later, [node.piece]
                    continue
                behind, certain = parent.failure, list(parent.certain)
                while behind is not None and character not in behind.children:
                    certain += behind.certain
                    behind = behind.failure
                if behind is not None:
                    node.failure, node.certain = behind.children[character], certain

    def cut(self, word: str) -> list[str]:
        """The pieces of a word of any length: otherwise those of `longest_match`."""
        pieces: list[str] = []
        node = self.first
        for character in word:
            while character not in node.children:
                if node.failure is None:
                    return [UNKNOWN]
                pieces += node.certain
                node = node.failure
            node = node.children[character]
        while node is not self.later and node is not self.first:  # the word has ended
            if node.failure is None:
                return [UNKNOWN]
            pieces += node.certain
            node = node.failure
        return pieces


@lru_cache(maxsize=2)
def _matcher(vocab: "Known") -> LongestMatcher:
    """The matcher of a vocabulary: made once, because that reads all of it."""
    return LongestMatcher(vocab.vocab)


class Known:
    """A vocabulary that equals only itself, so that a cache can have it as a key."""

    def __init__(self, vocab: Iterable[str]) -> None:
        self.vocab = vocab

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.vocab is other.vocab

    def __hash__(self) -> int:
        return id(self.vocab)


# The pair that was broken up, the one that replaces it, its places, and their count.
Move = tuple[int, int, Sequence[int], int]

AT_ONCE = 60  # from this number of places on, NumPy is faster than a loop


class Corpus:
    """The row, and for each pair its count and its places.

    Some places are outdated, because an earlier merge has used one of the two symbols; none is
    missing. The four arrays are used in two ways: one number at a time in a loop, which is faster
    for a rare pair, or all at once by NumPy, which is faster for a frequent one.
    """

    def __init__(self, words: Words, symbols: Symbols) -> None:
        self.symbols = symbols
        number = {symbol: symbols.number(symbol) for symbol in symbols.vocab}
        row = [EDGE]
        for word in words:
            row += map(number.__getitem__, word)
            row.append(EDGE)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        weights = np.repeat(np.fromiter(words.values(), np.int64, len(words)), lengths + 1)
        self.row = array("q", row)
        self.after = array("q", np.arange(1, len(row) + 1, dtype=np.int64).tobytes())
        self.before = array("q", np.arange(-1, len(row) - 1, dtype=np.int64).tobytes())
        # How often the word of a place occurs; the first place is of no word.
        self.weight = array("q", np.concatenate(([0], weights)).tobytes())
        self._row, self._after, self._before, self._weight = (
            np.frombuffer(numbers, np.int64)
            for numbers in (self.row, self.after, self.before, self.weight)
        )
        self.pair_counts: dict[int, int] = defaultdict(int)
        self.places: dict[int, Sequence[int]] = {}
        inside = np.flatnonzero((self._row[:-1] != EDGE) & (self._row[1:] != EDGE))
        pairs = self._row[inside] * BASE + self._row[inside + 1]
        for pair, places, count in self._grouped(pairs, inside):
            self.pair_counts[pair], self.places[pair] = count, places

    def symbol_counts(self) -> dict[int, int]:
        """How often each symbol occurs in the words."""
        standing = np.flatnonzero(self._row != EDGE)
        return {a: count for a, _, count in self._grouped(self._row[standing], standing)}

    def joins(self, pair: int) -> int:
        """How often a pair can be joined: a a a contains a a twice, but only one can be joined."""
        lefts, _ = self._standing(self.places[pair], *divmod(pair, BASE))
        return int(self._weight[lefts].sum())

    def merge(self, pair: int, new: int) -> list[int]:
        """Join `pair` into `new` everywhere; returns the pairs that have become more frequent.

        Of the neighbours x | a b | y, the pairs (x, a) and (b, y) become (x, new) and (new, y).
        """
        a, b = divmod(pair, BASE)
        pair_counts, places_of = self.pair_counts, self.places
        places, places_of[pair] = places_of[pair], ()
        if a == b:
            places = sorted(places)  # in a a a, the first two are joined
        join = self._join_one_by_one if len(places) < AT_ONCE else self._join_at_once
        moves = join(places, a, b, new)
        for fallen, risen, places, count in moves:
            pair_counts[fallen] -= count
            pair_counts[risen] += count
            known = places_of.get(risen)
            places_of[risen] = [*known, *places] if known else places
        pair_counts[pair] = 0
        return [risen for _, risen, _, _ in moves]

    def _join_one_by_one(self, places: Iterable[int], a: int, b: int, new: int) -> list[Move]:
        """Write `new` at each place that still has a b; returns the moves of its neighbours."""
        row, after, before, weight = self.row, self.after, self.before, self.weight
        lefts, rights = defaultdict(list), defaultdict(list)
        for place in places:
            if row[place] != a:
                continue
            gone = after[place]
            if row[gone] != b:
                continue
            left, right = before[place], after[gone]
            lefts[row[left]].append(left)
            rights[row[right]].append(place)
            row[place], row[gone] = new, EDGE
            after[place], before[right] = right, place
        moves: list[Move] = [
            (x * BASE + a, x * BASE + new, at, sum([weight[place] for place in at]))
            for x, at in lefts.items()
            if x != EDGE
        ]
        moves += [
            (b * BASE + y, new * BASE + y, at, sum([weight[place] for place in at]))
            for y, at in rights.items()
            if y != EDGE
        ]
        return moves

    def _join_at_once(self, places: Iterable[int], a: int, b: int, new: int) -> list[Move]:
        """The same, for all places at once."""
        row, after, before = self._row, self._after, self._before
        places, gone = self._standing(places, a, b)
        right = after[gone]
        rights = self._grouped(row[right], places)
        row[places], row[gone] = new, EDGE
        after[places], before[right] = right, places
        left = before[places]
        lefts = self._grouped(row[left], left)
        moves = [(x * BASE + a, x * BASE + new, at, n) for x, at, n in lefts if x != EDGE]
        moves += [(b * BASE + y, new * BASE + y, at, n) for y, at, n in rights if y != EDGE]
        return moves

    def _standing(self, places: Iterable[int], a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """The `places` where a b can be joined, and the places of their b."""
        here = np.asarray(places, np.int64)
        if a == b:
            here = np.sort(here)
        after = self._after[here]
        live = (self._row[here] == a) & (self._row[after] == b)
        here, after = here[live], after[live]
        if a == b:  # in a run a a a a, every second place
            index = np.arange(len(here))
            starts = np.ones(len(here), bool)
            starts[1:] = after[:-1] != here[1:]
            start = np.maximum.accumulate(np.where(starts, index, 0))
            here, after = (numbers[(index - start) % 2 == 0] for numbers in (here, after))
        return here, after

    def _grouped(
        self, keys: np.ndarray, places: np.ndarray
    ) -> Iterator[tuple[int, Sequence[int], int]]:
        """Yield each key, its places, and how often the words of these places occur."""
        order = keys.argsort()
        keys, places = keys[order], places[order]
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
        counts = np.add.reduceat(self._weight[places], starts) if len(keys) else keys
        ends = pairwise([*starts.tolist(), len(keys)])
        shared = places.data  # its slices are not copies, and a loop gets Python numbers
        slices = [shared[start:end] for start, end in ends]
        return zip(keys[starts].tolist(), slices, counts.tolist(), strict=True)
