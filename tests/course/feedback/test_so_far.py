"""The whole course at a glance: what passed on other days, what is next."""

import json
import re
import shutil

import pytest
from bs4 import BeautifulSoup

from course.feedback.so_far import so_far
from tests.conftest import ROOT, read_page

PASSED = {"tries": 1, "failures": 0, "passed": "0" * 16, "on": "2026-11-27"}


@pytest.fixture
def folder(tmp_path):
    """Two exercises of a student's copy."""
    for name in ("ex00_warm_up", "ex01_bpe"):
        shutil.copytree(ROOT / "exercises" / name, tmp_path / "exercises" / name)
    return tmp_path / "exercises"


def remember(folder, **records):
    known = {"ex00_warm_up": {}, "ex01_bpe": {}}
    for name, record in records.items():
        known["ex01_bpe" if name in ("count_pairs", "merge_pair") else "ex00_warm_up"][name] = (
            record
        )
    (folder / "progress.json").write_text(json.dumps({k: v for k, v in known.items() if v}))


def test_a_new_student_begins_at_the_first_task(folder):
    assert str(so_far(folder)).splitlines() == [
        "Exercise 0 · Warm-up · □□□□ 0 of 4 · 0 of 11 points · 15 minutes",
        "Exercise 1 · Byte pair encoding · □□□□□□□□□ 0 of 9 · 0 of 29 points · 90 minutes",
        "Begin with Exercise 0 · Warm-up, task 1 (token_ids): about 3 minutes.",
    ]


def test_it_goes_on_where_the_student_was(folder):
    remember(folder, token_ids=PASSED, count_pairs=PASSED, merge_pair={**PASSED, "failures": 2})
    first, second, following = str(so_far(folder)).splitlines()
    assert "◩□□□ 1 of 4 · 2 of 11 points" in first
    assert "◩□□□□□□□□ 1 of 9 · 2 of 29 points · 85 minutes" in second, (
        "one that failed later is open"
    )
    assert following == (
        "Go on with Exercise 1 · Byte pair encoding, task 2 (merge_pair): about 10 minutes."
    )
    page = BeautifulSoup(so_far(folder)._repr_html_(), "html.parser")
    assert [link["href"] for link in page.find_all("a")] == [
        "../exercises/ex00_warm_up/ex00_warm_up.ipynb",
        "../exercises/ex01_bpe/ex01_bpe.ipynb",
        "../exercises/ex01_bpe/ex01_bpe.ipynb#cell-id=task-2",
    ]


def test_what_is_done_is_done(folder):
    shutil.rmtree(folder / "ex01_bpe")
    names = ("token_ids", "shares", "examine_shares", "predict_growth")
    remember(folder, **dict.fromkeys(names, PASSED), gone=PASSED)
    assert str(so_far(folder)).splitlines() == [
        "Exercise 0 · Warm-up · ◩◩◩◩ 4 of 4 · 9 of 11 points · done",
        "All functions of the course passed.",
    ]


def test_a_damaged_file_is_put_aside(folder, capsys):
    (folder / "progress.json").write_text('{"ex00_warm_up": {"token_ids": {"tries"')
    assert "□□□□ 0 of 4" in str(so_far(folder))
    assert (folder / "progress-damaged.json").exists()
    assert "damaged" in capsys.readouterr().out


def test_every_exercise_and_its_functions_are_found():
    found = so_far(ROOT / "exercises").exercises
    assert [one.name for one in found] == sorted(
        path.stem for path in ROOT.glob("exercises/*/*.ipynb")
    )
    for one in found:
        cells = read_page(ROOT / "exercises" / one.name / f"{one.name}.ipynb").code
        checked = [
            re.match(r"check\.(\w+)\(", c.source)[1] for c in cells if c.id.startswith("test-")
        ]
        assert one.functions == checked


def test_lectures_that_ran_and_were_saved_are_named(folder):
    room = folder.parent / "lectures"
    room.mkdir()
    for name, ran in (("00_start_here", 1), ("03b_word_vectors_by_hand", 0.5), ("04_attention", 0)):
        notebook = json.loads((ROOT / "lectures" / f"{name}.ipynb").read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(code[: int(ran * len(code))]):
            cell["execution_count"] = number + 1
        (room / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    said = "Lectures that you ran and saved: 0 whole; 3b in part."
    assert str(so_far(folder)).splitlines()[-2] == said
    assert said in so_far(folder)._repr_html_()
