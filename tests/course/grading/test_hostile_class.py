"""The hostile class: no submission escapes the sandbox or stops grading.

Each row of `hostile/` is a submission with one change. It must get its points, have a readable
report, and not affect others. All are handed in in one term and graded in parallel by
`python -m course`, together with honest students, who must get all of their points (with
`EVERY = 1` one per hostile student). To try one row, choose it with `-k`: only chosen rows are
handed in.
"""

import contextlib
import math
import os
import re
import site
import socket
import sys
import threading
from base64 import b64decode
from functools import cache, partial
from io import BytesIO
from pathlib import Path

import nbformat
import psutil
import pytest
from bs4 import BeautifulSoup
from PIL import Image

from course.grading.cells import is_test
from course.grading.grader import Grader
from course.grading.sandbox import why_no_sandbox
from tests.course.grading.hostile import cheating, files, forging, prying, resources, small, texts
from tests.course.grading.hostile.term import Term

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox())),
]

CANARY = "CANARY-7f3a"
# One honest student per EVERY hostile ones, and one for each of those that exhaust shared
# resources.
EVERY = 10
PRESSING = {row.name for row in resources.PRESSING}
NOTE = 400  # characters of a line of the report, at most
KINDS = (resources, cheating, forging, files, texts)
ROWS = {row.name: row for kind in KINDS for row in kind.ROWS}
NOWHERE = {"paths": [], "writes": [], "large": [], "port": 0, "unix": "", "abstract": ""}
PRYING = [row.name for row in prying.rows(NOWHERE)]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Another course, another network, and a secret, which no student may reach."""
    room = tmp_path_factory.mktemp("course")
    for name in ("solutions/ex04/ex04.ipynb", "submitted/ada/ex04/ex04.ipynb", "gradebook.db"):
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text(CANARY)
    course = tmp_path_factory.mktemp("term") / "course"
    own = [course / name for name in ("solutions", "submitted", "autograded", "gradebook.db")]
    os.environ["BERTLAB_HOSTILE_SECRET"] = CANARY
    abstract = f"bertlab-hostile-{os.getpid()}"  # of its own for each run on this machine
    with socket.socket() as listening, socket.socket(socket.AF_UNIX) as hidden:
        listening.bind(("127.0.0.1", 0))
        hidden.bind(f"\0{abstract}")
        for server in (listening, hidden):
            server.listen()
        yield {
            "room": room,
            "before": texts_in(room),
            "course": course,
            "paths": [*map(str, [*sorted(room.rglob("*")), *own, *_secret_paths()])],
            "writes": [*map(str, [*_forbidden_places(), room / "gradebook.db", own[-1]])],
            "large": [sys.prefix, sys.base_prefix, str(Path.home() / ".cache")],
            "port": listening.getsockname()[1],
            "unix": str(room / "socket"),
            "abstract": abstract,
        }
    del os.environ["BERTLAB_HOSTILE_SECRET"]


def texts_in(folder):
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


def _secret_paths():
    notebook = f"solutions/{small.NAME}/{small.NAME}.ipynb"
    names = (notebook, "solutions", "tests", "course/grading/room.py")
    return [*(small.ROOT / name for name in names), Path.home() / ".bashrc", small.ROOT / ".git"]


def _forbidden_places():
    packages = Path(site.getsitepackages()[0])
    places = [small.ROOT, small.ROOT / "bertlab", packages, Path.home()]
    places += map(Path, ("/", "/usr", "/dev", "/etc"))
    return [place / "hostile.py" for place in places] + [small.ROOT / "bertlab" / "__init__.py"]


@pytest.fixture(scope="module")
def term(request, outside):
    """The term of all rows selected in this run of pytest, and of the honest students."""
    here = [item for item in request.session.items if item.path == request.path]
    asked = {item.callspec.params.get("name") for item in here if hasattr(item, "callspec")}
    changes = {
        row.name: row.change for row in [*ROWS.values(), *prying.rows(outside)] if row.name in asked
    }
    odd = {kind: make for kind, make in FILES.items() if kind in asked}
    who = {name: f"s{number:03}" for number, name in enumerate([*changes, *odd])}
    beside = [name for n, name in enumerate(who) if n % EVERY == 0 or name in PRESSING]
    handed_in = dict.fromkeys((f"{who[name]}-honest" for name in beside), small.written())
    handed_in |= {who[name]: small.written(change) for name, change in changes.items()}
    odd_files = {who[kind]: partial(make, room=outside["room"]) for kind, make in odd.items()}
    made = Term(outside["course"], handed_in, odd_files)
    made.who, made.beside = who, beside
    return made


@pytest.fixture
def outcome_of(term):
    """The outcome of a row, whose lines, outputs and pages are checked for display."""

    def checked(name):
        outcome = term.outcome(term.who[name])
        assert_presentable(outcome)
        shown = {cell.id: cell.source for cell in outcome.notebook.cells if is_test(cell)}
        assert shown == full_tests(), "the graded copy has the instructor's tests"
        assert outcome.total == sum(filter(None, outcome.scores.values()))
        assert [line for line in term.report if line.startswith(f"  {term.who[name]}: ")] == [
            f"  {term.who[name]}: {note}" for note in outcome.notes
        ]
        return outcome

    return checked


def test_every_command_runs_to_its_end(term):
    assert term.codes == {"grade": 0, "feedback": 0, "export": 0}
    assert sorted(term.totals) == sorted(term.course.students(small.NAME))
    for line in term.report:
        assert line.isprintable()
        assert len(line) <= NOTE + len("  s000-honest: ")
    assert processes_named("hostile-daemon") == []


def test_honest_students_beside_them_get_all_points(term):
    honest = [student for student in term.totals if student.endswith("-honest")]
    assert sorted(honest) == sorted(f"{term.who[name]}-honest" for name in term.beside)
    assert len(honest) >= math.ceil(len(term.who) / EVERY)
    assert PRESSING.intersection(term.who) <= {*term.beside}
    for student in honest:
        outcome = term.outcome(student)
        assert (outcome.scores, outcome.notes) == (small.full_points(), ())
        assert outcome.total == sum(filter(None, small.full_points().values()))


@pytest.fixture(scope="module")
def grade(tmp_path_factory):
    """Grades a submission's bytes, alone."""
    path = tmp_path_factory.mktemp("submitted") / f"{small.NAME}.ipynb"
    with Grader(small.assignment(), small.LIMITS) as grader:

        def graded(content):
            path.write_bytes(content)
            return grader.grade(path, "2026-fall/mallory")

        graded.grader = grader
        yield graded
        good = graded(small.written())
        assert (good.scores, good.notes) == (small.full_points(), ())


