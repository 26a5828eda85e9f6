"""Turns are fair and stop if a result is wrong; tables show medians, in their own section."""

import json
import subprocess
import sys

import pytest

from benchmarks import bench_tokenizers, turns
from benchmarks.turns import Comparison, Entry

OURS, PEER = Entry("ours", "encode", cores=2), Entry("peer", "encode")
ABSENT = Entry("absent", "encode", package="no_such_package")


def test_contestants_alternate_and_who_is_not_installed_is_left_out():
    order = []
    rows = [Comparison(OURS, PEER), Comparison(OURS, PEER, call=1), Comparison(OURS, ABSENT)]
    compared = turns.compare(rows, 2, lambda entry: order.append(entry.name) or {"n": len(order)})
    assert order == ["ours", "peer"] * 2
    ours, peer = [{"n": 1}, {"n": 3}], [{"n": 2}, {"n": 4}]
    assert compared == [(rows[0], ours, peer), (rows[1], ours, peer), (rows[2], ours, [])]


@pytest.mark.parametrize(("cpu", "fair"), [(2.2, True), (2.4, False)])
def test_a_process_that_uses_more_than_its_cores_stops_the_benchmark(monkeypatch, cpu, fair):
    asked = {}

    def run(command, env, **_):
        asked.update(env, task=json.loads(command[-1]))
        said = json.dumps({"seconds": [1.0], "cpu": [cpu]})
        return subprocess.CompletedProcess(command, 0, f"loading\n{said}\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    if fair:
        assert turns.take("bench", OURS, texts="t")["cpu"] == [cpu]
    else:
        with pytest.raises(RuntimeError, match="more than 2 at a time"):
            turns.take("bench", OURS, texts="t")
    assert asked["task"] == {"job": "encode", "options": {}, "texts": "t"}
    assert asked["OMP_NUM_THREADS"] == asked["RAYON_NUM_THREADS"] == "2"


def test_tokenizers_that_give_something_else_stop_the_benchmark():
    row = Comparison(OURS, PEER, same="equal")
    ours, other = [{"note": {"tokens": ["a", "b"]}}], [{"note": {"tokens": ["a", "c"]}}]
    assert bench_tokenizers.result("x", row, ours, ours) == "identical"
    assert bench_tokenizers.result("x", row, ours, []) == ""
    with pytest.raises(RuntimeError, match="x: ours differs from what peer gives"):
        bench_tokenizers.result("x", row, ours, other)
    share = row._replace(same="share")
    assert bench_tokenizers.result("x", share, ours, other) == "50.0% of its tokens"


def test_a_row_divides_the_peers_median_by_ours():
    ours, peer = ([{"seconds": [9.0, t]} for t in times] for times in ((1, 3, 2), (3, 5, 4)))
    row = Comparison(OURS, PEER, goal=2, call=1)
    cells = turns.peers_row("x", row, ours, peer, "same", turns.seconds)
    assert cells[2:] == ["2.00 (1.00–3.00)", "peer", "4.00 (3.00–5.00)", "2.00", "2", "met", "same"]
    assert turns.peers_row("x", row, peer, ours, "", turns.seconds)[5:] == [
        "0.50",
        "2",
        "not met",
        "",
    ]
    missing = turns.peers_row("x", row, ours, [], "", turns.seconds)
    assert missing[3:] == ["peer", "not installed", "", "2", "", ""]


def test_numbers_read_as_documented():
    assert turns.seconds([1.0, 3.0, 2.0], 9) == "2.00 (1.00–3.00), 4.5 MB/s"
    assert turns.milliseconds([1.0, 3.0, 2.0]) == "2,000 (1,000–3,000)"
    assert turns.milliseconds([0.0123, 0.0125, 0.0121]) == "12.3 (12.1–12.5)"
    assert turns.mean_spread([0.8, 0.9, 1.0]) == "0.900 ± 0.100"
    assert turns.mean_spread([0.5]) == "0.500"
    assert (turns.times_as_fast(1.234), turns.times_as_fast(12.34)) == ("1.23", "12")


def test_a_folder_of_the_command_line_is_not_published(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/there/b.py", "--to", "/home/me", "--write"])
    assert turns.command("--to") == "`python -m benchmarks.b --to FOLDER --write`"


def test_models_that_compute_something_else_stop_the_benchmark():
    ours, peer = [{"numbers": [1.0, 2.0]}], [{"numbers": [1.0, 2.00005]}]
    assert turns.difference(ours, ours) == "equal"
    assert turns.difference(ours, peer) == "equal within 5e-05"
    with pytest.raises(RuntimeError, match=r"0\.5 apart"):
        turns.difference(ours, [{"numbers": [1.0, 2.5]}])


def test_a_table_replaces_only_its_own_section(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/there/b.py", "--only", "z"])
    page = tmp_path / "README.md"
    text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\n<!-- y: begin -->\nb\n"
    page.write_text(text)
    turns.write("new", "x", page)
    assert page.read_text() == text.replace("old", "\nnew\n")
    again = turns.measured_again("x", page)
    assert again.startswith("new\n\n")
    assert "a part again: `python -m benchmarks.b --only z`. " in again
    with pytest.raises(ValueError, match="y: end"):
        turns.write("new", "y", page)
