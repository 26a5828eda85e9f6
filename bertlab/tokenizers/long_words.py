"""Replaying merges on a long word, in a time that grows with its length and not with its square.

DNA, base64, minified code and languages without spaces are long words. Two steps of `Cutter.join`
pass over the whole word at each merge: looking for the lowest rank, and deleting from a list.
Here all places of a rank are collected, so that it is done in one go from left to right, and each
symbol knows its neighbours, so that nothing moves.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from operator import add
from typing import Any


class LongWord:
    """A word on the way to its tokens; `join()` gives them.

    word: the characters that stand for its symbols (`cutting.Characters`); replacements: the pair
    that each merge joins and what it becomes; rank_of: pair -> its place in `replacements`.
    """

    def __init__(
        self, word: str, replacements: Sequence[tuple[str, str]], rank_of: Mapping[str, int]
    ) -> None:
        self.replacements, self.rank_of = replacements, rank_of
        # "" stands where a symbol was joined to its left neighbour, and beyond both ends.
        self.symbols = [*word, ""]
        self.before, self.after = list(range(-1, len(word))), list(range(1, len(word) + 1))
        self.places_of: defaultdict[int, list[int]] = defaultdict(list)  # rank -> left symbols
        for place, rank in enumerate(map(rank_of.get, map(add, word, word[1:]))):
            if rank is not None:
                self.places_of[rank].append(place)
        self.ranks: list[Any] = [*sorted(self.places_of), inf]  # a heap, as every sorted list is

    def join(self) -> str:
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
        return "".join(self.symbols)

    def _join_all(self, rank: int, places: Iterator[int]) -> None:
        """Join a pair at `places`, or until that makes a pair of a lower rank.

        After training it never does, for what a merge makes was not there before it. But a file
        may list its merges in any order.
        """
        pair, new = self.replacements[rank]
        left, right = pair[0], pair[1]
        symbols, before, after = self.symbols, self.before, self.after
        rank_of, places_of, ranks = self.rank_of.get, self.places_of, self.ranks
        for place in places:
            taken = after[place]
            if symbols[place] != left or symbols[taken] != right:
                continue  # an earlier merge has changed one of the two
            symbols[place], symbols[taken] = new, ""
            previous, following = before[place], after[taken]
            after[place], before[following] = following, place
            made = (previous, symbols[previous] + new), (place, new + symbols[following])
            for start, beside in made:
                if (found := rank_of(beside)) is not None:
                    if found not in places_of:
                        heappush(ranks, found)
                    places_of[found].append(start)
            if ranks[0] < rank:
                return
