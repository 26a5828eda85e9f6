"""2,000 damaged pictures, notebooks, codes and names: nothing stops, nothing exceeds its limit."""

import copy
import json
import os
import random
import re
import zipfile
from base64 import b64encode
from contextlib import closing, suppress
from io import BytesIO

import nbformat
import pytest
from PIL import Image

from course import ROOT
from course.collecting import collect, contents, opening
from course.collecting.opening import Refused
from course.grading import cells, overview
from course.grading.outputs import NOTEBOOK_KB
from course.grading.sandbox import why_no_sandbox
from course.grading.submissions import read_submission
from course.leaderboard import board
from course.settings import Limits
from course.similarity import sources, taken
from course.similarity.pieces import read_pieces
from tests.course.grading.damaged import ASSIGNMENT, CODE, NAME, page, right, written
from tests.course.grading.hostile import small
from tests.course.grading.hostile.term import Term, command
from tests.course.leaderboard.test_leaderboard import (
    NO_TEXTS,
    ran,  # noqa: F401 (a fixture)
)
from tests.course.leaderboard.test_leaderboard import new_course as board_course
from tests.course.small_course import NAME as SMALL
from tests.course.small_course import make

PICTURES, NOTEBOOKS, PAGES, CODES, NAMES, ENTRIES = 400, 300, 660, 400, 200, 40
assert PICTURES + NOTEBOOKS + PAGES + CODES + NAMES + ENTRIES == 2_000
NUMBER = b"9" * 5_000
TOKENS = [
    *(b"\0", b"\xff\xfe", b"\xc3", b"\r", b"\f", b'"', b"\\ud800", b"\\u0000", b"\xe2\x80\xae"),
    *(b"[" * 3_000, b"(" * 3_000, b"{f'" * 200, b"-" * 5_000, b" " * 9_000, b"lambda:" * 500),
    *(NUMBER, b"0x" + b"f" * 5_000, b"1e999999", b"NaN", b"-Infinity", b"null", b'{"a": 1}'),
]
VALUES = [
    *(None, True, -1, 10**50, 1e308, float("nan"), "", "\ud800", "\0", "x" * 5_000, "\u202e" * 9),
    *([], {}, [[[]]], {"a": {"b": []}}, [None] * 500, {"": {}}, {"text/html": "<b>" * 4_000}),
    *(["\n"] * 900, {"image/png": "x"}, "regrade: " * 50, "%%bash\n", "!ls\n" * 300, "\"a' id=x>"),
]


