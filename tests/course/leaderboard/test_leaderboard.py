"""The leaderboard: failing entries are named and stop no others; ranks, spread, and the page."""

import hmac
import json
import os
import re
import shutil
import stat
import struct
from pathlib import Path
from statistics import stdev
from types import SimpleNamespace

import nbformat
import pytest

from bertlab.data.corpora import documents
from course.experiments.labels import Example
from course.grading.sandbox import NoSandbox, why_no_sandbox
from course.leaderboard import board
from course.leaderboard.page import page
from course.project.texts import ProjectTexts, cut
from course.settings import CourseError
from tests.conftest import ROOT
from tests.course import small_course

SIGNATURE = "def entry(texts, seed, seconds):\n    "
HANDED_IN = {  # student: the cell, and the text of the page
    "ada": ("entry = baseline", ""),
    "bob": (f"{SIGNATURE}raise ValueError('<b>no')", "it raised ValueError: &lt;b&gt;no"),
    "cyd": (f"{SIGNATURE}return 42", "gives; got int"),
    "dan": (f"{SIGNATURE}while True:\n        pass", "more than its 3 s of processor time"),
    "eve": (f"{SIGNATURE}kept = bytearray(2**36)", "it raised MemoryError"),
    "fay": (
        f"{SIGNATURE}import bertlab.data\n    return bertlab.data.documents('lee')",
        "it raised DataError",
    ),
    # Each of the four processes stays below the limit, and together they exceed it.
    "gus": (
        f"{SIGNATURE}import os, time\n    os.fork(), os.fork()\n"
        "    kept = bytearray(450 * 2**20)\n    time.sleep(60)",
        "more than 512 MB of memory",
    ),
}


def new_course(folder):
    """A course with the project only, and little memory for students' code."""
    for room in ("solutions", "exercises"):
        shutil.copytree(ROOT / room / board.NAME, folder / room / board.NAME)
    return small_course.new_course(folder, "\nconfig.Grading.limits = {'memory_mb': 512}\n")


def hand_in(course, student, source="entry = baseline", change=None):
    """Hand in the project with an entry; `change` may change the notebook's cells."""
    release = nbformat.read(ROOT / f"exercises/{board.NAME}/{board.NAME}.ipynb", as_version=4)
    (cell,) = [cell for cell in release.cells if cell.id == "entry"]
    cell.source = source
    if change:
        change(release.cells, cell)
    path = course.hand_in(board.NAME, student)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(release), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
def test_failing_entries_are_named_and_the_others_scored_and_kept(tmp_path, monkeypatch):
    course = new_course(tmp_path)
    for student, (source, _) in HANDED_IN.items():
        hand_in(course, student, source)
    manual = documents("python-topics")
    questions = [Example(f"{word} is it {n}?", word) for n in range(20) for word in ("who", "what")]
    passages = [passage for document in manual[-20:] for passage in cut(document)]
    texts, options = ProjectTexts(manual[:12], passages, questions), board.Options(0.05, 1, True)
    made = board.make(course, tmp_path / "to", options, texts).read_text(encoding="utf-8")
    assert "<td>1</td><td>ada</td>" in made
    for student, (_, said) in HANDED_IN.items():
        assert f"{student}: seed 0: " in made or not said
        assert said in made
    assert "<b>" not in made
    monkeypatch.setattr(board, "run", None)  # nothing is run again
    assert board.make(course, tmp_path / "to", options, texts).read_text(encoding="utf-8") == made


