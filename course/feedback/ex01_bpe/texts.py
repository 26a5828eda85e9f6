"""Checks of exercise 1, task 6: from text to ids, and back."""

from collections.abc import Callable

from course.feedback.checks import Check, Passed
from course.feedback.ex01_bpe.tasks import ALPHABET
from course.feedback.progress import task

MERGES = [("s", "t"), ("m", "e"), ("me", "n")]
TOKENS = ["[UNK]", *ALPHABET, "st", "me", "men"]
VOCAB = {token: id for id, token in enumerate(TOKENS)}


@task("ex01_bpe", 6)
def encode(function: Callable) -> Passed:
    """Text to ids."""
    check = Check(
        "encode",
        function,
        hints=(
            "split the text at white space, cut each word, look up each symbol",
            "vocab.get(symbol, vocab['[UNK]']) falls back to the unknown token",
        ),
    )
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
    return check.passed()


@task("ex01_bpe", 6)
def decode(function: Callable) -> Passed:
    """Ids to text."""
    check = Check(
        "decode",
        function,
        hints=(
            "invert the vocabulary first: id -> token",
            "{id: token for token, id in vocab.items()}",
        ),
    )
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
    return check.passed()
