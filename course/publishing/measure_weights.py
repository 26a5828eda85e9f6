"""Measure the course's weights again: `python -m course.publishing.measure_weights`.

Writes `evaluation.json`, `per_corpus.json` and `next_sentences.json` beside them, only from the
weights and the texts of the catalogue: the held-out documents, and texts of other kinds.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from bertlab._files import write_atomically
from bertlab.data.corpora import Documents, documents, split
from bertlab.data.prepared import names
from bertlab.data.token_store import write_corpora
from bertlab.model import BertForPreTraining, load_pretrained
from bertlab.model.pretrained import BERTLAB_MINI, BERTLAB_MINI_PLANTED
from bertlab.pretraining.batches import PretrainingData
from bertlab.tokenizers.files import load_tokenizer
from bertlab.training.runs import (
    Evaluation,
    NextSentenceRow,
    answers,
    evaluate,
    next_sentence_rows,
    save_rows,
)

OTHER_KINDS = ("lee", "plots")  # news and film plots, which were not in training


def measure(model_folder: Path, text_folder: Path) -> Evaluation:
    """Write the files of a model, measured on its stored weights; returns the first.

    text_folder: for the texts' tokens.
    """
    model = load_pretrained(model_folder, BertForPreTraining)
    sides = held_out_documents(model_folder)
    held_out = prepared(model_folder, sides, text_folder)
    measured = evaluate(model, held_out)
    write_json(model_folder / "evaluation.json", measured.as_dict())
    each = {
        name: evaluate(model, prepared(model_folder, {name: side}, text_folder)).as_dict()
        for name, side in sides.items()
    }
    write_json(model_folder / "per_corpus.json", each)
    rows = next_sentence_rows(model, held_out)
    for name in OTHER_KINDS:
        _, right = answers(model, data_of(model_folder, [name], text_folder).epoch(0))
        kind = f"any document of another kind: {name}"
        rows.append(NextSentenceRow(kind, float(right.mean()), len(right)))
    save_rows(rows, model_folder / "next_sentences.json")
    return measured


def data_of(model_folder: Path, corpora: list[str], folder: Path) -> PretrainingData:
    """All documents of some corpora, prepared like the model's held-out ones."""
    return prepared(model_folder, {name: documents(name) for name in corpora}, folder)


def held_out_data(model_folder: Path, folder: Path) -> PretrainingData:
    """The held-out documents of a model's training, in the same batches."""
    return prepared(model_folder, held_out_documents(model_folder), folder)


def held_out_documents(model_folder: Path) -> dict[str, Documents]:
    """The held-out documents of a model's training, by corpus."""
    settings = json.loads((model_folder / "training.json").read_text(encoding="utf-8"))
    share = settings["validation"]
    return {name: split(documents(name), share)[1] for name in names(settings["corpus"])}


def write_json(path: Path, values: dict) -> None:
    """Write indented JSON, so that changes are readable."""
    write_atomically(path, json.dumps(values, indent=2) + "\n")


def prepared(model_folder: Path, corpora: dict[str, Documents], folder: Path) -> PretrainingData:
    """Documents of some corpora, in batches like those of the model's training."""
    settings = json.loads((model_folder / "training.json").read_text(encoding="utf-8"))
    tokenizer = load_tokenizer(model_folder)
    store = write_corpora(corpora, tokenizer, folder / "+".join(corpora))
    return PretrainingData(
        store,
        tokenizer,
        max_length=settings["max_length"],
        batch_size=settings["batch_size"],
        seed=settings["training"]["seed"],
        drop_last=False,
    )


if __name__ == "__main__":
    for weights in (BERTLAB_MINI, BERTLAB_MINI_PLANTED):
        with TemporaryDirectory() as folder:
            print(weights.name, measure(weights, Path(folder)))
