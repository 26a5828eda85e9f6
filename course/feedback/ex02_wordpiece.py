"""Checks of exercise 2, bytes and WordPiece: one per task, by worked examples and laws."""

from collections.abc import Callable

from course.feedback.checks import Check, about, checks_of
from course.feedback.differences import difference, short
from course.feedback.mutants import MutationCheck
from course.feedback.trained import vocab_and_merges

# `check.progress()` shows how far you are, `@task` declares a check.
progress, task = checks_of("ex02_wordpiece")


@task(
    1,
    'text.encode("utf-8") gives the bytes; iterating over them gives numbers, 0 to 255',
    'f"{byte:02x}" writes a number with two hexadecimal digits',
)
def to_bytes_hex(check: Check) -> None:
    """A text as bytes."""
    best = ["62", "65", "73", "74"]
    check.example("best", gives=best, because="one byte per letter, each written as two digits")
    check.example(
        "你好",
        gives=["e4", "bd", "a0", "e5", "a5", "bd"],
        because="UTF-8 writes each of these characters with three bytes",
    )
    check.example("é🙂", gives=["c3", "a9", "f0", "9f", "99", "82"], because="two bytes, then four")
    check.example("a\n", gives=["61", "0a"], because="always two digits: the byte 10 is 0a")
    check.example("", gives=[], because="an empty text has no bytes")
    check.done("characters of one, two, three and four bytes, a byte below 16, an empty text")
    check.example("né" * 500, gives=["6e", "c3", "a9"] * 500)
    check.done("1,500 bytes")


@task(
    1,
    "int(code, 16) is the number of a byte; bytes([98, 101]) makes bytes of numbers",
    'decode all bytes at once: raw.decode("utf-8", errors="replace")',
)
def from_bytes_hex(check: Check) -> None:
    """Bytes back to a text."""
    check.example(["62", "65", "73", "74"], gives="best")
    check.example(
        ["e4", "bd", "a0", "e5", "a5", "bd"], gives="你好", because="three bytes make one character"
    )
    check.example(["61", "0a", "62"], gives="a\nb", because="0a is the byte of a line break")
    check.example(
        ["e4", "bd"],
        gives="\ufffd",
        because="the third byte is missing, so these two make no character, and become U+FFFD",
    )
    check.example(
        ["62", "ff", "65"],
        gives="b\ufffde",
        because="only bytes that make no character are replaced; those around them are text",
    )
    check.example([], gives="", because="no bytes, no text")
    check.done("whole characters, bytes that make none, no bytes")
    check.example(["6e", "c3", "a9"] * 500, gives="né" * 500)
    check.done("1,500 bytes")


@task(
    2,
    "the left piece stays what it is; the right one loses its mark",
    "right.removeprefix(CONTINUES) removes the mark once, and only at the start",
)
def glue(check: Check) -> None:
    """Two pieces become one."""
    check.example("m", "##e", gives="me", because="a word starts with m, so it starts with me")
    check.example(
        "##e",
        "##n",
        gives="##en",
        because="the left piece continues a word, so the joined piece does, too",
    )
    check.example("me", "##nu", gives="menu", because="pieces may be long")
    hashes = "remove only the mark, once: # may be a character of the word"
    check.example("c", "###", gives="c#", because=hashes)
    check.example("a", "##b##", gives="ab##", because=hashes)
    check.example("###", "##x", gives="###x", because="the left piece stays as it is")
    check.done("the start of a word, its inside, words with # in them")


@task(
    5,
    "two loops: where the piece starts, and inside, where it ends, from the far end back",
    "a `for` loop may have an `else`: it runs when no `break` was met",
)
def longest_match(check: Check) -> None:
    """Cut a word with a vocabulary."""
    vocab = {p: i for i, p in enumerate(["m", "me", "men", "##e", "##n", "##u", "##us", "##s"])}
    check.example(
        *("menus", vocab),
        gives=["men", "##us"],
        because="of the pieces that fit, the longest is taken: men, then ##us",
    )
    check.example("men", vocab, gives=["men"], because="a word of the vocabulary is one piece")
    check.example(
        *("mental", vocab),
        gives=["[UNK]"],
        because="nothing fits at t, so the word cannot be split: the whole word is [UNK]",
    )
    starts = "`us` does not start a word here: ##us only continues one"
    check.example("us", vocab, gives=["[UNK]"], because=starts)
    inside = "me can start a word, but inside one it would be ##me, which is unknown"
    check.example("nme", {"n": 0, "me": 1}, gives=["[UNK]"], because=inside)
    greedy = "a first, then ##bc would work, but longest match does not look back: ab, then nothing"
    check.example("abc", {"a": 0, "ab": 1, "##bc": 2}, gives=["[UNK]"], because=greedy)
    more = {p: i for i, p in enumerate(["ab", "abc", "##cde", "##d", "##e"])}
    few = "the longest piece comes first, though ab ##cde would be fewer"
    check.example("abcde", more, gives=["abc", "##d", "##e"], because=few)
    check.done("the longest piece, what starts and what continues, words that cannot be cut")
    letters = {"a": 0, "##a": 1}
    limit = (
        "a word of more than longest_word characters is [UNK], one of exactly that length is not"
    )
    check.example("a" * 5, letters, 5, gives=["a", *["##a"] * 4], because=limit)
    check.example("a" * 6, letters, 5, gives=["[UNK]"], because=limit)
    check.example("a" * 101, letters, gives=["[UNK]"], because="longest_word is 100 if not given")
    check.example("me" * 50, {"me": 0, "##me": 1}, gives=["me", *["##me"] * 49])
    check.done("words of 100 and 101 characters")


