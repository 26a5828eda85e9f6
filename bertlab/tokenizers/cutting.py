"""Cutting words fast, by the trick of `learning.py`: a symbol is a single character."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from operator import add

from bertlab.tokenizers.learning import Join
from bertlab.tokenizers.merges import Pair


class Cutter:
    """Replays merges on words: `cut(word)` gives ids.

    vocab: symbol -> id; merges: pairs in the order learned; join: what two symbols become;
    unknown: the id of a symbol that is not in the vocabulary, or None if there is none.

    Raises ValueError if a merge joins or makes a symbol that the vocabulary does not have.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Sequence[Pair],
        join: Join = add,
        unknown: int | None = None,
    ) -> None:
        self.vocab, self.unknown = vocab, unknown
        self.replacements = [self._replacement(left, right, join) for left, right in merges]
        # Where two merges join the same pair, the later one counts, as in Hugging Face's.
        self.rank_of = {pair: rank for rank, (pair, _) in enumerate(self.replacements)}

    def cut(self, word: Sequence[str]) -> list[int]:
        """The ids of a word, given as its symbols.

        The same as `merges.apply_merges`: of the pairs that it holds the one learned first is
        joined. A heap holds their ranks, so a very long word, such as a line of Chinese, takes
        time in proportion to its length for each merge that applies.

        Raises KeyError for a symbol that is unknown where there is no id for that.
        """
        rank_of, replacements = self.rank_of, self.replacements
        if self.unknown is None:
            cut = "".join([chr(self.vocab[symbol]) for symbol in word])
        else:
            cut = "".join([chr(self.vocab.get(symbol, self.unknown)) for symbol in word])
        ranks = [rank_of[pair] for pair in map(add, cut, cut[1:]) if pair in rank_of]
        heapify(ranks)
        while ranks:
            pair, new = replacements[heappop(ranks)]
            left, *rest = cut.split(pair)
            if not rest:
                continue  # an earlier merge has taken one of the two
            cut = new.join([left, *rest])
            for right in rest:
                before = (left[-1] if left else new) + new
                after = new + (right[0] if right else new)
                for neighbours in (before, after):
                    if neighbours in rank_of:
                        heappush(ranks, rank_of[neighbours])
                left = right
        return list(map(ord, cut))

    def _replacement(self, left: str, right: str, join: Join) -> tuple[str, str]:
        """A pair of symbols, and what it becomes, as characters."""
        made = join(left, right)
        for symbol in (left, right, made):
            if symbol not in self.vocab:
                raise ValueError(
                    f"merges holds ({left!r}, {right!r}), but {symbol!r} is not in the "
                    "vocabulary; both must come from the same training"
                )
        return chr(self.vocab[left]) + chr(self.vocab[right]), chr(self.vocab[made])
