"""Symbols as integers during learning."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from bertlab.tokenizers.merges import Pair

TieBreak = Literal["lowest-id", "highest-id"]
Join = Callable[[str, str], str]
# The symbols of a word -> how often the word occurs.
Words = Mapping[str, int] | Mapping[tuple[str, ...], int] | Mapping[Sequence[str], int]

EDGE = 0  # before and after each word, and in place of a removed symbol
BASE = 2**31  # the pair of symbols a and b is a * BASE + b: one number, fast to look up


class Symbols:
    """Symbols and their numbers, from 1 to BASE - 1.

    Numbers rise with the ids, or fall if ties go to the highest id: in both cases the lowest pair
    wins a tie.
    """

    def __init__(self, vocab: Mapping[str, int], tie_break: TieBreak, join: Join) -> None:
        if tie_break not in ("lowest-id", "highest-id"):
            raise ValueError(f'tie_break must be "lowest-id" or "highest-id"; got {tie_break!r}')
        self.vocab, self.join = dict(vocab), join
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
