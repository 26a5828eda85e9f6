"""Cutting words fast, by one trick: a symbol is a single character."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import add

from bertlab.tokenizers.long_words import LongWord
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
        # Where two merges join the same pair, the later one counts, as in Hugging Face's.
        self.rank_of = {pair: rank for rank, (pair, _) in enumerate(self.replacements)}

    def cut(self, word: Sequence[str]) -> tuple[int, ...]:
        """The ids of a word, given as its symbols.

        Raises KeyError for a symbol that is unknown where there is no id for that.
        """
        return self.ids("".join(map(self.character.__getitem__, word)))

    def ids(self, word: str) -> tuple[int, ...]:
        """The ids of a word, given as the characters that stand for its symbols."""
        if len(word) < LONG:
            joined: Iterable[str] = self.join(word)
        else:
            joined = LongWord(word, self.replacements, self.rank_of).join()
        return tuple(map(self.id_of.__getitem__, joined))

    def join(self, word: str) -> list[str]:
        """The symbols of a word after all merges, each a character.

        The same as `merges.apply_merges`: of the pairs that the word holds the one learned first
        is joined, the leftmost of several. `ranks` has the rank of each pair of neighbours.
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
    """The character that stands for a symbol; KeyError for an unknown one, unless it has an id."""

    def __init__(self, vocab: Mapping[str, int], unknown: int | None) -> None:
        super().__init__((symbol, chr(id)) for symbol, id in vocab.items())
        self.unknown = unknown

    def __missing__(self, symbol: str) -> str:
        if self.unknown is None:
            raise KeyError(symbol)
        return chr(self.unknown)
