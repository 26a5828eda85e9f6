"""The metrics file, also after a crash; and the progress bar."""

import json
import math
import os
from unittest.mock import Mock

import pytest

from bertlab.training import runs
from bertlab.training.runs import MetricsFile, progress_bar, read_metrics
from bertlab.training.steps import StepResult
from tests.bertlab.refusals import rejected

ROWS = [
    {"step": 0, "kind": "held-out", "mlm_loss": 9.01, "n_words": 512},
    {"step": 1, "kind": "train", "loss": 9.5, "note": "straße\n"},
    {"step": 2, "kind": "train", "loss": 8.25},
    {"step": 2, "kind": "held-out", "mlm_loss": 8.0, "n_words": 512},
    {"step": 3, "kind": "train", "loss": 0.1 + 0.2},
]


@pytest.fixture
def path(tmp_path):
    """A file with all rows, in a folder that was not there before."""
    path = tmp_path / "run" / "metrics.jsonl"
    write(path, ROWS)
    return path


def write(path, rows):
    metrics = MetricsFile(path)
    for row in rows:
        metrics.append(row)


def test_rows_come_back_as_they_were_and_are_there_as_soon_as_they_are_added(path):
    assert read_metrics(path) == ROWS
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == ROWS
    MetricsFile(path).append({"step": 4, "kind": "train"})
    assert path.read_bytes().endswith(b'{"step": 4, "kind": "train"}\n')


@pytest.mark.slow
def test_after_a_kill_at_any_byte_the_run_continues_to_the_same_file(path):
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        rows_there = whole[:size].count(b"\n")
        assert read_metrics(path) == ROWS[:rows_there]
        MetricsFile(path).keep_until(1)  # the checkpoint that is there is of step 1
        kept = min(rows_there, 2)
        assert read_metrics(path) == ROWS[:kept]
        write(path, ROWS[kept:])
        assert path.read_bytes() == whole


def test_a_full_disk_is_an_error_with_the_path(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*metrics\.jsonl'"):
        MetricsFile(path).append(ROWS[0])


def test_the_row_of_the_checkpoints_step_is_kept_and_a_crash_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", Mock(side_effect=KeyboardInterrupt))
        rejected(None, MetricsFile(path).keep_until, 1, error=KeyboardInterrupt)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    MetricsFile(path).keep_until(2)
    assert read_metrics(path) == ROWS[:4]
    MetricsFile(path).keep_until(-1)
    assert path.read_bytes() == b""


def test_where_nothing_was_written_nothing_is_dropped_and_a_row_needs_a_step(tmp_path):
    metrics = MetricsFile(tmp_path / "metrics.jsonl")
    metrics.keep_until(3)
    assert os.listdir(tmp_path) == []
    rejected("No such file", read_metrics, metrics.path, error=FileNotFoundError)
    rejected("must have 'step'", metrics.append, {"kind": "train"})


def test_a_number_that_is_not_finite_is_valid_json_and_read_as_nan(tmp_path):
    path = tmp_path / "metrics.jsonl"
    write(path, [{"step": 1, "kind": "train", "loss": math.nan, "perplexity": math.inf}])
    assert path.read_text() == '{"step": 1, "kind": "train", "loss": null, "perplexity": null}\n'
    (row,) = read_metrics(path)
    assert math.isnan(row["loss"])
    assert math.isnan(row["perplexity"])


@pytest.mark.parametrize("damage", [b"\0\0\n", b'{"kind": "train"}\n', b'"step"\n', b"\n"])
def test_a_damaged_line_is_named(path, damage):
    path.write_bytes(damage.join(path.read_bytes().splitlines(keepends=True)[:2]))
    message = r"metrics\.jsonl, line 2, is not a row"
    rejected(message, read_metrics, path)
    rejected(message, MetricsFile(path).keep_until, 9)


@pytest.fixture
def clock(monkeypatch):
    """Half a second passes between two readings of the clock."""
    times = iter(range(1000))
    monkeypatch.setattr(runs, "perf_counter", lambda: next(times) / 2)


def shown_by(capsys, results, steps, done=0):
    """The bar's last state."""
    with progress_bar(steps, done) as update:
        for result in results:
            update(result, 400)
    return capsys.readouterr().err.split("\r")[-1]


def test_the_bar_shows_loss_words_and_speed_of_the_last_steps_and_where_it_resumed(clock, capsys):
    shown = shown_by(capsys, [StepResult(2.0, 0.5, 3, 12, 4, 8)] * 2, 10, done=7)
    assert "9/10" in shown
    assert "loss 2.500, 25.0% of words, 800 tokens/s" in shown
    losses = [9.0] * 200 + [1.0] * 200
    shown = shown_by(capsys, [StepResult(loss, 0.0, 0, 0, 0, 8) for loss in losses], 400)
    assert "loss 1.000, 0.0% of words" in shown
    with progress_bar(10, enabled=False) as update:
        update(StepResult(2.0, 0.5, 3, 12, 4, 8), 400)
    assert capsys.readouterr() == ("", "")
