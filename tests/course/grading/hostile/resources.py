"""Submissions that exhaust time, processes, memory, disk and output, or end their process."""

from tests.course.grading.hostile.small import LIMITS, Hostile, behind, own_cells, rows_of, within

STOPPED = rf"row-softmax: stopped after {LIMITS.call_seconds:g} s"
ENDED = "row-softmax: it ended its own process"
NO_MEMORY = "row-softmax: .*MemoryError"
ANY_END = f"{STOPPED}|{NO_MEMORY}|{ENDED}"
RAISED = "row-softmax: its cell raised"
CUT = "row-softmax: printed more than 20 kB; cut"
LEFT_OUT = "some output of 1 cells was left out"

ENDLESS = """
# loop in a cell
while True: pass
# loop that catches every error
while True:
    try:
        while True: pass
    except BaseException: pass
# loop that is deaf to the alarm
import signal
signal.signal(signal.SIGPROF, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
# loop in C, a number
_big = 7 ** (10 ** 9)
# loop in C, a regular expression
import re
re.match("(a|a|aa)+$", "a" * 60 + "b")
# sleeps
import time
time.sleep(10 ** 6)
# fork bomb
import os
while True:
    try: os.fork()
    except OSError: pass
# processes that spin
import os
for _ in range(24):
    if os.fork() == 0:
        os.setsid()
        break
while True: pass
"""
SENT = """
import socket
def _full(connection):
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 ** 26)
    try:
        while True: connection.send(bytes(60_000))
    except OSError: connection.close()
"""
ALLOCATORS = """
import os, time
for _ in range(16):
    if os.fork() == 0: break
_hoard = bytearray(390 * 2 ** 20)
for _n in range(0, len(_hoard), 4096):
    _hoard[_n] = 1
time.sleep(60)
"""
# Time or memory, whichever is used up first.
GROWING = f"""
# thread bomb
import threading, time
def _more():
    while True:
        try: threading.Thread(target=_more, daemon=True).start()
        except RuntimeError: time.sleep(0.01)
_more()
# memory, many pieces
_hoard = []
while True:
    _hoard.append([[] for _ in range(10_000)])
# memory, sockets not accepted{SENT}
_hoard = []
for _n in range(100):
    _hoard.append(socket.socket(socket.AF_UNIX))
    _hoard[-1].bind(f"\\0{{_n}}")
    _hoard[-1].listen(4096)
    for _ in range(4000):
        _client = socket.socket(socket.AF_UNIX)
        _client.connect(f"\\0{{_n}}")
        _full(_client)
# memory, datagrams
import os, socket, time
for _ in range(8):
    if os.fork() == 0: break
_hoard, _m = [], os.getpid()
for _n in range(200):
    _hoard.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    _hoard[-1].bind(f"\\0{{_m}}-{{_n}}")
    for _ in range(11):
        _client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        _client.sendto(bytes(200_000), f"\\0{{_m}}-{{_n}}")
        _client.close()
time.sleep(60)
# memory, many mappings
import ctypes, os, time
_kernel = ctypes.CDLL(None)
_kernel.mmap.restype = ctypes.c_void_p
_start = _kernel.mmap(None, ctypes.c_size_t(80_000 * 4096), 3, 0x22, -1, ctypes.c_long(0))
for _n in range(39_000):
    _kernel.mprotect(ctypes.c_void_p(_start + 8192 * _n), ctypes.c_size_t(4096), 1)
for _ in range(20):
    if os.fork() == 0: break
time.sleep(60)
# memory, many allocators{ALLOCATORS}
# prints for ever
while True: print("x" * 10 ** 5)
"""
CALL = """
import ctypes, os
_kernel = ctypes.CDLL(None, use_errno=True)
def _call(name, *arguments):
    done = getattr(_kernel, name)(*arguments)
    if done == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
"""
# Memory that belongs to no process, or that no limit counts: each is refused, with this error.
UNCOUNTED = r"""
# memory, shared memory without a file | 12
import mmap
while True: mmap.mmap(-1, 2 ** 26)
# memory, shared zeros | 19
import mmap, os
_hoard = mmap.mmap(os.open("/dev/zero", os.O_RDWR), 2 ** 26)
# memory, huge pages | 12
import mmap
_hoard = mmap.mmap(-1, 2 ** 26, mmap.MAP_PRIVATE | 0x40020)
# memory, pages pinned in a pipe | 38
_call("vmsplice", os.pipe()[1], (ctypes.c_size_t * 2)(), 0, 0)
# memory, files pinned in a pipe | 38
os.splice(os.open(os.__file__, 0), os.pipe()[1], 10 ** 4)
# memory, files pinned in a socket | 38
import socket
_pair = socket.socketpair()
os.sendfile(_pair[0].fileno(), os.open(os.__file__, 0), 0, 10 ** 4)
# memory, events of files | 38
_call("inotify_init1", 0)
# memory, events of all files | 38
_call("fanotify_init", 0x200, 0)
# memory, a table for locks | 22
_call("prctl", 78, 1, ctypes.c_ulong(2 ** 20), 0, 0)
# memory, a million locks | 37
import fcntl
with open("x", "w") as _file:
    for _n in range(10 ** 6): fcntl.lockf(_file, fcntl.LOCK_EX, 1, 2 * _n)
# memory, access lists | 95
import struct
_list = [(1, 6, -1), *[(2, 6, os.getuid())] * 8_000, *((k, 6, -1) for k in (4, 16, 32))]
_content = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *one) for one in _list)
open("x", "w").close()
os.setxattr("x", "system.posix_acl_access", _content)
# memory, rules | 38
_call("syscall", 444, (ctypes.c_uint64 * 2)(0, 3), 16, 0)
# memory, a queue of signals | 11
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
for _ in range(10 ** 5): _call("sigqueue", os.getpid(), 40, None)
# memory, locked pages | 1
_call("mlock", ctypes.create_string_buffer(10 ** 6), 10 ** 6)
"""
DEAF_TO_CHILDREN = """
import ctypes, os, signal, time
for _action in (signal.SIG_IGN, signal.SIG_DFL):
    try: signal.signal(signal.SIGCHLD, _action)
    except OSError: pass
_no_wait = (ctypes.c_uint64 * 19)(0, *[0] * 16, 2)
ctypes.CDLL(None).sigaction(signal.SIGCHLD, _no_wait, None)
for _ in range(4):
    if os.fork() == 0:
        while time.process_time() < 0.15: pass
        os._exit(0)
for _ in range(4): os.wait()
"""
HARMLESS = f"""
# a process that lives on | look why it uses ctypes, fork
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"hostile-daemon", 0, 0, 0)
        for _handle in range(256):
            try: os.close(_handle)
            except OSError: pass
        while True: time.sleep(1)
    os._exit(0)
# kills all processes
import os, signal
for _pid in [-1, os.getppid(), *range(1, 3000)]:
    for _signal in (signal.SIGTERM, signal.SIGKILL) if _pid != os.getpid() else ():
        try: os.kill(_pid, _signal)
        except OSError: pass
# is deaf to its children | look why it uses{DEAF_TO_CHILDREN}
# memory, sockets on the way{SENT}
import array
_hoard = [socket.socketpair() for _ in range(30)]
for _n in range(10 ** 5):
    _here, _there = socket.socketpair()
    _full(_here)
    _handle = array.array("i", [_there.fileno()])
    try: _hoard[_n % 30][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _handle)])
    except OSError: break
    _there.close()
# writes gigabytes to file descriptors
import os
for _ in range(1_000):
    os.write(1, bytes(10 ** 6)); os.write(2, bytes(10 ** 6))
"""
FILES = "for _name in range(10 ** 6): open(str(_name), 'w').close()"
SLOW = f"import time\ntime.sleep({0.6 * LIMITS.call_seconds})"
WITHOUT_END = "import sys\nsys.setrecursionlimit(10 ** 9)\nreturn row_softmax(scores + 0)"

