"""Learn merges by frequency, without counting everything again before each merge.

Two ideas make it fast. A merge changes few words, so `corpus.py` corrects counts only where the
pair was. And the count of an existing pair can only fall, so pairs are stored by count, and an
outdated count is harmless: it is corrected when the pairs of that count are processed.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from operator import add, neg
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from bertlab.tokenizers.checks import is_whole
from bertlab.tokenizers.entries import read_texts
from bertlab.tokenizers.merges import Pair
from bertlab.tokenizers.symbols import Join, Symbols, TieBreak, Words

if TYPE_CHECKING:
    from bertlab.tokenizers.corpus import Corpus


def learn_merges(
    words: Words,
    vocab: Mapping[str, int],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    tie_break: TieBreak = "lowest-id",
    join: Join = add,
    before_merge: Callable[["Corpus", int, int], None] | None = None,
    progress: bool = False,
) -> tuple[dict[str, int], list[Pair]]:
    """Join the most frequent pair until the vocabulary holds `vocab_size` symbols.

    words: symbols of a word -> its count; vocab: symbol -> id, with every symbol of `words`;
    join: makes one symbol of two; before_merge: called before each merge with the corpus, the pair
    and its new symbol. Returns the new vocabulary and the merges in the order learned. It stops
    early if no pair occurs `min_frequency` times.

    Equal to counting everything again before each merge.
    """
    symbols = Symbols(vocab, tie_break, join)
    corpus = corpus_of(words, symbols)
    vocab, pair_counts = symbols.vocab, corpus.pair_counts
    pairs_of: dict[int, list[int]] = defaultdict(list)  # count -> pairs
    counts: list[int] = []  # a heap of the counts, negated

    def store(pair: int, count: int) -> None:
        if count not in pairs_of:
            heappush(counts, -count)
        pairs_of[count].append(pair)

    for pair, count in pair_counts.items():
        store(pair, count)
    with tqdm(total=vocab_size, initial=len(vocab), disable=not progress, desc="vocabulary") as bar:
        while counts and len(vocab) < vocab_size:
            highest = -heappop(counts)
            if highest < max(min_frequency, 1):
                break
            # The lowest pair wins a tie: it is last, where a list is fast.
            tied = sorted(pairs_of.pop(highest), reverse=True)
            while tied and len(vocab) < vocab_size:
                pair = tied.pop()
                if pair_counts[pair] < highest:
                    store(pair, pair_counts[pair])
                    continue
                new = symbols.add(pair)
                if before_merge is not None:
                    before_merge(corpus, pair, new)
                for risen in corpus.merge(pair, new):
                    count = pair_counts[risen]
                    if count == highest:
                        insort(tied, risen, key=neg)
                    else:
                        store(risen, count)
                if counts and -counts[0] > highest:
                    # A symbol that can be made in two ways was now made in the second way.
                    for waiting in tied:
                        store(waiting, highest)
                    break
            bar.update(len(vocab) - bar.n)
    return vocab, symbols.merges


def corpus_of(words: Words, symbols: Symbols) -> "Corpus":
    """The words, ready to be merged."""
    # Imported here because it needs NumPy, which encoding a text does not.
    from bertlab.tokenizers.corpus import Corpus

    return Corpus(words, symbols)


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
    special_tokens = list(read_texts("train", "special_tokens", special_tokens))
    if not alphabet:
        raise ValueError(
            "train: texts holds no word, so there is nothing to learn from; "
            "check the path or the filter that the texts come from"
        )
    if len(set(special_tokens)) < len(special_tokens) or "" in special_tokens:
        raise ValueError(
            f"train: special_tokens holds one twice, or an empty one: {special_tokens}"
        )
    tokens = list(dict.fromkeys([*special_tokens, *alphabet]))
    if vocab_size < len(tokens):
        raise ValueError(
            f"train: vocab_size must be at least {len(tokens)} for this corpus "
            f"({len(special_tokens)} special tokens and an alphabet of {len(alphabet)}); "
            f"got {vocab_size}"
        )
    return {token: id for id, token in enumerate(tokens)}
