"""The algorithm of byte pair encoding (BPE): join the most frequent pair, again and again.

Read in this order: `count_pairs` and `merge_pair` are the two moves, `learn_merges` repeats them
until the vocabulary is full, `apply_merges` cuts a new word with what was learned.

Source: Sennrich et al. (2016), "Neural Machine Translation of Rare Words with Subword Units",
Algorithm 1 (arXiv 1508.07909).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Literal

from tqdm.auto import tqdm

Pair = tuple[str, str]
TieBreak = Literal["lowest-id", "highest-id"]


def count_pairs(words: Mapping[tuple[str, ...], int]) -> Counter[Pair]:
    """Count how often each pair of neighbouring symbols occurs.

    words: symbols of a word -> how often the word occurs in the corpus.

    >>> count_pairs({("m", "e", "n", "u"): 1, ("m", "e", "n"): 1})["m", "e"]
    2
    """
    counts: Counter[Pair] = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    return counts


def merge_pair(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Join every occurrence of `pair` in `symbols`, from left to right.

    >>> merge_pair(("m", "e", "n", "u"), ("m", "e"))
    ('me', 'n', 'u')
    >>> merge_pair(("a", "a", "a"), ("a", "a"))
    ('aa', 'a')
    """
    merged: list[str] = []
    i = 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)


def apply_merges(symbols: tuple[str, ...], ranks: Mapping[Pair, int]) -> tuple[str, ...]:
    """Cut a new word: of the learned pairs it holds, join the one learned first; repeat.

    ranks: pair -> its position in the list of merges (0 was learned first).

    >>> apply_merges(("m", "e", "n", "t"), {("m", "e"): 0, ("me", "n"): 1})
    ('men', 't')
    """
    while len(symbols) > 1:
        pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, math.inf))
        if pair not in ranks:
            break
        symbols = merge_pair(symbols, pair)
    return symbols


def learn_merges(
    words: Mapping[tuple[str, ...], int],
    vocab: Mapping[str, int],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
    progress: bool = False,
) -> tuple[dict[str, int], list[Pair]]:
    """Join the most frequent pair until the vocabulary holds `vocab_size` symbols.

    words: symbols of a word -> its count; vocab: symbol -> id, with every symbol of `words`.
    Returns the grown vocabulary and the merges in the order learned. It stops early when no
    pair occurs `min_frequency` times any more.

    A merge changes only the words that hold the pair, so counts are corrected there and nowhere
    else. The heap may hold outdated counts: a count that fell is corrected when it comes up, a
    count that rose (only pairs with the new symbol can) is pushed at once.
    """
    vocab, merges = dict(vocab), []
    symbols, counts = [list(column) for column in zip(*words.items(), strict=True)] or ([], [])
    pair_counts = count_pairs(words)
    places = defaultdict(set)  # pair -> indices of the words that hold it, perhaps no longer
    for index, word in enumerate(symbols):
        for pair in pairwise(word):
            places[pair].add(index)

    sign = 1 if tie_break == "lowest-id" else -1

    def entry(pair: Pair) -> tuple[int, int, int, Pair]:
        """Heap order: the highest count first; among equals, ids decide."""
        left, right = pair
        return -pair_counts[pair], sign * vocab[left], sign * vocab[right], pair

    heap = [entry(pair) for pair in pair_counts]
    heapify(heap)
    with tqdm(total=vocab_size, initial=len(vocab), disable=not progress, desc="BPE") as bar:
        while heap and len(vocab) < vocab_size:
            candidate = heappop(heap)
            pair = candidate[-1]
            if candidate != entry(pair):
                heappush(heap, entry(pair))
                continue
            if pair_counts[pair] < max(min_frequency, 1):
                break
            new = "".join(pair)
            vocab.setdefault(new, len(vocab))  # one string can be made by two merges
            merges.append(pair)
            risen = set()
            for index in places.pop(pair):
                before, count = symbols[index], counts[index]
                after = symbols[index] = merge_pair(before, pair)
                for old in pairwise(before):
                    pair_counts[old] -= count
                for now in pairwise(after):
                    pair_counts[now] += count
                    if new in now:
                        places[now].add(index)
                        risen.add(now)
            for now in risen:
                heappush(heap, entry(now))
            bar.update(len(vocab) - bar.n)
    return vocab, merges
