"""WordPiece's way to write symbols: `##` marks a piece that continues a word."""

from collections.abc import Iterator

from bertlab.tokenizers.merges import Pair

CONTINUES = "##"


def first_pieces(word: str) -> tuple[str, ...]:
    """The characters of a word as pieces, before anything is joined.

    >>> first_pieces("men")
    ('m', '##e', '##n')
    """
    return (word[0], *(CONTINUES + character for character in word[1:]))


def glue(left: str, right: str) -> str:
    """What two pieces become.

    >>> glue("m", "##e"), glue("##e", "##n")
    ('me', '##en')
    """
    return left + right.removeprefix(CONTINUES)


def ways(piece: str) -> Iterator[Pair]:
    """Every pair of pieces that glues to `piece`.

    >>> list(ways("##men"))
    [('##m', '##en'), ('##me', '##n')]
    """
    start = len(CONTINUES) if piece.startswith(CONTINUES) else 0
    for cut in range(start + 1, len(piece)):
        yield piece[:cut], CONTINUES + piece[cut:]
