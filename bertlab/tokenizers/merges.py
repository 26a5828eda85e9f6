"""The steps of byte pair encoding (BPE), written to be read.

Training repeats `count_pairs` and `merge_pair`; `apply_merges` cuts a new word with the learned
merges. A word is a tuple of symbols here. `learning.py` and `cutting.py` give exactly the same ids,
faster.

Source: Sennrich et al. (2016), "Neural Machine Translation of Rare Words with Subword Units",
Algorithm 1 (arXiv 1508.07909).
"""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

Pair = tuple[str, str]


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
    """Cut a new word: of the learned pairs in it, join the one learned first; repeat.

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
