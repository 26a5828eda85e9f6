"""The hostile class: whatever is handed in, nothing escapes, and grading goes on.

Each row of `tests/hostile` is a submission with one thing changed. It must get its points, say
what happened in plain lines, and leave everybody else alone. All rows are graded by one Grader;
the correct notebook is graded in between, and must get all of its points every time.
"""

import contextlib
import os
import pickle
import re
import site
import socket
import sys
import threading
from pathlib import Path

import nbformat
import psutil
import pytest

from course.grading.grader import Grader
from course.grading.sandbox import why_no_sandbox
from tests.hostile import cheating, files, forging, prying, resources
from tests.hostile.small import (
    LIMITS,
    NAME,
    ROOT,
    assignment,
    behind,
    correct,
    expected_points,
    full_points,
    own_cells,
    written,
)

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))

CANARY = "CANARY-7f3a"
EVERY = 10  # after so many rows the correct notebook is graded
NOTE = 400  # characters of a line of the report, at most
ROWS = [*resources.ROWS, *cheating.ROWS, *forging.ROWS, *files.ROWS]
PRYING = [
    row.name
    for row in prying.rows(
        {key: [] for key in ("paths", "writes", "large")}
        | dict.fromkeys(("port", "unix", "abstract"), 0)
    )
]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A course of others, a network of others, and a secret, which no student may reach."""
    room = tmp_path_factory.mktemp("course")
    for name in ("solutions/ps3/ps3.ipynb", "submitted/ada/ps3/ps3.ipynb", "gradebook.db"):
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text(CANARY)
    os.environ["BERTLAB_HOSTILE_SECRET"] = CANARY
    with socket.socket() as listening, socket.socket(socket.AF_UNIX) as hidden:
        listening.bind(("127.0.0.1", 0))
        hidden.bind("\0bertlab-hostile")
        for server in (listening, hidden):
            server.listen()
        yield {
            "room": room,
            "paths": [*map(str, sorted(room.rglob("*"))), *map(str, _secret_paths())],
            "writes": [*map(str, _forbidden_places()), str(room / "gradebook.db")],
            "large": [sys.prefix, sys.base_prefix, str(Path.home() / ".cache")],
            "port": listening.getsockname()[1],
            "unix": str(room / "socket"),
            "abstract": "bertlab-hostile",
        }
    del os.environ["BERTLAB_HOSTILE_SECRET"]


def _secret_paths():
    names = (f"solutions/{NAME}/{NAME}.ipynb", "solutions", "tests", "course/grading/room.py")
    return [*(ROOT / name for name in names), Path.home() / ".bashrc", ROOT / ".git"]


def _forbidden_places():
    packages = Path(site.getsitepackages()[0])
    places = [
        ROOT,
        ROOT / "bertlab",
        packages,
        Path.home(),
        *map(Path, ("/", "/usr", "/dev", "/etc")),
    ]
    return [place / "hostile.py" for place in places] + [ROOT / "bertlab" / "__init__.py"]


@pytest.fixture(scope="module")
def grade(outside, tmp_path_factory):
    """Grades a submission's bytes; every few times the correct notebook, too."""
    folder = tmp_path_factory.mktemp("submitted")
    path, counted = folder / f"{NAME}.ipynb", []
    with Grader(assignment(), LIMITS) as grader:

        def graded(content):
            path.write_bytes(content)
            return grader.grade(path, "2026-fall/mallory")

        def graded_row(content):
            result = graded(content)
            counted.append(1)
            if len(counted) % EVERY == 0:
                good = graded(written(correct()))
                assert (good.scores, good.notes) == (full_points(), ())
            return result

        graded_row.path, graded_row.grader = path, grader
        yield graded_row
        good = graded(written(correct()))
        assert (good.scores, good.notes) == (full_points(), ())


def points_of(result):
    """A written answer that is as released may be left to a person, or get nothing."""
    return {id: points for id, points in result.scores.items() if id != "explain"}


def assert_presentable(result):
    """Lines are lines, nothing is too long, and all of it can be stored and shown."""
    for note in result.notes:
        assert note.isprintable(), note
        assert len(note) <= NOTE
    assert len(result.notes) == len(set(result.notes))
    text = nbformat.writes(result.notebook)
    nbformat.validate(result.notebook)
    assert len(text.encode("utf-8")) < 1_000_000
    assert "\\u0000" not in text
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 (made here)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_hostile_submission_gets_its_points_and_a_line(row, grade):
    result = grade(written(row.change(correct())))
    expected = {id: points for id, points in expected_points(row).items() if id != "explain"}
    assert points_of(result) == expected
    if row.note is None:
        assert result.notes == ()
    else:
        assert any(re.search(row.note, note) for note in result.notes) or "" in row.note.split("|")
    assert_presentable(result)
    shown = "".join(html_of(result))
    for word in ("<script", "onerror", "javascript:", "<iframe", "<form", "<svg", "position"):
        assert word not in shown.lower()
    assert processes_named("hostile-daemon") == []


