"""The leaderboard: failing entries are named and stop no others; ranks, spread, and the page."""

import re
import shutil
from statistics import stdev

import nbformat
import pytest

from bertlab.data.corpora import documents
from course.experiments.labels import Example
from course.grading.sandbox import why_no_sandbox
from course.leaderboard import board
from course.leaderboard.page import page
from course.project.texts import ProjectTexts, cut
from course.settings import Course
from tests.conftest import ROOT

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


@pytest.mark.slow
@pytest.mark.skipif(bool(why_no_sandbox()), reason=str(why_no_sandbox()))
def test_failing_entries_are_named_and_the_others_scored_and_kept(tmp_path, monkeypatch):
    (tmp_path / "course").mkdir()
    settings = (ROOT / "course" / "nbgrader_config.py").read_text(encoding="utf-8")
    settings += "\nc.Grading.limits = {'memory_mb': 512}\n"
    (tmp_path / "course" / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    for room in ("solutions", "exercises"):
        shutil.copytree(ROOT / room / board.NAME, tmp_path / room / board.NAME)
    course = Course(tmp_path)
    for student, (source, _) in HANDED_IN.items():
        release = nbformat.read(ROOT / f"exercises/{board.NAME}/{board.NAME}.ipynb", as_version=4)
        (cell,) = [cell for cell in release.cells if cell.id == "entry"]
        cell.source = source
        path = course.hand_in(board.NAME, student)
        path.parent.mkdir(parents=True)
        nbformat.write(release, path)
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


def test_ranks_use_the_mean_and_the_spread_is_over_seeds():
    def result(bits):
        shared = {"probes": {"names": bits / 4}, "majority": {"names": 0.5}, "parameters": 9}
        return {"bits_per_byte": bits, "processor_seconds": 60.0, **shared}

    rows = [
        board.summary("<script>", [result(2.0), result(3.0)]),
        board.summary("best of one", [result(1.0), {"failed": "it raised"}]),
        board.summary("the baseline", [result(2.25), result(2.25)]),
        board.summary("cyd", [result(2.0), result(2.125)]),
    ]
    rows = board.ranked(rows)
    ranks = [("cyd", 1), ("the baseline", None), ("<script>", 2), ("best of one", None)]
    assert [(row["name"], row.get("rank")) for row in rows] == ranks
    assert rows[2]["sd"] == pytest.approx(stdev([2, 3]))
    made = page({"minutes": 10, "seeds": 2, "entries": rows})
    assert "2.500 ± 0.707" in made
    assert "best of one: seed 1: it raised" in made
    assert not re.search(r"<script|http(?!-equiv)|src=|@import|url\(", made)
