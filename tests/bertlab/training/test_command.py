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
from bertlab.pretraining.batches import ShortFirst
from bertlab.pretraining.pairs import Negatives
from bertlab.training import command, runs
from bertlab.training.command import RunSettings
from bertlab.training.evaluation import evaluate, read_rows
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import read_metrics
from bertlab.training.start import STARTS
from tests.bertlab.training.test_checkpoints import flip
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

WHAT = ["--corpus", "python-topics", "--size", "tiny", "--vocab-size", "300"]
WHAT += ["--batch-size", "8", "--max-length", "32", "--device", "cpu"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, topics):
    """A finished run, and its terminal output."""
    folder = tmp_path_factory.mktemp("trained")
    shutil.copytree(topics[0], folder / "corpus")
    command = [*WHAT, "--steps", "4", "--evaluate-every", "2", "--out", str(folder)]
    whole = [sys.executable, "-m", "bertlab", "pretrain", *command]
    return folder, subprocess.run(whole, capture_output=True, text=True)


def pretrain(*arguments):
    return main(["pretrain", *map(str, arguments)])


def held_out_steps(folder):
    return [r["step"] for r in read_metrics(folder / "metrics.jsonl") if r["kind"] == "held-out"]


def test_a_run_shows_what_it_does_and_leaves_a_model(trained):
    folder, done = trained
    assert done.returncode == 0, done.stderr
    assert held_out_steps(folder) == [0, 2, 4]
    told = done.stdout
    assert re.search(r"[\d,]{6,} tokens in \d+ documents for training, [\d,]+ in \d+ held", told)
    assert "vocabulary 300" in told
    assert re.search(r"tiny: 0.\d million parameters on cpu; 4 steps of 8 sequences", told)
    assert re.findall(r"step (\d), held-out text: 5\.\d\d\d nats", told) == ["0", "2", "4"]
    assert f'python -m bertlab fill-mask {folder / "model"} "' in told
    assert "4/4" in done.stderr  # the bar
    model = load_pretrained(folder / "model", BertForPreTraining)
    assert model.config.vocab_size == 300
    assert (folder / "model" / "vocab.txt").is_file()


