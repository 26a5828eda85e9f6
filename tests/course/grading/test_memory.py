"""The students' memory and processor time, measured from outside, and their groups of processes."""

# ruff: noqa: E501 (submitted code is not wrapped)

import contextlib
import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from course.grading import cgroups, memory
from course.grading import sandbox as module
from course.grading.inside.frames import Channel
from course.grading.memory import Watch, megabytes_of, processor_seconds, student_processes
from course.grading.sandbox import Sandbox, protection, why_no_sandbox
from course.settings import Limits
from tests.course.grading.hostile.resources import DEAF_TO_CHILDREN

LIMITS = Limits(call_seconds=9, submission_seconds=60, memory_mb=300, processes=40, disk_mb=8)
works = pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def sandbox():
    made = Sandbox(LIMITS)
    assert made.prepare([]) == []
    yield made
    made.close()


@contextlib.contextmanager
def after(sandbox, source):
    """The processes that exist after a cell, and what it printed."""
    channel = Channel(sandbox.fork())
    order = {"do": "run", "source": source, "seconds": 9, "most_characters": 1000}
    end = time.monotonic() + 60
    channel.send(order)
    reply, _ = channel.receive(lambda: end - time.monotonic())
    yield student_processes(sandbox.process.pid), reply["said"].get("stdout", "").strip()
    channel.close()
    sandbox.stop()


HELD = {  # code, and the MB that it holds: at least, and at most
    "nothing": ("", 0, 10),
    "a list": ("hoard = bytearray(100 * 2 ** 20)\nfor n in range(0, len(hoard), 4096): hoard[n] = 1", 100, 112),
    "a child, which shares it": (
        "import os, time\nhoard = b'1' * (100 * 2 ** 20)\nif os.fork() == 0: time.sleep(60)\ntime.sleep(0.3)", 100, 120,
    ),
    "open sockets": ("import socket\nhoard = [socket.socketpair() for _ in range(100)]", 81, 92),
    "sockets for datagrams": (
        "import socket\nhoard = [socket.socket(1, socket.SOCK_DGRAM) for _ in range(40)]", 97, 108,
    ),
    "sockets on the way": (
        "import array, socket\nhoard = [socket.socketpair() for _ in range(10)]\n"
        "for n in range(100):\n    a, b = socket.socketpair()\n"
        "    hoard[n % 10][0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [a.fileno()]))])\n"
        "    a.close(); b.close()", 48, 58,
    ),
    "sockets that nobody has accepted": (
        "import socket\nserver = socket.socket(1)\nserver.bind('\\0x')\nserver.listen(500)\n"
        "for _ in range(200):\n    one = socket.socket(1)\n    one.connect('\\0x')\n    one.close()", 81, 92,
    ),
}  # fmt: skip


@works
@slow
@pytest.mark.parametrize("name", HELD)
def test_what_students_hold_is_counted(name, sandbox):
    source, least, most = HELD[name]
    with after(sandbox, "") as (pids, _):
        before = megabytes_of(pids)
    with after(sandbox, source) as (pids, _):
        assert least - 2 <= megabytes_of(pids) - before <= most
        assert memory._at_most(pids) >= megabytes_of(pids) - 8  # for the kernel's rounding


MANY_PAGES = "import os, time\nhoard = b'1' * (100 * 2 ** 20)\nfor _ in range(5):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(0.3)"
HONEST = """
import multiprocessing, subprocess, torch
class Twice(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, n): return torch.tensor(2 * n)
loader = torch.utils.data.DataLoader(Twice(), batch_size=4, num_workers=2)
print([batch.tolist() for batch in loader])
for shell in ("sh -c 'true | (exit 3); echo $?'", "bash -c 'sleep 0.1 & wait; (exit 3); echo $?'"):
    print(subprocess.run(shell, shell=True, capture_output=True, text=True).stdout)
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, 2]))
"""


@works
@slow
def test_processes_that_share_their_memory_may_go_on_and_are_offered_to_the_kernel(sandbox):
    with after(sandbox, "") as (pids, _):
        assert Watch(LIMITS).look(pids) is False
        assert score(pids[1]) == 500
    with after(sandbox, MANY_PAGES) as (pids, _):
        used = megabytes_of(pids)
        assert used < 500 < 1000 < memory._at_most(pids)  # which counts shared pages again
        for share, ended, wanted in ((2.5, False, 500), (1.2, False, 1000), (0.8, True, 1000)):
            limits = LIMITS._replace(memory_mb=share * used - memory.START_MB)
            assert Watch(limits).look(pids) is ended
            assert ended or score(pids[1]) == score(pids[-1]) == wanted
        time.sleep(0.5)
        assert score(pids[1]) is None


def score(pid):
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


@works
@slow
def test_honest_processes_of_their_own_work(sandbox):
    with after(sandbox, HONEST) as (pids, said):
        assert said.split("\n") == ["[[0, 2, 4, 6], [8, 10, 12, 14]]", "3", "", "3", "", "[1, 2]"]
        assert Watch(LIMITS).look(pids) is False


@works
@slow
def test_the_time_of_children_counts_although_their_end_is_ignored(sandbox):
    with after(sandbox, "") as (pids, _):
        before = processor_seconds(pids, None)
    with after(sandbox, DEAF_TO_CHILDREN) as (pids, _):
        assert processor_seconds(pids, None) - before >= 4 * 0.15
        assert sandbox.group is None or processor_seconds([], sandbox.group) >= 4 * 0.15


