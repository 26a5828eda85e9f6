"""The warm process of a sandbox: it imports what students need, and forks a process for each.

Run inside bubblewrap as `python -m course.grading.inside.zygote FD`. A student's process is the
first of its own process namespace, with its own small folder for files, and with fewer rights
than the zygote: it sees no other process, and when it ends, all its child processes end.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import sys
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from torch.utils.data._utils import signal_handling
from traitlets.config import Config

from course.grading.inside.frames import Channel
from course.grading.inside.kernel import Kernel
from course.grading.inside.syscalls import address_space, refuse_system_calls

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x8000000, 0x10000000, 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 0x4000, 0x40000
MS_BIND, MNT_DETACH = 0x1000, 2
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 4, 24, 38
LAST_CAPABILITY = 40
CONNECTION = 3  # the only open file of a student's process, besides silent ones
MOST_FILES = 20_000  # in a folder: each, even an empty one, takes a kB of kernel memory
HOME = "/tmp/work"  # where a student's code may write
OOM_SCORE = 500  # of a student's process, see `oom_score_adj` in proc(5)
FIRST_USER = 0x6000_0000  # as root, every student gets a unique user id

_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    """Fork a student's process for each connection, until the other side closes."""
    control = socket.socket(fileno=int(arguments[0]))
    torch.set_num_threads(1)
    # A history file would pass from one student to the next.
    settings_of_shell = Config(HistoryManager={"enabled": False})
    shell = InteractiveShell.instance(config=settings_of_shell, colors="nocolor")
    # IPython expects this method to be replaced; the kernel reports errors itself.
    shell._showtraceback = lambda *_: None  # type: ignore[method-assign]  # noqa: SLF001
    # IPython would keep all that is printed, for a history that there is not.
    shell._tee = lambda **_: contextlib.nullcontext()  # type: ignore  # noqa: SLF001
    shell.ask_exit = _exit  # type: ignore[attr-defined]
    settings: Any = None
    children: list[int] = []
    while True:
        message, handles, _, _ = socket.recv_fds(control, 2**22, 1)
        if not message:
            return
        order = json.loads(message)
        _kill(children)
        if order["do"] == "prepare":
            settings = order
            failed = [cell["id"] for cell in order["cells"] if not _run(shell, cell["source"])]
            control.send(json.dumps({"failed": failed}).encode())
        elif order["do"] == "fork":
            children = _fork(shell, settings, handles[0], order["number"], control)
            os.close(handles[0])
            control.send(b"{}")
        else:
            control.send(b"{}")


def _exit() -> None:
    """What `exit()` and `quit()` call: the cell ends, the process remains for the other cells."""
    raise SystemExit("the cell called exit() or quit()")


def _run(shell: InteractiveShell, source: str) -> bool:
    return shell.run_cell(source, store_history=False, silent=True).success


def _kill(children: list[int]) -> None:
    """End the student's process and all that it has started, and wait until they are gone.

    The process that forked it ends by itself when the namespace is empty; if it were killed, too,
    we would have nothing to wait for.
    """
    if children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(children[-1], signal.SIGKILL)
        os.waitpid(children[0], 0)
    children.clear()


