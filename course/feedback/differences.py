"""The difference between the right answer and the student's, in words."""

from collections.abc import Mapping, Sequence
from typing import Any


def short(value: Any, limit: int = 160) -> str:
    """A value as Python writes it, shortened in the middle if it is long.

    >>> short(list(range(1000)), limit=32)
    '[0, 1, 2, 3, 4,  … 98, 999]'
    """
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-(limit // 4) :]}"


def a(value: Any) -> str:
    """The type of a value, with its article.

    >>> a([]), a(1)
    ('a list', 'an int')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def difference(expected: Any, got: Any) -> str:
    """One or more lines that describe how `got` differs, or "" if it does not.

    A subclass is accepted, such as a Counter for a dict, but not a list for a tuple.

    >>> print(difference({("m", "e"): 2}, {("m", "e"): 1}))
    ('m', 'e'): expected 2, got 1
    >>> print(difference(("me", "n"), ["me", "n"]))
    it must return a tuple; it returned ['me', 'n'], a list
    """
    if got is None:
        return f"it must return {a(expected)}; it returned None. Is there a `return` at the end?"
    if not isinstance(got, type(expected)):
        return f"it must return {a(expected)}; it returned {short(got)}, {a(got)}"
    if got == expected:
        return ""
    if isinstance(expected, Mapping):
        return _mapping_difference(expected, got)
    lines = f"expected {short(expected)}\ngot      {short(got)}"
    if isinstance(expected, Sequence) and max(len(expected), len(got)) > 12:
        lines += f"\n{_first_place(expected, got)}"
    return lines


def _mapping_difference(expected: Mapping, got: Mapping, most: int = 4) -> str:
    lines = [
        f"{short(key)}: expected {short(value)}, got {short(got[key])}"
        if key in got
        else f"{short(key)}: expected {short(value)}, but it is missing"
        for key, value in expected.items()
        if key not in got or got[key] != value
    ]
    lines += [
        f"{short(key)}: should not be there, got {short(value)}"
        for key, value in got.items()
        if key not in expected
    ]
    left = len(lines) - most
    return "\n".join(lines[:most] + ([f"and {left} more"] if left > 0 else []))


def _first_place(expected: Sequence, got: Sequence) -> str:
    places = range(min(len(expected), len(got)))
    first = next((i for i in places if expected[i] != got[i]), len(places))
    lengths = f"expected length {len(expected):,}, got {len(got):,}"
    if first == len(places):
        return f"{lengths}; they agree up to the end of the shorter one"
    return f"{lengths}; first difference at index {first:,}"