@pytest.fixture
def ran(monkeypatch):
    """The sources that were run: no process is started, and each has the score 2."""
    ran = []

    def once(sandbox, limits, source, texts, seed, seconds):
        ran.append(source)
        return RESULT

    monkeypatch.setattr(board, "sandbox_of", lambda *_: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(board, "run", once)
    return ran


RESULT = {"bits_per_byte": 2.0, "processor_seconds": 1.0, "probes": {}, "majority": {}}
RESULT |= {"parameters": 9}
NO_TEXTS = ProjectTexts([], [], [])
BROKEN = {  # student: what is handed in, and the text of the page
    "empty": (b"", "is empty"),
    "pdf": (b"%PDF-1.7", "is a PDF, not a notebook"),
    "half": (b'{"cells": [', "damaged or cut off"),
    "bytes": (bytes(range(256)), "not a notebook"),
    "list": (b"[]", "no list of cells"),
    "cells": (b'{"nbformat": 4, "cells": {}}', "no list of cells"),
    "nested": (b"[" * 100_000, "not a notebook (RecursionError)"),
    "nothing": (None, "was not handed in"),
    "folder": (Path.mkdir, "not an ordinary file"),
    "link": (lambda path: path.symlink_to("/dev/zero"), "not an ordinary file"),
    "fifo": (os.mkfifo, "not an ordinary file"),
}


def made_by(course, **options):
    """The text of the page of one seed, and of the lines below it."""
    to, settings = course.root / "to", board.Options(1, 1, **options)
    page = board.make(course, to, settings, NO_TEXTS).read_text(encoding="utf-8")
    return page, dict(re.findall("<li>(.*?): (.*?)</li>", page))


def test_a_broken_hand_in_costs_its_own_line(tmp_path, ran):
    course = new_course(tmp_path)
    for student, (content, _) in BROKEN.items():
        path = course.hand_in(board.NAME, student)
        path.parent.mkdir(parents=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content:
            content(path)
    hand_in(course, "ada", "entry = 1")
    page, lines = made_by(course, names=True)
    assert "<td>1</td><td>ada</td>" in page
    for student, (_, said) in BROKEN.items():
        assert lines[student].startswith("its notebook cannot be read: ")
        assert said in lines[student]
    assert ran == [*board.OURS.values(), "entry = 1"]


@pytest.mark.parametrize("error", [OSError, MemoryError, RecursionError, struct.error, KeyError])
def test_whatever_reading_raises_names_the_entry_but_not_the_student(
    tmp_path, ran, capsys, monkeypatch, error
):
    def read(path, *_):
        if "mallory" in path.parts:
            raise error(str(path))
        return read_submission(path, *_)

    course, read_submission = new_course(tmp_path), board.read_submission
    monkeypatch.setattr(board, "read_submission", read)
    hand_in(course, "ada", "entry = 1")
    hand_in(course, "mallory", "entry = 2")
    page, lines = made_by(course)
    assert list(lines.values()) == [f"its notebook cannot be read ({error.__name__})"]
    assert "mallory" not in page
    assert "mallory" in capsys.readouterr().err
    assert ran[2:] == ["entry = 1"]


def test_a_missing_entry_and_two_entries_stop_no_board(tmp_path, ran):
    course = new_course(tmp_path)
    hand_in(course, "ada", change=lambda cells, cell: cells.remove(cell))
    hand_in(course, "ben", "entry = 1", lambda cells, cell: cells.append(cell))
    hand_in(course, "cy", change=lambda cells, cell: cell.update(source=["x = '\ud800", "\0'", 7]))
    hand_in(course, "dot", change=lambda cells, cell: cell.update(source={}, metadata=[]))
    made_by(course)
    assert "raise NotImplementedError" in ran[2]
    assert "entry = 1" in ran
    json.dumps(ran).encode()


def test_difficult_names_are_shown_and_have_rows_of_their_own(tmp_path, ran, capsys):
    course = new_course(tmp_path)
    names = [
        "<b onclick=x>",
        "the baseline",
        "\u202eada",
        "n" * 200,
        "{{7}}",
    ]
    for number, name in enumerate(names):
        hand_in(course, name, f"entry = {number}")
    hand_in(course, os.fsdecode(b"na\xefve"), "entry = 9")
    page, _ = made_by(course, names=True)
    assert "submitted/na\\udcefve is left out: its name is not UTF-8" in capsys.readouterr().err
    assert len(ran) == len(names) + len(board.OURS)
    for shown in ("&lt;b onclick=x&gt;", "the baseline", "\\u202eada", "{{7}}"):
        assert re.search(rf"<td>\d</td><td>{re.escape(shown)}</td>", page)
    page, _ = made_by(course)
    assert len(set(re.findall("<td>(entry [0-9a-f]{8})</td>", page))) == len(names)


def test_a_run_that_fails_by_our_fault_is_named_and_tried_again(tmp_path, ran, monkeypatch):
    course, started = new_course(tmp_path), []
    hand_in(course, "ada", "entry = 1")
    hand_in(course, "eve", "entry = 2")

    def once(sandbox, limits, source, *_):
        if source == "entry = 2" and len(started) == 1:
            raise NoSandbox("/home/teacher: the sandbox ended")
        ran.append(source)
        return RESULT

    def start(*_):
        started.append(1)
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(board, "run", once)
    monkeypatch.setattr(board, "sandbox_of", start)
    page, lines = made_by(course, names=True)
    assert lines == {"eve": "seed 0: it could not be run (NoSandbox)"}
    assert "teacher" not in page
    assert len(started) == 2
    assert ran == [*board.OURS.values(), "entry = 1"]
    ran.clear()
    assert not made_by(course, names=True)[1]
    assert ran == ["entry = 2"]


def test_pseudonyms_and_split_come_from_a_secret_of_256_bits(tmp_path, ran, monkeypatch):
    course, drawn = new_course(tmp_path), []
    hand_in(course, "ada")
    page, _ = made_by(course)
    file = tmp_path / "to" / "runs" / "secret.txt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    secret = bytes.fromhex(file.read_text())
    assert len(secret) == 32
    key = hmac.new(secret, b"names", "sha256").digest()
    assert f"entry {hmac.new(key, b'ada', 'sha256').hexdigest()[:8]}</td>" in page
    monkeypatch.setattr(board, "project_texts", lambda seed: drawn.append(seed) or NO_TEXTS)
    board.make(course, tmp_path / "to", board.Options(1, 1))
    board.make(course, tmp_path / "other", board.Options(1, 1))
    assert drawn[0] == int(hmac.new(secret, b"split", "sha256").hexdigest(), 16)
    assert drawn[0] != drawn[1]


def test_runs_with_other_hidden_texts_or_damaged_ones_are_made_again(tmp_path, ran):
    course, folder = new_course(tmp_path), tmp_path / "to" / "runs"
    made_by(course)
    made_by(course)
    assert len(ran) == 2
    kept = sorted(folder.glob("*-0.json"))
    kept[0].write_text("[")
    kept[1].write_text("[]")
    made_by(course)
    assert len(ran) == 4
    (folder / "secret.txt").unlink()
    made_by(course)
    assert len(ran) == 6


@pytest.mark.parametrize("text", ["", "12345\n", "g" * 64, "0" * 63, "\0" * 64])
def test_a_damaged_secret_stops_with_advice(tmp_path, ran, text):
    course = new_course(tmp_path)
    (tmp_path / "to" / "runs").mkdir(parents=True)
    (tmp_path / "to" / "runs" / "secret.txt").write_text(text)
    with pytest.raises(CourseError, match=r"64 hexadecimal digits.*Restore it"):
        made_by(course)
    assert not ran


def test_ranks_use_the_mean_and_the_spread_is_over_seeds():
    def result(bits):
        shared = {"probes": {"names": bits / 4}, "majority": {"names": 0.5}, "parameters": 9}
        return {"bits_per_byte": bits, "processor_seconds": 60.0, **shared}

    rows = [
        board.summary(board.Entry("<script>", ""), [result(2.0), result(3.0)]),
        board.summary(board.Entry("best of one", ""), [result(1.0), {"failed": "it raised"}]),
        board.summary(board.Entry("the baseline", "", ours=True), [result(2.25), result(2.25)]),
        board.summary(board.Entry("cyd", ""), [result(2.0), result(2.125)]),
    ]
    rows = board.ranked(rows)
    ranks = [("cyd", 1), ("the baseline", None), ("<script>", 2), ("best of one", None)]
    assert [(row["name"], row.get("rank")) for row in rows] == ranks
    assert rows[2]["sd"] == pytest.approx(stdev([2, 3]))
    made = page({"minutes": 10, "seeds": 2, "entries": rows})
    assert "2.500 ± 0.707" in made
    assert "best of one: seed 1: it raised" in made
    assert not re.search(r"<script|http(?!-equiv)|src=|@import|url\(", made)
