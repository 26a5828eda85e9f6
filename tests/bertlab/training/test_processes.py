"""Two processes, started by `torchrun`."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from bertlab.__main__ import main
from bertlab.training.fast import ALONE, any_of, from_first, in_turn, shared
from bertlab.training.runs import read_metrics
from tests.bertlab.training.test_command import WHAT as PLAIN
from tests.bertlab.training.test_command import stop_on_its_way

pytestmark = pytest.mark.slow

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
WHAT = [*PLAIN, "--learning-rate", "0.005"]

TALK = """
from contextlib import nullcontext

import torch
from bertlab.__main__ import main
from bertlab.training import command
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.pretraining.batches import Batch
from bertlab.training.fast import *

cpu = local_device("cpu")
with joined_processes(cpu) as processes:
    rank, count = processes
    assert count == 2 and processes.first == (rank == 0)
    sums = add_up(torch.tensor([1.0, 10.0 * rank]), processes)
    assert sums.tolist() == [2.0, 10.0]
    flags = [any_of(flag, processes, cpu) for flag in (False, rank == 0, rank == 1, True)]
    assert flags == [False, True, True, True]
    assert from_first({"rank": rank}, processes) == {"rank": 0}
    seen = []
    assert in_turn(processes, lambda: seen.append(rank) or rank) == rank and seen == [rank]
    try:
        in_turn(processes, lambda: 1 / 0 if rank == 0 else seen.append(rank))
    except (ZeroDivisionError, FirstFailed) as error:
        assert isinstance(error, ZeroDivisionError) == (rank == 0) and seen == [rank]
    else:
        raise SystemExit(f"process {rank} does not know that the first one failed")

    # Adam and the clipping hide a wrong scale, so the gradients themselves are compared.
    ids = torch.randint(5, 50, (8, 12), generator=torch.Generator().manual_seed(0))
    predict = ids < 5 + 6 * torch.arange(8)[:, None]  # more and more words from row to row
    everything = torch.ones_like(predict)
    relations = torch.arange(8) % 2
    batch = Batch(ids, torch.zeros_like(ids), everything, predict, ids[predict], relations)
    found = []
    for how in ({}, {"accumulate": 2, "processes": processes}):
        model = BertForPreTraining(BertConfig.tiny(vocab_size=50, dropout=0.0))
        parallel = shared(model, processes) if how else model
        idle = torch.optim.SGD(model.parameters(), lr=0.0)
        result = wide_step(parallel, idle, batch, clip=1e9, **how)
        found.append((result._asdict(), [p.grad for p in model.parameters()]))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-6)

    command.joined_processes = lambda device: nullcontext(processes)
    wrong = ["--corpus", "spam", "--steps", "1", "--device", "cpu", "--out", "run"]
    assert main(["pretrain", *wrong]) == 1
"""

DIE = """
import os, sys
from bertlab.__main__ import main
from bertlab.training import runs

step = runs.wide_step

def step_or_die(*arguments, **options):
    step_or_die.steps += 1
    if os.environ["RANK"] == "1" and step_or_die.steps == 4:
        os._exit(9)
    return step(*arguments, **options)

step_or_die.steps = 0
runs.wide_step = step_or_die
sys.exit(main())
"""


def torchrun(*arguments, folder=None):
    options = {"env": ENVIRONMENT, "cwd": folder, "timeout": 900}
    command = [*TORCHRUN, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def losses(folder, kind="train", name="loss"):
    rows = read_metrics(folder / "metrics.jsonl")
    return [row[name] for row in rows if row["kind"] == kind]


def final_weights(folder):
    return load_file(folder / "model" / "model.safetensors")


@pytest.fixture(scope="module")
def by_two(tmp_path_factory, topics):
    """A run by two processes, each of which cuts its half of the batch into two pieces."""
    folder = tmp_path_factory.mktemp("two")
    shutil.copytree(topics[0], folder / "corpus")
    options = ["--steps", 8, "--accumulate", 2, "--dropout", 0, "--save-every", 2]
    done = torchrun("-m", "bertlab", "pretrain", *WHAT, *options, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_processes_communicate_and_fail_together(tmp_path):
    (tmp_path / "talk.py").write_text(TALK)
    done = torchrun(tmp_path / "talk.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("bertlab pretrain: documents: there is no corpus 'spam'") == 1


def test_two_processes_train_the_model_that_one_trains(by_two, out):
    # Without dropout, whose random numbers each process draws for its own half.
    options = ["--steps", "8", "--dropout", "0", "--out", str(out)]
    assert main(["pretrain", *WHAT, *options]) == 0
    assert losses(by_two[0]) == pytest.approx(losses(out), rel=1e-4)
    torch.testing.assert_close(final_weights(by_two[0]), final_weights(out), rtol=1e-2, atol=1e-4)
    found, expected = (losses(folder, "held-out", "mlm_loss") for folder in (by_two[0], out))
    assert len(found) == 2
    assert found == pytest.approx(expected, rel=1e-4)


def test_only_the_first_process_prints_and_writes(by_two):
    folder, done = by_two
    steps = [row["step"] for row in read_metrics(folder / "metrics.jsonl")]
    assert steps == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert done.stdout.count("on cpu in 2 processes; 8 steps") == 1
    assert done.stdout.count("trained: ") == 1


def test_a_process_that_dies_ends_the_run_which_then_resumes(by_two, out, tmp_path):
    (tmp_path / "die.py").write_text(DIE)
    options = ["--steps", 8, "--accumulate", 2, "--dropout", 0, "--save-every", 2, "--out", out]
    died = torchrun(tmp_path / "die.py", "pretrain", *WHAT, *options)
    assert died.returncode != 0
    assert "exitcode  : 9" in died.stderr or "exitcode: 9" in died.stderr
    assert not (out / "model").exists()
    done = torchrun("-m", "bertlab", "pretrain", "--resume", "--device", "cpu", "--out", out)
    assert done.returncode == 0, done.stderr
    assert losses(out) == losses(by_two[0])
    torch.testing.assert_close(final_weights(out), final_weights(by_two[0]), rtol=0, atol=0)


def test_a_polite_kill_stops_both_after_the_same_step(out):
    stop_on_its_way(TORCHRUN, out, signal.SIGTERM)


def test_alone_nothing_is_sent_anywhere():
    model = torch.nn.Linear(2, 2)
    assert shared(model, ALONE) is model
    assert any_of(True, ALONE, torch.device("cpu")) is True
    assert from_first(3, ALONE) == in_turn(ALONE, lambda: 3) == 3
    assert not torch.distributed.is_initialized()
