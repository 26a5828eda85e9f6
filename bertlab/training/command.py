"""`python -m bertlab pretrain`: a training from the command line, in a folder of its own.

settings.json   the options; the same settings give the same model
corpus/         tokenizer and token ids
checkpoints/    for resuming after an interruption
metrics.jsonl   one line per step
snapshots/      the model after some of the steps, if requested
next_sentences.json   at the end, accuracy on next sentences, from easy questions to hard
model/          the trained model, for `load_pretrained` and `transformers`
"""

import argparse
import copy
import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from bertlab._files import write_atomically
from bertlab.data.prepared import (
    VALIDATION,
    PreparedCorpus,
    made_of,
    open_corpus,
    own_path,
    prepare_corpus,
)
from bertlab.model.bert import Undrawn
from bertlab.model.checks import check_choice, check_fields, require
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.model.pretrained import count_parameters, save_pretrained
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.pretraining.pairs import ANYWHERE, HALF_SAME_DOCUMENT, SAME_CORPUS
from bertlab.training.checkpoints import has_checkpoint
from bertlab.training.fast import (
    ALONE,
    Processes,
    check_pieces,
    from_first,
    in_turn,
    joined_processes,
    local_device,
    wide_step,
)
from bertlab.training.loop import PRECISIONS, TrainingConfig
from bertlab.training.runs import (
    Row,
    next_sentence_rows,
    prepared,
    pretrain,
    save_rows,
    snapshot_steps,
)
from bertlab.training.start import STARTS, ShortFirst
from bertlab.training.steps import adamw

SIZES = ("tiny", "mini", "small", "medium", "base", "large")
NEGATIVES = {"any": ANYWHERE, "corpus": SAME_CORPUS, "document": HALF_SAME_DOCUMENT}


