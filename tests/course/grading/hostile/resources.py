"""Submissions that exhaust time, processes, memory, disk and output, or end their process."""

# ruff: noqa: E501 (submitted code is not wrapped)

from tests.course.grading.hostile.small import LIMITS, Hostile, behind, own_cells, within

STOPPED = rf"row-softmax: stopped after {LIMITS.call_seconds:g} s"
ENDED = "row-softmax: it ended its own process"
NO_MEMORY = "row-softmax: .*MemoryError"
ANY_END = f"{STOPPED}|{NO_MEMORY}|{ENDED}"
RAISED = "row-softmax: its cell raised"
CUT = "row-softmax: printed more than 20 kB; cut"
LEFT_OUT = "some output of 1 cells was left out"
NO_NOTE = None

FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
SPIN = """
import os
for _ in range(24):
    if os.fork() == 0:
        os.setsid()
        break
while True:
    pass
"""
THREAD_BOMB = """
import threading, time
def _more():
    while True:
        try:
            threading.Thread(target=_more, daemon=True).start()
        except RuntimeError:
            time.sleep(0.01)
_more()
"""
MANY_SMALL = """
_hoard = []
while True:
    _hoard.append([[] for _ in range(10_000)])
"""
HEARS_NOTHING = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
DEAF = f"import signal\nsignal.signal(signal.SIGPROF, signal.SIG_IGN)\n{HEARS_NOTHING}"
DAEMON = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"hostile-daemon", 0, 0, 0)
        for _handle in range(256):
            try:
                os.close(_handle)
            except OSError:
                pass
        while True:
            time.sleep(1)
    os._exit(0)
"""
KILL_ALL = """
import os, signal
for _pid in [-1, os.getppid(), *range(1, 3000)]:
    if _pid != os.getpid():
        for _signal in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(_pid, _signal)
            except OSError:
                pass
"""

ROWS = [
    # Time
    Hostile("loop in a cell", behind("while True: pass"), note=STOPPED),
    Hostile("loop in a function", within("while True: pass"), note=STOPPED),
    Hostile("loop that catches every error", behind(HEARS_NOTHING), note=STOPPED),
    Hostile("loop that is deaf to the alarm", behind(DEAF), note=STOPPED),
    Hostile("loop in C, a number", behind("_big = 7 ** (10 ** 9)"), note=STOPPED),
    Hostile(
        "loop in C, a regular expression",
        behind("import re\nre.match('(a|a|aa)+$', 'a' * 60 + 'b')"),
        note=STOPPED,
    ),
    Hostile("sleeps", behind("import time\ntime.sleep(10 ** 6)"), note=STOPPED),
    Hostile(
        "slow in every call",
        within(f"import time\ntime.sleep({0.6 * LIMITS.call_seconds})"),
        note="row-softmax: the test does not come to an end",
        points={"test-row-softmax": 0.0},
    ),
    # Processes
    Hostile("fork bomb", behind(FORK_BOMB), note=STOPPED),
    Hostile("processes that spin", behind(SPIN), note=STOPPED),
    Hostile("thread bomb", behind(THREAD_BOMB), note=STOPPED),
    Hostile(
        "a process that lives on", behind(DAEMON), lost=(), note="look why it uses ctypes, fork"
    ),
    Hostile("kills all processes", behind(KILL_ALL), lost=(), note=NO_NOTE),
    # Memory
    Hostile("memory, one piece", within("bytearray(10 ** 11)"), note=NO_NOTE),
    Hostile("memory, one piece in a cell", behind("_hoard = bytearray(10 ** 11)"), (), NO_MEMORY),
    Hostile("memory, many pieces", behind(MANY_SMALL), note=ANY_END),
    Hostile("memory, a tensor", within("torch.ones(10 ** 11)"), note=NO_NOTE),
    Hostile("recursion", within("return row_softmax(scores)"), note=NO_NOTE),
    Hostile(
        "recursion without an end",
        within("import sys\nsys.setrecursionlimit(10 ** 9)\nreturn row_softmax(scores + 0)"),
        note=f"{ENDED}|{STOPPED}",
    ),
    Hostile(
        "a million empty files",
        behind("for _name in range(10 ** 6): open(str(_name), 'w').close()"),
        (),
        "row-softmax: its cell raised OSError",
    ),
    # Output
    Hostile("prints for ever", behind("while True: print('x' * 10 ** 5)"), note=ANY_END),
    Hostile("prints 30 MB", behind("print('x' * 30_000_000)"), (), CUT),
    Hostile("shows 3 MB", own_cells("for _ in range(300): display('x' * 10_000)"), (), LEFT_OUT),
    Hostile("prints when called", within("print('x' * 3_000_000)"), lost=(), note=NO_NOTE),
    Hostile(
        "writes gigabytes to file descriptors",
        behind(
            "import os\nfor _ in range(1_000):\n    os.write(1, bytes(10 ** 6)); os.write(2, bytes(10 ** 6))"
        ),
        lost=(),
        note=NO_NOTE,
    ),
    # Its own end
    Hostile("os._exit in a cell", behind("import os\nos._exit(0)"), note=ENDED),
    Hostile("os._exit in a function", within("import os\nos._exit(0)"), note=ENDED),
    Hostile("sys.exit in a cell", behind("import sys\nsys.exit(0)"), (), f"{RAISED} SystemExit"),
    Hostile("sys.exit in a function", within("import sys\nsys.exit(0)"), note=NO_NOTE),
    Hostile("quit()", behind("quit()"), (), RAISED),
    Hostile("os.abort", within("import os\nos.abort()"), note=ENDED),
    Hostile("segmentation fault", within("import ctypes\nctypes.string_at(0)"), note=ENDED),
    Hostile("closes every file descriptor", within("import os\nos.closerange(0, 256)"), note=ENDED),
]
