"""Variants: every student and every term gets hidden tests with different numbers.

A hidden test draws its inputs from a generator in a fixed state, `Random(seed(31))`. `seed` mixes
the test's number with the current variant, such as "2026-fall/ada", which the grader sets for each
submission. Feedback may then show the failing input: nobody else gets the same. Without a variant
the number is used unchanged.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256

# Set by a grader that starts the tests in a separate process.
VARIABLE = "BERTLAB_VARIANT"

_variant: ContextVar[str | None] = ContextVar("variant", default=None)


def seed(number: int) -> int:
    """A seed for one generator of a hidden test: 32 bits, or the number itself without a variant.

    number: the test's own, any integer; generators with different numbers draw independently.
    With a variant it is the first four bytes of SHA-256 of "variant, line feed, number" in UTF-8,
    so it is the same on every machine and in every version of Python, NumPy and PyTorch.
    Raises TypeError if the number is not an integer.

    >>> seed(31)
    31
    >>> with variant("2026-fall/ada"):
    ...     seed(31)
    1463912436
    """
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"seed: number must be an integer; got {number!r}")
    name = current()
    if not name:
        return number
    # A name may contain lone surrogates, which UTF-8 cannot encode; they must not stop the grading.
    text = f"{name}\n{number}".encode("utf-8", "backslashreplace")
    return int.from_bytes(sha256(text).digest()[:4], "big")


def current() -> str:
    """The current variant: the innermost `with variant(...)`, or BERTLAB_VARIANT, or ""."""
    name = _variant.get()
    return os.environ.get(VARIABLE, "") if name is None else name


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Inside `with variant("2026-fall/ada"):` seeds are those of this student and term.

    "" means no variant, regardless of the environment. Each thread has its own.
    Raises TypeError if the name is not a string.
    """
    if not isinstance(name, str):
        raise TypeError(
            f'variant: name must be a string such as "2026-fall/ada", or ""; got {name!r}'
        )
    token = _variant.set(name)
    try:
        yield
    finally:
        _variant.reset(token)
