"""A run: a folder with the settings, the data, the progress and the result.

settings.json   the options; the same settings give the same model
corpus/         tokenizer and token ids
checkpoints/    for resuming after an interruption
metrics.jsonl   one line per step
snapshots/      the model after some of the steps, if requested
next_sentences.json   at the end, accuracy on next sentences, from easy questions to hard
model/          the trained model, for `load_pretrained` and `transformers`
"""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from bertlab.model.heads import BertForPreTraining
from bertlab.model.parameters import count_parameters
from bertlab.model.pretrained import save_pretrained
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.pretraining.short_first import ShortFirst
from bertlab.training.config import TrainingConfig
from bertlab.training.corpus import PreparedCorpus, made_of, open_corpus, own_path, prepare_corpus
from bertlab.training.loop import pretrain
from bertlab.training.next_sentences import next_sentence_rows, save_rows
from bertlab.training.optimizers import adamw
from bertlab.training.processes import ALONE, Processes, from_first, in_turn, shared
from bertlab.training.rows import Row
from bertlab.training.schedule import snapshot_steps
from bertlab.training.settings import NEGATIVES, RunSettings
from bertlab.training.start import STARTS
from bertlab.training.steps import training_step

TRIAL_SECONDS = 3  # of trial steps, to measure the time per step; 5 to 50 steps


class Outcome(NamedTuple):
    """The progress of a run."""

    done: int  # steps
    steps: int  # in total
    rows: list[Row]  # of the metrics, since the run was started or resumed

    @property
    def finished(self) -> bool:
        """Whether there is a trained model."""
        return self.done == self.steps


def run_pretraining(
    folder: str | Path,
    settings: RunSettings | None,
    *,
    device: torch.device,
    processes: Processes = ALONE,
    workers: int = 0,
) -> Outcome:
    """Start a run, or resume the one in a folder if `settings` is None.

    Raises FileExistsError if a new run would overwrite one, FileNotFoundError if there is none to
    resume, ValueError if the folder is in use, if settings contradict each other or `workers` is
    negative, otherwise as `prepare_corpus` and `pretrain`.
    """
    if workers < 0:
        raise ValueError(f"workers must be 0 or more processes; got {workers}")
    folder, progress = Path(folder), processes.first
    log = tqdm.write if progress else lambda _line: None
    new = settings is not None
    if settings is None:
        settings = RunSettings.load(folder)
    elif (folder / "settings.json").exists():
        raise FileExistsError(
            f"{folder} holds a run already; continue it with --resume, or choose another --out"
        )
    check_divisible(settings, processes)
    with claimed(folder, processes):
        log(f"{settings.corpus}: " + ("reading and cutting into tokens" if new else "resuming"))
        if new and own_path(settings.corpus) is None and Path(settings.corpus).exists():
            log(f"(that is the catalogue's; write ./{settings.corpus} for what is in this folder)")
        corpus = in_turn(processes, partial(_prepare, folder, settings, new, progress))
        data, validation = batches_of(corpus, settings)
        config = settings.model_config(len(corpus.tokenizer.vocab))
        model = BertForPreTraining(config)
        model = STARTS[settings.start](model, settings.training.seed).to(device)
        log(corpus_summary(corpus))
        if new:
            for side in (data, validation):
                side.epoch(0)  # raises if there are too few pairs, before anything is saved
            settings = with_steps(settings, model, data, processes)
            if processes.first:
                settings.save(folder)
        log(training_summary(settings, model, device, processes))
        short = round(settings.short_first * settings.training.steps)
        rows = pretrain(
            model,
            ShortFirst(data, short) if short else data,
            settings.training,
            validation=validation,
            folder=folder,
            watch=lambda row: log(held_out_line(row)) if row["kind"] == "held-out" else None,
            snapshots=snapshot_steps(settings.training.steps, settings.snapshots),
            workers=workers,
            processes=processes,
            progress=progress,
        )
        steps = settings.training.steps
        outcome = Outcome(rows[-1]["step"] if rows else steps, steps, rows)
        if outcome.finished and processes.first:
            save_pretrained(model, folder / "model", corpus.tokenizer)
            log("accuracy on held-out next sentences, by the source of the others:")
            found = next_sentence_rows(model, validation)
            save_rows(found, folder / "next_sentences.json")
            for row in found:
                log(f"  {row}")
    return outcome


def check_divisible(settings: RunSettings, processes: Processes) -> None:
    """Raise ValueError if a batch has too few sequences for all pieces."""
    pieces = settings.training.accumulate * processes.count
    if settings.batch_size < pieces:
        raise ValueError(
            f"a batch of {settings.batch_size} sequences cannot be cut into {pieces} pieces "
            "(pieces to accumulate, times processes); make --batch-size larger"
        )