def html_of(result):
    for cell in result.notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert set(data) <= {"text/plain", "text/html", "image/png", "image/jpeg"}
            yield data.get("text/html", "")


def processes_named(name):
    return [
        process.pid for process in psutil.process_iter(["name"]) if process.info["name"] == name
    ]


@pytest.mark.parametrize("name", PRYING)
def test_nothing_outside_can_be_read_reached_or_changed(name, grade, outside):
    row = next(row for row in prying.rows(outside) if row.name == name)
    before = {path: path.read_bytes() for path in outside["room"].rglob("*") if path.is_file()}
    result = grade(written(row.change(correct())))
    found = [line for line in said_in(result).splitlines() if "FOUND" in line]
    assert found == []
    assert CANARY not in said_in(result)
    assert points_of(result) == {id: p for id, p in full_points().items() if p is not None}
    assert [
        path for path in map(Path, outside["writes"]) if path.name == "hostile.py" and path.exists()
    ] == []
    assert {path: path.read_bytes() for path in before} == before
    assert_presentable(result)


def said_in(result):
    outputs = [o for cell in result.notebook.cells for o in cell.get("outputs", [])]
    return "\n".join(o.get("text", "") + o.get("evalue", "") for o in outputs)


def test_the_prying_cells_find_what_they_look_for_outside_of_the_sandbox(outside, capsys):
    """The same code, run here: it would have told."""
    exec(compile(prying.READS_FILES.format(**outside), "reads", "exec"), {})
    exec(compile(prying.SECRETS, "secrets", "exec"), {})
    said = capsys.readouterr().out
    assert said.count(CANARY) >= 4


FILES = {
    "a link to the solution": lambda path, room: path.symlink_to(
        ROOT / "solutions" / NAME / f"{NAME}.ipynb"
    ),
    "a link to nothing": lambda path, room: path.symlink_to(room / "nothing"),
    "a link to itself": lambda path, room: path.symlink_to(path),
    "a link to a device": lambda path, room: path.symlink_to("/dev/zero"),
    "a folder": lambda path, room: path.mkdir(),
    "a pipe": lambda path, room: os.mkfifo(path),
    "a socket": lambda path, room: bind(path),
    "nothing": lambda path, room: None,
}


def bind(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize("kind", FILES)
def test_what_is_no_file_is_not_opened(kind, grade, outside, tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    FILES[kind](path, outside["room"])
    result = grade.grader.grade(path)
    assert set(points_of(result).values()) == {0.0}
    wanted = "was not handed in" if kind == "nothing" else "is no ordinary file"
    assert any(
        note.startswith("nothing could be graded: ") and wanted in note for note in result.notes
    )


def test_a_file_of_200_mb_is_not_read(grade, tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    result = grade.grader.grade(path)
    assert result.notes == (
        f"nothing could be graded: {NAME}.ipynb has 200 MB; at most 5 MB are read "
        "(ask for it again, saved with all outputs cleared)",
    )


def test_a_name_with_dots_and_odd_characters_is_only_a_name(grade, tmp_path):
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / ".." / "ps3\n\u202e<b>é.ipynb"
    path.write_bytes(written(correct()))
    result = grade.grader.grade(path)
    assert result.scores == full_points()
    path.write_bytes(b"")
    assert_presentable(grade.grader.grade(path))


@pytest.mark.parametrize("where", ["/tmp", "/dev/shm"])
def test_the_disk_does_not_fill_up(where, grade):
    """One student may fill their own small folders, which are gone for the next."""
    code = FILLS.format(where=where)
    for _ in range(2):
        result = grade(written(own_cells(code)(correct())))
        (megabytes,) = re.findall(r"wrote (\d+) MB", said_in(result))
        assert LIMITS.disk_mb - 2 <= int(megabytes) <= LIMITS.disk_mb


FILLS = """
import os
_done = 0
for _number in range(100):
    try:
        with open(f"{where}/{{_number}}", "wb", buffering=0) as _file:
            while True:
                _done += _file.write(bytes(2 ** 20))
    except OSError:
        continue
print("wrote", _done // 2 ** 20, "MB")
"""


def test_memory_is_bounded_for_all_processes_together(grade):
    """Each of them alone stays within its own limit; a file in memory is no address space."""
    most = []
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(grade.grader.process.pid, most, stop))
    watcher.start()
    try:
        result = grade(written(behind(MANY_PROCESSES)(correct())))
    finally:
        stop.set()
        watcher.join()
    assert points_of(result)["hidden-row-softmax"] == 0
    assert max(most) - most[0] < 3 * LIMITS.memory_mb * 2**20  # without a limit: 2,000


MANY_PROCESSES = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        _hoard = []
        for _ in range(25):
            _hoard.append(bytearray(os.urandom(2 ** 20) * 10))
            time.sleep(0.08)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""


def _watch(pid, most, stop):
    """The private memory of the processes with a student's user or in the sandbox."""
    while not stop.wait(0.05):
        total = 0
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):  # it has just ended
                total += process.memory_full_info().uss
        most.append(total)
