"""The memory and the processor time of a sandbox's students, all of their processes together.

A process's own limits (RLIMIT_AS, RLIMIT_CPU) are not enough: they apply to each of them
separately. Where the kernel can limit a group of processes (`cgroups.py`), it does so; elsewhere
they are looked at often, and what cannot be seen is refused (`inside/syscalls.py`).
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from course.grading import cgroups
from course.settings import Limits

PROC = Path("/proc")
LISTED = Path("/proc/thread-self/children").exists()  # whether the kernel lists child processes
LOOK_SECONDS = 0.05  # between two looks; one core fills 0.1 GB in that time
START_MB = 1024  # memory at the start: Python, PyTorch, the library
DATAGRAM = b"0002"  # the type of a socket in the kernel's table
# What a socket may hold unread: two of the kernel's default buffers, which students cannot enlarge;
# a datagram socket has a queue of ten, each from a sender that may be closed.
STREAM_BYTES, DATAGRAM_BYTES = 2 * 212_992, 12 * 212_992
MAPPINGS = 100_000  # of all processes; the kernel needs some hundred bytes for each
COUNT_SECONDS = 1  # between two counts of them, which are slow
SHARED = 8  # times the limit: resident memory, if shared pages count for each process


def student_processes(sandbox_pid: int) -> list[int]:
    """The child processes of the zygote, which is a child of bubblewrap; parents come first."""
    zygotes = [zygote for inner in _children(sandbox_pid) for zygote in _children(inner)]
    found = [child for zygote in zygotes for child in _children(zygote)]
    for pid in found:  # which grows
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    """The processes that a process has started, with any of its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError, psutil.Error):
        if not LISTED:
            return [child.pid for child in psutil.Process(pid).children()]
        for task in (PROC / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def kill(pids: list[int]) -> None:
    """End processes, without waiting."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def processor_seconds(pids: list[int], group: Path | None) -> float:
    """The processor time so far: of a sandbox's group, otherwise of its students' processes.

    All threads count, and children that have ended, since no process can ignore their end.
    """
    if group:
        return cgroups.processor_seconds(group)
    total = 0.0
    for pid in pids:
        with contextlib.suppress(psutil.Error):  # the process has just ended
            times = psutil.Process(pid).cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


class Watch:
    """Ends the students of a sandbox if all of their processes together use too much memory."""

    def __init__(self, limits: Limits) -> None:
        self.most = limits.memory_mb + START_MB
        self.counted = time.monotonic()

    def look(self, pids: list[int]) -> bool:
        """Whether they used too much; if so they have been ended."""
        used = _at_most(pids)
        too_much = used > SHARED * self.most
        if used > self.most and not too_much:
            used = megabytes_of(pids)
        if time.monotonic() > self.counted + COUNT_SECONDS:
            self.counted = time.monotonic()
            too_much |= sum(map(_mappings, pids)) > MAPPINGS
        if too_much or used > self.most:
            kill(pids)
            return True
        if used > self.most / 2:
            _offer(pids)
        return False


def step_aside(cores: set[int], core: set[int]) -> Callable[[], None]:
    """Let this thread run on other cores than the students' core, and before them if it may.

    So it sees and ends them in time, however many they are. No cores: any. Returns a function for
    a child process, which goes back to their core and priority.
    """
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    if cores:
        os.sched_setaffinity(0, cores - core or core)
    with contextlib.suppress(OSError):  # only root may
        os.setpriority(os.PRIO_PROCESS, 0, nice - 10)

    def back() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        if cores:
            os.sched_setaffinity(0, core)

    return back


def megabytes_of(pids: list[int]) -> float:
    """Memory of processes, and of the kernel for them; shared memory counts once."""
    sizes = (_sizes(pid, "smaps_rollup", "Pss", "SwapPss") for pid in pids)
    tables = (_sizes(pid, "status", "VmPTE") for pid in pids)
    return sum(map(sum, (*sizes, *tables))) / 1024 + _sockets(pids) / 2**20


def _at_most(pids: list[int]) -> float:
    """As `megabytes_of`, found quickly, and more if processes share memory."""
    each = [_sizes(pid, "status", "RssAnon", "VmPTE", "VmSwap") for pid in pids]
    shared = [sum(_sizes(pid, "status", "RssFile", "RssShmem")) for pid in pids]
    return (sum(map(sum, each)) + max(shared, default=0)) / 1024 + _sockets(pids) / 2**20


def _sizes(pid: int, file: str, *names: str) -> list[int]:
    """Some lines of a process's file, in kB; none if it has just ended."""
    with contextlib.suppress(OSError):
        lines = (line.split() for line in (PROC / str(pid) / file).read_text().splitlines())
        return [int(line[1]) for line in lines if line[0].removesuffix(":") in names]
    return []


def _sockets(pids: list[int]) -> int:
    """Bytes that the sockets of the students' network may hold, open, sent, or not accepted yet."""
    with contextlib.suppress(OSError, IndexError):
        place = PROC / str(pids[0])
        if (place / "ns/net").stat().st_ino != (PROC / "self/ns/net").stat().st_ino:
            rows = (place / "net/unix").read_bytes().splitlines()[1:]
            datagram = sum(row.split(maxsplit=5)[4] == DATAGRAM for row in rows)
            return datagram * DATAGRAM_BYTES + (len(rows) - datagram) * STREAM_BYTES
    return 0


def _mappings(pid: int) -> int:
    with contextlib.suppress(OSError):
        return (PROC / str(pid) / "maps").read_bytes().count(b"\n")
    return 0


def _offer(pids: list[int]) -> None:
    """Let the kernel end these first if the machine's memory is used up."""
    for pid in pids:
        with contextlib.suppress(OSError):
            (PROC / str(pid) / "oom_score_adj").write_text("1000")
