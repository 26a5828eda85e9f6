"""The doors of this room: what vocabularies, merges, sizes, texts and labels must be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from reprlib import repr as short
from typing import Any


def check_vocab(name: str, vocab: Any) -> dict[str, int]:
    """A copy of `vocab`, token -> id.

    Raises ValueError, which begins with `name`, if `vocab` is not a mapping, a token is not a
    string or an id is not a whole number, 0 or more.
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
    if usual and min(ids) >= 0:
        return vocab
    for token, id in vocab.items():
        if not (isinstance(token, str) and is_whole(id) and id >= 0):
            raise ValueError(
                f"{name}: vocab must map each token, a string, to its id, a whole number, 0 "
                f"or more; got {short(token)}: {short(id)}"
            )
    return vocab


def check_merges(name: str, merges: Iterable[Any]) -> tuple[tuple[str, str], ...]:
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


def check_merges_fit(vocab: Mapping[str, int], merges: Iterable[tuple[str, str]]) -> None:
    """Raise ValueError if a merge joins or makes a symbol that the vocabulary does not have."""
    for left, right in merges:
        for symbol in (left, right, left + right):
            if symbol not in vocab:
                raise ValueError(
                    f"merges holds ({left!r}, {right!r}), but {symbol!r} is not in the "
                    "vocabulary; both must come from the same training"
                )


def check_first_vocab(alphabet: Sequence[str], special_tokens: Any, vocab_size: Any) -> list[str]:
    """The special tokens as a list; ValueError if the vocabulary has no room for the alphabet."""
    if not is_whole(vocab_size):
        raise ValueError(f"train: vocab_size must be a whole number; got {vocab_size!r}")
    special = list(read_texts("train", "special_tokens", special_tokens))
    if not alphabet:
        raise ValueError(
            "train: texts holds no word, so there is nothing to learn from; "
            "check the path or the filter that the texts come from"
        )
    if len(set(special)) < len(special) or "" in special:
        raise ValueError(f"train: special_tokens holds one twice, or an empty one: {special}")
    least = len({*special, *alphabet})
    if vocab_size < least:
        raise ValueError(
            f"train: vocab_size must be at least {least} for this corpus ({len(special)} special "
            f"tokens and an alphabet of {len(alphabet)}); got {vocab_size}"
        )
    return special


def check_learning(
    words: Mapping[Any, int], *_: Any, tie_break: str = "lowest-id", **__: Any
) -> None:
    """Raise TypeError unless words are tuples of symbols, ValueError for an unknown tie break."""
    if wrong := [word for word in words if not isinstance(word, tuple)]:
        raise TypeError(
            "learn: words must map tuples of symbols to counts; got the word "
            f"{short(wrong[0])}; tuple(word) makes one of a string"
        )
    if tie_break not in ("lowest-id", "highest-id"):
        raise ValueError(f'tie_break must be "lowest-id" or "highest-id"; got {tie_break!r}')


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


def check_criterion(
    criterion: Any, criteria: Iterable[str], special_tokens: Any, unknown: str
) -> None:
    """Raise ValueError unless a WordPiece can be trained with it, and has a token for the rest."""
    if criterion not in criteria:
        raise ValueError(
            f"WordPiece.train: criterion must be one of {', '.join(criteria)}; got {criterion!r}"
        )
    if unknown not in special_tokens:
        raise ValueError(
            f"WordPiece.train: special_tokens must hold {unknown}, for words that cannot be cut; "
            f"got {list(special_tokens)}"
        )


def check_wordpiece(tokenizer: Any, unknown: str) -> None:
    """Raise ValueError for an impossible option, such as "no", which Python treats as true."""
    accents, longest = tokenizer.strip_accents, tokenizer.longest_word
    if not isinstance(tokenizer.lowercase, bool):
        raise ValueError(
            f"WordPiece: lowercase must be True or False; got {short(tokenizer.lowercase)}"
        )
    if not isinstance(accents, bool | None):
        raise ValueError(
            f"WordPiece: strip_accents must be True, False or None; got {short(accents)}"
        )
    if not is_whole(longest) or longest < 0:
        raise ValueError(
            "WordPiece: longest_word (max_input_chars_per_word in a file) must be a whole number, "
            f"0 or more; got {short(longest)}"
        )
    if unknown not in tokenizer.vocab:
        raise ValueError(
            f"WordPiece: vocab must hold {unknown}, for words that cannot be cut; add it to "
            "special_tokens"
        )


def is_whole(number: object) -> bool:
    """Whether `number` is a whole number; True and False are not.

    >>> is_whole(3), is_whole(3.0), is_whole(float("nan")), is_whole(True)
    (True, False, False, False)
    """
    return isinstance(number, Integral) and not isinstance(number, bool)


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
