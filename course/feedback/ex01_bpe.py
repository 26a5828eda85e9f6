"""Checks of exercise 1, byte pair encoding: one per task, by worked examples and laws."""

from collections.abc import Callable
from itertools import pairwise
from math import isfinite

from course.feedback.checks import Check, checks_of
from course.feedback.mutants import MutationCheck
from course.feedback.trained import vocab_and_merges

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex01_bpe")

ALPHABET = list("abcelmnostu")
Symbols = tuple[str, ...]
Ranks = dict[tuple[str, str], int]
# The corpus of the lecture: (cost, 2) (best, 2) (menu, 1) (men, 1) (camel, 1).
WORDS = {tuple(w): n for w, n in (("cost", 2), ("best", 2), ("menu", 1), ("men", 1), ("camel", 1))}
AFTER_TWO_MERGES = {
    ("c", "o", "st"): 2,
    ("b", "e", "st"): 2,
    ("me", "n", "u"): 1,
    ("me", "n"): 1,
    ("c", "a", "me", "l"): 1,
}


@task(
    1,
    "a pair counts as often as its word occurs, not once",
    "itertools.pairwise(symbols) yields the neighbours",
)
def count_pairs(check: Check) -> None:
    """Occurrences of neighbouring symbols."""
    men = ("m", "e", "n")
    check.example(
        {men: 1},
        gives={("m", "e"): 1, ("e", "n"): 1},
        because="a word of n symbols has n - 1 pairs, the last one included",
    )
    check.example(
        {men: 3},
        gives={("m", "e"): 3, ("e", "n"): 3},
        because="this word occurs 3 times, and so does each of its pairs",
    )
    check.example(
        {("b", "a", "b", "a", "b"): 1},
        gives={("b", "a"): 2, ("a", "b"): 2},
        because="a pair counts as often as it occurs in the word, and (b, a) is not (a, b)",
    )
    check.example(
        {("a", "a", "a"): 1},
        gives={("a", "a"): 2},
        because="pairs may overlap when you count: a a occurs at index 0 and at index 1",
    )
    check.example(
        {("m", "e", "n", "u"): 1, men: 2},
        gives={("m", "e"): 3, ("e", "n"): 3, ("n", "u"): 1},
        because="counts of different words add up; no pair reaches across two words",
    )
    check.done("the last pair, word counts, repeated and overlapping pairs, several words")
    by_hand = {"co": 2, "os": 2, "st": 4, "be": 2, "es": 2, "me": 3, "en": 2}
    by_hand |= {"nu": 1, "ca": 1, "am": 1, "el": 1}
    check.example(WORDS, gives={tuple(pair): count for pair, count in by_hand.items()})
    check.example(
        AFTER_TWO_MERGES,
        gives={
            ("c", "o"): 2, ("o", "st"): 2, ("b", "e"): 2, ("e", "st"): 2, ("me", "n"): 2,
            ("n", "u"): 1, ("c", "a"): 1, ("a", "me"): 1, ("me", "l"): 1,
        },
        because="a symbol may be longer than one character: take the symbols as they are",
    )  # fmt: skip
    check.done("the lecture's first and third round")
    long = tuple("ab" * 500)
    check.law(
        sum(check.call({long: 2, ("x",): 9}).values()) == 2 * 999,
        "a word of n symbols has n - 1 pairs, and a single symbol has none",
    )
    check.example({}, gives={}, because="no words, no pairs")
    check.done("a word of 1,000 symbols, no words at all")


