"""Checks of vocabularies, merges and sizes."""

from collections.abc import Iterable
from numbers import Integral
from reprlib import repr as short
from sys import maxunicode
from typing import Any

from bertlab.tokenizers.merges import Pair


def check_vocab(name: str, vocab: Any) -> dict[str, int]:
    """A copy of `vocab`, token -> id.

    An id is at most 1,114,111: `cutting.py` writes a symbol as the character with its id.

    Raises ValueError, which begins with `name`, if `vocab` is not a mapping, a token is not a
    string or an id is not a whole number in that range.
    """
    try:
        vocab = dict(vocab)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}: vocab must map each token to its id; got {short(vocab)}"
        ) from None
    # Published ones have 30,000 tokens and more: first a fast check of all of them.
    ids = vocab.values()
    usual = {*map(type, vocab)} == {str} and {*map(type, ids)} == {int}
    if usual and min(ids) >= 0 and max(ids) <= maxunicode:
        return vocab
    for token, id in vocab.items():
        if not (isinstance(token, str) and is_whole(id) and 0 <= id <= maxunicode):
            raise ValueError(
                f"{name}: vocab must map each token, a string, to its id, a whole number from 0 "
                f"to {maxunicode:,}; got {short(token)}: {short(id)}"
            )
    return vocab


def check_merges(name: str, merges: Iterable[Any]) -> tuple[Pair, ...]:
    """The merges as pairs.

    Raises ValueError, which begins with `name`, if one is not two strings. A string of two
    letters, "ab", is rejected too, though it could be unpacked into a pair.
    """
    pairs = []
    for merge in merges:
        match merge:
            case [str(left), str(right)]:
                pairs.append((left, right))
            case _:
                raise ValueError(
                    f"{name}: merges must be pairs of tokens, such as ('m', 'e'); got "
                    f"{short(merge)}"
                )
    return tuple(pairs)


def check_gains(name: str, gains: Iterable[Any], n_merges: int) -> tuple[float, ...]:
    """The gains as a tuple; ValueError unless they are numbers, one per merge, or none at all."""
    gains = tuple(gains)
    numbers = [gain for gain in gains if isinstance(gain, int | float)]
    if len(numbers) < len(gains) or len(gains) not in (0, n_merges):
        raise ValueError(
            f"{name}: gains must hold one number per merge, {n_merges} of them, or none; got "
            f"{short(gains)}"
        )
    return gains


def check_normalization(name: str, lowercase: Any, strip_accents: Any) -> None:
    """Raise ValueError for values such as `lowercase="no"`, which Python treats as true."""
    if not isinstance(lowercase, bool):
        raise ValueError(f"{name}: lowercase must be True or False; got {short(lowercase)}")
    if not isinstance(strip_accents, bool | None):
        raise ValueError(
            f"{name}: strip_accents must be True, False or None; got {short(strip_accents)}"
        )


def check_longest_word(name: str, longest_word: Any) -> None:
    """Raise ValueError unless the length of the longest word is a whole number."""
    if not is_whole(longest_word) or longest_word < 0:
        raise ValueError(
            f"{name}: longest_word (max_input_chars_per_word in a file) must be a whole number, "
            f"0 or more; got {short(longest_word)}"
        )


def is_whole(number: object) -> bool:
    """Whether `number` is a whole number; True and False are not.

    >>> is_whole(3), is_whole(3.0), is_whole(float("nan")), is_whole(True)
    (True, False, False, False)
    """
    return isinstance(number, Integral) and not isinstance(number, bool)
