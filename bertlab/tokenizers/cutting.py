"""Cut words fast: each symbol is represented by a single character."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import repeat
from math import inf
from operator import add
from typing import Any

from bertlab.tokenizers.merges import Pair

LONG = 128  # symbols; from about here on `LongWord` is faster


class Cutter:
    """Replays merges on words: `cut(word)` gives ids.

    vocab: symbol -> id; merges: pairs in the order learned; unknown: the id of a symbol that is
    not in the vocabulary, or None if there is none.

    Raises ValueError if a merge joins or makes a symbol that the vocabulary does not have.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Sequence[Pair],
        unknown: int | None = None,
    ) -> None:
        self.vocab = vocab
        self.character = Characters(vocab, unknown)
        self.id_of = {chr(id): id for id in vocab.values()}
        self.replacements = [self._replacement(left, right) for left, right in merges]
        # If two merges join the same pair, the later one counts, as in Hugging Face's.
        self.rank_of = {pair: rank for rank, (pair, _) in enumerate(self.replacements)}

    def cut(self, word: Sequence[str]) -> tuple[int, ...]:
        """The ids of a word, given as its symbols.

        Raises KeyError for an unknown symbol if there is no id for unknown symbols.
        """
        return self.ids("".join(map(self.character.__getitem__, word)))

    def ids(self, word: str) -> tuple[int, ...]:
        """The ids of a word, given as the characters that represent its symbols."""
        if len(word) < LONG:
            joined: Iterable[str] = self.join(word)
        else:
            joined = LongWord(word, self.replacements, self.rank_of).join()
        return tuple(map(self.id_of.__getitem__, joined))

    def join(self, word: str) -> list[str]:
        """The symbols of a word after all merges, each a character.

        The same as `merges.apply_merges`: of the word's pairs, the one learned first is joined,
        the leftmost of several. `ranks` has the rank of each pair of neighbours.
        """
        rank_of, never = self.rank_of.get, len(self.replacements)
        symbols = list(word)
        ranks = list(map(rank_of, map(add, word, word[1:]), repeat(never)))
        while ranks and (rank := min(ranks)) < never:
            place = ranks.index(rank)
            _, new = self.replacements[rank]
            symbols[place] = new
            del symbols[place + 1], ranks[place]
            if place > 0:
                ranks[place - 1] = rank_of(symbols[place - 1] + new, never)
            if place < len(ranks):
                ranks[place] = rank_of(new + symbols[place + 1], never)
        return symbols

    def _replacement(self, left: str, right: str) -> tuple[str, str]:
        """A pair of symbols, and what it becomes, as characters."""
        made = left + right
        for symbol in (left, right, made):
            if symbol not in self.vocab:
                raise ValueError(
                    f"merges holds ({left!r}, {right!r}), but {symbol!r} is not in the "
                    "vocabulary; both must come from the same training"
                )
        return self.character[left] + self.character[right], self.character[made]


class Characters(dict):
    """The character that represents a symbol; KeyError if it is unknown, unless that has an id."""

    def __init__(self, vocab: Mapping[str, int], unknown: int | None) -> None:
        super().__init__((symbol, chr(id)) for symbol, id in vocab.items())
        self.unknown = unknown

    def __missing__(self, symbol: str) -> str:
        if self.unknown is None:
            raise KeyError(symbol)
        return chr(self.unknown)


class LongWord:
    """Replays merges on a long word in time linear in its length, not quadratic.

    DNA, base64, minified code and languages without spaces give long words. Two steps of
    `Cutter.join` pass over the whole word at each merge: finding the lowest rank, and deleting
    from a list. Here all places of a rank are collected and processed in one pass from left to
    right, and each symbol is linked to its neighbours, so that nothing moves.

    word: the characters that represent its symbols (`Characters`); replacements: the pair
    that each merge joins and what it becomes; rank_of: pair -> its place in `replacements`.
    """

    def __init__(
        self, word: str, replacements: Sequence[tuple[str, str]], rank_of: Mapping[str, int]
    ) -> None:
        self.replacements, self.rank_of = replacements, rank_of
        # "" is where a symbol was joined to its left neighbour, and beyond both ends.
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

        That cannot happen after training, because a merge makes a new symbol. But a file may list
        its merges in any order.
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