@contextmanager
def claimed(folder: Path, processes: Processes) -> Iterator[None]:
    """Lock a folder, so that no second training writes into it; create it if necessary."""
    lock = FileLock(folder / ".lock")

    def take() -> None:
        if processes.first:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise ValueError(f"another training is writing into {folder} right now") from None

    in_turn(processes, take)
    try:
        yield
    finally:
        lock.release()


def batches_of(
    corpus: PreparedCorpus, settings: RunSettings
) -> tuple[PretrainingData, PretrainingData]:
    """Batches of the training part and of the held-out part."""
    options: dict[str, Any] = {
        "max_length": settings.max_length,
        "batch_size": settings.batch_size,
        "seed": settings.training.seed,
        "negatives": NEGATIVES[settings.negatives],
    }
    masking = Masking.of(corpus.tokenizer, whole_words=settings.whole_words)
    learning = replace(masking, probability=settings.probability)
    return (
        PretrainingData(corpus.training, corpus.tokenizer, masking=learning, **options),
        PretrainingData(
            corpus.validation, corpus.tokenizer, masking=masking, drop_last=False, **options
        ),
    )


def with_steps(
    settings: RunSettings, model: BertForPreTraining, data: PretrainingData, processes: Processes
) -> RunSettings:
    """Turn minutes into a number of steps, once, so that the run can be repeated exactly."""
    if settings.minutes is None:
        return settings
    seconds = seconds_a_step(model, data, settings.training, processes)
    steps = max(1, int(settings.minutes * 60 / seconds))
    return replace(settings, training=replace(settings.training, steps=steps))


def seconds_a_step(
    model: BertForPreTraining, data: PretrainingData, config: TrainingConfig, processes: Processes
) -> float:
    """Measure the time per step, with its batch, on a copy of the model."""
    trial = copy.deepcopy(model).train()
    device = next(trial.parameters()).device
    optimizer = adamw(trial, config.learning_rate, config.weight_decay)
    if config.compile:
        trial.compile()
    parallel, batches = shared(trial, processes), data.batches()
    how: dict[str, Any] = {"accumulate": config.accumulate, "precision": config.precision}

    def time_steps(number: int) -> float:
        started = time.perf_counter()
        for _ in range(number):
            _, batch = next(batches)
            training_step(parallel, optimizer, batch.to(device), processes=processes, **how)
        return from_first((time.perf_counter() - started) / number, processes)

    time_steps(2)  # the first steps are slower
    return time_steps(min(50, max(5, round(TRIAL_SECONDS / time_steps(1)))))


def corpus_summary(corpus: PreparedCorpus) -> str:
    """One line about the data."""
    _, training, validation = corpus
    return (
        f"{training.n_tokens:,} tokens in {len(training):,} documents for training, "
        f"{validation.n_tokens:,} in {len(validation):,} held out; "
        f"vocabulary {len(corpus.tokenizer.vocab):,}"
    )


def training_summary(
    settings: RunSettings, model: BertForPreTraining, device: torch.device, processes: Processes
) -> str:
    """One line about the model and the steps."""
    several = f" in {processes.count} processes" if processes.count > 1 else ""
    return (
        f"{settings.size}: {count_parameters(model).total / 1e6:.1f} million parameters on "
        f"{device.type}{several}; {settings.training.steps:,} steps of {settings.batch_size} "
        f"sequences of up to {settings.max_length} tokens"
    )


def held_out_line(row: Row) -> str:
    """One line about the model's predictions on held-out text."""
    return (
        f"step {row['step']:,}, held-out text: {row['mlm_loss']:.3f} nats per masked word, "
        f"{row['mlm_accuracy']:.1%} right; {row['nsp_accuracy']:.1%} of next sentences right"
    )


def _prepare(folder: Path, settings: RunSettings, new: bool, progress: bool) -> PreparedCorpus:
    """A resumed run reads its original tokens, even if the text has changed."""
    if not new and made_of(folder / "corpus"):
        corpus = open_corpus(folder / "corpus")
        for store in (corpus.training, corpus.validation):
            store.verify()  # the disk may have failed since the run was stopped
        return corpus
    return prepare_corpus(
        settings.corpus,
        folder / "corpus",
        vocab_size=settings.vocab_size,
        tokenizer=settings.tokenizer,
        field=settings.field,
        validation=settings.validation,
        allow_unknown=settings.allow_unknown,
        progress=progress,
    )
