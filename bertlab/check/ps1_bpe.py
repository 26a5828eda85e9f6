"""Checks of assignment 1, byte pair encoding: one a task, by worked examples and laws."""

from collections import Counter
from collections.abc import Callable

from bertlab.check.feedback import Check, Passed

# The corpus of the lecture: (cost, 2) (best, 2) (menu, 1) (men, 1) (camel, 1).
WORDS = {tuple(w): n for w, n in (("cost", 2), ("best", 2), ("menu", 1), ("men", 1), ("camel", 1))}
ALPHABET = list("abcelmnostu")
AFTER_TWO_MERGES = {
    ("c", "o", "st"): 2,
    ("b", "e", "st"): 2,
    ("me", "n", "u"): 1,
    ("me", "n"): 1,
    ("c", "a", "me", "l"): 1,
}


def word_tokens(function: Callable) -> Passed:
    """Task 1: words in the vocabulary stay, others become <UNK>."""
    check = Check(
        "word_tokens",
        function,
        hints=("split the sentence with .split()", "look up each word as it is: `I` is not `i`"),
    )
    vocabulary = ["game", "the", "I", "played", "walked", "enjoy"]
    check.example(
        "I played the game", vocabulary, gives=["I", "played", "the", "game"], because="all known"
    )
    check.example(
        "I enjoyed the game",
        vocabulary,
        gives=["I", "<UNK>", "the", "game"],
        because="`enjoyed` is not in the vocabulary, though `enjoy` is",
    )
    check.example("", vocabulary, gives=[], because="an empty sentence has no tokens")
    check.example("i  i", ["I"], gives=["<UNK>", "<UNK>"], because="case and extra spaces")
    check.done("known words, unknown words, an empty sentence")
    return check.passed()


def count_pairs(function: Callable) -> Passed:
    """Task 2: occurrences of neighbouring symbols."""
    check = Check(
        "count_pairs",
        function,
        hints=(
            "a pair counts as often as its word occurs, not once",
            "itertools.pairwise(symbols) yields the neighbours",
        ),
    )
    answer = check.call(WORDS)
    check.law(
        isinstance(answer, dict),
        f"it must return a dictionary or Counter, pair -> count; it returned a "
        f"{type(answer).__name__}",
    )
    check.law(
        all(isinstance(pair, tuple) and len(pair) == 2 for pair in answer),
        "every key must be a pair: a tuple of two symbols, such as ('s', 't')",
    )
    check.law(
        answer.get(("s", "t")) != 2,
        "('s', 't') stands in cost and in best, and each occurs twice: its count is 4, not 2; "
        "multiply by the word's count",
    )
    by_hand = {"co": 2, "os": 2, "st": 4, "be": 2, "es": 2, "me": 3, "en": 2}
    by_hand |= {"nu": 1, "ca": 1, "am": 1, "el": 1}
    for pair, count in by_hand.items():
        found = answer.get(tuple(pair), 0)
        check.law(found == count, f"{tuple(pair)} occurs {count} times here; you counted {found}")
    extra = {pair for pair in answer if "".join(pair) not in by_hand and answer[pair]}
    check.law(not extra, f"{extra} are no neighbours in any word; do not count across words")
    check.done("the 11 pairs of the lecture")
    twice = check.call({("a", "b", "a", "b", "a"): 3})
    check.law(
        dict(twice) == {("a", "b"): 6, ("b", "a"): 6},
        "in ('a','b','a','b','a') with count 3 both pairs occur 2 × 3 = 6 times; "
        f"got {dict(twice)}",
    )
    long = tuple("ab" * 500)
    check.law(
        sum(check.call({long: 2, ("x",): 9}).values()) == 2 * 999,
        "a word of n symbols has n - 1 pairs, and a single symbol has none",
    )
    check.law(dict(check.call({})) == {}, "no words, no pairs: {} must give an empty dictionary")
    check.done("repeated pairs, a word of 1,000 symbols, no words at all")
    return check.passed()


