"""What the checks remember: through a restart, in two notebooks at once, with a damaged file."""

import json
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from course.feedback import checks, memory
from course.feedback import ex01_bpe as check
from course.feedback.checks import CheckFailed
from tests.course.feedback.test_progress import counted, fails, glued

HINT = "Hint 1: after joining two symbols, continue after both of them"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of a notebook in the folder of exercise 1; there are no other folders."""
    file = tmp_path / memory.FILE
    monkeypatch.setattr(memory, "file_of", lambda assignment: file)
    monkeypatch.setattr(memory, "_told", set())
    return file


def wrong(symbols, pair):
    return symbols


def message(function=wrong):
    with pytest.raises(CheckFailed) as failed:
        check.merge_pair(function)
    return str(failed.value)


def test_after_a_restart_the_table_and_the_bar_say_what_passed_before(file, capsys):
    check.merge_pair(glued)
    checks.start_over()  # as a restart
    assert str(check.progress()) == (
        "□◩□□□□□□□ 0 of 9 functions pass, 1 more passed before: run their cells again. "
        "Next: count_pairs (task 1)."
    )
    assert repr(check.progress()).splitlines()[2] == "2 · merge_pair · ◩ passed before · 1"
    passed = check.count_pairs(counted)
    assert str(passed.progress).startswith("■◩□□□□□□□ 1 of 9 functions pass, 1 more passed before")
    assert "linear-gradient" in passed._repr_html_()
    check.merge_pair(glued)  # confirmed
    assert str(check.progress()).startswith("■■□□□□□□□ 2 of 9 functions pass. Next: train")
    fails(check.merge_pair, wrong)
    assert str(check.progress()).startswith("■□□□□□□□□ 1 of 9 functions pass. Next: merge_pair")
    assert capsys.readouterr().out == ""


def test_a_function_that_was_changed_since_it_passed_is_named(file, monkeypatch):
    check.merge_pair(glued)
    checks.start_over()
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "merge_pair", glued, raising=False)
    assert "◩ passed before" in repr(check.progress())
    monkeypatch.setattr(main, "merge_pair", wrong)
    assert "2 · merge_pair · ◩ changed since it passed · 1" in repr(check.progress())
    assert str(check.progress()).startswith("□□□□□□□□□ 0 of 9")


def test_hints_do_not_start_over_and_mistakes_are_counted(file):
    def joined_twice(symbols, pair):
        twice = symbols == ("a", "a", "a")
        return ("aa", "aa") if twice else glued(symbols, pair)

    assert HINT not in message(joined_twice)
    checks.start_over()
    assert HINT in message(joined_twice)
    record = json.loads(file.read_text())["ex01_bpe"]["merge_pair"]
    assert (record["tries"], record["failures"]) == (2, 2)
    told = "the middle a was joined twice: continue after both symbols"
    assert record["mistakes"] == {told: 2}
    check.merge_pair(glued)
    checks.start_over()
    assert "Hint" not in message()
    assert "✗ not yet · 4" in repr(check.progress())


def test_who_deletes_the_file_loses_only_memory(file):
    check.merge_pair(glued)
    file.unlink()
    assert str(check.progress()).startswith("□■")
    checks.start_over()
    assert str(check.progress()).startswith("□□")
    check.merge_pair(glued)
    assert "merge_pair" in file.read_text()


@pytest.mark.parametrize(
    "content",
    [
        b'{"ex01_bpe": {"merge_pair": {"tries": 1, "failu',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'{"ex01_bpe": 3}',
        b'{"ex01_bpe": {"merge_pair": {"tries": "many", "failures": 0}}}',
        b'{"ex01_bpe": {"merge_pair": {"passed": ["x"]}}}',
        b'{"in the pages": {"bertlab one": 1}}',
        b"[" * 100_000,
    ],
    ids=["cut", "not text", "a list", "a number", "other tries", "other hash", "page", "deep"],
)
def test_a_damaged_file_is_put_aside_and_said_once(file, content, capsys):
    file.write_bytes(content)
    check.merge_pair(glued)
    check.count_pairs(counted)
    assert file.with_name(memory.DAMAGED).read_bytes() == content
    assert set(json.loads(file.read_text())["ex01_bpe"]) == {"merge_pair", "count_pairs"}
    told = "progress.json was damaged and is now progress-damaged.json; a new one begins.\n"
    assert capsys.readouterr().out == told


def test_answers_of_pages_stand_beside_the_exercises(file):
    check.merge_pair(glued)
    memory.note_answers(file.parent, {"bertlab one": "1", "bertlab two": "2"})
    memory.note_answers(file.parent, {"bertlab two": "zwei"})
    check.count_pairs(counted)
    assert memory.answers(file.parent) == {"bertlab one": "1", "bertlab two": "zwei"}
    assert memory.everything(file.parent).keys() == {"ex01_bpe"}
    assert set(json.loads(file.read_text())["ex01_bpe"]) == {"merge_pair", "count_pairs"}


def test_a_file_that_cannot_be_written_stops_nothing(file, capsys, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(memory, "write_atomically", refused)
    check.merge_pair(glued)
    check.merge_pair(glued)
    assert str(check.progress()).startswith("□■")
    out = capsys.readouterr().out
    assert out.startswith("progress.json cannot be written ([Errno 13] Permission denied")
    assert out.count("\n") == 1


NOTES = """
import sys
from pathlib import Path
from course.feedback import memory
memory.file_of = lambda assignment: Path(sys.argv[1])
memory.SECONDS = 60
for _ in range(30):
    memory.note("ex01_bpe", sys.argv[2], memory.fails("again"))
    memory.note("ex01_bpe", "both", memory.fails(""))
"""


def test_two_notebooks_at_once_lose_nothing(tmp_path):
    file = tmp_path / memory.FILE
    runs = [
        subprocess.Popen([sys.executable, "-c", NOTES, str(file), name]) for name in ("one", "two")
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    known = json.loads(file.read_text())["ex01_bpe"]
    assert {name: record["tries"] for name, record in known.items()} == {
        "one": 30,
        "two": 30,
        "both": 60,
    }
    assert known["one"]["mistakes"] == {"again": 30}


def run(folder, *sources):
    """What the cells print and show, in a new kernel in this folder."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    book = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(book, resources={"metadata": {"path": folder}}, allow_errors=True).execute()
    last = book.cells[-1].outputs[-1]
    return last.get("text", "") or last.get("data", {}).get("text/plain", "")


@pytest.mark.slow
def test_memory_through_a_restart_of_the_kernel_and_none_elsewhere(tmp_path):
    imports = "from course.feedback import ex00_warm_up as check"
    function = "def predict_growth():\n    return 3"
    passes = "check.predict_growth(predict_growth)"
    table = "print(repr(check.progress()))"
    placed, elsewhere = tmp_path / "exercises" / "ex00_warm_up", tmp_path / "ada" / "ex00_warm_up"
    for folder in (placed, elsewhere):
        folder.mkdir(parents=True)
        assert "✓ passes" in run(folder, imports, function, passes, table)
    assert list(elsewhere.parent.rglob("*.json")) == []
    assert "◩ passed before · 1" in run(placed, imports, function, table)
    assert "◩ passed before · 1" in run(placed, imports, table)
    assert "◩ changed since it passed · 1" in run(placed, imports, function + " + 1", table)
    assert json.loads((placed.parent / memory.FILE).read_text())["ex00_warm_up"]["predict_growth"]