# Groups


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A folder like that of cgroup v2, which this process may use."""
    for name, text in (
        ("controllers", "cpu memory pids\n"),
        ("subtree_control", ""),
        ("procs", "1\n2"),
    ):
        (tmp_path / f"cgroup.{name}").write_text(text)
    monkeypatch.setattr(cgroups, "MOUNTED", tmp_path)
    monkeypatch.setattr(cgroups, "SYSTEMD", tmp_path / "none")
    monkeypatch.setattr(cgroups, "_own", lambda pid: tmp_path)
    cgroups.why_no_group.cache_clear()
    yield tmp_path
    cgroups.why_no_group.cache_clear()


def test_a_group_of_our_own_has_the_limits(folder, monkeypatch):
    (folder / "bertlab-99999999-1").mkdir()
    (folder / "bertlab-1-1").mkdir()  # of a process that lives
    made = folder / f"bertlab-{os.getpid()}-7"
    monkeypatch.setattr(time, "monotonic_ns", lambda: 7)
    monkeypatch.setattr(Path, "mkdir", prepared(Path.mkdir))
    monkeypatch.setattr(Path, "write_text", busy_once(Path.write_text))
    assert cgroups.command(LIMITS, 1024)[-1] == str(made)
    assert (folder / "bertlab" / "cgroup.procs").read_text() == "2"  # each was moved
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert sorted(path.name for path in folder.glob("bertlab-*")) == ["bertlab-1-1", made.name]
    assert (made / "memory.max").read_text() == str((300 + 1024) * 2**20)
    assert (made / "memory.swap.max").read_text() == "0"
    assert (made / "pids.max").read_text() == "104"


def busy_once(write_text):
    """As `write_text`; the group has processes, until they are moved."""

    def write(path, text):
        if path.name == "cgroup.subtree_control" and not (path.parent / "bertlab").exists():
            raise OSError(errno.EBUSY, "Device or resource busy")
        write_text(path, text)

    return write


def prepared(mkdir):
    """As `mkdir`; a new group also has its files."""

    def make(path, *arguments, **named):
        mkdir(path, *arguments, **named)
        if path.name.endswith("-7"):
            (path / "memory.swap.max").touch()

    return make


def test_why_there_is_no_group(folder, monkeypatch):
    def why():
        cgroups.why_no_group.cache_clear()
        return cgroups.why_no_group()

    assert why() is None
    (folder / "cgroup.controllers").write_text("cpu hugetlb")
    assert why() == "cgroup v2 has no controller memory, pids"
    assert cgroups.command(LIMITS, 1024) == []
    (folder / "cgroup.controllers").write_text("memory pids")
    (folder / "cgroup.subtree_control").unlink()
    (folder / "cgroup.subtree_control").mkdir()
    assert why() == f"{folder} cannot be used: Is a directory"
    monkeypatch.setattr(cgroups, "MOUNTED", folder / "none")
    assert why() == f"no cgroup v2 is mounted at {folder / 'none'}"


@pytest.mark.parametrize("root", [True, False])
def test_systemd_makes_the_group_where_it_runs(root, folder, monkeypatch):
    called, line = folder / "called", 'echo "$XDG_RUNTIME_DIR $@" >> "$(dirname "$0")/called"\n'
    program = folder / "systemd-run"
    program.write_text(f"#!/bin/sh\n{line}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setattr(cgroups, "SYSTEMD", folder)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 7)
    assert cgroups.why_no_group() is None
    limits = "-p MemoryMax={}M -p MemorySwapMax=0 -p TasksMax={} -p Delegate=yes --"
    options = f"{'' if root else '--user '}--scope --collect --quiet {limits}"
    assert " ".join(cgroups.command(LIMITS, 1024)) == f"{program} {options.format(1324, 104)}"
    assert called.read_text() == f"/run/user/7 {options.format(256, 64)} true\n"
    program.write_text("#!/bin/sh\necho Failed to connect to bus: No medium found >&2\nexit 1\n")
    cgroups.why_no_group.cache_clear()
    assert cgroups.why_no_group() == "Failed to connect to bus: No medium found"


def mounted():
    """Where cgroup v2 is mounted; where we may make groups, but perhaps without controllers."""
    rows = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    places = [Path(row[1]) for row in rows if row[2] == "cgroup2"]
    return places[0] if places and os.access(places[0], os.W_OK) else None


@works
@slow
@pytest.mark.skipif(mounted() is None, reason="no cgroup v2 that may be written to")
def test_a_real_group_has_the_time_of_all_processes_and_is_removed(monkeypatch):
    monkeypatch.setattr(cgroups, "MOUNTED", mounted())
    monkeypatch.setattr(cgroups, "CONTROLLERS", ())
    monkeypatch.setattr(cgroups, "SYSTEMD", Path("/none"))
    cgroups.why_no_group.cache_clear()
    try:
        made = Sandbox(LIMITS)
        assert made.group.parent == cgroups._base()
        made.prepare([])
        before = processor_seconds([], made.group)
        with after(made, DEAF_TO_CHILDREN) as (pids, _):
            inside = (made.group / "cgroup.procs").read_text().split()
            assert {*map(str, pids)} < {*inside}
            assert processor_seconds(pids, made.group) - before >= 4 * 0.15
        made.close()
        assert not made.group.exists()
    finally:
        cgroups.why_no_group.cache_clear()


def test_one_line_says_what_protects_this_machine(monkeypatch):
    monkeypatch.setattr(module, "why_no_sandbox", lambda: "bubblewrap is missing")
    assert protection() == "Protection here: none, bubblewrap is missing"
    monkeypatch.setattr(module, "why_no_sandbox", lambda: None)
    monkeypatch.setattr(module, "bubblewrap", lambda: shutil.which("echo"))
    for why, said in (
        ("no group", "by watching (no group)"),
        (None, "by the kernel (cgroup v2)"),
    ):
        monkeypatch.setattr(cgroups, "why_no_group", lambda why=why: why)
        assert f"memory limited {said}, run as " in protection()