# They exhaust what all share: an honest student is graded beside each.
PRESSING = [
    *rows_of(ENDLESS, behind, note=STOPPED),
    Hostile("loop in a function", within("while True: pass"), note=STOPPED),
    Hostile(
        "slow in every call", within(SLOW), note="row-softmax: the test does not come to an end"
    ),
    *rows_of(GROWING, behind, note=ANY_END),
    *rows_of(HARMLESS, behind, ()),
    Hostile("recursion without an end", within(WITHOUT_END), note=f"{ENDED}|{STOPPED}"),
    Hostile("a million empty files", behind(FILES), (), f"{RAISED} OSError"),
]
ROWS = [
    *PRESSING,
    *(
        row._replace(note=rf"{RAISED} \w+: \[Errno {row.note}\]")
        for row in rows_of(UNCOUNTED, lambda code: behind(CALL + code), ())
    ),
    Hostile("memory, one piece", within("bytearray(10 ** 11)")),
    Hostile("memory, a tensor", within("torch.ones(10 ** 11)")),
    Hostile("memory, one piece in a cell", behind("_hoard = bytearray(10 ** 11)"), (), NO_MEMORY),
    Hostile("recursion", within("return row_softmax(scores)")),
    Hostile("prints 30 MB", behind("print('x' * 30_000_000)"), (), CUT),
    Hostile("shows 3 MB", own_cells("for _ in range(300): display('x' * 10_000)"), (), LEFT_OUT),
    Hostile("prints when called", within("print('x' * 3_000_000)"), ()),
    Hostile("os._exit in a cell", behind("import os\nos._exit(0)"), note=ENDED),
    Hostile("sys.exit in a cell", behind("import sys\nsys.exit(0)"), (), f"{RAISED} SystemExit"),
    Hostile("sys.exit in a function", within("import sys\nsys.exit(0)")),
    Hostile("quit()", behind("quit()"), (), RAISED),
    Hostile("os._exit in a function", within("import os\nos._exit(0)"), note=ENDED),
    Hostile("os.abort", within("import os\nos.abort()"), note=ENDED),
    Hostile("segmentation fault", within("import ctypes\nctypes.string_at(0)"), note=ENDED),
    Hostile("closes every file descriptor", within("import os\nos.closerange(0, 256)"), note=ENDED),
]
