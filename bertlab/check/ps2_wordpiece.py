"""Checks of assignment 2, bytes and WordPiece: one a task, by worked examples and laws."""

import math
from collections.abc import Callable, Sequence

from bertlab.check.differences import difference, short
from bertlab.check.feedback import Check, Passed

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
    """A score with a name to print, which notes what it was asked."""

    def __init__(self, name: str, of: Callable) -> None:
        self.name, self.of, self.asked = name, of, set()

    def __call__(self, n_ab: int, n_a: int, n_b: int, n: int) -> float:
        self.asked.add((n_ab, n_a, n_b, n))
        return self.of(n_ab, n_a, n_b, n)

    def __repr__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: dict) -> "_Score":
        return self


def _frequency() -> _Score:
    return _Score("frequency", lambda n_ab, n_a, n_b, n: n_ab)


def _likelihood() -> _Score:
    return _Score("likelihood", lambda n_ab, n_a, n_b, n: n_ab / (n_a * n_b))


def to_bytes_hex(function: Callable) -> Passed:
    """Task 1: a text as bytes."""
    check = Check(
        "to_bytes_hex",
        function,
        hints=(
            'text.encode("utf-8") gives the bytes; going through them gives numbers, 0 to 255',
            'f"{byte:02x}" writes a number with two hexadecimal digits',
        ),
    )
    best = ["62", "65", "73", "74"]
    check.example(
        "best",
        gives=best,
        because="one byte a letter, and each is written as two digits",
        mistakes=[
            ([98, 101, 115, 116], "these are the numbers; write each as two hexadecimal digits"),
            ([f"0x{code}" for code in best], "just the two digits, without 0x in front"),
        ],
    )
    check.example(
        "你好",
        gives=["e4", "bd", "a0", "e5", "a5", "bd"],
        because="UTF-8 writes each of these characters with three bytes",
        mistakes=[
            (["4f60", "597d"], "these are the characters' code points: encode the text first"),
            (["e4bda0", "e5a5bd"], "one entry for each byte, not for each character"),
            (["E4", "BD", "A0", "E5", "A5", "BD"], "digits above 9 are small letters: e4, not E4"),
        ],
    )
    check.example("é🙂", gives=["c3", "a9", "f0", "9f", "99", "82"], because="two bytes, then four")
    check.example(
        "a\n",
        gives=["61", "0a"],
        because="always two digits: the byte 10 is 0a",
        mistakes=[(["61"], "white space is text, too: nothing is left out")],
    )
    check.example("", gives=[], because="an empty text has no bytes")
    check.done("characters of one, two, three and four bytes, a byte below 16, an empty text")
    check.example("né" * 500, gives=["6e", "c3", "a9"] * 500)
    check.done("1,500 bytes")
    return check.passed()


def from_bytes_hex(function: Callable) -> Passed:
    """Task 1, back: bytes to a text."""
    check = Check(
        "from_bytes_hex",
        function,
        hints=(
            "int(code, 16) is the number of a byte; bytes([98, 101]) makes bytes of numbers",
            'decode all bytes at once: raw.decode("utf-8", errors="replace")',
        ),
    )
    check.example(["62", "65", "73", "74"], gives="best")
    apart = "decode all bytes together: one alone is only a part of a character"
    check.example(
        ["e4", "bd", "a0", "e5", "a5", "bd"],
        gives="你好",
        because="three bytes make one character",
        mistakes=[("ä½\xa0å¥½", apart), ("\ufffd" * 6, apart)],
    )
    check.example(["61", "0a", "62"], gives="a\nb", because="0a is the byte of the new line")
    gone = "the two bytes do not vanish: one replacement character, U+FFFD, stands for them"
    check.example(
        ["e4", "bd"],
        gives="\ufffd",
        because="the third byte is missing, so these two make no character, and become U+FFFD",
        mistakes=[("", gone)],
    )
    check.example(
        ["62", "ff", "65"],
        gives="b\ufffde",
        because="only what makes no character is replaced; what stands around it is text",
    )
    check.example([], gives="", because="no bytes, no text")
    check.done("whole characters, bytes that make none, no bytes")
    check.example(["6e", "c3", "a9"] * 500, gives="né" * 500)
    check.done("1,500 bytes")
    return check.passed()