def draft(word: str, vocab: dict[str, int], longest_word: int = 100) -> list[str]:
    """As in the notebook: wrong if it gets stuck inside a word, and for long words."""
    pieces = _cut(word[:longest_word], vocab, lambda ends: ends)[0]
    return pieces or ["[UNK]"]


def shortest_first(word: str, vocab: dict[str, int], longest_word: int = 100) -> list[str]:
    """Wrong: takes the shortest piece each time."""
    pieces, left = _cut(word, vocab, reversed)
    return ["[UNK]"] if left or len(word) > longest_word else pieces


def without_limit(word: str, vocab: dict[str, int], longest_word: int = 100) -> list[str]:
    """Wrong: cuts words of any length."""
    del longest_word
    pieces, left = _cut(word, vocab, lambda ends: ends)
    return ["[UNK]"] if left else pieces


def _cut(word: str, vocab: dict[str, int], order: Callable) -> tuple[list[str], str]:
    """Pieces from the left, and the rest if none fits; `order` is the order of ends."""
    pieces: list[str] = []
    while word:
        mark = "##" if pieces else ""
        ends = order(range(len(word), 0, -1))
        end = next((end for end in ends if mark + word[:end] in vocab), 0)
        if not end:
            break
        pieces.append(mark + word[:end])
        word = word[end:]
    return pieces, word


@task(
    6,
    "one `assert` for each sentence of task 5",
    "a word that gets stuck in the middle, and one that is one character too long",
)
def examine_longest_match(check: MutationCheck, own: Callable) -> None:
    """A test of `longest_match`, tried on the student's own and on three wrong ones."""
    check.passes(own, "longest_match", 5, "a", {"a": 0})
    check.stops(draft, "the draft", "which call shows what you have repaired?")
    check.stops(
        shortest_first,
        "a function that takes the shortest piece first",
        "use pieces of which one is the beginning of another",
    )
    check.stops(
        without_limit,
        "a function without a limit",
        "try a word of more than longest_word characters",
    )
    check.done("your own longest_match passes, three wrong ones do not")


# The corpus of the lecture, in first pieces: 28 of them, 12 different ones.
WORDS = {
    ("c", "##o", "##s", "##t"): 2,
    ("b", "##e", "##s", "##t"): 2,
    ("m", "##e", "##n", "##u"): 1,
    ("m", "##e", "##n"): 1,
    ("c", "##a", "##m", "##e", "##l"): 1,
}
SYMBOLS = ["b", "c", "m", "##a", "##e", "##l", "##m", "##n", "##o", "##s", "##t", "##u"]
START = {piece: id for id, piece in enumerate(SYMBOLS)}


class _Score:
    """A score with a name to print, which records its calls."""

    def __init__(self, name: str, of: Callable) -> None:
        self.name, self.of = name, of
        self.asked: set[tuple[int, ...]] = set()

    def __call__(self, n_ab: int, n_a: int, n_b: int, n: int) -> float:
        self.asked.add((n_ab, n_a, n_b, n))
        return self.of(n_ab, n_a, n_b, n)

    def __repr__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: dict) -> "_Score":
        return self


def _frequency() -> _Score:
    return _Score("frequency", lambda n_ab, *_: n_ab)


def _likelihood() -> _Score:
    return _Score("likelihood", lambda n_ab, n_a, n_b, _: n_ab / (n_a * n_b))