def best_pair(function: Callable) -> Passed:
    """Task 3: the most frequent pair, ties by id."""
    check = Check(
        "best_pair",
        function,
        hints=(
            "compare tuples: (count, ...ids), Python compares them from left to right",
            "for lowest-id the smaller id must win: compare negative ids",
        ),
    )
    vocab = {symbol: id for id, symbol in enumerate([*ALPHABET, "st", "me"])}
    clear = Counter({("s", "t"): 4, ("m", "e"): 3, ("c", "o"): 2})
    for rule in ("lowest-id", "highest-id"):
        check.example(clear, vocab, rule, gives=("s", "t"), because="4 is the highest count")
    check.done("a clear winner")
    pairs = [("c", "o"), ("o", "st"), ("b", "e"), ("e", "st"), ("me", "n"), ("n", "u")]
    tied = Counter(dict.fromkeys(pairs, 2) | {("n", "u"): 1})
    check.example(
        tied, vocab, "lowest-id", gives=("b", "e"), because="b has the lowest first id, 1"
    )
    check.example(
        tied, vocab, "highest-id", gives=("me", "n"), because="me has the highest first id, 12"
    )
    second = Counter({("a", "c"): 1, ("a", "b"): 1})
    check.example(second, vocab, "lowest-id", gives=("a", "b"), because="the second id decides")
    check.example(second, vocab, "highest-id", gives=("a", "c"), because="the second id decides")
    late = {"z": 0, "a": 1, "b": 2}
    check.example(
        Counter({("a", "b"): 1, ("z", "b"): 1}),
        late,
        "lowest-id",
        gives=("z", "b"),
        because="ids decide, not the alphabet: here z has id 0",
    )
    check.done("the lecture's tie by both rules, ids rather than letters")
    return check.passed()


def merge_pair(function: Callable) -> Passed:
    """Task 4: join a pair wherever it stands."""
    check = Check(
        "merge_pair",
        function,
        hints=(
            "after joining two symbols go on behind both of them",
            "walk with an index i: i += 2 after a merge, i += 1 otherwise",
        ),
    )
    check.example(("m", "e", "n", "u"), ("m", "e"), gives=("me", "n", "u"))
    check.example(("c", "o", "s", "t"), ("s", "t"), gives=("c", "o", "st"), because="at the end")
    check.example(("b", "a", "b", "a"), ("b", "a"), gives=("ba", "ba"), because="every occurrence")
    check.example(
        ("a", "a", "a"),
        ("a", "a"),
        gives=("aa", "a"),
        because="from left to right; a symbol is joined once",
    )
    check.example(("a", "b"), ("b", "a"), gives=("a", "b"), because="the order counts")
    check.example(("x",), ("x", "x"), gives=("x",))
    check.example((), ("x", "y"), gives=())
    whole = "only whole symbols are joined, whatever letters they hold"
    check.example(("me", "n", "m", "en"), ("me", "n"), gives=("men", "m", "en"), because=whole)
    check.example(("me", "n", "u"), ("e", "n"), gives=("me", "n", "u"), because=whole)
    check.done("the beginning, the end, repetition, overlap, nothing to join")
    long = tuple("abc" * 400)
    merged = check.call(long, ("b", "c"))
    check.law("".join(merged) == "".join(long), "the letters of the word must stay what they were")
    check.law(merged == ("a", "bc") * 400, "a word of 1,200 symbols: not every pair was joined")
    check.done("a word of 1,200 symbols")
    return check.passed()


