"""The memory of a sandbox's students, all of their processes together.

A process's own limit (RLIMIT_AS) is not enough: it applies to each of them separately.
"""

import contextlib
import os
import signal
from pathlib import Path

import psutil

PROC = Path("/proc")
SOCKET_BYTES = 2 * 212_992  # the kernel's default buffers of one


def student_processes(sandbox_pid: int) -> list[int]:
    """The child processes of the zygote, which is a child of bubblewrap."""
    try:
        zygotes = psutil.Process(sandbox_pid).children()
        return [child.pid for zygote in zygotes for child in _below_the_zygote(zygote)]
    except psutil.Error:
        return []


def _below_the_zygote(process: psutil.Process) -> list[psutil.Process]:
    below = process.children(recursive=True)
    # In its own process namespace, bubblewrap is the first process, and the zygote is its child.
    return [child for child in below if child.parent() not in (None, process)]


def megabytes_of(pids: list[int]) -> float:
    """Memory of processes; shared memory counts once. Files in memory count while open.

    So do the kernel's buffers for their sockets, full or not.
    """
    sockets: set[str] = set()
    total = sum(_proportional(pid) + _held_by_handles(pid, sockets) for pid in pids)
    return (total + len(sockets) * SOCKET_BYTES) / 2**20


def kill(pids: list[int]) -> None:
    """End processes, without waiting."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _proportional(pid: int) -> int:
    """Bytes; a page that n processes share counts 1/n."""
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:  # the process has just ended
        return 0
    return 0


def _held_by_handles(pid: int, sockets: set[str]) -> int:
    """Bytes of files without a folder (`memfd_create`); sockets: receives the open ones."""
    total = 0
    with contextlib.suppress(OSError):
        for handle in (PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):
                what = os.readlink(handle)
                if what.startswith("/memfd:"):
                    total += handle.stat().st_blocks * 512
                elif what.startswith("socket:"):
                    sockets.add(what)
    return total
