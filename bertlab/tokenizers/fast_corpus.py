"""The words during merging: one long row of symbols, and the places of each pair in it.

    EDGE  m  e  n  u  EDGE  m  e  n  EDGE

A symbol is an integer here, and a place is an index into the row. A merge writes the new symbol
at the place of the left one and removes the place of the right one: `after` and `before` link
each place to its neighbours, as in a linked list. So the cost of a merge depends on the number of
joins, not on the length of words, and counts are corrected only at the joins.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from bertlab.tokenizers.fast import BASE, EDGE, Symbols, Words

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
