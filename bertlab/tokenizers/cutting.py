"""Cutting words fast, by one trick: a symbol is a single character."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from operator import add

from bertlab.tokenizers.merges import Pair


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
        self.replacements = [self._replacement(left, right) for left, right in merges]
        # Where two merges join the same pair, the later one counts, as in Hugging Face's.
        self.rank_of = {pair: rank for rank, (pair, _) in enumerate(self.replacements)}

    def cut(self, word: Sequence[str]) -> list[int]:
        """The ids of a word, given as its symbols.

        Raises KeyError for a symbol that is unknown where there is no id for that.
        """
        return self.join("".join(map(self.character.__getitem__, word)))

    def join(self, cut: str) -> list[int]:
        """The ids of a word, given as the characters that stand for its symbols.

        The same as `merges.apply_merges`: of the pairs that it holds the one learned first is
        joined, the leftmost of several. A heap holds their ranks, one for each place.
        """
        rank_of = self.rank_of.get
        ranks = [rank for rank in map(rank_of, map(add, cut, cut[1:])) if rank is not None]
        heapify(ranks)
        while ranks:
            pair, new = self.replacements[heappop(ranks)]
            left, found, right = cut.partition(pair)
            if not found:
                continue  # an earlier merge has taken one of the two
            cut = left + new + right
            if left and (rank := rank_of(left[-1] + new)) is not None:
                heappush(ranks, rank)
            if right and (rank := rank_of(new + right[0])) is not None:
                heappush(ranks, rank)
        return list(map(ord, cut))

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
    """The character that stands for a symbol; KeyError for an unknown one, unless it has an id."""

    def __init__(self, vocab: Mapping[str, int], unknown: int | None) -> None:
        super().__init__((symbol, chr(id)) for symbol, id in vocab.items())
        self.unknown = unknown

    def __missing__(self, symbol: str) -> str:
        if self.unknown is None:
            raise KeyError(symbol)
        return chr(self.unknown)