def test_the_trained_model_fills_gaps_or_says_why_not(trained, capsys, tmp_path):
    assert main(["fill-mask", str(trained[0] / "model"), "The [MASK] [MASK].", "--top", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[MASK] number 1"
    assert lines[4] == "[MASK] number 2"
    assert all(re.fullmatch(r" +\d+\.\d\d%  \S+", line) for line in lines[1:4] + lines[5:])
    assert len(lines) == 8
    assert main(["fill-mask", str(trained[0] / "model"), "No gap."]) == 1
    assert "text must hold [MASK]" in capsys.readouterr().err
    assert main(["fill-mask", str(tmp_path), "A [MASK]."]) == 1
    assert "holds no config.json" in capsys.readouterr().err
    assert main(["fill-mask", str(trained[0]), "A [MASK]."]) == 1
    assert f"did you mean {trained[0] / 'model'}?" in capsys.readouterr().err


def test_settings_are_kept_and_make_the_same_model_again(trained, out, capsys):
    options = ["--whole-words", "--accumulate", 2, "--precision", "bfloat16", "--dropout", 0]
    options += ["--seed", 3, "--learning-rate", 0.01, "--save-every", 2, "--probability", 0.25]
    assert pretrain(*WHAT, *options, "--steps", 2, "--out", out) == 0
    kept = json.loads((out / "settings.json").read_text())
    expected = {"corpus": "python-topics", "whole_words": True, "dropout": 0.0, "size": "tiny"}
    expected["probability"] = 0.25
    assert kept == kept | expected
    training = {"accumulate": 2, "precision": "bfloat16", "seed": 3, "learning_rate": 0.01}
    assert kept["training"] == kept["training"] | training | {"save_every": 2, "steps": 2}
    first = (out / "model" / "model.safetensors").read_bytes()
    shutil.rmtree(out / "checkpoints")
    shutil.rmtree(out / "model")
    assert pretrain("--resume", "--device", "cpu", "--out", out) == 0
    assert (out / "model" / "model.safetensors").read_bytes() == first
    plain = (trained[0] / "model" / "model.safetensors").read_bytes()
    assert len(plain) == len(first)
    assert plain != first


@pytest.mark.parametrize("start", STARTS)
def test_a_run_begins_with_the_requested_start(out, start):
    assert pretrain(*WHAT, "--start", start, "--seed", 3, "--steps", 1, "--out", out) == 0
    settings, corpus = RunSettings.load(out), open_corpus(out / "corpus")
    assert settings.start == start
    config = settings.model_config(len(corpus.tokenizer.vocab))
    _, held_out = command.batches_of(corpus, settings)
    first = read_metrics(out / "metrics.jsonl")[0]["mlm_loss"]
    for name, begin in STARTS.items():
        model = begin(BertForPreTraining(config), 3)
        expected = pytest.approx(evaluate(model, held_out).mlm_loss, rel=1e-5)
        assert (first == expected) == (name == start)


def test_snapshots_are_the_model_along_the_way(out, capsys):
    options = [*WHAT, "--snapshots", 4, "--steps", 4, "--save-every", 1, "--out", out]
    assert pretrain(*options) == 0
    kept = sorted((out / "snapshots").iterdir())
    assert [int(folder.name) for folder in kept] == [0, 1, 2, 4]
    weights = [(folder / "model.safetensors").read_bytes() for folder in kept]
    assert len(set(weights)) == 4
    assert weights[-1] == (out / "model" / "model.safetensors").read_bytes()
    settings, corpus = RunSettings.load(out), open_corpus(out / "corpus")
    _, held_out = command.batches_of(corpus, settings)
    rows = [r for r in read_metrics(out / "metrics.jsonl") if r["kind"] == "held-out"]
    for folder, row in zip((kept[0], kept[-1]), rows, strict=True):
        model = load_pretrained(folder, BertForPreTraining)
        assert evaluate(model, held_out).mlm_loss == pytest.approx(row["mlm_loss"], rel=1e-5)
    assert pretrain(*WHAT, "--snapshots", 2, "--steps", 4, "--out", out.parent / "other") == 1
    assert "snapshots must be 0, or at least 3" in capsys.readouterr().err


def test_a_run_reads_short_sequences_first(out, capsys):
    options = [*WHAT, "--max-length", 64, "--short-first", 0.5, "--steps", 4, "--out", out]
    assert pretrain(*options) == 0
    assert RunSettings.load(out).short_first == 0.5
    seen = [r for r in read_metrics(out / "metrics.jsonl") if r["kind"] == "train"]
    settings, corpus = RunSettings.load(out), open_corpus(out / "corpus")
    data, _ = command.batches_of(corpus, settings)
    model = STARTS[settings.start](BertForPreTraining(settings.model_config(300)), 0)
    again = runs.pretrain(model, ShortFirst(data, 2), settings.training, progress=False)
    assert [row["loss"] for row in seen] == [row["loss"] for row in again]
    assert pretrain(*WHAT, "--short-first", 2, "--steps", 4, "--out", out.parent / "other") == 1
    assert "short_first must be from 0 to 1; got 2.0" in capsys.readouterr().err


@pytest.mark.parametrize("whole_words", [False, True])
def test_both_sides_are_cut_and_masked_as_the_settings_say(topics, whole_words):
    training = TrainingConfig(steps=1, seed=5)
    sizes = {"max_length": 24, "batch_size": 7, "whole_words": whole_words, "probability": 0.3}
    sides = command.batches_of(topics[1], RunSettings("mine", training, **sizes))
    assert [side.drop_last for side in sides] == [True, False]
    assert len(sides[0].store) > len(sides[1].store)
    assert [side.masking.probability for side in sides] == [0.3, 0.15]  # the exam is BERT's
    for side in sides:
        assert (side.max_length, side.batch_size, side.seed) == (24, 7, 5)
        assert (side.masking.continues is not None) == whole_words


def test_minutes_become_steps_once(out, monkeypatch, capsys):
    measured = []

    def seconds(*arguments):
        measured.append(real(*arguments))
        return 0.5

    real = command.seconds_a_step
    monkeypatch.setattr(command, "seconds_a_step", seconds)
    monkeypatch.setattr(command, "TRIAL_SECONDS", 0)
    assert pretrain(*WHAT, "--minutes", "0.03", "--out", out) == 0
    assert len(measured) == 1
    assert 0 < measured[0] < 60
    settings = json.loads((out / "settings.json").read_text())
    assert (settings["minutes"], settings["training"]["steps"]) == (0.03, 3)
    assert pretrain("--resume", "--out", out, "--device", "cpu") == 0
    assert len(measured) == 1


def test_a_model_lost_at_the_very_end_is_written_by_resuming(trained, tmp_path, capsys):
    folder = shutil.copytree(trained[0], tmp_path / "copy")
    shutil.rmtree(folder / "model")
    assert pretrain("--resume", "--out", folder, "--device", "cpu") == 0
    name = "model/model.safetensors"
    assert (folder / name).read_bytes() == (trained[0] / name).read_bytes()


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
    assert int(checkpoint.name.removeprefix("step-")) == last
    return running.returncode, told, errors


def test_ctrl_c_saves_and_says_how_to_resume(out):
    status, told, errors = stop_on_its_way([sys.executable], out, signal.SIGINT)
    assert status == 130, errors
    assert f"python -m bertlab pretrain --resume --out {out}" in told
    assert "Traceback" not in errors
    assert not (out / "model").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "tiny"], "a new run needs --corpus and one of --steps and --minutes"),
        (["--corpus", "lee"], "a new run needs --corpus and one of --steps and --minutes"),
        ([*WHAT, "--steps", "0"], "steps must be at least 1; got 0"),
        ([*WHAT, "--minutes", "0"], "minutes must be above 0; got 0.0"),
        ([*WHAT, "--minutes", "inf"], "minutes must be above 0; got inf"),
        ([*WHAT, "--steps", "1", "--dropout", "1"], "dropout must be in [0, 1); got 1.0"),
        ([*WHAT, "--steps", "1", "--batch-size", "0"], "batch_size must be at least 1; got 0"),
        ([*WHAT, "--steps", "1", "--probability", "0"], "probability must be in (0, 1]; got 0.0"),
        ([*WHAT, "--steps", "1", "--accumulate", "9"], "8 sequences cannot be cut into 9 pieces"),
        ([*WHAT, "--steps", "1", "--device", "abacus"], "device must be cpu, cuda or mps; got"),
        ([*WHAT, "--steps", "1", "--device", "cuda:99"], "there is no device cuda:99 here"),
        ([*WHAT, "--steps", "1", "--batch-size", "90000"], "batch_size"),
        ([*WHAT, "--steps", "1", "--workers", "-1"], "workers must be 0 or more processes; got -1"),
        ([*WHAT, "--minutes", "1", "--workers", "-16"], "workers must be 0 or more"),
        (["--corpus", "spam+eggs", "--steps", "1"], "there is no corpus 'spam'"),
        (["--resume"], "holds no run to resume"),
        (["--corpus", "none.txt", "--steps", "1"], "there is no file or folder none.txt"),
        (["--corpus", "none", "--steps", "1"], "nor is there a file or folder none"),
        ([*WHAT, "--steps", "1", "--tokenizer", "x"], "so --vocab-size must be omitted"),
        ([*WHAT[:4], "--steps", "1", "--tokenizer", "none"], "there is none at none"),
    ],
)
def test_wrong_options_are_answered_in_a_sentence(out, capsys, arguments, message):
    assert pretrain(*arguments, "--out", out) == 1
    told = capsys.readouterr().err
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