def train(function: Callable) -> Passed:
    """Task 5: the training loop."""
    check = Check(
        "train",
        function,
        hints=(
            "count, choose, join everywhere, add to the vocabulary; then count again",
            "stop as soon as len(vocab) reaches vocab_size, or when no pair is left",
        ),
    )
    start = {symbol: id for id, symbol in enumerate(ALPHABET)}
    for rule, third in (("highest-id", ("me", "n")), ("lowest-id", ("b", "e"))):
        answer = check.call(WORDS, start, 14, rule)
        check.law(
            isinstance(answer, tuple) and len(answer) == 2,
            "it must return two things: the vocabulary and the list of merges",
        )
        vocab, merges = answer
        check.law(
            len(merges) == 3,
            f"11 characters and 3 merges make 14 symbols; it made {len(merges)} merges",
        )
        check.law(
            sorted(vocab.values()) == list(range(14)),
            f"a new symbol gets the next free id: from 0 to 13, each once; got {vocab}",
        )
        wanted = [("s", "t"), ("m", "e"), third]
        check.law(
            [tuple(pair) for pair in merges] == wanted,
            f"with {rule} the merges are {wanted}; got {merges}",
        )
        symbols = [*ALPHABET, "st", "me", "".join(third)]
        check.law(
            sorted(vocab, key=vocab.get) == symbols,
            f"the vocabulary must be {symbols}, in the order of ids; got {vocab}",
        )
    check.done("the lecture's 14 symbols by both rules")
    vocab, merges = check.call({("a", "b"): 1}, {"a": 0, "b": 1}, 50, "lowest-id")
    check.law(
        len(merges) == 1 and list(vocab) == ["a", "b", "ab"],
        "when nothing is left to join, stop before the vocabulary is full",
    )
    check.law(
        check.call(WORDS, start, 11, "lowest-id")[1] == [],
        "a vocabulary that is full at the start learns no merge",
    )
    check.done("stopping early, stopping at once")
    return check.passed()


def apply_merges(function: Callable) -> Passed:
    """Task 6: cut a new word."""
    check = Check(
        "apply_merges",
        function,
        hints=(
            "of the pairs in the word, the one with the lowest rank is joined first",
            "ranks.get(pair, math.inf) ranks an unknown pair behind all others",
        ),
    )
    ranks = {("s", "t"): 0, ("m", "e"): 1, ("me", "n"): 2}
    check.example(("t", "e", "s", "t"), ranks, gives=("t", "e", "st"))
    check.example(
        tuple("mental"),
        ranks,
        gives=("men", "t", "a", "l"),
        because="first m + e, which makes the pair me + n, which is known too",
    )
    check.example(
        ("a", "b", "c"),
        {("b", "c"): 0, ("a", "b"): 1},
        gives=("a", "bc"),
        because="the pair learned first is joined first, wherever it stands",
    )
    check.example(tuple("xyz"), ranks, gives=("x", "y", "z"), because="no pair is known")
    check.example(("x",), ranks, gives=("x",))
    check.example((), ranks, gives=(), because="an empty word has nothing to join")
    check.done("order by rank, merges that make new pairs, unknown pairs, short words")
    answer = check.call(tuple("me" * 300), ranks)
    check.law(answer == ("me",) * 300, "in a word of 600 symbols every m + e must be joined")
    check.done("a word of 600 symbols")
    return check.passed()


def encode(function: Callable) -> Passed:
    """Task 7: text to ids."""
    check = Check(
        "encode",
        function,
        hints=(
            "split the text at white space, cut each word, look up each symbol",
            "vocab.get(symbol, vocab['[UNK]']) falls back to the unknown token",
        ),
    )
    tokens = ["[UNK]", *ALPHABET, "st", "me", "men"]
    vocab = {token: id for id, token in enumerate(tokens)}
    merges = [("s", "t"), ("m", "e"), ("me", "n")]
    check.example(
        "men best", vocab, merges, gives=[14, 2, 4, 12], because="men is 14; b e st are 2, 4, 12"
    )
    check.example(
        "zebus",
        vocab,
        merges,
        gives=[0, 4, 2, 11, 9],
        because="only the character z is unknown; the rest of the word is not",
    )
    last = {token: id for id, token in enumerate([*tokens[1:], "[UNK]"])}
    check.example("z", last, merges, gives=[14], because="here [UNK] has the id 14, not 0")
    check.example("", vocab, merges, gives=[], because="no words, no ids")
    check.example("  men\n men ", vocab, merges, gives=[14, 14], because="any white space")
    check.done("known words, an unknown character, white space, an empty text")
    long = check.call("camel " * 500, vocab, merges)
    check.law(
        long == [3, 1, 13, 5] * 500,
        "'camel' 500 times must give the ids 3, 1, 13, 5 (c a me l) 500 times",
    )
    check.done("500 words")
    return check.passed()
