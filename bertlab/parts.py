"""Parts: the functions that lectures derive. The library calls them by their names.

A part may have a *fast twin*: the same function, with the same arguments and results, in the
`fast.py` of its room. By default twins run. Inside `plain()` the parts themselves run, so that what
is computed is what the lectures show; `using(name=function)` puts a function of yours in a part's
place.

>>> import bertlab.model
>>> with plain():
...     running("row_softmax").__module__
'bertlab.model.attention'
>>> running("row_softmax").__module__
'bertlab.model.fast'
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable)


class Part(NamedTuple):
    """A part: its name, the number of the lecture that derives it, and the function shown there.

    twin: the module with its fast twin, or ""; derivation: whether it only leads to another part,
    so that the library never runs it; exercise: the number of the exercise in which students write
    it with this name and these arguments, or "".
    """

    name: str
    lecture: str
    function: Callable
    twin: str
    derivation: bool
    exercise: str


_parts: dict[str, Part] = {}
_running: dict[str, Callable] = {}  # what a part's name runs; an entry is made by its first call
_in_place: dict[str, Callable] = {}
_twins_run = os.environ.get("BERTLAB_PLAIN") != "1"


def part(
    lecture: str,
    *,
    twin: bool = False,
    derivation: bool = False,
    exercise: str = "",
    check: Callable | None = None,
) -> Callable[[Function], Function]:
    """Declare a part: calls of its name run it, its twin, or what `using` has put in its place.

    twin: whether the room's `fast.py` has one; exercise: where students write it, too; check: is
    called with the arguments first, and raises an error if they do not fit.
    """

    def declare(function: Function) -> Function:
        name = function.__qualname__  # of a method with its class
        fast = f"{function.__module__.rpartition('.')[0]}.fast" if twin else ""
        _parts[name] = Part(name, lecture, function, fast, derivation, exercise)

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if check is not None:
                check(*arguments, **options)
            return (_running.get(name) or running(name))(*arguments, **options)

        return call  # type: ignore[return-value]

    return declare


def parts() -> list[Part]:
    """All parts, in the order of their lectures."""
    import_module("bertlab.training.command")  # which imports, and so declares, every one of them
    return sorted(_parts.values(), key=lambda one: one.lecture)


def running(name: str) -> Callable:
    """The function that a part's name runs now. Raises ValueError if there is no such part."""
    if name not in _parts:
        raise ValueError(f"there is no part {name!r}; the parts are {', '.join(sorted(_parts))}")
    one = _parts[name]
    if name not in _running:
        twin = one.twin if _twins_run else ""
        of_library = getattr(import_module(twin), name) if twin else one.function
        _running[name] = _in_place.get(name, of_library)
    return _running[name]


@contextmanager
def plain() -> Iterator[None]:
    """Inside, the parts themselves run, as in a process with BERTLAB_PLAIN=1."""
    with _changed(_in_place, False):
        yield


@contextmanager
def using(**functions: Callable) -> Iterator[None]:
    """Inside, these functions run in place of the parts with their names, and no twin runs.

    A twin may do without another part, so that a function in that part's place would never run.
    Raises ValueError if there is no part of a name.
    """
    for name in functions:
        running(name)
    with _changed(_in_place | functions, False):
        yield


@contextmanager
def _changed(in_place: dict[str, Callable], twins_run: bool) -> Iterator[None]:
    global _in_place, _twins_run
    before = _in_place, _twins_run
    _in_place, _twins_run = in_place, twins_run
    _running.clear()
    try:
        yield
    finally:
        _in_place, _twins_run = before
        _running.clear()
