"""`python -m bertlab pretrain` and `fill-mask`, as in a terminal."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from filelock import FileLock

from bertlab.__main__ import main
from bertlab.data.__main__ import main as fetch_main
from bertlab.data.prepared import open_corpus
from bertlab.model import BertForPreTraining
from bertlab.model.pretrained import load_pretrained
from bertlab.pretraining.pairs import Negatives
from bertlab.training import command, runs
from bertlab.training.command import RunSettings
from bertlab.training.fast import local_device
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import evaluate, read_metrics, read_rows
from bertlab.training.start import STARTS, ShortFirst
from tests.bertlab.training.test_checkpoints import flip
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

OWN = ["--size", "tiny", "--batch-size", "8", "--max-length", "32", "--device", "cpu"]
WHAT = ["--corpus", "python-topics", "--vocab-size", "300", *OWN]
ONE = [*WHAT, "--steps", "1"]
RESUME = ["--resume", "--device", "cpu"]
CHOSEN = {"steps": 4, "accumulate": 2, "precision": "bfloat16", "seed": 3, "learning_rate": 0.01}
OTHERS = {"whole_words": True, "dropout": 0.0, "probability": 0.25, "short_first": 0.5}
OTHERS |= {"start": "neighbours", "negatives": "document", "snapshots": 4, "max_length": 64}


def finished(folder, corpus, **options):
    """A finished run in a folder, and its terminal output."""
    shutil.copytree(corpus[0], folder / "corpus")
    command = [sys.executable, "-m", "bertlab", "pretrain", *WHAT, "--out", str(folder)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", *[str(value)] * (value is not True)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture(scope="module")
def trained(tmp_path_factory, topics):
    return finished(tmp_path_factory.mktemp("trained"), topics, steps=4, evaluate_every=2)


@pytest.fixture(scope="module")
def chosen(tmp_path_factory, topics):
    """A run with every option that can be chosen."""
    return finished(tmp_path_factory.mktemp("chosen"), topics, **CHOSEN, **OTHERS)


def pretrain(*arguments):
    return main(["pretrain", *map(str, arguments)])


@pytest.fixture
def refusal(capsys):
    """`refusal(*arguments)`: a command that fails, and what it says about it."""

    def said(*arguments, command="pretrain", status=1):
        assert main([command, *map(str, arguments)]) == status
        return capsys.readouterr().err

    return said


def rows_of(folder, kind):
    return [row for row in read_metrics(folder / "metrics.jsonl") if row["kind"] == kind]


def weights_of(folder):
    return (folder / "model" / "model.safetensors").read_bytes()


def resumed_without(folder, *lost):
    """The weights after a run has lost some of its folders and was resumed."""
    for name in lost:
        shutil.rmtree(folder / name)
    assert pretrain(*RESUME, "--out", folder) == 0
    return weights_of(folder)


def opened(folder):
    """The settings of a run, and both sides of its data."""
    settings, corpus = RunSettings.load(folder), open_corpus(folder / "corpus")
    return settings, *command.batches_of(corpus, settings)


def test_a_run_shows_what_it_does_and_leaves_a_model(trained):
    folder, done = trained
    assert [row["step"] for row in rows_of(folder, "held-out")] == [0, 2, 4]
    told = done.stdout
    assert re.search(r"[\d,]{6,} tokens in \d+ documents for training, [\d,]+ in \d+ held", told)
    assert "vocabulary 300" in told
    assert re.search(r"tiny: 0.\d million parameters on cpu; 4 steps of 8 sequences", told)
    assert re.findall(r"step (\d), held-out text: 5\.\d\d\d nats", told) == ["0", "2", "4"]
    assert f'python -m bertlab fill-mask {folder / "model"} "' in told
    assert "4/4" in done.stderr  # the bar
    assert load_pretrained(folder / "model", BertForPreTraining).config.vocab_size == 300
    assert (folder / "model" / "vocab.txt").is_file()


def test_the_trained_model_fills_gaps_or_says_why_not(trained, capsys, tmp_path, refusal):
    model = trained[0] / "model"
    assert main(["fill-mask", str(model), "The [MASK] [MASK].", "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[::4] == ["[MASK] number 1", "[MASK] number 2"]
    assert all(re.fullmatch(r" +\d+\.\d\d%  \S+", line) for line in lines[1:4] + lines[5:])
    assert len(lines) == 8
    for folder, text, message in (
        (model, "No gap.", "text must hold [MASK]"),
        (tmp_path, "A [MASK].", "holds no config.json"),
        (trained[0], "A [MASK].", f"did you mean {model}?"),
    ):
        assert message in refusal(folder, text, command="fill-mask")


def test_settings_are_kept_and_make_the_same_model_again(trained, chosen, tmp_path):
    kept = RunSettings.load(chosen[0])
    assert vars(kept) == vars(kept) | OTHERS | {"corpus": "python-topics", "size": "tiny"}
    assert vars(kept.training) == vars(kept.training) | CHOSEN
    for folder, lost in ((chosen[0], ["checkpoints", "model"]), (trained[0], ["model"])):
        copy = shutil.copytree(folder, tmp_path / folder.name)
        assert resumed_without(copy, *lost) == weights_of(folder)


@pytest.mark.parametrize(("run", "start"), [("trained", "plain"), ("chosen", "neighbours")])
def test_a_run_begins_with_the_requested_start(request, run, start):
    folder, _ = request.getfixturevalue(run)
    settings, _, held_out = opened(folder)
    first = rows_of(folder, "held-out")[0]["mlm_loss"]
    for name, begin in STARTS.items():
        model = begin(BertForPreTraining(settings.model_config(300)), settings.training.seed)
        expected = pytest.approx(evaluate(model, held_out).mlm_loss, rel=1e-5)
        assert (first == expected) == (name == start)


def test_snapshots_are_the_model_along_the_way(chosen):
    kept = sorted((chosen[0] / "snapshots").iterdir())
    assert [int(folder.name) for folder in kept] == [0, 1, 2, 4]
    weights = [(folder / "model.safetensors").read_bytes() for folder in kept]
    assert len(set(weights)) == 4
    assert weights[-1] == weights_of(chosen[0])
    for folder, row in zip((kept[0], kept[-1]), rows_of(chosen[0], "held-out"), strict=True):
        loss = evaluate(load_pretrained(folder, BertForPreTraining), opened(chosen[0])[2]).mlm_loss
        assert loss == pytest.approx(row["mlm_loss"], rel=1e-5)


def test_a_run_reads_short_sequences_first(chosen):
    settings, data, _ = opened(chosen[0])
    model = STARTS[settings.start](BertForPreTraining(settings.model_config(300)), 3)
    again = runs.pretrain(model, ShortFirst(data, 2), settings.training, progress=False)
    losses = [row["loss"] for row in rows_of(chosen[0], "train")]
    assert losses == pytest.approx([row["loss"] for row in again])


def test_both_sides_are_cut_masked_and_paired_as_the_settings_say(trained, chosen):
    plain, other = opened(trained[0])[1:], opened(chosen[0])[1:]
    for sides in (plain, other):
        assert [side.drop_last for side in sides] == [True, False]
        assert len(sides[0].store) > len(sides[1].store)
    assert [side.masking.probability for side in other] == [0.25, 0.15]  # the exam is BERT's
    for side in plain:
        assert (side.max_length, side.batch_size, side.seed) == (32, 8, 0)
        assert side.masking.continues is None
    for side in other:
        assert (side.max_length, side.batch_size, side.seed) == (64, 8, 3)
        assert side.masking.continues is not None
        assert side.negatives == Negatives(same_corpus=True, same_document=0.5)


def test_the_end_reports_all_rows_about_next_sentences(chosen):
    found = read_rows(chosen[0] / "next_sentences.json")
    assert [row.negatives for row in found] == ["any document", "same document"]
    assert all(str(row) in chosen[1].stdout for row in found)


def test_minutes_become_steps_once(out, monkeypatch):
    measured, real = [], command.seconds_a_step

    def seconds(*arguments):
        measured.append(real(*arguments))
        return 0.5

    monkeypatch.setattr(command, "seconds_a_step", seconds)
    monkeypatch.setattr(command, "TRIAL_SECONDS", 0)
    assert pretrain(*WHAT, "--minutes", "0.03", "--out", out) == 0
    assert len(measured) == 1
    assert 0 < measured[0] < 60
    settings = RunSettings.load(out)
    assert (settings.minutes, settings.training.steps) == (0.03, 3)
    assert pretrain(*RESUME, "--out", out) == 0
    assert len(measured) == 1


def stop_on_its_way(python, out, number):
    """Send a signal to a long run; it stops after a step, of which it keeps a checkpoint.

    Returns its exit status and its terminal output.
    """
    command = [*python, "-m", "bertlab", "pretrain", *WHAT, "--steps", "100000", "--out", str(out)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, **streams)
    metrics = out / "metrics.jsonl"
    while running.poll() is None and not (metrics.exists() and len(read_metrics(metrics)) > 3):
        time.sleep(0.1)
    running.send_signal(number)
    told, errors = running.communicate(timeout=600)
    last = read_metrics(metrics)[-1]["step"]
    assert f"stopped after step {last:,} of 100,000" in told, errors
    (checkpoint,) = (out / "checkpoints").glob("step-*")
    assert checkpoint.name.startswith(f"step-{last:08}-")
    return running.returncode, told, errors


def test_ctrl_c_saves_and_says_how_to_resume(out):
    status, told, errors = stop_on_its_way([sys.executable], out, signal.SIGINT)
    assert status == 130, errors
    assert f"python -m bertlab pretrain --resume --out {out}" in told
    assert "Traceback" not in errors
    assert not (out / "model").exists()


ALL, NEW = " ".join(WHAT), " ".join(ONE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--size tiny", "a new run needs --corpus and one of --steps and --minutes"),
        ("--corpus lee", "a new run needs --corpus and one of --steps and --minutes"),
        (f"{ALL} --steps 0", "steps must be at least 1; got 0"),
        (f"{ALL} --minutes 0", "minutes must be above 0; got 0.0"),
        (f"{ALL} --minutes inf", "minutes must be above 0; got inf"),
        (f"{NEW} --dropout 1", "dropout must be in [0, 1); got 1.0"),
        (f"{NEW} --batch-size 0", "batch_size must be at least 1; got 0"),
        (f"{NEW} --probability 0", "probability must be in (0, 1]; got 0.0"),
        (f"{NEW} --accumulate 9", "8 sequences cannot be cut into 9 pieces"),
        (f"{NEW} --snapshots 2", "snapshots must be 0, or at least 3"),
        (f"{NEW} --short-first 2", "short_first must be from 0 to 1; got 2.0"),
        (f"{NEW} --device abacus", "device must be cpu, cuda or mps; got"),
        (f"{NEW} --device cuda:99", "there is no device cuda:99 here"),
        (f"{NEW} --batch-size 90000", "batch_size"),
        (f"{NEW} --workers -1", "workers must be 0 or more processes; got -1"),
        (f"{ALL} --minutes 1 --workers -16", "workers must be 0 or more"),
        ("--corpus spam+eggs --steps 1", "there is no corpus 'spam'"),
        ("--resume", "holds no run to resume"),
        ("--corpus none.txt --steps 1", "there is no file or folder none.txt"),
        ("--corpus none --steps 1", "nor is there a file or folder none"),
        (f"{NEW} --tokenizer x", "so --vocab-size must be omitted"),
        ("--corpus python-topics --steps 1 --tokenizer none", "there is none at none"),
    ],
)
def test_wrong_options_are_answered_in_a_sentence(out, refusal, arguments, message):
    told = refusal(*arguments.split(), "--out", out)
    assert told.startswith("bertlab pretrain: ")
    assert message in told
    assert len(told.splitlines()) == 1
    assert not (out / "settings.json").exists()


def write_rows(path, n=60):
    """A reader's file of short documents."""
    texts = [f"Text {k} is about a cat. The cat is {k} years old. It sleeps." for k in range(n)]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    else:
        path.write_text("\n\n".join(texts))
    return path


