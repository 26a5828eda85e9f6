"""Your own BERT (lecture 13): trained by your functions, and a page in which it runs.

    python -m course.own_bert [FILE [NAME]]           train it, two minutes, and write its page
    python -m course.own_bert pretrain --minutes 60   on real text: the books, in runs/own

The page is one file. It opens without a network, a server or Python; what is typed in it stays in
it. It shows the map of what is yours, the curve of the training, and the source of your functions.

`pretrain` is `python -m bertlab pretrain` with your functions in the library's places, and takes
its options. Stop it when you like: with --resume it goes on.
"""

import html
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from bertlab.__main__ import main as bertlab_command
from bertlab._console import print_on_any_console
from bertlab._files import write_atomically
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.pretrained import save_pretrained
from bertlab.pretraining.batches import Batch
from bertlab.training.command import STOPPED
from bertlab.training.fast import keep_freed_memory
from bertlab.training.loop import TrainingConfig, training_loop
from bertlab.training.runs import Row
from bertlab.training.start import plain_start
from bertlab.training.steps import adamw
from bertlab.viz.frames import script_tag
from course import mine
from course.live.stored import Example
from course.live.tours import STATIONS, packed_weights, tour
from course.toyworld import TOYWORLD
from course.toyworld.batches import ToyData
from course.widgets.training_curves import training_curves

STEPS = 2000
PIECES = 1000  # of a vocabulary for real text: without fast twins each takes a tenth of a second
SENTENCE = Example("", "She runs to the [MASK] with her kite", "It predicts {word}, {share}.")
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; }}
pre {{ overflow-x: auto; background: #f6f8fa; padding: 0.8rem; }}
</style>
<main><h1>{title}</h1>
<p>It runs in this page, and knows one small world, whose stories have {n} words: {words}.</p>
{room}
<h2>Who wrote its functions</h2>{map}
<h2>How it learned</h2>{curve}
<h2>Its functions</h2>{sources}
</main></html>
"""


def new_model(d_model: int, n_layers: int, seed: int = 0) -> BertForPreTraining:
    """A BERT for the toy world, with heads of 16 dimensions, before its training."""
    config = BertConfig(
        vocab_size=len(TOYWORLD.tokenizer.vocab),
        d_model=d_model,
        n_layers=n_layers,
        n_heads=d_model // 16,
        d_ff=4 * d_model,
        max_length=32,
        dropout=0.0,
    )
    return plain_start(BertForPreTraining(config), seed)


def train(
    model: BertForPreTraining,
    batches: Iterable[Batch],
    steps: int,
    rate: float,
    watch: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Train with whatever functions run now; the metrics of each step."""
    keep_freed_memory()  # each step frees much, and the next asks for as much again
    plan = TrainingConfig(steps, learning_rate=rate, warmup=0.05)
    rows: list[Row] = []
    places: Iterable[Any] = ((None, batch) for batch in batches)
    for step in training_loop(model, adamw(model, rate), places, plan):
        rows.append({"step": step.number, "kind": "train", **step.result.as_dict()})
        if watch:
            watch(rows[-1])
    return rows


def make_page(file: str = "my_bert.html", name: str = "") -> str:
    """Train a BERT with your functions and write its page; says where it is."""
    found, model = mine.parts(), new_model(64, 2)
    with mine.running(found):
        data = ToyData(probability=0.4, n_batches=STEPS).epoch(0)
        rows = train(model, (data[n] for n in range(STEPS)), STEPS, 3e-3)
    return f"{write_page(file, model, rows, found, name)}: open it in a browser"


def write_page(
    file: str | Path,
    model: BertForPreTraining,
    rows: Sequence[Row],
    found: mine.Map,
    name: str = "",
) -> Path:
    """Write one file in which a model runs; returns its path.

    rows: the metrics of its training; found: what is yours; name: of its author, if it is to be
    said. Raises OSError, naming the file, if it cannot be written.
    """
    title = html.escape(f"The BERT of {name}" if name.strip() else "My BERT")
    tokenizer = TOYWORLD.tokenizer
    words = [word for word in tokenizer.vocab if not word.startswith("[")]
    with tempfile.TemporaryDirectory() as folder:
        weights = save_pretrained(model, folder, tokenizer) / "model.safetensors"
        weights.write_bytes(_in_half_precision(weights.read_bytes()))
        room = tour(dict.fromkeys(STATIONS, ""), (SENTENCE,), Path(folder))
        room += script_tag(packed_weights(Path(folder)))
    curve = training_curves(rows, vocab_size=model.config.vocab_size, title="Its training")
    page = PAGE.format(
        title=title,
        n=len(words),
        words=html.escape(", ".join(words)),
        room=room,
        map=found.drawing()._repr_html_(),
        curve=curve._repr_html_(),
        sources=_sources(found) or "<p>All are lent by the library.</p>",
    )
    return write_atomically(file, page)


def _in_half_precision(weights: bytes) -> bytes:
    """The bytes of a safetensors file with numbers of 16 bits, which the page reads."""
    halves: dict[str, Tensor] = {name: one.to(torch.float16) for name, one in load(weights).items()}
    return save(halves)


def _sources(found: mine.Map) -> str:
    return "".join(
        f"<details><summary>{row.name}</summary><pre>{html.escape(source)}</pre></details>"
        for row in found.rows
        if row.state == mine.YOURS
        for source in [mine.source_of(found.path(row), row.name)]
    )


def pretrain(options: Sequence[str]) -> int:
    """`python -m bertlab pretrain` with your functions; returns its exit status."""
    new = [] if "--resume" in options else ["--corpus", "books", "--size", "tiny", "--dropout", "0"]
    if new and not any(one.startswith("--tokenizer") for one in options):
        new += ["--vocab-size", str(PIECES)]
    with mine.running() as found:
        print(found.sentence())
        status = bertlab_command(["pretrain", "--out", "runs/own", *new, *options])
    if status == STOPPED:
        print("go on with yours: python -m course.own_bert pretrain --resume, and the same --out")
    return status


def main(arguments: Sequence[str]) -> None:
    """Pre-train, or make the page, or say in one line why not."""
    print_on_any_console()
    if arguments[:1] == ["pretrain"]:
        sys.exit(pretrain(arguments[1:]))
    if len(arguments) > 2 or any(one.startswith("-") for one in arguments):
        sys.exit(f"expected a file and a name, or less; got {' '.join(arguments)}\n\n{__doc__}")
    try:
        print(make_page(*arguments))
    except OSError as error:
        sys.exit(f"the page could not be written: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
