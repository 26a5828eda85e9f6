"""A training that is killed again and again ends exactly like one that never was."""

import errno
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.training.checkpoints import CheckpointError
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain, read_metrics
from tests.bertlab.training.test_checkpoints import flip
from tests.bertlab.training.test_loop import prepare
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

CONFIG = TrainingConfig(steps=40, save_every=5, evaluate_every=8, learning_rate=0.01)
SMALL = {"numbers": (60, 6), "vocab_size": 80, "max_length": 24, "batch_size": 8}
KILLS = 8


def train(corpus, folder, watch=None):
    """Start a training in a folder, or resume it; corpus: from `prepare`."""
    data, held_out, words = corpus
    sizes = {"d_model": 16, "n_layers": 2, "n_heads": 2, "d_ff": 32, "max_length": 24}
    model = BertForPreTraining(BertConfig(words, dropout=0.2, **sizes))
    options = {"folder": folder, "watch": watch, "progress": False}
    return pretrain(model, data, CONFIG, validation=held_out, **options)


def in_a_process(corpus, folder, kill_at=None, patience=0.0):
    """Train in its own process; kill it some time after a step. Returns whether it finished."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        try:
            train(corpus, folder, lambda row: os.write(writes, f"{row['step']}\n".encode()))
            os._exit(0)
        finally:
            os._exit(1)  # after any error: this process must not continue as its parent
    os.close(writes)
    with os.fdopen(reads) as steps:
        for line in steps:
            if kill_at is not None and int(line) >= kill_at:
                time.sleep(patience)
                os.kill(child, signal.SIGKILL)
                break
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status == 0


def main(folder):
    """One undisturbed training, and one that is killed; all in their own processes.

    Called in a new Python that has not computed anything yet: only such a process may be forked.
    """
    importlib.import_module("torch._dynamo")  # here once, rather than in every process
    torch.set_num_threads(1)
    folder, choose = Path(folder), random.Random(0)
    corpus = prepare(folder, **SMALL)
    assert in_a_process(corpus, folder / "whole")
    step = 2  # before the first checkpoint
    for kill in range(KILLS):
        ended = in_a_process(corpus, folder / "killed", step, choose.uniform(0, 0.05))
        print("killed:", not ended, step)
        kept = sorted((folder / "killed" / "checkpoints").glob("step-*"))
        if kill == 5:
            flip(kept[-1])
        # Sometimes just where a checkpoint is due, sometimes elsewhere.
        step = int(kept[-1].name.split("-")[1]) if kept else 0
        step += choose.choice([5, 5, 6, 8, 11])
    assert in_a_process(corpus, folder / "killed")


def assert_same_end(folder, other):
    """Weights, moments, position, settings: byte by byte. Metrics: all but the time it took."""
    last = f"checkpoints/step-{CONFIG.steps:08}-*"
    (one,), (two,) = folder.glob(last), other.glob(last)
    assert one.read_bytes() == two.read_bytes()
    rows, others = (read_metrics(path / "metrics.jsonl") for path in (folder, other))
    for row in (*rows, *others):
        row.pop("seconds", None)
    assert rows == others
    steps = [row["step"] for row in rows if row["kind"] == "train"]
    assert steps == list(range(1, CONFIG.steps + 1))


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither fork nor SIGKILL")
def test_killed_at_any_moment_and_resumed_it_ends_bit_by_bit_as_if_never_killed(tmp_path):
    program = f"from tests.bertlab.training.test_resume import main; main({str(tmp_path)!r})"
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "is not what was written: its SHA-256 differs; resuming" in result.stderr
    assert "killed: True 2" in result.stdout
    assert_same_end(tmp_path / "killed", tmp_path / "whole")


def test_a_full_disk_stops_it_and_with_room_it_resumes_as_if_nothing_happened(
    tmp_path, monkeypatch
):
    corpus = prepare(tmp_path, **SMALL)
    train(corpus, tmp_path / "whole")
    full = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def fill_the_disk(row):
        if row["step"] == 13:
            monkeypatch.setattr("bertlab.training.checkpoints.write_atomically", full)

    with pytest.raises(CheckpointError, match=r"step-00000015-\S+ could not be written \(No sp"):
        train(corpus, tmp_path / "full", fill_the_disk)
    monkeypatch.undo()
    rows = train(corpus, tmp_path / "full")
    assert rows[0]["step"] == 11
    assert_same_end(tmp_path / "full", tmp_path / "whole")
