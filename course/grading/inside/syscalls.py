"""A filter of system calls that no answer to an exercise needs and that limits do not cover.

The kernel's own interface (seccomp, filter mode): a program of a few steps checks the number of
each call and allows it, or answers in its place. It blocks memory outside of address spaces, which
nobody could count, other users' keys and processes, the kernel's log, new namespaces, and the
choice of another core. Sockets may only have the families that Python's own modules use; another
one may reach the machine's host (VSOCK).
"""

import ctypes
import os
import platform
import struct
from typing import NamedTuple

# Numbers as in Linux's tables for x86_64 and for aarch64.
NEW = {  # the same everywhere
    **{"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431},
    **{"fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442},
    **{"landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446},
    **{"memfd_secret": 447, "statmount": 457, "listmount": 458},
}
NUMBERS = {
    "x86_64": {
        **{"shmget": 29, "sendfile": 40, "semget": 64, "msgget": 68, "ptrace": 101, "syslog": 103},
        **{"modify_ldt": 154, "pivot_root": 155, "mount": 165, "umount2": 166},
        **{"sched_setaffinity": 203, "io_setup": 206},
        **{"add_key": 248, "request_key": 249, "keyctl": 250, "inotify_init": 253, "unshare": 272},
        **{"splice": 275, "tee": 276, "vmsplice": 278, "inotify_init1": 294},
        **{"perf_event_open": 298, "fanotify_init": 300, "setns": 308, "process_vm_readv": 310},
        **{"process_vm_writev": 311, "memfd_create": 319, "bpf": 321, "userfaultfd": 323},
        **NEW,
    },
    "aarch64": {
        **{"io_setup": 0, "inotify_init1": 26, "umount2": 39, "mount": 40, "pivot_root": 41},
        **{"sendfile": 71, "vmsplice": 75, "splice": 76, "tee": 77, "unshare": 97},
        **{"syslog": 116, "ptrace": 117, "sched_setaffinity": 122, "msgget": 186, "semget": 190},
        **{"shmget": 194, "add_key": 217, "request_key": 218, "keyctl": 219},
        **{"perf_event_open": 241, "fanotify_init": 262, "setns": 268, "process_vm_readv": 270},
        **{"process_vm_writev": 271, "memfd_create": 279, "bpf": 280, "userfaultfd": 282},
        **NEW,
    },
}
NEWEST = 462  # calls of newer kernels are unknown here, so they are refused, too
FAMILIES = (1, 2, 10)  # UNIX, INET, INET6
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, ANSWER = 0x7FFF0000, 0x80000000, 0x00050000  # an answer: with an error's number
REFUSE, PRETEND = ANSWER | 38, ANSWER  # ENOSYS; no error, and nothing done
LOAD, EQUAL, AT_LEAST, HAS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4  # offsets in the kernel's data for the program


def address_space() -> int:
    """Bytes of address space that this process has now; PyTorch reserves much and uses little."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def argument(place: int, half: int = 0) -> int:
    """The offset of the lower or upper half of a call's argument."""
    return 16 + 8 * place + 4 * half


class Test(NamedTuple):
    """A test of one word; what the program does if it is true, and if it is false.

    A number: that answer; None: the next test.
    """

    at: int
    how: int
    value: int
    true: int | None
    false: int | None


def _one_of(place: int, values: tuple[int, ...], answer: int, otherwise: int) -> list[Test]:
    """An answer for some values of an argument, and one for all others."""
    tests = [Test(argument(place), EQUAL, one, answer, None) for one in values]
    return [*tests[:-1], tests[-1]._replace(false=otherwise)]


NO_MAP, NO_OPTION, NO_LOCK = ANSWER | 12, ANSWER | 22, ANSWER | 37  # ENOMEM, EINVAL, ENOLCK
NO_ATTRIBUTE, NO_FAMILY = ANSWER | 95, ANSWER | 97  # EOPNOTSUPP, EAFNOSUPPORT
MAP_SHARED, MAP_ANONYMOUS, MAP_HUGETLB = 0x01, 0x20, 0x40000
LOCKS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
NEW_OPTIONS = 72  # of `prctl`; PR_FUTEX_HASH, 78, takes any amount of the kernel's memory
SOL_SOCKET, BUFFERS, SIGCHLD = 1, (7, 32), 17  # SO_SNDBUF, SO_SNDBUFFORCE
# An access list in memory has 64 kB, and no limit of the folder counts it.
ATTRIBUTE = [Test(NUMBER_AT, AT_LEAST, 0, NO_ATTRIBUTE, NO_ATTRIBUTE)]
# Calls that are refused for some of their arguments.
PARTLY: dict[str, list[Test]] = {
    # Shared memory without a file stays when its pages are unmapped, and no limit counts it.
    "mmap": [
        Test(argument(3), HAS, MAP_HUGETLB, NO_MAP, None),
        Test(argument(3), HAS, MAP_SHARED, None, ALLOW),
        Test(argument(3), HAS, MAP_ANONYMOUS, NO_MAP, ALLOW),
    ],
    # If a process ignored the end of its children, their processor time would count nowhere.
    "rt_sigaction": [
        Test(argument(0), EQUAL, SIGCHLD, None, ALLOW),
        Test(argument(1), EQUAL, 0, None, NO_OPTION),
        Test(argument(1, half=1), EQUAL, 0, ALLOW, NO_OPTION),
    ],
    "socket": _one_of(0, FAMILIES, ALLOW, NO_FAMILY),
    "socketpair": _one_of(0, FAMILIES, ALLOW, NO_FAMILY),
    # The kernel itself reduces too large buffers without an error.
    "setsockopt": [
        Test(argument(1), EQUAL, SOL_SOCKET, None, ALLOW),
        *_one_of(2, BUFFERS, PRETEND, ALLOW),
    ],
    "fcntl": _one_of(1, LOCKS, NO_LOCK, ALLOW),  # a million locks are 0.2 GB that nobody counts
    "prctl": [Test(argument(0), AT_LEAST, NEW_OPTIONS, NO_OPTION, ALLOW)],
    **dict.fromkeys(("setxattr", "lsetxattr", "fsetxattr"), ATTRIBUTE),
}
PARTLY_NUMBERS = {
    "x86_64": {
        **{"mmap": 9, "rt_sigaction": 13, "socket": 41, "socketpair": 53, "setsockopt": 54},
        **{"fcntl": 72, "prctl": 157, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190},
    },
    "aarch64": {
        **{"setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "fcntl": 25, "rt_sigaction": 134},
        **{"prctl": 167, "socket": 198, "socketpair": 199, "setsockopt": 208, "mmap": 222},
    },
}
PR_SET_SECCOMP, FILTER_MODE = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def refuse_system_calls(libc: ctypes.CDLL) -> None:
    """Refuse them from now on, permanently, for this process and all that it starts.

    Needs no_new_privs. On a processor that is not in the table, nothing is refused.
    """
    machine = platform.machine()
    if machine not in NUMBERS:
        return
    steps = program(machine)
    made = _Program(len(steps), b"".join(steps))
    if libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(made), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: str) -> list[bytes]:
    """The steps: calls that are often made and partly refused first, then all that are refused."""
    steps = [
        _step(LOAD, ARCHITECTURE_AT),
        _step(EQUAL, ARCHITECTURE[machine], 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_AT),
    ]
    for name, number in PARTLY_NUMBERS[machine].items():
        body = _body(PARTLY[name])
        steps += [_step(EQUAL, number, 0, len(body)), *body]
    refused = NUMBERS[machine].values()
    steps += [_step(AT_LEAST, NEWEST + 1, len(refused) + 1, 0)]
    steps += [_step(EQUAL, one, len(refused) - n, 0) for n, one in enumerate(refused)]
    return [*steps, _step(RETURN, ALLOW), _step(RETURN, REFUSE)]


def _body(tests: list[Test]) -> list[bytes]:
    """The steps of some tests."""
    steps = []
    for at, how, value, *ends in tests:
        to_next = (1, 0) if ends[0] is None else (0, 1)
        steps += [_step(LOAD, at), _step(how, value, *to_next)]
        steps += [_step(RETURN, end) for end in ends if end is not None]
    return steps


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One step; the jumps skip a number of steps."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