OWN = ["--size", "tiny", "--batch-size", "8", "--max-length", "32", "--device", "cpu"]


def test_a_readers_own_file_is_trained_on_and_resumed_when_it_is_gone(tmp_path, capsys):
    text, out = write_rows(tmp_path / "my.txt"), tmp_path / "run"
    what = [*OWN, "--corpus", text, "--vocab-size", "60"]
    assert pretrain(*what, "--steps", 2, "--out", out) == 0
    told = capsys.readouterr().out
    assert re.search(r"tokens in 5\d documents for training, .* held out; vocabulary 60", told)
    first = (out / "model" / "model.safetensors").read_bytes()
    for name in ("checkpoints", "model"):
        shutil.rmtree(out / name)
    text.unlink()
    assert pretrain("--resume", "--device", "cpu", "--out", out) == 0
    assert (out / "model" / "model.safetensors").read_bytes() == first


def test_rows_and_a_given_tokenizer_are_trained_on(trained, tmp_path):
    rows, model = write_rows(tmp_path / "my.jsonl"), trained[0] / "model"
    what = [*OWN, "--corpus", rows, "--field", "body", "--tokenizer", model, "--steps", 1]
    assert pretrain(*what, "--out", tmp_path / "run") == 0
    used = tmp_path / "run" / "model" / "vocab.txt"
    assert used.read_bytes() == (model / "vocab.txt").read_bytes()
    kept = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (kept["field"], kept["tokenizer"]) == ("body", str(model))


