"""A filter of system calls that no answer to an exercise needs and that limits do not cover.

The kernel's own interface (seccomp, filter mode): a program of a few steps checks the number of
each call and allows it, or answers "not implemented". It blocks memory outside of address spaces,
other users' keys and processes, the kernel's log, new namespaces, and the choice of another core.
Sockets may only have the families that Python's own modules use; another one may reach the
machine's host (VSOCK).
"""

import ctypes
import platform
import struct
from collections.abc import Sequence

# Numbers as in Linux's tables for x86_64 and for aarch64.
NEW = {  # the same everywhere
    **{"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431},
    **{"fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "mount_setattr": 442},
    **{"memfd_secret": 447, "statmount": 457, "listmount": 458},
}
NUMBERS = {
    "x86_64": {
        **{"shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "syslog": 103},
        **{"modify_ldt": 154, "pivot_root": 155, "mount": 165, "umount2": 166},
        **{"sched_setaffinity": 203, "io_setup": 206},
        **{"add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272},
        **{"perf_event_open": 298, "setns": 308, "process_vm_readv": 310},
        **{"process_vm_writev": 311, "memfd_create": 319, "bpf": 321, "userfaultfd": 323},
        **NEW,
    },
    "aarch64": {
        **{"io_setup": 0, "umount2": 39, "mount": 40, "pivot_root": 41, "unshare": 97},
        **{"syslog": 116, "ptrace": 117, "sched_setaffinity": 122, "msgget": 186, "semget": 190},
        **{"shmget": 194, "add_key": 217, "request_key": 218, "keyctl": 219},
        **{"perf_event_open": 241, "setns": 268, "process_vm_readv": 270},
        **{"process_vm_writev": 271, "memfd_create": 279, "bpf": 280, "userfaultfd": 282},
        **NEW,
    },
}
NEWEST = 462  # calls of newer kernels are unknown here, so they are refused, too
SOCKETS = {"x86_64": (41, 53), "aarch64": (198, 199)}  # socket, socketpair
FAMILIES = (1, 2, 10)  # UNIX, INET, INET6
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, NO_FAMILY = 0x00050000 | 38, 0x00050000 | 97  # ENOSYS, EAFNOSUPPORT
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_AT = 0, 4, 16  # offsets in the kernel's data for the program
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
    refused = sorted(NUMBERS[machine].values())
    steps = _steps(ARCHITECTURE[machine], refused, SOCKETS[machine])
    program = _Program(len(steps), b"".join(steps))
    if libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def _steps(architecture: int, refused: Sequence[int], sockets: Sequence[int]) -> list[bytes]:
    """Load, compare, skip a number of steps if equal, another number if not; or return."""
    family = [_step(LOAD, 0, 0, FIRST_AT)]
    family += [_step(EQUAL, len(FAMILIES) - n, 0, one) for n, one in enumerate(FAMILIES)]
    ends = [
        _step(RETURN, 0, 0, ALLOW),
        *family,
        _step(RETURN, 0, 0, NO_FAMILY),
        _step(RETURN, 0, 0, ALLOW),
        _step(RETURN, 0, 0, REFUSE),
    ]
    numbers = [*((one, len(ends) - 1) for one in refused), *((one, 1) for one in sockets)]
    return [
        _step(LOAD, 0, 0, ARCHITECTURE_AT),
        _step(EQUAL, 1, 0, architecture),
        _step(RETURN, 0, 0, KILL),
        _step(LOAD, 0, 0, NUMBER_AT),
        _step(AT_LEAST, len(numbers) + len(ends) - 1, 0, NEWEST + 1),
        *(
            _step(EQUAL, len(numbers) - place - 1 + end, 0, number)
            for place, (number, end) in enumerate(numbers)
        ),
        *ends,
    ]


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
