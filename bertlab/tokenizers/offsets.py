"""Which characters of a text its tokens cover.

Tokens stand side by side, so that their widths are enough: the second one begins where the first
one ends, and the sum of all widths up to a token is where it ends. What they cover is not the text
itself but what a tokenizer makes of it: its bytes, say, or its characters without white space. So
each end is looked up in a list of `places`.
"""

from collections.abc import Iterable

import numpy as np

from bertlab.tokenizers.encoding import Span


def spans_of_widths(widths: Iterable[int], places: np.ndarray, shift: int = 0) -> list[Span]:
    """(start, end) of the characters that each token covers.

    widths: how many units each token covers; places: for each unit the character it comes from;
    shift: added to all.

    The word "né" has three bytes; one token has its first two, another the last:

    >>> spans_of_widths([2, 1], np.array([0, 1, 1]))
    [(0, 2), (1, 2)]
    """
    widths = np.fromiter(widths, dtype=np.intp)
    ends = np.cumsum(widths)
    starts = places[ends - widths] + shift
    ends = places[ends - 1] + 1 + shift
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def code_points(text: str) -> np.ndarray:
    """The characters of `text` as numbers.

    >>> code_points("né").tolist()
    [110, 233]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def places_of_bytes(text: str) -> np.ndarray:
    """For each byte of `text` in UTF-8 the character it belongs to.

    >>> places_of_bytes("né").tolist()
    [0, 1, 1]
    """
    if text.isascii():
        return np.arange(len(text))
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    is_first = (data & 0b1100_0000) != 0b1000_0000  # all others of a character begin with 10
    return np.cumsum(is_first) - 1