def first_pieces(function: Callable) -> Passed:
    """Task 2: characters as pieces."""
    check = Check(
        "first_pieces",
        function,
        hints=(
            "word[0] is the first character, word[1:] is all the others",
            "a star puts many things into a tuple: (first, *others)",
        ),
    )
    check.example(
        "men",
        gives=("m", "##e", "##n"),
        because="the first character stands as it is, each further one gets ## in front",
        mistakes=[
            (("##m", "##e", "##n"), "the first piece starts the word: it has no ##"),
            (("m", "e", "n"), "a piece inside the word gets ## in front"),
            (("m", "##en"), "one piece for each character"),
            (("m##", "e##", "n"), "## stands in front of the piece that goes on, not behind"),
        ],
    )
    twice = "what counts is where a character stands, not which one it is"
    check.example("meme", gives=("m", "##e", "##m", "##e"), because=twice)
    check.example("a", gives=("a",), because="one character, one piece, which starts the word")
    check.example("c#", gives=("c", "###"), because="# is a character like others: ## and #")
    check.done("the start, the rest, a character that comes twice, a single character, #")
    check.example("né" * 500, gives=("n", *["##é", "##n"] * 499, "##é"))
    check.done("a word of 1,000 characters")
    return check.passed()


def glue(function: Callable) -> Passed:
    """Task 3: two pieces become one."""
    check = Check(
        "glue",
        function,
        hints=(
            "the left piece stays what it is; the right one loses its mark",
            "right.removeprefix(CONTINUES) takes the mark away once, and only in front",
        ),
    )
    check.example(
        "m",
        "##e",
        gives="me",
        because="a word starts with m, so it starts with me",
        mistakes=[
            ("m##e", "the mark of the right piece goes: it is no longer the start of a piece"),
            ("##me", "m starts the word, so me does: it gets no ##"),
        ],
    )
    check.example(
        "##e",
        "##n",
        gives="##en",
        because="the left piece continues a word, so what it becomes does, too",
        mistakes=[("en", "## stays in front, or en would start a word")],
    )
    check.example("me", "##nu", gives="menu", because="pieces may be long")
    hashes = "take away the mark alone, once: # may be a character of the word"
    check.example("c", "###", gives="c#", because=hashes)
    check.example("a", "##b##", gives="ab##", because=hashes)
    check.example("###", "##x", gives="###x", because="the left piece stays as it is")
    check.done("the start of a word, its inside, words with # in them")
    return check.passed()


def count_symbols(function: Callable) -> Passed:
    """Task 4: occurrences of each piece."""
    check = Check(
        "count_symbols",
        function,
        hints=(
            "as count_pairs, but for each piece and not for each pair",
            "two loops: words.items(), then the pieces of the word; add the word's count",
        ),
    )
    men = ("m", "##e", "##n")
    check.example(
        {men: 1},
        gives={"m": 1, "##e": 1, "##n": 1},
        because="every piece counts, the first and the last one included",
        mistakes=[
            ({"m": 1, "e": 1, "n": 1}, "take the pieces as they are: m and ##m are different"),
            ({men: 1}, "count the pieces, not the words"),
        ],
    )
    often = "this word occurs 3 times, and so does each of its pieces: use the word's count"
    check.example({men: 3}, gives={"m": 3, "##e": 3, "##n": 3}, because=often)
    check.example(
        {("m", "##m", "##m"): 2},
        gives={"m": 2, "##m": 4},
        because="a piece counts as often as it stands in the word, and m is not ##m",
    )
    adds = "counts of different words add up"
    check.example({men: 1, ("m", "##e"): 2}, gives={"m": 3, "##e": 3, "##n": 1}, because=adds)
    long = "a piece may be longer than one character: take it as it is"
    check.example({("me", "##nu"): 1, ("me",): 1}, gives={"me": 2, "##nu": 1}, because=long)
    check.done("word counts, pieces that come twice, several words, long pieces")
    by_hand = [2, 3, 2, 1, 5, 1, 1, 2, 2, 4, 4, 1]
    check.example(WORDS, gives=dict(zip(SYMBOLS, by_hand, strict=True)))
    check.example({}, gives={}, because="no words, no pieces")
    check.example({("a", *["##b"] * 999): 2}, gives={"a": 2, "##b": 1998})
    check.done("the lecture's corpus, no words, a word of 1,000 pieces")
    return check.passed()