def test_a_readers_own_file_is_trained_on_and_resumed_when_it_is_gone(tmp_path, capsys):
    text, out = write_rows(tmp_path / "my.txt"), tmp_path / "run"
    what = [*OWN, "--corpus", text, "--vocab-size", "60"]
    assert pretrain(*what, "--steps", 2, "--out", out) == 0
    told = capsys.readouterr().out
    assert re.search(r"tokens in 5\d documents for training, .* held out; vocabulary 60", told)
    text.unlink()
    assert weights_of(out) == resumed_without(out, "checkpoints", "model")


def test_rows_and_a_given_tokenizer_are_trained_on(trained, tmp_path):
    rows, model, out = write_rows(tmp_path / "my.jsonl"), trained[0] / "model", tmp_path / "run"
    what = [*OWN, "--corpus", rows, "--field", "body", "--tokenizer", model, "--steps", 1]
    assert pretrain(*what, "--out", out) == 0
    assert (out / "model" / "vocab.txt").read_bytes() == (model / "vocab.txt").read_bytes()
    kept = RunSettings.load(out)
    assert (kept.field, kept.tokenizer) == ("body", str(model))


def test_a_folder_with_the_name_of_a_corpus_is_mentioned(out, monkeypatch, capsys):
    monkeypatch.chdir(out.parent)
    (out.parent / "python-topics").mkdir()
    assert pretrain(*WHAT, "--steps", "1", "--out", out) == 0
    assert "write ./python-topics for what is in this folder" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["--size huge", "--steps 1 --minutes 2", ""])
