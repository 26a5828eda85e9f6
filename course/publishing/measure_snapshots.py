"""Measure the snapshots of a training: `python -m course.publishing.measure_snapshots RUN FILE`.

RUN is a folder of `python -m bertlab pretrain --snapshots 25`. FILE gets one line of JSON per
snapshot, the start first: its scores on held-out words and next sentences, what each of its heads
attends to, and how similar its positions are (`course.experiments.emergence`).
"""

import argparse
import json
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from bertlab._files import write_atomically
from bertlab.data.corpora import documents, split
from bertlab.data.prepared import open_corpus
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.pretraining.batches import PretrainingData
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.training.command import RunSettings, batches_of
from bertlab.training.runs import evaluate
from course.experiments.emergence import head_numbers, position_similarity, some_sentences

READ = "books+wikipedia"  # the heads read its held-out part: sentences, not speeches
SCORES = ("mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy")


def measure_snapshots(run: Path, file: Path) -> list[dict[str, Any]]:
    """Measure all snapshots of a run and write them; returns the rows.

    Raises FileNotFoundError if there is no such run, or if it has no snapshots.
    """
    settings, corpus = RunSettings.load(run), open_corpus(run / "corpus")
    folders = sorted(folder for folder in (run / "snapshots").glob("*") if folder.is_dir())
    if not folders:
        raise FileNotFoundError(f"{run} has no snapshots; train it with --snapshots 25")
    _, exam = batches_of(corpus, settings)
    texts = some_sentences(split(documents(READ), settings.validation)[1])
    rows = []
    for folder in tqdm(folders, desc="snapshots"):
        model = load_pretrained(folder, BertForPreTraining)
        row = {"step": int(folder.name), "kind": "snapshot"}
        rows.append(row | measure(model, corpus.tokenizer, exam, texts, settings.max_length))
    write_atomically(file, "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def measure(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    exam: PretrainingData,
    texts: list[str],
    positions: int,
) -> dict[str, Any]:
    """One model's scores, heads and positions."""
    scores = evaluate(model, exam).as_dict()
    return {
        **{name: round(scores[name], 4) for name in SCORES},
        **head_numbers(model, tokenizer, texts),
        "positions": position_similarity(model.bert, positions),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a run with snapshots")
    parser.add_argument("file", type=Path, help="gets the lines of JSON")
    options = parser.parse_args()
    last = measure_snapshots(options.run, options.file)[-1]
    print({name: last[name] for name in ("step", *SCORES)})