@task(
    2,
    "after joining two symbols, continue after both of them",
    "walk with an index i: i += 2 after a merge, i += 1 otherwise",
)
def merge_pair(check: Check) -> None:
    """Join all occurrences of a pair."""
    check.example(("m", "e", "n", "u"), ("m", "e"), gives=("me", "n", "u"))
    check.example(("c", "o", "s", "t"), ("s", "t"), gives=("c", "o", "st"), because="at the end")
    check.example(("b", "a", "b", "a"), ("b", "a"), gives=("ba", "ba"), because="every occurrence")
    check.example(
        ("a", "a", "a"),
        ("a", "a"),
        gives=("aa", "a"),
        because="from left to right; a symbol is joined once",
    )
    check.example(
        ("a", "a", "a", "a"),
        ("a", "a"),
        gives=("aa", "aa"),
        because="what has just been joined is not joined again",
    )
    check.example(("a", "b"), ("b", "a"), gives=("a", "b"), because="the order counts")
    check.example(("x",), ("x", "x"), gives=("x",))
    check.example((), ("x", "y"), gives=())
    whole = "only whole symbols are joined, whatever letters they contain"
    check.example(("me", "n", "m", "en"), ("me", "n"), gives=("men", "m", "en"), because=whole)
    check.example(("me", "n", "u"), ("e", "n"), gives=("me", "n", "u"), because=whole)
    check.done("the beginning, the end, repetition, overlap, nothing to join")
    long = tuple("abc" * 400)
    merged = check.call(long, ("b", "c"))
    check.law("".join(merged) == "".join(long), "the letters of the word must not change")
    check.law(merged == ("a", "bc") * 400, "a word of 1,200 symbols: not every pair was joined")
    check.done("a word of 1,200 symbols")


# (py3, 4) (py, 2) (33, 2) (me, 2): letters and digits side by side.
VERSIONS = {tuple(w): n for w, n in (("py3", 4), ("py", 2), ("33", 2), ("me", 2))}
CHARACTERS = {symbol: id for id, symbol in enumerate("3empy")}


@task(
    3,
    "count, omit pairs that may not be joined, choose, join everywhere; then count again",
    "stop as soon as len(vocab) reaches vocab_size, or when no pair may be joined",
)
def train(check: Check) -> None:
    """The training loop, with two more rules."""
    start = {symbol: id for id, symbol in enumerate(ALPHABET)}
    vocab, merges = vocab_and_merges(check, check.call(WORDS, start, 14, 1), ("s", "t"))
    check.law(
        len(merges) == 3,
        f"11 characters and 3 merges make 14 symbols; it made {len(merges)} merges",
    )
    check.law(
        sorted(vocab.values()) == list(range(14)),
        f"a new symbol gets the next free id: from 0 to 13, each once; got {vocab}",
    )
    why = ""
    if merges[1] == merges[0]:
        why = "the same pair again: apply the merge to every word before you count again"
    elif merges[2] == ("me", "n"):
        why = "a word occurs as often as before the merge: keep its count"
    first = [("s", "t"), ("m", "e"), ("b", "e")]
    _merges_are(check, merges, first, "of the lecture's words", why)
    check.law(
        sorted(vocab, key=vocab.__getitem__) == [*ALPHABET, "st", "me", "be"],
        f"the new symbols must be st, me, be, in the order of ids; got {vocab}",
    )
    _, merges = check.call(WORDS, start, 16, 1)
    why = "count again each time: e s no longer occurs once s t has been joined"
    _merges_are(check, merges, [*first, ("c", "o"), ("me", "n")], "with 16 symbols", why)
    check.done("the lecture's words, all letters")
    _, merges = check.call(VERSIONS, CHARACTERS, 99, 1)
    why = ""
    if ("y", "3") in merges or ("py", "3") in merges:
        why = "`py` is made of letters, `3` is not: such a pair is never joined"
    elif merges == [("p", "y")]:
        why = "`py 3` is the best pair, but forbidden: omit it and choose among the others"
    elif ("3", "3") not in merges:
        why = "`3` and `3` are also of one kind: neither is a letter"
    wanted = [("p", "y"), ("3", "3"), ("m", "e")]
    _merges_are(check, merges, wanted, "with min_count=1", why)
    for least, many in ((2, 3), (3, 1), (6, 1), (7, 0)):
        _, merges = check.call(VERSIONS, CHARACTERS, 99, least)
        _merges_are(
            check,
            merges,
            wanted[:many],
            f"with min_count={least}",
            "p y occurs 6 times, 3 3 and m e twice; exactly min_count times is enough",
        )
    marked = {("i", "n</w>"): 3, ("1", "2</w>"): 2, ("n</w>",): 5}
    ids = {"i": 0, "n</w>": 1, "1": 2, "2</w>": 3}
    _merges_are(
        check,
        check.call(marked, ids, 99, 1)[1],
        [("i", "n</w>"), ("1", "2</w>")],
        "of i n</w> and 1 2</w>",
        "the first character decides the kind of a symbol: n</w> counts as a letter",
    )
    check.done("letters and digits, rare pairs, marks")
    check.law(
        check.call(WORDS, start, 11, 1)[1] == [],
        "if the vocabulary is full at the start, no merge is learned",
    )
    two_ways = {("a", "b", "c"): 1, ("ab",): 1, ("x", "y"): 5}
    vocab, _ = check.call(
        two_ways, {symbol: id for id, symbol in enumerate(["x", "y", "a", "b", "c", "ab"])}, 8, 1
    )
    check.law(
        list(vocab.values()) == list(range(8)),
        f"a symbol that already exists keeps its id, and ids have no gaps; got {vocab}",
    )
    check.done("stopping at once, a symbol that already exists")


