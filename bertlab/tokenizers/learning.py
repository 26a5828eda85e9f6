"""Learning merges fast, by one trick: a symbol is a single character.

A word is a string in which each character stands for one symbol. Then Python's own, fast strings
do the work: joining a pair everywhere is `word.replace(pair, new)`, and `word.partition(pair)`
shows what stands to its left and right. Which character a symbol gets is of no consequence, so
its code point is its id, and comparing characters compares ids.

The second idea: a merge changes few words, those that hold the pair, so counts are corrected
there and nowhere else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from operator import add
from sys import maxunicode
from typing import Literal

from tqdm.auto import tqdm

from bertlab.tokenizers.checks import is_whole
from bertlab.tokenizers.merges import Pair

TieBreak = Literal["lowest-id", "highest-id"]
Join = Callable[[str, str], str]


def learn_merges(
    words: Mapping[Sequence[str], int],
    vocab: Mapping[str, int],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
    join: Join = add,
    before_merge: Callable[["Corpus", str, str], None] | None = None,
    progress: bool = False,
) -> tuple[dict[str, int], list[Pair]]:
    """Join the most frequent pair until the vocabulary holds `vocab_size` symbols.

    words: symbols of a word -> its count; vocab: symbol -> id, with every symbol of `words`;
    join: what two symbols become; before_merge: told of each merge (the corpus, the pair, its new
    symbol) before it is carried out. Returns the grown vocabulary and the merges in the order
    learned. It stops early when no pair occurs `min_frequency` times any more.

    Equal to counting everything anew before each merge. Pairs wait on shelves, one for each
    count. A count that fell is noticed when its shelf is cleared; a count can rise only where a
    new symbol appeared, and that pair goes to its shelf at once, never above the present one.
    """
    symbols = Symbols(vocab, tie_break, join)
    corpus = Corpus(words, symbols)
    vocab, pair_counts = symbols.vocab, corpus.pair_counts
    shelves, heights = defaultdict(list), []  # heights: a heap of minus the shelves' counts

    def shelve(pair: str, count: int) -> None:
        if count not in shelves:
            heappush(heights, -count)
        shelves[count].append(pair)

    for pair, count in pair_counts.items():
        shelve(pair, count)
    with tqdm(total=vocab_size, initial=len(vocab), disable=not progress, desc="merges") as bar:
        while heights and len(vocab) < vocab_size:
            height = -heappop(heights)
            if height < max(min_frequency, 1):
                break
            shelf = shelves.pop(height)
            heapify(shelf)  # the lowest pair of characters first: that is the tie rule
            while shelf and len(vocab) < vocab_size:
                pair = heappop(shelf)
                if pair_counts[pair] < height:
                    shelve(pair, pair_counts[pair])
                    continue
                new = symbols.add(pair)
                if before_merge is not None:
                    before_merge(corpus, pair, new)
                for risen in corpus.merge(pair, new):
                    count = pair_counts[risen]
                    if count == height:
                        heappush(shelf, risen)
                    else:
                        shelve(risen, count)
            bar.update(len(vocab) - bar.n)
    return vocab, symbols.merges


def first_vocab(
    alphabet: Iterable[str], special_tokens: Sequence[str], vocab_size: int
) -> dict[str, int]:
    """The vocabulary before the first merge: special tokens, then the alphabet, as given.

    Raises ValueError if the alphabet is empty, if a special token is given twice, or if
    `vocab_size` is not a whole number or has no room for all of them.
    """
    if not is_whole(vocab_size):
        raise ValueError(f"train: vocab_size must be a whole number; got {vocab_size!r}")
    alphabet = list(alphabet)
    if not alphabet:
        raise ValueError(
            "train: texts holds no word, so there is nothing to learn from; "
            "check the path or the filter that the texts come from"
        )
    if len(set(special_tokens)) < len(special_tokens) or "" in special_tokens:
        raise ValueError(
            f"train: special_tokens holds one twice, or an empty one: {list(special_tokens)}"
        )
    tokens = list(dict.fromkeys([*special_tokens, *alphabet]))
    if vocab_size < len(tokens):
        raise ValueError(
            f"train: vocab_size must be at least {len(tokens)} for this corpus "
            f"({len(special_tokens)} special tokens and an alphabet of {len(alphabet)}); "
            f"got {vocab_size}"
        )
    return {token: id for id, token in enumerate(tokens)}


class Symbols:
    """Symbols and the characters that stand for them.

    The character of the symbol with id i is chr(i), or the i-th from the end if ties go to the
    highest id: in both cases the lowest pair of characters is the one that wins a tie.
    """

    def __init__(self, vocab: Mapping[str, int], tie_break: TieBreak, join: Join) -> None:
        if tie_break not in ("lowest-id", "highest-id"):
            raise ValueError(f'tie_break must be "lowest-id" or "highest-id"; got {tie_break!r}')
        self.vocab, self.merges, self.join = dict(vocab), [], join
        self.lowest_first = tie_break == "lowest-id"
        self.symbol_of = {self.character(symbol): symbol for symbol in vocab}

    def character(self, symbol: str) -> str:
        """The character that stands for a symbol."""
        id = self.vocab[symbol]
        return chr(id if self.lowest_first else maxunicode - id)

    def parts(self, pair: str) -> Pair:
        """The two symbols that a pair of characters stands for."""
        return self.symbol_of[pair[0]], self.symbol_of[pair[1]]

    def characters(self, pair: Pair) -> str | None:
        """The pair of characters that stands for two symbols, None if there is no such symbol."""
        left, right = pair
        if left in self.vocab and right in self.vocab:
            return self.character(left) + self.character(right)
        return None

    def made(self, pair: str) -> str | None:
        """The character of what a pair would become, None if that is no symbol yet."""
        symbol = self.join(*self.parts(pair))
        return self.character(symbol) if symbol in self.vocab else None

    def add(self, pair: str) -> str:
        """Learn a merge; returns the character of what the pair becomes.

        One symbol can be made in two ways, `ab` + `c` and `a` + `bc`: it keeps its first id.
        """
        left, right = self.parts(pair)
        symbol = self.join(left, right)
        self.vocab.setdefault(symbol, len(self.vocab))
        self.merges.append((left, right))
        character = self.character(symbol)
        self.symbol_of[character] = symbol
        return character


class Corpus:
    """The words while they are merged: strings of characters that stand for symbols."""

    def __init__(self, words: Mapping[Sequence[str], int], symbols: Symbols) -> None:
        self.symbols = symbols
        character = {symbol: symbols.character(symbol) for symbol in symbols.vocab}
        self.words = ["".join(map(character.__getitem__, word)) for word in words]
        self.counts = list(words.values())
        # Where a pair stands: an index for each occurrence. Some are outdated, none is missing.
        self.places: dict[str, list[int]] = defaultdict(list)
        for index, word in enumerate(self.words):
            for pair in map(add, word, word[1:]):
                self.places[pair].append(index)
        self.pair_counts = {pair: self._sum(places) for pair, places in self.places.items()}

    def merge(self, pair: str, new: str) -> Iterable[str]:
        """Join `pair` into `new` in every word; returns the pairs that have become more frequent.

        Counts of the pairs that were broken up fall. Of the neighbours left | pair | right, the
        pairs (left, a) and (b, right) become (left, new) and (new, right).
        """
        a, b = pair
        words, counts, pair_counts = self.words, self.counts, self.pair_counts
        risen = defaultdict(list)
        for index in self.places.pop(pair):
            left, found, right = words[index].partition(pair)
            if not found:
                continue  # outdated: an earlier merge has taken one of the two
            count = counts[index]
            if pair in right:  # more than one occurrence in the word
                *middle, right = right.split(pair)
                words[index] = new.join((left, *middle, right))
                for part in middle:
                    if part:
                        pair_counts[b + part[0]] -= count
                        pair_counts[part[-1] + a] -= count
                        risen[new + part[0]].append(index)
                        risen[part[-1] + new].append(index)
                    else:  # two side by side
                        pair_counts[b + a] -= count
                        risen[new + new].append(index)
            else:
                words[index] = left + new + right
            if left:
                x = left[-1]
                pair_counts[x + a] -= count
                risen[x + new].append(index)
            if right:
                y = right[0]
                pair_counts[b + y] -= count
                risen[new + y].append(index)
        pair_counts[pair] = 0
        for other, places in risen.items():
            self.places[other] += places
            pair_counts[other] = pair_counts.get(other, 0) + self._sum(places)
        return risen

    def _sum(self, places: Iterable[int]) -> int:
        counts = self.counts
        return sum([counts[index] for index in places])