def test_wrong_options_are_answered_with_the_right_ones(wrong, capsys):
    out = ["--out", "x"] if wrong else []
    with pytest.raises(SystemExit) as stopped:
        pretrain("--corpus", "lee", *wrong.split(), *out)
    assert stopped.value.code == 2
    assert "usage: python -m bertlab pretrain" in capsys.readouterr().err


def test_a_run_is_neither_overwritten_nor_shared_nor_resumed_with_other_options(trained, refusal):
    folder, _ = trained
    before = (folder / "settings.json").read_text()
    same = [*WHAT, "--steps", "4", "--out", folder]
    assert "holds a run already; continue it with --resume" in refusal(*same)
    other = refusal(*same, "--resume", "--batch-size", "16", "--seed", "0")
    assert "was started with batch-size 8, and continues with that" in other
    assert pretrain(*same, "--resume", "--seed", "0") == 0
    with FileLock(folder / ".lock"):
        assert "another training is writing into" in refusal("--resume", "--out", folder)
    assert (folder / "settings.json").read_text() == before


NO_NUMBER = '{"training": {"steps": "many"}}'
NO_LENGTH = '{"corpus": "lee", "training": {"steps": 1}, "max_length": 0.5}'
DEEP = pytest.param("[" * 100_000, id="deep")