@dataclass(frozen=True)
class RunSettings:
    """The data, the model and the training; `minutes` sets `training.steps` once, at the start.

    corpus, field, tokenizer: as in `prepare_corpus`; vocab_size: of the tokenizer, if it is
    trained; probability: that a word is masked in training; evaluation always uses BERT's 15 %;
    negatives: the source of sentences that are not the next ones: "any" document as in BERT,
    another document of the same "corpus", or half of them from the same "document"; start: the
    initial weights, all random ("plain") or, a shortcut, with planted heads that attend to their
    "neighbours" (`bertlab.training.start`); snapshots: the number of models to keep; short_first:
    the share of the steps, at the start, with short sequences (`ShortFirst`); allow_unknown: as in
    `prepare_corpus`.

    Raises ValueError if a value has the wrong type or is out of range.
    """

    corpus: str
    training: TrainingConfig
    size: str = "mini"
    minutes: float | None = None
    vocab_size: int = 8000
    max_length: int = 128
    batch_size: int = 32
    whole_words: bool = False
    probability: float = 0.15
    dropout: float = 0.1
    validation: float = VALIDATION
    field: str = "text"
    tokenizer: str | None = None
    negatives: str = "any"
    start: str = "plain"
    snapshots: int = 0
    short_first: float = 0.0
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_choice(self, "size", SIZES)
        check_choice(self, "negatives", NEGATIVES)
        check_choice(self, "start", STARTS)
        require(
            self,
            "snapshots",
            self.snapshots == 0 or self.snapshots >= 3,
            "must be 0, or at least 3 (the start, step 1, the end)",
        )
        require(
            self, "minutes", self.minutes is None or 0 < self.minutes < math.inf, "must be above 0"
        )
        require(self, "batch_size", self.batch_size >= 1, "must be at least 1")
        require(self, "probability", 0 < self.probability <= 1, "must be in (0, 1]")
        require(self, "short_first", 0 <= self.short_first <= 1, "must be from 0 to 1")
        self.model_config(self.vocab_size)

    def model_config(self, vocab_size: int) -> BertConfig:
        """The sizes of the model; a small corpus may have fewer words than `vocab_size`."""
        sized = getattr(BertConfig, self.size)
        length = max(512, self.max_length)  # BERT's positions, even if no sequence is this long yet
        return sized(vocab_size=vocab_size, max_length=length, dropout=self.dropout)

    def save(self, folder: Path) -> None:
        """Write `settings.json`, with a checksum: a run continues with what it began with."""
        values = asdict(self)
        sealed = values | {"sha256": checksum(values)}
        write_atomically(folder / "settings.json", json.dumps(sealed, indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "RunSettings":
        """Read `settings.json`. Raises FileNotFoundError, or ValueError if damaged or edited."""
        path = folder / "settings.json"
        if not path.is_file():
            raise FileNotFoundError(
                f"{folder} holds no run to resume (no settings.json); omit --resume to start one"
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            seal = values.pop("sha256")
            settings = cls(**values | {"training": TrainingConfig(**values["training"])})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(
                f"{path} is damaged or of another version ({error}); start a new run in another "
                "folder"
            ) from error
        if seal != checksum(values):
            raise ValueError(
                f"{path} was edited after the run had started, but a run must continue with the "
                "settings it began with; undo the change, or start another run in another --out"
            )
        return settings


def checksum(values: dict[str, Any]) -> str:
    """The SHA-256 of values as JSON."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


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
    check_pieces(settings.batch_size, settings.training.accumulate * processes.count)
    with claimed(folder, processes):
        log(f"{settings.corpus}: " + ("reading and cutting into tokens" if new else "resuming"))
        if new and own_path(settings.corpus) is None and Path(settings.corpus).exists():
            log(f"(that is the catalogue's; write ./{settings.corpus} for what is in this folder)")
        corpus = in_turn(processes, partial(_prepare, folder, settings, new, progress))
        data, validation = batches_of(corpus, settings)
        model = initial_model(settings, len(corpus.tokenizer.vocab)).to(device)
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


def initial_model(settings: RunSettings, vocab_size: int) -> BertForPreTraining:
    """A model with its initial weights, each of which is drawn once."""
    with Undrawn():
        model = BertForPreTraining(settings.model_config(vocab_size))
    return STARTS[settings.start](model, settings.training.seed)


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
    parallel, batches = prepared(trial, config, processes), data.batches()
    how: dict[str, Any] = {"accumulate": config.accumulate, "processes": processes}

    def time_steps(number: int) -> float:
        started = time.perf_counter()
        for _ in range(number):
            _, batch = next(batches)
            wide_step(parallel, optimizer, batch.to(device), **how)
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


EXAMPLES = """examples:
  python -m bertlab pretrain --corpus books+wiki --size mini --minutes 10 --out runs/mini
  python -m bertlab pretrain --resume --out runs/mini
  python -m bertlab pretrain --corpus my.txt --vocab-size 4000 --minutes 5 --out runs/mine
  torchrun --nproc-per-node 2 -m bertlab pretrain --corpus sotu --steps 9000 --out runs/sotu

exit status: 0 when the model is trained, 1 after an error, 2 for a wrong option, 130 when stopped
by Ctrl-C or kill
"""
STOPPED = 130  # the shell's status for Ctrl-C
ON_MPS = (
    "mps: other projects report wrong results on it, which change from run to run; compare a few "
    "steps with --device cpu"
)
DEFAULTS = {
    field.name: field.default
    for field in (*fields(TrainingConfig), *fields(RunSettings))
    if field.default is not MISSING
}
TRAINED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "corpus",
        "one or several, such as books+wiki (see `python -m bertlab.data list`), or your own: a "
        ".txt file with blank lines between documents, a .jsonl or .parquet file with a document "
        "per row, or a folder of them, where a .txt file is one document",
        {"metavar": "NAME|PATH"},
    ),
    ("field", "of .jsonl and .parquet, the field with the text", {}),
    ("size", ", ".join(SIZES), {"choices": SIZES, "metavar": "SIZE"}),
    ("steps", "weight updates", {"type": int}),
    ("minutes", "instead of steps: as many as fit, by a measurement at the start", {"type": float}),
    ("batch_size", "sequences per step", {"type": int}),
    ("max_length", "tokens per sequence", {"type": int}),
    ("vocab_size", "tokens in the vocabulary", {"type": int}),
    (
        "tokenizer",
        "a WordPiece's tokenizer.json or vocab.txt, or a folder with one, instead of training one",
        {"metavar": "PATH"},
    ),
    (
        "short_first",
        "share of the steps, at the start, with a quarter of --max-length, and four times as many "
        "sequences",
        {"type": float, "metavar": "SHARE"},
    ),
    (
        "allow_unknown",
        "train even if more than half of the tokens are [UNK]",
        {"action": "store_true"},
    ),
    ("whole_words", "mask all pieces of a word", {"action": "store_true"}),
    ("probability", "share of masked words in training", {"type": float}),
    (
        "negatives",
        "source of the sentences that are not the next one: any document, another one of the "
        "same corpus, or half of them from the same document: " + ", ".join(NEGATIVES),
        {"choices": NEGATIVES, "metavar": "KIND"},
    ),
    (
        "start",
        "initial weights: plain, all random as in BERT, or neighbours, with up to four planted "
        "heads, which shortens the plateau of a short training (lecture 8)",
        {"choices": STARTS, "metavar": "KIND"},
    ),
    ("snapshots", "models to keep during training, at logarithmically spaced steps", {"type": int}),
    ("learning_rate", "its highest value", {"type": float}),
    ("dropout", "share of activations set to 0", {"type": float}),
    ("accumulate", "pieces of a batch, one after the other", {"type": int}),
    (
        "precision",
        "float32, or bfloat16 where the processor is fast at it",
        {"choices": PRECISIONS, "metavar": "KIND"},
    ),
    ("compile", "use torch.compile: faster in long runs on a GPU", {"action": "store_true"}),
    ("seed", "of all random draws", {"type": int}),
    ("evaluate_every", "steps", {"type": int}),
    ("save_every", "steps", {"type": int}),
)


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add `pretrain` to the commands of `python -m bertlab`."""
    command = commands.add_parser(
        "pretrain",
        help="pre-train a BERT on masked words and next sentences",
        description="Pre-train a BERT on masked words and next sentences.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(
        run=run,
        too_large="too little memory on the device; start another run with --accumulate 2 or more, "
        "which gives the same result, or with a smaller --batch-size",
    )
    command.add_argument("--out", type=Path, required=True, help="folder of the run")
    command.add_argument("--resume", action="store_true", help="continue the run in --out")
    how = command.add_argument_group("how to run it (may change when resuming)")
    how.add_argument("--device", help="cpu, cuda or mps; by default cuda if there is one, or cpu")
    how.add_argument("--workers", type=int, default=0, help="processes that prepare batches (0)")
    what = command.add_argument_group("what to train (kept in the folder's settings.json)")
    either = what.add_mutually_exclusive_group()
    for name, help, options in TRAINED:
        if DEFAULTS.get(name) is not None and "action" not in options:
            help = f"{help} ({DEFAULTS[name]})"
        group = either if name in ("steps", "minutes") else what
        # Without defaults, options that were given can be told from others and compared.
        options = {"default": argparse.SUPPRESS, "help": help, **options}
        group.add_argument(f"--{name.replace('_', '-')}", **options)


def run(options: argparse.Namespace) -> int:
    """Run the command; returns the exit status. `bertlab.__main__` handles errors."""
    settings = None
    if options.resume:
        check_unchanged(options.out, given(options))
    else:
        settings = new_settings(given(options))
    device = local_device(options.device)
    if device.type == "mps":
        tqdm.write(ON_MPS)
    try:
        with joined_processes(device) as processes:
            outcome = run_pretraining(
                options.out, settings, device=device, processes=processes, workers=options.workers
            )
            if processes.first:
                tqdm.write(summary(options.out, outcome))
    except KeyboardInterrupt:
        tqdm.write(
            f"bertlab pretrain: interrupted; {how_to_continue(options.out)}", file=sys.stderr
        )
        return STOPPED
    return 0 if outcome.finished else STOPPED


def how_to_continue(folder: Path) -> str:
    """What an interrupted run has kept, and how to continue."""
    if has_checkpoint(folder / "checkpoints"):
        return "the last checkpoint is kept; continue with --resume"
    if (folder / "settings.json").exists():
        return "there is no checkpoint yet; --resume trains from the first step"
    return "nothing was trained yet; start it again with the same command"


def given(options: argparse.Namespace) -> dict[str, Any]:
    """The options about what to train that were given on the command line."""
    return {name: getattr(options, name) for name, _, _ in TRAINED if hasattr(options, name)}


def new_settings(given: dict[str, Any]) -> RunSettings:
    """The settings of a new run. Raises ValueError if something is missing or out of range."""
    if "corpus" not in given or not {"steps", "minutes"} & set(given):
        raise ValueError(
            "a new run needs --corpus and one of --steps and --minutes (--resume continues the "
            "run in --out)"
        )
    if {"tokenizer", "vocab_size"} <= set(given):
        raise ValueError(
            "--tokenizer comes with a vocabulary, so --vocab-size must be omitted; got both"
        )
    of_training = {field.name for field in fields(TrainingConfig)}
    training = {name: value for name, value in given.items() if name in of_training}
    rest = {name: value for name, value in given.items() if name not in of_training}
    return RunSettings(training=TrainingConfig(**{"steps": 1} | training), **rest)


def check_unchanged(folder: Path, given: dict[str, Any]) -> None:
    """Raise ValueError if a resumed run gets other options than at its start."""
    settings = asdict(RunSettings.load(folder))
    kept = settings | settings["training"]
    other = [name for name, value in given.items() if value != kept[name]]
    if other:
        told = ", ".join(f"{name.replace('_', '-')} {kept[name]}" for name in other)
        raise ValueError(
            f"the run in {folder} was started with {told}, and continues with that; omit the "
            "option, or start another run in another --out"
        )


def summary(folder: Path, outcome: Outcome) -> str:
    """The success message, with the next command."""
    if not outcome.finished:
        return (
            f"stopped after step {outcome.done:,} of {outcome.steps:,}; continue with\n"
            f"  python -m bertlab pretrain --resume --out {folder}"
        )
    return (
        f"trained: {folder / 'model'}\ntry it with\n"
        f'  python -m bertlab fill-mask {folder / "model"} "The king [MASK] his daughter."'
    )