def test_a_folder_with_the_name_of_a_corpus_is_mentioned(out, monkeypatch, capsys):
    monkeypatch.chdir(out.parent)
    (out.parent / "python-topics").mkdir()
    assert pretrain(*WHAT, "--steps", "1", "--out", out) == 0
    assert "write ./python-topics for what is in this folder" in capsys.readouterr().out


def test_negatives_are_those_of_the_settings_and_the_end_reports_all_rows(out, topics, capsys):
    assert pretrain(*WHAT, "--steps", "1", "--negatives", "document", "--out", out) == 0
    found = read_rows(out / "next_sentences.json")
    assert [row.negatives for row in found] == ["any document", "same document"]
    told = capsys.readouterr().out
    assert all(str(row) in told for row in found)
    for side in command.batches_of(topics[1], RunSettings.load(out)):
        assert side.negatives == Negatives(same_corpus=True, same_document=0.5)


@pytest.mark.parametrize("wrong", [["--size", "huge"], ["--steps", "1", "--minutes", "2"], []])
def test_wrong_options_are_answered_with_the_right_ones(wrong, capsys):
    out = ["--out", "x"] if wrong else []
    with pytest.raises(SystemExit) as stopped:
        pretrain("--corpus", "lee", *wrong, *out)
    assert stopped.value.code == 2
    assert "usage: python -m bertlab pretrain" in capsys.readouterr().err


def test_a_folder_with_a_run_is_neither_overwritten_nor_shared(trained, capsys):
    before = (trained[0] / "settings.json").read_text()
    assert pretrain(*WHAT, "--steps", "4", "--out", trained[0]) == 1
    assert "holds a run already; continue it with --resume" in capsys.readouterr().err
    assert (trained[0] / "settings.json").read_text() == before
    with FileLock(trained[0] / ".lock"):
        assert pretrain("--resume", "--out", trained[0]) == 1
    assert "another training is writing into" in capsys.readouterr().err


