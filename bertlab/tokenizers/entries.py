"""The door for texts, labels and targets: whatever holds several is read in its order, once.

A pandas column that was sorted or filtered keeps the labels of its rows, and `column[0]` is then
not its first entry; a generator can be read only once; a set has no order. So every function that
takes several texts or labels reads them here, and works on what comes out.
"""

from collections.abc import Iterable, Iterator, Mapping
from reprlib import repr as short
from typing import Any


def entries(where: str, name: str, values: Any, of: str = "entries") -> Iterator[Any]:
    """The entries of a list, tuple, generator, file, pandas column, NumPy array or tensor.

    They come in their order, numbers and rows of NumPy and PyTorch as Python's own; where, name:
    the caller and its argument, of: what the entries are, for the message.

    Raises TypeError for one string and for what is not read entry by entry: a set, a dictionary, a
    table, a path, a number.

    >>> list(entries("f", "texts", (text for text in ("the cat", "the dog"))))
    ['the cat', 'the dog']
    """
    plain, fault = _plain(values), _fault(values)
    if fault or not isinstance(plain, Iterable):
        raise TypeError(
            f"{where}: {name} must be a list of {of}, or another sequence that has an order; "
            f"got {fault or f'a {type(values).__name__}'}"
        )
    return map(_plain, plain)


def read_texts(where: str, name: str, values: Any) -> Iterator[str]:
    """The entries, each of which must be a string.

    Raises TypeError as `entries`, and for None, nan or a number, with its place.
    """
    for number, text in enumerate(entries(where, name, values, "strings")):
        if not isinstance(text, str):
            raise TypeError(
                f"{where}: {name} must hold strings; {name}[{number}] is {short(text)}; omit it"
            )
        yield text


def texts_or_pairs(where: str, name: str, values: Any) -> Iterator[tuple[str, ...]]:
    """Each entry as (text,) or (text, second text).

    Raises TypeError as `entries`, and for an entry that is neither a string nor two of them.
    """
    for number, entry in enumerate(entries(where, name, values, "strings")):
        match entry:
            case str():
                yield (entry,)
            case [str(first), str(second)]:
                yield first, second
            case _:
                raise TypeError(
                    f"{where}: {name} must hold strings, or pairs of two strings; "
                    f"{name}[{number}] is {short(entry)}; omit it"
                )


def check_none_missing(where: str, name: str, values: list[Any]) -> None:
    """Raise ValueError, with its place, if a value is None or nan."""
    for number, value in enumerate(values):
        if value is None or value != value:  # nan differs from itself
            raise ValueError(
                f"{where}: {name} must not be missing; {name}[{number}] is {value}; omit it"
            )


def _fault(values: Any) -> str | None:
    """Why something has no entries in an order, although Python would iterate over it."""
    if isinstance(values, str | bytes):
        return "one string; put it into a list"
    if isinstance(values, Mapping):
        return "a dictionary; choose its keys or its values"
    if isinstance(values, set | frozenset):
        return "a set; sort it"
    if hasattr(type(values), "columns"):  # of pandas, polars or pyarrow; it gives column names
        return "a table; choose one of its columns"
    return None


def _plain(value: Any) -> Any:
    """Python's own numbers and lists, for those of NumPy, PyTorch and pandas."""
    return value.tolist() if hasattr(value, "tolist") else value