@task(
    3,
    "write f(x) = x ln x first, with f(0) = 0; the log-likelihood is Σ f(n_x) - f(n)",
    "n_a, n_b and n fall by n_ab, and the new piece occurs n_ab times: four terms change",
)
def gain(check: Check) -> None:
    """By how much the log-likelihood rises."""
    _close(
        check,
        *(4, 4, 4, 28),
        gives=11.4833,
        because="f(0) - f(4) + f(0) - f(4) + f(4) + f(28) - f(24), with f(x) = x ln x",
    )
    check.done("the lecture's 11.48 nats, where nothing is left of either piece")
    _close(
        check,
        *(2, 3, 5, 28),
        gives=1.9303,
        because="some of each piece are left over, 3 - 2 and 5 - 2: f(1) - f(3) + f(3) - f(5)",
    )
    _close(check, *(1, 1, 4, 10), gives=1.0015, because="a is used up, f(0) = 0; b is not")
    _close(check, *(1, 4, 1, 10), gives=1.0015, because="b is used up, f(0) = 0; a is not")
    loss = "a gain may be below 0: this merge would make the corpus less likely"
    _close(check, *(1, 10, 10, 20), gives=-2.5314, because=loss)
    _close(check, *(3, 3, 3, 6), gives=4.1589, because="6 ln 2: one word is the whole corpus")
    check.done("pieces left over, one used up, a loss, a corpus of one word")
    million = 1_000_000
    _close(check, million, 2 * million, 3 * million, 9 * million, gives=-156_348.0034)
    check.done("a large corpus")


def _close(check: Check, *arguments: int, gives: float, because: str = "") -> None:
    """A worked example with a number that is rounded to four decimals."""
    answer = check.call(*arguments, because=because)
    shown = f"{check.name}{arguments}"
    if not isinstance(answer, int | float):
        check.fail(f"{shown}\n{difference(gives, answer)}")
    numbers = f"expected about {gives:.4f}\ngot            {answer:.4f}"
    found = "" if _near(gives, answer) else numbers
    check.compared(found, answer, shown, because, 1e-3)


def _near(one: float, other: float) -> bool:
    return abs(one - other) < 1e-3  # so that nan is close to no number


@task(
    4,
    "score the frequent pairs, choose, join everywhere, give an id; then count again",
    "compare tuples: (score, -id of the left piece, -id of the right piece)",
)
def train(check: Check) -> None:
    """The training loop, which ends when the score is too low."""
    by_frequency = [("##s", "##t"), ("b", "##e"), ("c", "##o")]
    by_likelihood = [("##a", "##m"), ("##n", "##u"), ("c", "##o")]
    at_least_twice = [("c", "##o"), ("##s", "##t"), ("co", "##st")]
    learned = []
    for score in (_frequency(), _likelihood()):
        answer = check.call(WORDS, START, 15, score, 1, 0)
        vocab, merges = vocab_and_merges(check, answer, ("##s", "##t"))
        check.law(
            len(merges) == 3,
            f"12 first pieces and 3 merges make 15 pieces; it made {len(merges)} merges",
        )
        check.law(
            sorted(vocab.values()) == list(range(15)),
            f"a new piece gets the next free id: from 0 to 14, each once; got {vocab}",
        )
        check.law(
            merges[1] != merges[0],
            f"with {score} the same pair again: got {merges}\n→ apply the merge to every word "
            "before you continue",
        )
        learned.append((vocab, merges))
    left = _Score("score", lambda _ab, n_a, n_b, _: n_a - n_b)
    small = {("x", "##y", "##z"): 2, ("x", "##z"): 3, ("w", "##y"): 5}
    ids = {"w": 0, "x": 1, "##y": 2, "##z": 3}
    _, merges = check.call(small, ids, 5, left, 1, 0)
    _asked(check, small, left, {(2, 5, 7, 22), (2, 7, 5, 22), (3, 5, 5, 22), (5, 5, 7, 22)})
    _merges_are(check, merges, [("##y", "##z")], "with n_a - n_b as the score", "7 - 5 is highest")
    check.done("the arguments of the score")
    tied = {("a", "##b"): 2, ("a", "##c"): 2, ("d", "##b"): 2}
    low = {"##x": 0, "##y": 1, "a": 2, "##c": 3, "##b": 4, "d": 5}
    _, merges = check.call(tied, low, 7, _frequency(), 1, 0)
    _merges_are(
        *(check, merges, [("a", "##c")], f"with the ids {low}"),
        "all are tied: a has the lowest left id, 2; then ##c has the lower right id, 3",
    )
    late = {"z": 0, "##b": 1, "##c": 2, "a": 3}
    letters = {("a", "##b"): 2, ("z", "##c"): 2}
    _, merges = check.call(letters, late, 5, _frequency(), 1, 0)
    why = "ids decide, not the alphabet: here z has the id 0"
    _merges_are(check, merges, [("z", "##c")], f"with the ids {late}", why)
    check.done("ties, ids rather than letters")
    why = "the score uses the new counts: pieces that were joined are no longer there"
    for (vocab, merges), name, wanted, new in (
        (learned[0], "frequency", by_frequency, ["##st", "be", "co"]),
        (learned[1], "likelihood", by_likelihood, ["##am", "##nu", "co"]),
    ):
        _merges_are(check, merges, wanted, f"with {name}", why)
        pieces = sorted(vocab, key=vocab.__getitem__)
        check.law(
            pieces == [*SYMBOLS, *new],
            f"the new pieces must be {new}, in the order of ids; got {pieces[12:]}\n"
            "`glue` joins two pieces",
        )
    check.done("the lecture's 15 pieces by two scores")
    for fewest, wanted in ((2, at_least_twice), (5, [])):
        _, merges = check.call(WORDS, START, 15, _likelihood(), fewest, 0)
        why = f"only pairs that occur at least {fewest} times may be joined"
        where = f"with likelihood and min_count={fewest}"
        _merges_are(check, merges, wanted, where, why)
    for least, wanted in ((3, by_frequency[:1]), (4, [])):
        _, merges = check.call(WORDS, START, 15, _frequency(), 1, least)
        why = f"the best score must be above {least}: ##s ##t has 4, the next best 2"
        _merges_are(check, merges, wanted, f"with frequency and least={least}", why)
    rare = _Score("-n_ab", lambda n_ab, *_: -n_ab)
    few = {("a", "##b"): 3, ("z", "##c"): 1}
    _, merges = check.call(few, late, 5, rare, 1, -2)
    why = "a score may be below 0, and so may `least`: -1 is above -2"
    _merges_are(check, merges, [("z", "##c")], "with -n_ab and least=-2", why)
    check.done("rare pairs, scores that are too low, scores below 0")
    vocab, merges = check.call({("a", "##b"): 1}, {"a": 0, "##b": 1}, 50, _likelihood(), 1, 0)
    check.law(
        len(merges) == 1 and list(vocab) == ["a", "##b", "ab"],
        "when nothing is left to join, stop before the vocabulary is full",
    )
    check.law(
        check.call(WORDS, START, 12, _likelihood(), 1, 0)[1] == [],
        "if the vocabulary is full at the start, no merge is learned",
    )
    check.done("stopping early, stopping at once")
    twice = {("a", "##b"): 3, ("ab",): 1}
    vocab, _ = check.call(twice, {"a": 0, "##b": 1, "ab": 2}, 4, _likelihood(), 1, 0)
    check.law(vocab == {"a": 0, "##b": 1, "ab": 2}, "a piece that already exists keeps its id")
    check.done("a piece made a second time")