@pytest.mark.parametrize("content", ["{", "[]", "{}", NO_NUMBER, NO_LENGTH, DEEP, "\xff"])
def test_damaged_settings_are_named(tmp_path, refusal, content):
    (tmp_path / "settings.json").write_text(content, encoding="latin-1")
    told = refusal("--resume", "--out", tmp_path)
    assert "settings.json is damaged or of another version" in told


def test_edited_settings_are_refused(tmp_path, refusal):
    settings = RunSettings("lee", TrainingConfig(steps=4))
    settings.save(tmp_path)
    assert RunSettings.load(tmp_path) == settings
    file = tmp_path / "settings.json"
    values = json.loads(file.read_text())
    others = {"corpus": "sotu", "batch_size": 16, "training": {"steps": 4, "clip": 2.0}}
    for name, value in (OTHERS | others).items():
        file.write_text(json.dumps(values | {name: value}))
        told = refusal("--resume", "--out", tmp_path)
        assert "settings.json was edited after the run had started" in told, name


@pytest.mark.parametrize("side", ["training", "validation"])
def test_tokens_that_have_changed_are_noticed_when_resuming(trained, tmp_path, refusal, side):
    folder = shutil.copytree(trained[0], tmp_path / "copy")
    (ids,) = (folder / "corpus" / side).rglob("ids.bin")
    flip(ids)
    assert "the contents of ids.bin have changed" in refusal(*RESUME, "--out", folder)