def without_text(scores):
    """A written answer that is as released may be left to a person, or get nothing."""
    return {id: points for id, points in scores.items() if id != "explain"}


def assert_presentable(outcome):
    """Lines are single, nothing is too long, scripts are removed, hidden tests are not revealed."""
    for note in outcome.notes:
        assert note.isprintable(), note
        assert len(note) <= NOTE
    assert len(outcome.notes) == len(set(outcome.notes))
    text = nbformat.writes(outcome.notebook)
    nbformat.validate(outcome.notebook)
    assert len(text.encode("utf-8")) < 6_000_000
    assert "\\u0000" not in text
    shown = "".join(html_of(outcome.notebook)).lower()
    for word in ("<script", "onerror", "javascript:", "<iframe", "<form", "<svg", "position"):
        assert word not in shown
    page = BeautifulSoup(outcome.feedback, "html.parser")
    told = page.select("main, body")[0].get_text()
    assert not any(line in told for line in hidden_lines())
    assert not any("CANARY" in script.text for script in page.select("script, style, svg"))
    assert not page.select(ACTIVE)
    assert not page.select(".rendered_html :is([id], [class], [name])")
    assert len(outcome.feedback) < 6_000_000


ACTIVE = (
    "iframe, form, object, embed, base, meta[http-equiv=refresh], [onerror], [onload], "
    "[href^='javascript:'], [href*='canary.example'], [src*='canary.example'], [style*=fixed]"
)


@cache
def full_tests():
    """Each test as the instructor wrote it, with the hidden parts."""
    return {cell.id: cell.source for cell in small.assignment().source.cells if is_test(cell)}


@cache
def hidden_lines():
    """The longest line of each hidden test."""
    hidden = (text.split("BEGIN HIDDEN TESTS")[1:] for text in full_tests().values())
    return [max(parts[0].splitlines(), key=len).strip() for parts in hidden if parts]


