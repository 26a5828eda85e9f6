"""A group of processes whose memory, swap and number the kernel limits: cgroup v2.

systemd makes a group for a command where it runs, the system's for root, otherwise the user's.
Without it, as in a container, we make one ourselves if the folder of our own group is writable.
"""

import contextlib
import errno
import functools
import os
import shutil
import subprocess
import time
from pathlib import Path

from course.settings import Limits

MOUNTED = Path("/sys/fs/cgroup")
SYSTEMD = Path("/run/systemd/system")  # exists where systemd runs, see sd_booted(3)
CONTROLLERS = ("memory", "pids")
OURS = "bertlab"
TASKS = 64  # the zygote and bubblewrap with their threads, beside the students' processes
IN_GROUP = 'echo 0 > "$0/cgroup.procs" && exec "$@"'
USERS = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # where a user's systemd is


@functools.cache
def why_no_group() -> str | None:
    """Why the kernel cannot limit a sandbox's processes together here; None if it can."""
    if not (MOUNTED / "cgroup.controllers").is_file():
        return f"no cgroup v2 is mounted at {MOUNTED}"
    if missing := set(CONTROLLERS) - set((MOUNTED / "cgroup.controllers").read_text().split()):
        return f"cgroup v2 has no controller {', '.join(sorted(missing))}"
    if not SYSTEMD.exists():
        return _prepare()
    if not shutil.which("systemd-run"):
        return "systemd-run is missing"
    command = ["timeout", "60", *_by_systemd(256, 64), "true"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    said = done.stderr.strip().splitlines() or [f"systemd-run ended with {done.returncode}"]
    return said[-1] if done.returncode else None


def command(limits: Limits, start_mb: int) -> list[str]:
    """The command that runs another one, which follows, in a new group; empty without groups.

    start_mb: memory at the start, beside what the student may use.
    """
    megabytes, tasks = limits.memory_mb + start_mb, limits.processes + TASKS
    if why_no_group():
        return []
    if SYSTEMD.exists():
        return _by_systemd(megabytes, tasks)
    for old in _base().glob(f"{OURS}-*"):
        if not Path("/proc", old.name.split("-")[1]).exists():  # left by a process that was killed
            with contextlib.suppress(OSError):  # its processes are still ending
                old.rmdir()
    group = _base() / f"{OURS}-{os.getpid()}-{time.monotonic_ns()}"
    group.mkdir()
    if CONTROLLERS:
        (group / "memory.max").write_text(f"{megabytes * 2**20}")
        (group / "pids.max").write_text(f"{tasks}")
    if (group / "memory.swap.max").exists():  # a kernel may have no swap
        (group / "memory.swap.max").write_text("0")
    return ["/bin/sh", "-c", IN_GROUP, str(group)]


def environment() -> dict[str, str]:
    """What `command` needs of the environment."""
    return {name: os.environ[name] for name in USERS if name in os.environ}


def group_of(pid: int, seconds: float = 10) -> Path:
    """The folder of the new group that a process has been started in; waits until it is there."""
    ours, end = _own("self"), time.monotonic() + seconds
    while (found := _own(str(pid))) == ours and time.monotonic() < end:
        time.sleep(0.01)
    if found == ours:
        raise RuntimeError(f"process {pid} did not get a group of its own within {seconds:g} s")
    return found


def processor_seconds(group: Path) -> float:
    """The time of all processes that have ever been in the group; 0 if it is gone."""
    with contextlib.suppress(OSError):
        words = (group / "cpu.stat").read_text().split()
        return int(words[words.index("usage_usec") + 1]) / 1e6
    return 0.0


def remove(group: Path) -> None:
    """End all processes of a group, and the group; systemd removes its own when they are empty."""
    with contextlib.suppress(OSError):
        (group / "cgroup.kill").write_text("1")
    for _ in range(100):
        if not group.exists():
            return
        with contextlib.suppress(OSError):  # its processes are still ending
            group.rmdir()
        time.sleep(0.02)


def _by_systemd(megabytes: int, tasks: int) -> list[str]:
    limits = {"MemoryMax": f"{megabytes}M", "MemorySwapMax": "0", "TasksMax": f"{tasks}"}
    # Without "Delegate", systemd ends all processes of a group if the kernel ends one.
    limits["Delegate"] = "yes"
    options = [word for name, value in limits.items() for word in ("-p", f"{name}={value}")]
    user = [] if os.geteuid() == 0 else ["--user"]
    program = shutil.which("systemd-run") or "systemd-run"
    return [program, *user, "--scope", "--collect", "--quiet", *options, "--"]


def _prepare() -> str | None:
    """Let groups with limits be made below our own; or why not."""
    base = _base()
    wanted = " ".join(f"+{name}" for name in CONTROLLERS)
    try:
        try:
            (base / "cgroup.subtree_control").write_text(wanted)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            # Only the first group of the machine may have limited groups and processes as well.
            (base / OURS).mkdir(exist_ok=True)
            for pid in (base / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):  # it has ended
                    (base / OURS / "cgroup.procs").write_text(pid)
            (base / "cgroup.subtree_control").write_text(wanted)
        probe = base / f"{OURS}-{os.getpid()}-probe"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        return f"{base} cannot be used: {error.strerror}"
    return None


def _base() -> Path:
    own = _own("self")
    return own.parent if own.name == OURS else own


def _own(pid: str) -> Path:
    """The folder of a process's group."""
    lines = Path("/proc", pid, "cgroup").read_text().splitlines()
    paths = [line.removeprefix("0::/") for line in lines if line.startswith("0::")]
    return MOUNTED / paths[0]