def test_resuming_with_a_changed_option_is_rejected_and_with_the_same_is_not(trained, capsys):
    same = [*WHAT, "--steps", "4", "--resume", "--out", trained[0]]
    assert pretrain(*same, "--batch-size", "16", "--seed", "0") == 1
    assert "was started with batch-size 8, and continues with that" in capsys.readouterr().err
    assert pretrain(*same, "--seed", "0") == 0


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"training": {"steps": "many"}}',
        '{"corpus": "lee", "training": {"steps": 1}, "max_length": 0.5}',
        pytest.param("[" * 100_000, id="deep"),
        "\xff",
    ],
)
def test_damaged_settings_are_named(out, capsys, content):
    (out / "settings.json").write_text(content, encoding="latin-1")
    assert pretrain("--resume", "--out", out) == 1
    assert "settings.json is damaged or of another version" in capsys.readouterr().err


@pytest.mark.parametrize(
    "edited",
    [
        {"batch_size": 16},
        {"dropout": 0.3},
        {"max_length": 16},
        {"whole_words": True},
        {"probability": 0.4},
        {"negatives": "corpus"},
        {"short_first": 0.5},
        {"start": "neighbours"},
        {"corpus": "sotu"},
        {"training": {"steps": 4, "clip": 2.0}},
    ],
    ids=str,
)
def test_edited_settings_are_refused_and_those_of_earlier_versions_are_read(
    tmp_path, edited, capsys
):
    settings = RunSettings("lee", TrainingConfig(steps=4))
    settings.save(tmp_path)
    assert RunSettings.load(tmp_path) == settings
    file = tmp_path / "settings.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | edited))
    assert pretrain("--resume", "--out", tmp_path) == 1
    assert "settings.json was edited after the run had started" in capsys.readouterr().err
    del values["sha256"]
    file.write_text(json.dumps(values))
    assert RunSettings.load(tmp_path) == settings


@pytest.mark.parametrize("side", ["training", "validation"])
def test_tokens_that_have_changed_are_noticed_when_resuming(trained, tmp_path, capsys, side):
    folder = shutil.copytree(trained[0], tmp_path / "copy")
    (ids,) = (folder / "corpus" / side).rglob("ids.bin")
    flip(ids)
    assert pretrain("--resume", "--out", folder, "--device", "cpu") == 1
    assert "the contents of ids.bin have changed" in capsys.readouterr().err


def test_an_impossible_folder_and_a_missing_corpus_are_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    assert pretrain(*WHAT, "--steps", "1", "--out", tmp_path / "file" / "run") == 1
    assert str(tmp_path / "file") in capsys.readouterr().err
    monkeypatch.setenv("BERTLAB_DATA", str(tmp_path / "empty"))
    assert pretrain("--corpus", "sotu", "--steps", "1", "--out", tmp_path / "run") == 1
    assert "run `python -m bertlab.data fetch sotu`" in capsys.readouterr().err


def without_memory(kind):
    """A real out-of-memory error on a CPU, from PyTorch, Python and NumPy."""
    return {"torch": torch.empty, "python": bytearray, "numpy": np.empty}[kind](10**16)


@pytest.mark.parametrize("kind", ["torch", "python", "numpy"])
def test_too_little_memory_is_reported_in_one_line(out, monkeypatch, capsys, trained, kind):
    monkeypatch.setattr(command, "pretrain", lambda *_, **__: without_memory(kind))
    assert pretrain(*WHAT, "--steps", "1", "--out", out) == 1
    told = capsys.readouterr().err.splitlines()
    assert "too little memory on the device" in told[-1]
    assert not any("Traceback" in line for line in told)
    monkeypatch.setattr("bertlab.__main__.fill_mask", lambda *_: without_memory(kind))
    assert main(["fill-mask", str(trained[0] / "model"), "A [MASK]."]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"bertlab fill-mask: too little memory for the model in {trained[0]}")