def html_of(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert set(data) <= {"text/plain", "text/html", "image/png", "image/jpeg"}
            yield data.get("text/html", "")


@pytest.mark.parametrize("name", ROWS)
def test_a_hostile_submission_gets_its_points_and_a_line(name, outcome_of):
    row, outcome = ROWS[name], outcome_of(name)
    assert without_text(outcome.scores) == without_text(small.expected_points(row))
    if row.note is None:
        assert outcome.notes == ()
    else:
        said = any(re.search(row.note, note) for note in outcome.notes)
        assert said or "" in row.note.split("|"), outcome.notes


@pytest.mark.parametrize("name", ["a pasted picture"])
def test_a_pasted_picture_is_shown_and_a_missing_one_by_its_description(name, outcome_of):
    mine, none = BeautifulSoup(outcome_of(name).feedback, "html.parser").select("img[alt]")
    assert (mine["alt"], none["alt"], none.get("src", "")) == ("mine", "none", "")
    content = b64decode(mine["src"].removeprefix("data:image/png;base64,"))
    assert Image.open(BytesIO(content)).size == (30, 20)
    assert b"CANARY" not in content


def processes_named(name):
    running = psutil.process_iter(["name"])
    return [process.pid for process in running if process.info["name"] == name]


@pytest.mark.parametrize("name", PRYING)
def test_nothing_outside_can_be_read_reached_or_changed(name, outcome_of, outside):
    outcome = outcome_of(name)
    found = [line for line in said_in(outcome).splitlines() if "FOUND" in line]
    assert found == []
    assert CANARY not in said_in(outcome)
    assert without_text(outcome.scores) == without_text(small.full_points())
    written = [path for path in map(Path, outside["writes"]) if path.name == "hostile.py"]
    assert [path for path in written if path.exists()] == []
    assert texts_in(outside["room"]) == outside["before"]


def said_in(result):
    outputs = [o for cell in result.notebook.cells for o in cell.get("outputs", [])]
    return "\n".join(o.get("text", "") + o.get("evalue", "") for o in outputs)


def test_the_prying_cells_find_what_they_look_for_outside_of_the_sandbox(outside, capsys):
    """The same code outside the sandbox finds what it looks for."""
    for code in (prying.READS_FILES, prying.SECRETS):
        exec(compile(prying.given(outside) + code, "cell", "exec"), {})
    said = capsys.readouterr().out
    assert said.count(CANARY) >= 4


FILES = {
    "a link to the solution": lambda path, room: path.symlink_to(
        small.ROOT / "solutions" / small.NAME / f"{small.NAME}.ipynb"
    ),
    "a link to nothing": lambda path, room: path.symlink_to(room / "nothing"),
    "a link to itself": lambda path, room: path.symlink_to(path),
    "a link to a device": lambda path, room: path.symlink_to("/dev/zero"),
    "a folder": lambda path, room: path.mkdir(),
    "a pipe": lambda path, room: os.mkfifo(path),
    "a socket": lambda path, room: bind(path),
    "nothing": lambda path, room: None,
    "200 MB": lambda path, room: path.touch() or os.truncate(path, 200 * 2**20),
}


def bind(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize("name", FILES)
def test_only_regular_files_are_opened(name, outcome_of):
    outcome = outcome_of(name)
    assert set(without_text(outcome.scores).values()) == {0.0}
    size = "200 MB; at most 5 MB are read (ask for it again, saved with all outputs cleared)"
    said = {"200 MB": f"has {size}", "nothing": "was not handed in"}
    why = said.get(name, "is not an ordinary file")
    assert outcome.notes == (f"{files.NOTHING}{small.NAME}.ipynb {why}",)


def test_a_name_with_dots_and_odd_characters_is_only_a_name(grade, tmp_path):
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / ".." / "ex04\n\u202e<b>é.ipynb"
    path.write_bytes(small.written())
    result = grade.grader.grade(path)
    assert result.scores == small.full_points()
    path.write_bytes(b"")
    assert all(str(note).isprintable() for note in grade.grader.grade(path).notes)


def test_a_process_that_lives_on_ends_with_its_submission(grade):
    grade(small.written(ROWS["a process that lives on"].change))
    assert processes_named("hostile-daemon") == []


@pytest.mark.parametrize("where", ["/tmp", "/dev/shm"])
def test_the_disk_does_not_fill_up(where, grade):
    """A student may fill their own small folders, which are deleted for the next."""
    code = FILLS.format(where=where)
    for _ in range(2):
        result = grade(small.written(small.own_cells(code)))
        (megabytes,) = re.findall(r"wrote (\d+) MB", said_in(result))
        assert small.LIMITS.disk_mb - 2 <= int(megabytes) <= small.LIMITS.disk_mb


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


@pytest.mark.parametrize("code", ["MANY_PROCESSES", "ALLOCATORS"])
def test_memory_is_bounded_for_all_processes_together(code, grade):
    """Each alone stays within its own limit; a file in memory is not address space."""
    most, stop = [], threading.Event()
    watcher = threading.Thread(target=_watch, args=(grade.grader.process.pid, most, stop))
    watcher.start()
    try:
        result = grade(small.written(small.behind(ATTACKS[code])))
    finally:
        stop.set()
        watcher.join()
    assert result.scores["hidden-row-softmax"] == 0
    # 1,424 MB, and what they can allocate between two looks. Without a limit: 2,000 and 6,400.
    assert max(most) - most[0] < 4 * small.LIMITS.memory_mb * 2**20


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
ATTACKS = {"MANY_PROCESSES": MANY_PROCESSES, "ALLOCATORS": resources.ALLOCATORS}


def _watch(pid, most, stop):
    """The private memory of the processes with a student's user or in the sandbox."""
    while not stop.wait(0.05):
        total = 0
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):  # it has just ended
                total += process.memory_full_info().uss
        most.append(total)
