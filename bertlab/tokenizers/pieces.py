"""WordPiece's notation of symbols: `##` marks a piece that continues a word."""

from collections.abc import Collection

CONTINUES = "##"


def first_pieces(word: str) -> tuple[str, ...]:
    """The characters of a word as pieces, before anything is joined.

    >>> first_pieces("men")
    ('m', '##e', '##n')
    """
    return (word[0], *(CONTINUES + character for character in word[1:]))


def first_alphabet(words: Collection[tuple[str, ...]]) -> list[str]:
    """The pieces a vocabulary starts with: every character, and those that continue a word.

    words: in first pieces. Any character may start a word, so each is included without `##`.

    >>> first_alphabet([("m", "##e"), ("e",)])
    ['e', 'm', '##e']
    """
    starts = {piece.removeprefix(CONTINUES) for word in words for piece in word}
    continuations = {piece for word in words for piece in word[1:]}
    return [*sorted(starts), *sorted(continuations)]


def glue(left: str, right: str) -> str:
    """Join two pieces.

    >>> glue("m", "##e"), glue("##e", "##n")
    ('me', '##en')
    """
    return left + right.removeprefix(CONTINUES)