def bytes_damaged(content, chance):
    """The content with some bytes changed, cut, doubled or put in."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(content) + 1), chance.randrange(1, 60)
        what = chance.randrange(5)
        put = chance.choice(TOKENS) if what == 0 else chance.randbytes(size) if what == 1 else b""
        if what == 2:
            put = content[at : at + size] * chance.randint(2, 5)
        content = content[:at] + put + content[at + (size if what > 1 else 0) :]
        if what == 4 and not chance.randrange(4):
            content = content[:at]
    return content


def values_damaged(data, chance):
    """The notebook with some of its values replaced."""
    data = copy.deepcopy(data)
    for _ in range(chance.randint(1, 6)):
        here = data if chance.random() < 0.05 else data["cells"]
        while True:
            key = chance.choice([*here]) if isinstance(here, dict) else chance.randrange(len(here))
            if isinstance(here[key], dict | list) and here[key] and chance.random() < 0.85:
                here = here[key]
                continue
            here[key] = copy.deepcopy(chance.choice(VALUES))
            break
        if not isinstance(data.get("cells"), list) or not data["cells"]:
            break
    return data


def odd_page(number):
    """The bytes of a damaged notebook with outputs and a picture."""
    chance = random.Random(number)
    mine = right()
    for cell in mine[::4]:
        if cell["cell_type"] == "code":
            shown = {"text/html": "<p>x <b>y</b>", "image/png": PNG, "text/plain": "x"}
            cell["outputs"] = [
                {"output_type": "display_data", "data": shown, "metadata": {}},
                {"output_type": "error", "ename": "E", "evalue": "x", "traceback": ["x"]},
            ]
    mine[-1]["attachments"] = {"x.png": {"image/png": PNG}}
    if number % 4 == 0:
        return bytes_damaged(json.dumps(page(mine)).encode(), chance)
    return json.dumps(values_damaged(page(mine), chance)).encode()


def encoded(form, **options):
    Image.effect_noise((20, 15), 50).save(file := BytesIO(), form, **options)
    return file.getvalue()


PNG = b64encode(encoded("PNG")).decode()


@pytest.fixture
def here(monkeypatch):
    """All in this process: faster, and an error that is not expected is seen."""
    monkeypatch.setattr(opening, "CAN_FORK", False)


def assert_within_limits(submission):
    text = nbformat.writes(nbformat.v4.new_notebook(cells=submission.cells))
    assert len(text.encode()) < (NOTEBOOK_KB + 1_000) * 1_000
    assert {cell.id for cell in ASSIGNMENT.source.cells} <= {cell.id for cell in submission.cells}
    assert all(len(str(note)) < 400 for note in submission.notes)
    for cell in submission.cells:
        cells.past_the_watch(cell.source)
    cells.running_order(submission.cells, cells.plan(ASSIGNMENT.source))


@pytest.mark.slow
def test_damaged_pictures_are_shown_or_left_out(tmp_path):
    files = [encoded("PNG"), encoded("JPEG"), encoded("PNG", icc_profile=b"x")]
    for first in range(0, PICTURES, 20):
        made = [bytes_damaged(files[n % 3], random.Random(n)) for n in range(first, first + 20)]
        shown = {f"{n}": {"image/png": b64encode(one).decode()} for n, one in enumerate(made)}
        own = {"cell_type": "markdown", "source": "x", "metadata": {}, "attachments": shown}
        submission = read_submission(written(tmp_path, [*right(), own]), ASSIGNMENT, Limits())
        assert_within_limits(submission)
        kept = submission.cells[-1].get("attachments", {})
        said = " ".join(note.text for note in submission.notes)
        assert "pictures were left out" in said or f"{20 - len(kept)} attached" in said
        assert not [note for note in submission.notes if note.waits], "the tasks have points"


@pytest.mark.slow
def test_damaged_notebooks_are_read_or_have_a_line(tmp_path, here):
    path = tmp_path / f"{NAME}.ipynb"
    unreadable = 0
    for number in range(NOTEBOOKS):
        path.write_bytes(odd_page(number))
        submission = read_submission(path, ASSIGNMENT, Limits())
        assert_within_limits(submission)
        unreadable += any(note.text.startswith("nothing could") for note in submission.notes)
        failed = [one.text for one in submission.notes if "cannot be read (" in one.text]
        assert (number, failed) == (number, [])
    assert 10 < unreadable < NOTEBOOKS - 100


@pytest.mark.slow
def test_damaged_notebooks_are_collected_and_compared(tmp_path, here):
    path = tmp_path / "x.ipynb"
    for number in range(PAGES):
        content = odd_page(NOTEBOOKS + number)
        path.write_bytes(content)
        for name in ("x.ipynb", "x.py", "x", "x.zip"):
            notebook, _, ids = contents.read(name, content)
            assert notebook is None or isinstance(notebook, bytes)
            assert all(isinstance(id, str) for id in ids)
        with suppress(Refused, RecursionError):
            "".join(sources.code_cells(path)).encode()


@pytest.mark.slow
def test_damaged_code_has_names_or_none_and_is_compared():
    codes = ["\n\n".join(CODE.values()), *CODE.values()]
    for number in range(CODES):
        chance = random.Random(number)
        content = bytes_damaged(chance.choice(codes).encode(), chance)
        code = content.decode("utf-8", ("surrogateescape", "replace")[number % 2])
        cells.names_of(code)
        cells.past_the_watch(code)
        cells.magic(cells.runnable(code))
        read_pieces(taken.bare(code.encode("utf-8", "replace").decode()), 20)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_damaged_names_stop_no_class(tmp_path):
    course = make(tmp_path / "c")
    names = [f"ada/{SMALL}.ipynb", f"Eve Ö_1_assignsubmission_file_/{SMALL}.ipynb", "x/y/z.zip/a"]
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr(f"ada/{SMALL}.ipynb", b'{"cells": []}')
        for number in range(NAMES):
            chance = random.Random(number)
            name = bytes_damaged(chance.choice(names).encode(), chance)[:3_000]
            text = name.decode("utf-8", ("replace", "ignore")[number % 2]) or "x"
            member = zipfile.ZipInfo()
            member.filename = text
            archive.writestr(member, b'{"cells": [%d]}' % number)
    said = []
    collect.collect(course, SMALL, tmp_path / "in.zip", say=said.append)
    text = "\n".join(said)
    assert int(re.findall(r"; (\d+) files", text)[0]) > NAMES - 10, "all but folders"
    assert course.hand_in(SMALL, "ada").is_file() or "ada" in text
    assert all(line.isprintable() and len(line) < 1_500 for line in text.splitlines())
    stored = [path for path in course.root.rglob("*") if path.suffix == ".ipynb"]
    assert all(course.root in path.resolve().parents for path in stored)
    with closing(course.gradebook()) as book:
        assert f"to-sort-out/{SMALL}" in overview.page(course, [overview.part(course, book, SMALL)])


@pytest.mark.slow
@pytest.mark.usefixtures("here", "ran")
def test_damaged_entries_stop_no_board(tmp_path):
    course = board_course(tmp_path)
    release = json.loads((ROOT / f"exercises/{board.NAME}/{board.NAME}.ipynb").read_bytes())
    for number in range(ENTRIES):
        chance, content = random.Random(number), odd_page(number)
        if number % 2:
            content = json.dumps(values_damaged(release, chance)).encode()
        if number % 4 == 1:
            content = bytes_damaged(content, chance)
        path = course.hand_in(board.NAME, f"s{number}")
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    made = board.make(course, tmp_path / "to", board.Options(1, 1, names=True), NO_TEXTS)
    rows = json.loads(made.with_name("leaderboard.json").read_text(encoding="utf-8"))["entries"]
    assert {row["name"] for row in rows} == {*board.OURS, *(f"s{n}" for n in range(ENTRIES))}
    failed = [row for row in rows if "failed" in row]
    assert 0 < len(failed) < ENTRIES
    assert all(len(line) < 1_000 for row in failed for line in row["failed"])


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
def test_a_damaged_class_goes_through_all_commands_beside_an_honest_student(tmp_path, capsys):
    honest = small.written()
    handed_in = {"honest": honest, "honest-too": honest}
    for number in range(12):
        chance = random.Random(number)
        content = json.dumps(values_damaged(json.loads(honest), chance)).encode()
        handed_in[f"s{number}"] = bytes_damaged(content, chance) if number % 3 == 0 else content
    no_text = os.fsdecode(b"caf\xe9")
    term = Term(tmp_path, handed_in, {no_text: lambda path: path.write_bytes(honest)})
    assert "submitted/caf\\udce9 is left out: its name is not UTF-8" in capsys.readouterr().err
    assert term.codes == {"grade": 0, "feedback": 0, "export": 0}
    for student in handed_in:
        assert len(term.outcome(student).feedback) < 12_000_000
    assert term.outcome("honest").scores == small.full_points()
    assert term.outcome("honest").notes == ()
    for asked in (["status"], ["overview"], ["items", small.NAME], ["similar", small.NAME]):
        (command if asked[0] != "similar" else similar)(term.course, *asked)
    assert "honest and honest-too: 100% of the first" in capsys.readouterr().out


def similar(course, _, name):
    from course.similarity import report

    assert report.main([name, "--root", str(course.root)]) == 0
