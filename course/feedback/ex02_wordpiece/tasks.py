"""Checks of exercise 2 about bytes, pieces, the longest match and its test."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed
from course.feedback.mutants import MutationCheck
from course.feedback.progress import task


@task("ex02_wordpiece", 1)
def to_bytes_hex(function: Callable) -> Passed:
    """A text as bytes."""
    check = Check(
        "to_bytes_hex",
        function,
        hints=(
            'text.encode("utf-8") gives the bytes; iterating over them gives numbers, 0 to 255',
            'f"{byte:02x}" writes a number with two hexadecimal digits',
        ),
    )
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
    return check.passed()


@task("ex02_wordpiece", 1)
def from_bytes_hex(function: Callable) -> Passed:
    """Bytes back to a text."""
    check = Check(
        "from_bytes_hex",
        function,
        hints=(
            "int(code, 16) is the number of a byte; bytes([98, 101]) makes bytes of numbers",
            'decode all bytes at once: raw.decode("utf-8", errors="replace")',
        ),
    )
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
    return check.passed()


@task("ex02_wordpiece", 2)
def glue(function: Callable) -> Passed:
    """Two pieces become one."""
    check = Check(
        "glue",
        function,
        hints=(
            "the left piece stays what it is; the right one loses its mark",
            "right.removeprefix(CONTINUES) removes the mark once, and only at the start",
        ),
    )
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
    return check.passed()


@task("ex02_wordpiece", 5)
def longest_match(function: Callable) -> Passed:
    """Cut a word with a vocabulary."""
    check = Check(
        "longest_match",
        function,
        hints=(
            "two loops: where the piece starts, and inside, where it ends, from the far end back",
            "a `for` loop may have an `else`: it runs when no `break` was met",
        ),
    )
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
    return check.passed()


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


@task("ex02_wordpiece", 6)
def examine_longest_match(function: Callable, own: Callable) -> Passed:
    """A test of `longest_match`, tried on the student's own and on three wrong ones."""
    check = MutationCheck(
        "examine_longest_match",
        function,
        hints=(
            "one `assert` for each sentence of task 5",
            "a word that gets stuck in the middle, and one that is one character too long",
        ),
    )
    check.needs("longest_match", 5, own, "a", {"a": 0})
    check.passes(own, "your own `longest_match`")
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
    return check.passed()
