"""Open what a student handed in, in a process that may die.

A file can be made so that reading it takes hours, all memory, or ends the process that reads it.
So the functions that read students' bytes (notebooks, pictures, code) are called by `opened`: a
small process forks a child for each call, which has limits of time and memory. A call takes some
milliseconds. Whatever goes wrong in it, the caller gets one sentence.
"""

import atexit
import gc
import importlib
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Given = TypeVar("Given")
PATIENCE = 10, 60  # wall seconds for each second of processor time on a busy machine, and at least
START = "from course.collecting.opening import serve; serve()"
TOGETHER = 20  # items of `opened_each`
NAME = 200  # bytes of an order: the module's name
CAN_FORK = hasattr(os, "fork")


class Refused(Exception):
    """A rejected file; the message gives the reason."""


def opened(
    function: Callable[..., Given],
    *arguments: Any,
    seconds: float = 10,
    megabytes: int = 1_000,
    most_mb: int = 100,
) -> Given:
    """The result of a module's function on a student's bytes.

    seconds: of processor time; megabytes: of memory, beyond Python and the imported packages;
    most_mb: of the result. Raises Refused if the function does, and if it fails in any other way.
    """
    if not CAN_FORK:
        kind, answer = _outcome(function, arguments)
    else:
        ours, theirs = Pipe()
        wall = PATIENCE[0] * seconds + PATIENCE[1]
        with ours, theirs:
            _hand_over(theirs, (arguments[0] if function is _each else function).__module__)
            try:
                ours.send((function, arguments, (seconds, wall, megabytes, most_mb)))
                answer = ours.recv_bytes(most_mb * 2**20) if ours.poll(2 * wall) else b""
            except (EOFError, OSError):  # the child died
                answer = b""
        if not answer:
            raise Refused(f"it cannot be read within {seconds:g} s and {megabytes:,} MB of memory")
        kind, answer = pickle.loads(answer)  # noqa: S301 (ours)
    if kind == "refused":
        raise answer
    return answer


def opened_each(
    function: Callable[..., Given], items: Sequence[Any], *shared: Any
) -> Iterator[Given | Refused]:
    """The function's result for each item, or why there is none; several in one process.

    shared: further arguments. If a process ends, it is tried with half of its items.
    """
    for start in range(0, len(items), TOGETHER):
        yield from _some(function, items[start : start + TOGETHER], shared)


def _some(function: Callable, items: Sequence[Any], shared: tuple) -> list:
    try:
        return opened(_each, function, items, shared)
    except Refused as reason:
        if len(items) == 1:
            return [reason]
        half = len(items) // 2
        return _some(function, items[:half], shared) + _some(function, items[half:], shared)


def _each(function: Callable, items: Sequence[Any], shared: tuple) -> list:
    return [_outcome(function, (item, *shared))[1] for item in items]


def _outcome(function: Callable, arguments: tuple) -> tuple[str, Any]:
    """What the function returns, or why it does not."""
    try:
        return "given", function(*arguments)
    except Refused as reason:
        return "refused", reason
    except MemoryError:
        return "refused", Refused("it cannot be read: it takes too much memory")
    except Exception as error:
        return "refused", Refused(f"it cannot be read ({type(error).__name__})")


# The process that forks


class _Opener:
    """The process that forks for each call; `inside` is True in its children."""

    orders: socket.socket | None = None
    process: subprocess.Popen | None = None
    inside = False


def start() -> None:
    """Start the process that forks, for this process and those that it forks."""
    ours, theirs = socket.socketpair()
    with theirs:
        _Opener.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", START],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ
            # The same hashes of texts in each such process.
            | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "0"},
        )
    if _Opener.orders is None:
        atexit.register(_stop)
    else:
        _Opener.orders.close()
    _Opener.orders = ours


def _stop() -> None:
    if _Opener.process:
        _Opener.process.kill()
        _Opener.process.wait()


def _hand_over(theirs: Connection, module: str) -> None:
    """Let a new child have its end of the pipe."""
    if _Opener.inside:
        if os.fork() == 0:
            _answer(theirs)
        theirs.close()
        return
    for _ in range(2):
        if _Opener.orders is None:
            start()
        try:
            assert _Opener.orders is not None
            socket.send_fds(_Opener.orders, [module.encode().ljust(NAME)], [theirs.fileno()])
            break
        except OSError:  # it was killed: another one
            start()
    theirs.close()


def serve() -> None:
    """Fork a child for each order. A module is imported here, once, so that children have it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when its orders end
    orders = socket.socket(fileno=0)
    while True:
        module, descriptors, *_ = socket.recv_fds(orders, NAME, 1)
        if not module:
            return
        with suppress(Exception):  # the child says so, too
            importlib.import_module(module.decode().strip())
        gc.freeze()  # children do not touch what is there
        if os.fork() == 0:
            orders.close()
            _answer(Connection(descriptors[0]))
        os.close(descriptors[0])


def _answer(asked: Connection) -> None:
    """In a child: call the function, send its result, and end."""
    try:
        _Opener.inside = True
        function, arguments, (seconds, wall, megabytes, most_mb) = asked.recv()
        _limit(seconds, wall, megabytes)
        content = pickle.dumps(_outcome(function, arguments))
        if len(content) > most_mb * 2**20:
            reason = Refused(f"it becomes more than {most_mb} MB when it is read")
            content = pickle.dumps(("refused", reason))
        asked.send_bytes(content)
    finally:
        os._exit(0)


def _limit(seconds: float, wall: float, megabytes: int) -> None:
    """Limit this process; the kernel ends it, and takes it first if memory is short."""
    import resource

    def lower(kind: int, most: int) -> None:
        _, hard = resource.getrlimit(kind)  # that of an outer call
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, wall)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, math.ceil(seconds))
    with suppress(OSError):  # Linux
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        lower(resource.RLIMIT_AS, now + megabytes * 2**20)
