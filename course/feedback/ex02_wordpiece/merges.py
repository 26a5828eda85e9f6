"""Checks of exercise 2 about merges: which pair to join, and learning them one by one."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed, about
from course.feedback.differences import difference, short
from course.feedback.progress import task
from course.feedback.trained import vocab_and_merges

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


@task("ex02_wordpiece", 3)
def gain(function: Callable) -> Passed:
    """By how much the log-likelihood rises."""
    check = Check(
        "gain",
        function,
        hints=(
            "write f(x) = x ln x first, with f(0) = 0; the log-likelihood is Σ f(n_x) - f(n)",
            "n_a, n_b and n fall by n_ab, and the new piece occurs n_ab times: four terms change",
        ),
    )
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
    return check.passed()


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


@task("ex02_wordpiece", 4)
def train(function: Callable) -> Passed:
    """The training loop, which ends when the score is too low."""
    check = Check(
        "train",
        function,
        hints=(
            "score the frequent pairs, choose, join everywhere, give an id; then count again",
            "compare tuples: (score, -id of the left piece, -id of the right piece)",
        ),
    )
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
    return check.passed()


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
