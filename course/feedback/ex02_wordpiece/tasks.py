"""Checks of exercise 2 about bytes, symbols and the longest match."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed
from course.feedback.ex02_wordpiece.merges import SYMBOLS, WORDS
from course.feedback.progress import task


@task("ex02_wordpiece", 1)
def to_bytes_hex(function: Callable) -> Passed:
    """A text as bytes."""
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


@task("ex02_wordpiece", 2)
def first_pieces(function: Callable) -> Passed:
    """Characters as pieces."""
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


@task("ex02_wordpiece", 3)
def glue(function: Callable) -> Passed:
    """Two pieces become one."""
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


@task("ex02_wordpiece", 4)
def count_symbols(function: Callable) -> Passed:
    """Occurrences of each piece."""
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


@task("ex02_wordpiece", 9)
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
        mistakes=[
            (["m", "##e", "##n", "##u", "##s"], "that is the shortest piece each time"),
            ([2, 6], "these are ids; return the pieces themselves"),
            (["men", "us"], "inside a word pieces have ## in front, in the answer as well"),
        ],
    )
    check.example("men", vocab, gives=["men"], because="a word of the vocabulary is one piece")
    check.example(
        *("mental", vocab),
        gives=["[UNK]"],
        because="nothing fits at t, so the word cannot be cut: it is [UNK] as a whole",
        mistakes=[
            (["men", "[UNK]"], "no piece of it remains: one [UNK] stands for the whole word"),
            (["men"], "the rest, `tal`, must not get lost: [UNK] stands for the whole word"),
            (["men"] + ["[UNK]"] * 3, "one [UNK] for the word, not one for each character"),
            ([], "one [UNK] stands for the word"),
        ],
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
    limit = "a word of more than longest_word characters is [UNK], one of just as many is not"
    check.example("a" * 5, letters, 5, gives=["a", *["##a"] * 4], because=limit)
    check.example("a" * 6, letters, 5, gives=["[UNK]"], because=limit)
    check.example("a" * 101, letters, gives=["[UNK]"], because="longest_word is 100 if not given")
    check.example("me" * 50, {"me": 0, "##me": 1}, gives=["me", *["##me"] * 49])
    check.done("words of 100 and 101 characters")
    return check.passed()