def test_an_impossible_folder_and_a_missing_corpus_are_named(tmp_path, refusal, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    assert str(tmp_path / "file") in refusal(*ONE, "--out", tmp_path / "file" / "run")
    monkeypatch.setenv("BERTLAB_DATA", str(tmp_path / "empty"))
    told = refusal(*ONE, "--corpus", "sotu", "--out", tmp_path / "run")
    assert "run `python -m bertlab.data fetch sotu`" in told


def without_memory(allocate):
    """A real out-of-memory error on a CPU, from PyTorch, Python or NumPy."""
    return lambda *_, **__: allocate(10**16)


STOP = Mock(side_effect=KeyboardInterrupt)
NO_MEMORY = [without_memory(allocate) for allocate in (torch.empty, bytearray, np.empty)]
ON_A_GPU = Mock(side_effect=torch.OutOfMemoryError("CUDA out of memory."))
FULL = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


@pytest.mark.parametrize(
    ("place", "error", "status", "message"),
    [
        *[("pretrain", error, 1, "too little memory on the device") for error in NO_MEMORY],
        ("pretrain", ON_A_GPU, 1, "--accumulate 2 or more"),
        ("pretrain", STOP, 130, "there is no checkpoint yet; --resume trains from the first"),
        ("prepare_corpus", STOP, 130, "nothing was trained yet; start it again with the same"),
    ],
)
def test_errors_during_a_run_are_reported_in_a_line(
    out, monkeypatch, refusal, place, error, status, message
):
    monkeypatch.setattr(command, place, error)
    told = refusal(*ONE, "--out", out, status=status).splitlines()
    assert message in told[-1]
    assert not any("Traceback" in line for line in told)
    assert (out / "settings.json").exists() == (place == "pretrain")


def test_ctrl_c_says_what_is_kept_in_every_command(trained, monkeypatch, capsys, refusal):
    monkeypatch.setattr(command, "pretrain", STOP)
    told = refusal("--resume", "--out", trained[0], status=130)
    assert "the last checkpoint is kept; continue with --resume" in told
    monkeypatch.setattr("bertlab.__main__.load_pretrained", STOP)
    told = refusal("model", "A [MASK].", command="fill-mask", status=130)
    assert told == "bertlab fill-mask: interrupted\n"
    monkeypatch.setattr("bertlab.data.__main__.fetch", STOP)
    assert fetch_main(["fetch", "core"]) == 130
    assert capsys.readouterr().err == "bertlab.data: interrupted; fetch again to continue\n"


def test_a_full_disk_is_an_error_with_the_path(out, monkeypatch, refusal):
    monkeypatch.setattr("bertlab._files.os.fsync", FULL)
    told = refusal(*ONE, "--out", out)
    assert f"No space left on device: '{out / 'settings.json'}'" in told


@pytest.mark.parametrize("error", NO_MEMORY)
def test_a_model_that_is_too_large_to_fill_a_mask_is_named(trained, monkeypatch, refusal, error):
    monkeypatch.setattr("bertlab.__main__.fill_mask", error)
    (told,) = refusal(trained[0] / "model", "A [MASK].", command="fill-mask").splitlines()
    assert told.startswith(f"bertlab fill-mask: too little memory for the model in {trained[0]}")


@pytest.mark.parametrize(
    "where", ["bertlab.training.command.pretrain", "bertlab.__main__.fill_mask"]
)
def test_other_errors_are_not_taken_for_too_little_memory(out, trained, monkeypatch, where):
    monkeypatch.setattr(where, Mock(side_effect=RuntimeError("a fault of ours")))
    asked = ["fill-mask", str(trained[0] / "model"), "A [MASK]."]
    with pytest.raises(RuntimeError, match="a fault of ours"):
        main(asked if "fill_mask" in where else ["pretrain", *ONE, "--out", str(out)])


INTERRUPTED = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
for _ in range(10**6): pass
raise RuntimeError('not interrupted')
"""


@pytest.mark.parametrize("module", ["tqdm", "torch"])
def test_ctrl_c_during_the_imports_ends_without_a_traceback(tmp_path, module):
    (tmp_path / f"{module}.py").write_text(INTERRUPTED)
    command = [sys.executable, "-m", "bertlab", "pretrain", *WHAT, "--steps", "1", "--out", "run"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    streams = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=tmp_path, env=environment, **streams)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("kind", "noted"), [("mps", True), ("cpu", False)])
def test_a_macs_gpu_is_used_with_a_note(tmp_path, monkeypatch, capsys, kind, noted):
    monkeypatch.setattr(command, "local_device", torch.device)
    monkeypatch.setattr(command, "run_pretraining", Mock(return_value=command.Outcome(1, 1, [])))
    assert pretrain(*WHAT[:-1], kind, "--steps", "1", "--out", tmp_path) == 0
    assert ("other projects report wrong results on it" in capsys.readouterr().out) == noted


@pytest.mark.parametrize(("kind", "there"), [("cuda", False), ("mps", True), ("xpu", True)])
def test_a_machine_without_cuda_trains_on_its_cpu(monkeypatch, kind, there):
    # A PyTorch that was built for GPUs, on a machine without one; a Mac; an Intel GPU.
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device(kind))
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: there)
    assert local_device() == torch.device("cpu")


@pytest.mark.parametrize(("max_length", "positions"), [(16, 512), (512, 512), (600, 600)])
def test_a_model_has_berts_positions_or_more_if_sequences_are_longer(max_length, positions):
    settings = RunSettings("mine", TrainingConfig(steps=1), max_length=max_length)
    assert settings.model_config(70).max_length == positions