def likelihood(function: Callable) -> Passed:
    """Task 5: the score that textbooks print."""
    check = Check(
        "likelihood",
        function,
        hints=("the pair is counted above the line, its two pieces below it",),
    )
    below = "divide by the product: n_a and n_b stand below the line, both"
    check.example(
        *(4, 4, 4),
        gives=0.25,
        because="4 / (4 · 4): ##s and ##t occur 4 times each, always together",
        mistakes=[
            (4.0, f"n_ab / n_a * n_b divides by n_a alone; {below}"),
            (0.5, "n_a and n_b are multiplied, not added"),
            (1.0, "divide by both, n_a and n_b"),
        ],
    )
    check.example(*(2, 3, 2), gives=1 / 3, because="2 / (3 · 2), for c and ##o")
    check.example(*(1, 2, 5), gives=0.1, because="1 / (2 · 5): n_b counts as much as n_a")
    check.example(*(1, 1, 1), gives=1.0, because="no score is higher: both occur once, together")
    check.example(*(4, 4, 4, 28), gives=0.25, because="n, the fourth argument, does not matter")
    check.done("the lecture's numbers, with n and without")
    check.law(
        all(
            check.call(1, a, b) == check.call(1, b, a) == check.call(2, 2 * a, b)
            for a in range(1, 20)
            for b in range(1, 20)
        ),
        "scores that are equal on paper must be equal floats, or ties break by accident\n"
        "→ round once: multiply n_a and n_b, which are whole numbers, then divide",
    )
    check.done("ties that stay ties")
    million = 1_000_000
    check.example(million, 3 * million, 2 * million, gives=million / (6 * million**2))
    check.done("a large corpus")
    return check.passed()


def gain(function: Callable) -> Passed:
    """Task 6: by how much the log-likelihood rises."""
    check = Check(
        "gain",
        function,
        hints=(
            "write f(x) = x ln x first, with f(0) = 0; the log-likelihood is Σ f(n_x) - f(n)",
            "four terms change: n_a and n_b lose n_ab, the new piece gets n_ab, n loses n_ab",
        ),
    )
    product = "n_ab · ln(n_ab · n / (n_a n_b)) is near, but n_a, n_b and n themselves fall, too"
    _close(
        check,
        *(4, 4, 4, 28),
        gives=11.4832569,
        because="f(0) - f(4) + f(0) - f(4) + f(4) + f(28) - f(24), with f(x) = x ln x",
        mistakes=[
            (-11.4832569, "the sign: a rise is after minus before"),
            (16.5671710, "that is in bits: in nats it is math.log, the natural logarithm"),
            (4.9871084, "that is the logarithm to base 10: use math.log"),
            (-5.5451774, "the corpus gets shorter as well: the term f(n) - f(n - n_ab) is missing"),
            (27.8444994, "each join takes one piece away, not two: n falls by n_ab"),
            (-22.5736119, "f(n) is subtracted, so it is f(n) - f(n - n_ab), not the other way"),
            (5.9380795, "the new piece counts, too: it occurs n_ab times, which adds f(n_ab)"),
            (7.7836406, product),
        ],
    )
    check.done("the lecture's 11.48 nats, where nothing is left of either piece")
    _close(
        check,
        *(1, 3, 5, 28),
        gives=0.1157217,
        because="some of either piece are left over: 2 and 4, with f(2) and f(4)",
        mistakes=[
            (0.6237969, product),
            (-1.9095425, "f(3) and f(5) are taken away, but 2 and 4 of them are left: f(2), f(4)"),
        ],
    )
    _close(check, *(1, 1, 4, 10), gives=1.0 * _F10_9 + _F3_4, because="only a is used up: f(0) = 0")
    _close(check, *(1, 4, 1, 10), gives=1.0 * _F10_9 + _F3_4, because="only b is used up: f(0) = 0")
    less = "a gain may be below 0: this merge would make the corpus less likely"
    _close(check, *(1, 10, 10, 20), gives=-2.5300, because=less)
    _close(check, *(3, 3, 3, 6), gives=6 * math.log(2), because="nothing else is in the corpus")
    check.done("pieces left over, one used up, a loss, a corpus of one word")
    million = 1_000_000
    _close(check, million, 2 * million, 3 * million, 9 * million, gives=0)
    check.done("a large corpus")
    return check.passed()