def _merges_are(check: Check, merges: list, wanted: list, where: str, why: str) -> None:
    check.compared(difference(wanted, merges), merges, where, why)


def _asked(check: Check, words: dict, score: _Score, wanted: set[tuple]) -> None:
    """Check that the score was called with the right numbers for these words."""
    orders = {
        "the most frequent pair need not be the best: call `score` for each pair": set(),
        "that is in another order": {(ab, b, a, n) for ab, a, b, n in wanted},
        "n is the number of all pieces, each counted as often as it occurs, not of the "
        "different ones": {(ab, a, b, 4) for ab, a, b, n in wanted},
        "n is the number of pieces, not of pairs": {(ab, a, b, 12) for ab, a, b, n in wanted},
    }
    if not wanted <= score.asked:
        known = [sentence for sentence, asked in orders.items() if asked == score.asked]
        check.fail(
            f"for the words {words}\nscore must be called with n_ab, n_a, n_b, n: "
            f"{sorted(wanted)}\nit was called with {short(sorted(score.asked))}"
            + about("" if known else "n_a and n_b are what count_symbols counts, n is their sum"),
            *known[:1],
        )


SCORES = ("frequency", "likelihood", "gain")


@task(
    7,
    "first the bare pieces, each once, in their order; then their ids",
    "piece.removeprefix(CONTINUES) removes the mark once, and only at the start",
)
def unmarked(check: Check) -> None:
    """Both spellings of each piece, under one id."""
    check.example(
        {"e": 0, "##e": 1, "men": 2, "##n": 3},
        gives={"e": 0, "##e": 0, "men": 1, "##men": 1, "n": 2, "##n": 2},
        because="of four pieces three remain, each with both spellings",
    )
    hashes = "remove only the mark, once: # may be a character of the piece"
    check.example(
        {"###": 0, "##a##": 1}, gives={"#": 0, "###": 0, "a##": 1, "##a##": 1}, because=hashes
    )
    check.example(
        {"##b": 7, "a": 9},
        gives={"b": 0, "##b": 0, "a": 1, "##a": 1},
        because="the order in the vocabulary counts, not its ids or the alphabet",
    )
    check.example({}, gives={}, because="no pieces at all")
    check.done("twins, # in a piece, the order, no pieces")


@task(8, "write `return` and one of the names")
def predict_score(check: Check) -> None:
    """One of the three scores, of the student's choice."""
    answer = check.call()
    check.law(answer in SCORES, f"it must be one of {', '.join(SCORES)}; it returned {answer!r}")
    check.done(f"you predict {answer}; now measure")