def test_other_errors_are_not_taken_for_too_little_memory(out, trained, monkeypatch):
    fail = Mock(side_effect=RuntimeError("a fault of ours"))
    monkeypatch.setattr(command, "pretrain", fail)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        pretrain(*WHAT, "--steps", "1", "--out", out)
    monkeypatch.setattr("bertlab.__main__.fill_mask", fail)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        main(["fill-mask", str(trained[0] / "model"), "A [MASK]."])


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), 1, "--accumulate 2 or more"),
        (KeyboardInterrupt(), 130, "there is no checkpoint yet; --resume trains from the first"),
    ],
)
def test_errors_during_a_run_are_reported(out, monkeypatch, capsys, error, status, message):
    monkeypatch.setattr(command, "pretrain", Mock(side_effect=error))
    assert pretrain(*WHAT, "--steps", "1", "--out", out) == status
    assert message in capsys.readouterr().err


def test_ctrl_c_says_what_is_kept(trained, out, tmp_path, monkeypatch, capsys):
    stop = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(command, "prepare_corpus", stop)
    assert pretrain(*WHAT, "--steps", "1", "--out", tmp_path / "new") == 130
    assert "nothing was trained yet; start it again with the same" in capsys.readouterr().err
    assert not (tmp_path / "new" / "settings.json").exists()
    monkeypatch.undo()
    monkeypatch.setattr(command, "pretrain", stop)
    folder = shutil.copytree(trained[0], tmp_path / "copy")
    assert pretrain("--resume", "--out", folder) == 130
    assert "the last checkpoint is kept; continue with --resume" in capsys.readouterr().err
    monkeypatch.setattr("bertlab.__main__.load_pretrained", stop)
    assert main(["fill-mask", "model", "A [MASK]."]) == 130
    assert capsys.readouterr().err == "bertlab fill-mask: interrupted\n"
    monkeypatch.setattr("bertlab.data.__main__.fetch", stop)
    assert fetch_main(["fetch", "core"]) == 130
    assert capsys.readouterr().err == "bertlab.data: interrupted; fetch again to continue\n"


@pytest.mark.parametrize("module", ["tqdm", "torch"])
def test_ctrl_c_during_the_imports_ends_without_a_traceback(tmp_path, module):
    program = (
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10**6): pass\n"
    )
    (tmp_path / f"{module}.py").write_text(program + "raise RuntimeError('not interrupted')")
    command = [sys.executable, "-m", "bertlab", "pretrain", *WHAT, "--steps", "1", "--out", "run"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    streams = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=tmp_path, env=environment, **streams)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_full_disk_is_an_error_with_the_path(out, monkeypatch, capsys):
    full = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    monkeypatch.setattr("bertlab._files.os.fsync", full)
    assert pretrain(*WHAT, "--steps", "1", "--out", out) == 1
    assert f"No space left on device: '{out / 'settings.json'}'" in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "noted"), [("mps", True), ("cpu", False)])
def test_a_macs_gpu_is_used_with_a_note(tmp_path, monkeypatch, capsys, kind, noted):
    monkeypatch.setattr(command, "local_device", torch.device)
    monkeypatch.setattr(command, "run_pretraining", Mock(return_value=command.Outcome(1, 1, [])))
    assert pretrain(*WHAT[:-1], kind, "--steps", "1", "--out", tmp_path) == 0
    assert ("other projects report wrong results on it" in capsys.readouterr().out) == noted


@pytest.mark.parametrize(("kind", "there"), [("cuda", False), ("mps", True), ("xpu", True)])
def test_a_machine_without_cuda_trains_on_its_cpu(monkeypatch, kind, there):
    from bertlab.training.fast import local_device

    # A PyTorch that was built for GPUs, on a machine without one; a Mac; an Intel GPU.
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device(kind))
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: there)
    assert local_device() == torch.device("cpu")


@pytest.mark.parametrize(("max_length", "positions"), [(16, 512), (512, 512), (600, 600)])
def test_a_model_has_berts_positions_or_more_if_sequences_are_longer(max_length, positions):
    settings = RunSettings("mine", TrainingConfig(steps=1), max_length=max_length)
    assert settings.model_config(70).max_length == positions
