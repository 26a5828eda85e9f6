"""Which characters of a text its tokens cover.

Tokens are adjacent, so their widths are enough: each begins where the previous one ends, and it
ends at the sum of all widths up to it. They cover not the text itself but its units in the
tokenizer, for example bytes, or characters without white space. So each end is looked up in a list
of `places`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress, pairwise

from bertlab.tokenizers.encoding import Span

# 1 for a byte that begins a character in UTF-8, 0 for the others, which start with the bits 10.
_BEGINS = bytes(byte & 0b1100_0000 != 0b1000_0000 for byte in range(256))


def spans_of_widths(widths: Iterable[int], places: Sequence[int], shift: int = 0) -> list[Span]:
    """(start, end) of the characters that each token covers.

    widths: how many units each token covers; places: for each unit the character it comes from;
    shift: added to all.

    The word "né" has three bytes; one token has its first two, another the last:

    >>> spans_of_widths([2, 1], [0, 1, 1])
    [(0, 2), (1, 2)]
    """
    if isinstance(places, range):  # every unit is a character
        return list(pairwise(accumulate(widths, initial=shift)))
    edges = pairwise(accumulate(widths, initial=0))
    after = shift + 1
    return [(places[start] + shift, places[end - 1] + after) for start, end in edges]


def places_of_bytes(text: str) -> Sequence[int]:
    """For each byte of `text` in UTF-8 the character it belongs to.

    >>> places_of_bytes("né")
    [0, 1, 1]
    """
    if text.isascii():
        return range(len(text))
    begins = text.encode("utf-8", "surrogatepass").translate(_BEGINS)
    return list(accumulate(begins, initial=-1))[1:]


def places_of_units(text: str, width: Callable[[str], int]) -> list[int]:
    """For each unit the character it comes from, where a character has `width(character)` units.

    >>> places_of_units("a bc", lambda character: 0 if character == " " else 1)
    [0, 2, 3]
    """
    width_of = {character: width(character) for character in set(text)}
    if max(width_of.values(), default=0) <= 1:
        return list(compress(range(len(text)), map(width_of.__getitem__, text)))
    return [place for place, character in enumerate(text) for _ in range(width_of[character])]