def _merges_are(check: Check, merges: list, wanted: list, where: str, why: str) -> None:
    check.law(
        list(merges) == wanted,
        f"{where} the merges are {wanted}\ngot {merges}" + (f"\n→ {why}" if why else ""),
    )


@task(
    4,
    "of the pairs in the word, the one with the lowest rank is joined first",
    "ranks.get(pair, math.inf) ranks an unknown pair after all others",
)
def apply_merges(check: Check) -> None:
    """Cut a new word."""
    ranks = {("s", "t"): 0, ("m", "e"): 1, ("me", "n"): 2}
    check.example(
        ("t", "e", "s", "t"),
        ranks,
        gives=("t", "e", "st"),
        because="of the learned pairs only s t is in this word: stop when no pair in the word has "
        "a rank",
    )
    check.example(
        tuple("mental"),
        ranks,
        gives=("men", "t", "a", "l"),
        because="first m + e, which makes the pair me + n, which has a rank, too",
    )
    check.example(
        ("a", "b", "c"),
        {("a", "b"): 1, ("b", "c"): 0},
        gives=("a", "bc"),
        because="the pair learned first, rank 0, is joined first, wherever it occurs",
    )
    check.example(
        ("a", "b", "c"),
        {("a", "b"): 0, ("b", "c"): 1},
        gives=("ab", "c"),
        because="the lowest rank was learned first",
    )
    check.example(tuple("xyz"), ranks, gives=("x", "y", "z"), because="no pair was learned")
    check.example(("x",), ranks, gives=("x",))
    check.example((), ranks, gives=(), because="an empty word has nothing to join")
    check.done("order by rank, merges that make new pairs, unknown pairs, short words")
    answer = check.call(tuple("me" * 300), ranks)
    check.law(answer == ("me",) * 300, "in a word of 600 symbols every m + e must be joined")
    check.done("a word of 600 symbols")


def draft(symbols: Symbols, ranks: Ranks) -> Symbols:
    """As in the notebook: wrong if two learned pairs overlap."""
    return _joined(symbols, ranks, lambda known: known[0])


def by_the_highest(symbols: Symbols, ranks: Ranks) -> Symbols:
    """Wrong: joins the word's pair that was learned last."""
    return _joined(symbols, ranks, lambda known: max(known, key=lambda at: at[0]))


def only_once(symbols: Symbols, ranks: Ranks) -> Symbols:
    """Wrong: joins at one place, and does not look again."""
    return _joined(symbols, ranks, lambda known: min(known, key=lambda at: at[0]), rounds=1)


def _joined(symbols: Symbols, ranks: Ranks, choose: Callable, rounds: int = 1_000) -> Symbols:
    """Join at one place each round; `choose` selects one of the word's (rank, index) pairs."""
    for _ in range(rounds):
        known = [(ranks[p], i) for i, p in enumerate(pairwise(symbols)) if p in ranks]
        if not known:
            break
        _, i = choose(known)
        symbols = (*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :])
    return symbols


@task(
    5,
    "one `assert` for each sentence of task 4",
    "in `abc` the pairs a b and b c overlap: try both orders of their ranks",
)
def examine_apply_merges(check: MutationCheck, own: Callable) -> None:
    """A test of `apply_merges`, tried on the student's own and on three wrong ones."""
    check.passes(own, "apply_merges", 4, ("a", "b"), {("a", "b"): 0})
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        by_the_highest,
        "a function that joins the highest rank first",
        "the pair that was learned first is joined first",
    )
    check.stops(only_once, "a function that joins one pair and stops", "some words take more")
    check.done("your own apply_merges passes, three wrong ones do not")


MERGES = [("s", "t"), ("m", "e"), ("me", "n")]
TOKENS = ["[UNK]", *ALPHABET, "st", "me", "men"]
VOCAB = {token: id for id, token in enumerate(TOKENS)}


