"""`python -m bertlab pretrain`: a training from the command line."""

import argparse
import sys
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from bertlab.training.checkpoints import has_checkpoint
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