def _fork(
    shell: InteractiveShell, settings: dict, handle: int, number: int, control: socket.socket
) -> list[int]:
    """Start a student's process; the process that waits for it and the student's own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        control.close()
        os.close(reading)
        _become_student(shell, settings, handle, number, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return [child, *map(int, pipe.read().split())]


def _become_student(
    shell: InteractiveShell, settings: dict, handle: int, number: int, writing: int
) -> None:
    """In the forked process: isolate it, then fork into the new namespaces."""
    try:
        space = address_space()
        ours, theirs = socket.socketpair()
        if settings["sandboxed"]:
            _leave(settings)
        inner = os.fork()
        if inner:
            os.close(handle)
            theirs.close()
            os.write(writing, str(inner).encode())
            os.close(writing)
            if settings["sandboxed"] and ours.recv(1):
                _hide_processes()
                ours.send(b"!")
            os.waitpid(inner, 0)
            os._exit(0)
        os.close(writing)
        ours.close()
        os.setsid()  # `kill(0)` reaches the group, also outside of its namespace: the zygote
        if settings["sandboxed"]:
            _give_up_rights(settings, number, space)
            theirs.send(b"?")
            theirs.recv(1)
        theirs.close()
        os.dup2(handle, CONNECTION)
        os.closerange(CONNECTION + 1, os.sysconf("SC_OPEN_MAX"))
        for silent in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), silent)
        Kernel(shell).serve(Channel(socket.socket(fileno=CONNECTION)))
    finally:
        os._exit(0)


def _leave(settings: dict) -> None:
    """New namespaces, and a separate folder for files."""
    _call("unshare", CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET)
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    size = f"size={settings['disk_mb']}m,nr_inodes={MOST_FILES},mode=1777".encode()
    _call("mount", b"/tmp", b"/mnt", None, MS_BIND | MS_REC, None)
    for place in (b"/tmp", b"/dev/shm"):
        _call("mount", b"tmpfs", place, b"tmpfs", MS_NOSUID | MS_NODEV, size)
    terminals = b"newinstance,ptmxmode=0666,mode=620,max=1"
    _call("mount", b"devpts", b"/dev/pts", b"devpts", MS_NOSUID, terminals)
    # It reads the same; mapped, zero would be shared memory that no limit counts.
    _call("mount", b"/dev/full", b"/dev/zero", None, MS_BIND, None)
    for folder in settings["below_tmp"]:  # a course in there must remain visible
        os.makedirs(folder)
        seen = f"/mnt{folder.removeprefix('/tmp')}".encode()
        _call("mount", seen, folder.encode(), None, MS_BIND | MS_REC, None)  # what is covered stays
    _call("umount2", b"/mnt", MNT_DETACH)
    if settings["root"]:
        _call("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV, None)  # may be written
    os.makedirs(HOME)
    os.chmod(HOME, 0o777)
    os.chdir(HOME)


def _give_up_rights(settings: dict, number: int, space: int) -> None:
    """Limits, then no rights, permanently. space: bytes of address space already reserved."""
    limits = {
        resource.RLIMIT_AS: space + settings["memory_mb"] * 2**20,
        resource.RLIMIT_NPROC: settings["processes"],
        resource.RLIMIT_FSIZE: settings["disk_mb"] * 2**20,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,  # nor send from pages without a copy, which pins huge ones
        resource.RLIMIT_SIGPENDING: 1024,  # and timers
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_CPU: int(settings["submission_seconds"]) + 1,
    }
    # If memory runs out, a student's process is killed before all others. `memory.py` raises it
    # for those who use most of what they may: the largest process can be an honest student's.
    with open("/proc/self/oom_score_adj", "r+") as file:
        adjusted = max(int(file.read()), OOM_SCORE)
        file.write(str(adjusted))
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an OSError instead
    # PyTorch's DataLoader sets a handler for SIGCHLD, once, which a student's process cannot.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal_handling._set_SIGCHLD_handler()  # noqa: SLF001
    if settings["root"]:
        os.setgroups([])
        os.setresgid(*[FIRST_USER + number] * 3)
        os.setresuid(*[FIRST_USER + number] * 3)
        _forbid_user_namespaces()
    for capability in range(LAST_CAPABILITY + 1):
        _libc.prctl(PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    _call("capset", header, (ctypes.c_uint32 * 6)())
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    refuse_system_calls(_libc)
    os.environ["HOME"] = HOME


def _forbid_user_namespaces() -> None:
    """Forbid user namespaces, in which a student could mount folders without a limit.

    An ordinary user's bubblewrap forbids them itself (`--disable-userns`), root's cannot.
    """
    user, group = os.getuid(), os.getgid()
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # reset with the user id; /proc/self needs it
    try:
        _call("unshare", CLONE_NEWUSER)
    except PermissionError:
        return  # the system forbids them for everybody
    for path, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"{user} {user} 1"),
        ("/proc/self/gid_map", f"{group} {group} 1"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ):
        with open(path, "w") as file:
            file.write(text)


def _hide_processes() -> None:
    """Cover /proc: it would show the zygote's memory to a process of the same user."""
    with open("/proc/cpuinfo") as file:
        cpu = file.read()
    _call("mount", b"tmpfs", b"/proc", b"tmpfs", MS_NOSUID | MS_NODEV, b"size=1m,mode=755")
    with open("/proc/cpuinfo", "w") as file:
        file.write(cpu)  # PyTorch reads it
    flags = MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV
    _call("mount", b"tmpfs", b"/proc", b"tmpfs", flags, None)


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


if __name__ == "__main__":
    main(sys.argv[1:])