@task(
    6,
    "split the text at white space, cut each word, look up each symbol",
    "vocab.get(symbol, vocab['[UNK]']) falls back to the unknown token",
)
def encode(check: Check) -> None:
    """Text to ids."""
    check.example(
        "men best", VOCAB, MERGES, gives=[14, 2, 4, 12], because="men is 14; b e st are 2, 4, 12"
    )
    check.example(
        "zebus",
        VOCAB,
        MERGES,
        gives=[0, 4, 2, 11, 9],
        because="only the character z is unknown; the rest of the word is not",
    )
    last = {token: id for id, token in enumerate([*TOKENS[1:], "[UNK]"])}
    check.example("z", last, MERGES, gives=[14], because="here [UNK] has the id 14, not 0")
    check.example("", VOCAB, MERGES, gives=[], because="no words, no ids")
    check.example("  men\n men ", VOCAB, MERGES, gives=[14, 14], because="any white space")
    check.example(
        "me n",
        VOCAB,
        MERGES,
        gives=[13, 7],
        because="me and n are two words: nothing is joined across the space",
    )
    check.done("known words, an unknown character, white space, an empty text")
    long = check.call("camel " * 500, VOCAB, MERGES)
    check.law(
        long == [3, 1, 13, 5] * 500,
        "'camel' 500 times must give the ids 3, 1, 13, 5 (c a me l) 500 times",
    )
    check.done("500 words")


@task(
    6,
    "invert the vocabulary first: id -> token",
    "{id: token for token, id in vocab.items()}",
)
def decode(check: Check) -> None:
    """Ids to text."""
    check.example(
        [14, 2, 4, 12],
        VOCAB,
        gives="men b e st",
        because="one space between two tokens: nothing says where a word ends",
    )
    check.example(
        [0, 4, 2, 11, 9],
        VOCAB,
        gives="e b u s",
        because="[UNK] represents no text, so it is omitted",
    )
    mixed = {"b": 5, "[UNK]": 3, "a": 9}
    check.example(
        [9, 5], mixed, gives="a b", because="ids are those in vocab, not positions in a list"
    )
    check.example([0, 1], {"a": 0, "[UNK]": 1}, gives="a", because="[UNK] may have any id")
    check.example([], VOCAB, gives="", because="no ids, no text")
    check.done("tokens, [UNK], ids in any order, no ids")
    check.raises(
        *(ValueError, [4, 15], VOCAB),
        because="no token has the id 15; the error says so",
        naming="15",
    )
    check.raises(
        *(ValueError, [4, -1], VOCAB),
        because="no token has the id -1; a list would return its last item",
        naming="-1",
    )
    check.done("ids that no token has, named by the error")
    check.example([13] * 500, VOCAB, gives=" ".join(["me"] * 500))
    check.done("500 ids")


BOTH = {"lower", "mark"}


@task(
    7,
    "begin with an empty Counter, and add each word's count to that of its symbols",
    'test for each part separately: `if "lower" in parts`, `if "mark" in parts`',
)
def start_words(check: Check) -> None:
    """Words as symbols, lower-cased or not, marked or not."""
    check.example(
        {"The": 3, "the": 5},
        BOTH,
        gives={("t", "h", "e</w>"): 8},
        because="both words become one, which occurs 3 + 5 times",
    )
    check.example(
        {"The": 3, "the": 5},
        set(),
        gives={("T", "h", "e"): 3, ("t", "h", "e"): 5},
        because="without any part, words are only split into characters",
    )
    check.example(
        {"A": 2, "an": 1}, {"mark"}, gives={("A</w>",): 2, ("a", "n</w>"): 1}, because="only mark"
    )
    check.example({"A": 2}, {"lower"}, gives={("a",): 2}, because="only lower")
    check.example({}, BOTH, gives={}, because="no words at all")
    check.done("both parts, each by itself, none; no words")


@task(8, "write `return` and a number")
def predict_tokens(check: Check) -> None:
    """A number from 1 up, of the student's choice."""
    answer = check.call()
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    check.law(number, f"a prediction is a number; it returned {answer!r}")
    check.law(
        isfinite(answer) and answer >= 1,
        f"a word takes at least one token, so it must be 1 or more; it returned {answer!r}",
    )
    check.done(f"you predict {answer:g} tokens per word; now measure")
