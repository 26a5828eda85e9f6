"""Make weights for the course from a finished run.

`python -m course.publishing.release_weights RUN FOLDER` writes them.

Half precision, for `load_pretrained` and `transformers`, with its training data, curves and scores.
Only the text about these figures, README.md, is written by hand.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from bertlab.data.prepared import open_corpus
from bertlab.model import BertForPreTraining, load_pretrained, save_pretrained
from bertlab.training.command import RunSettings
from bertlab.training.runs import Evaluation, MetricsFile, Row, read_metrics
from course.publishing.measure_weights import measure, write_json
from course.widgets import training_curves

EVERY = 10  # steps between the kept rows of training


def release(run: Path, target: Path) -> Evaluation:
    """Write the weights, settings, figures and curves of a run; returns the figures.

    They are measured on the stored weights, rounded to half precision.

    Raises FileNotFoundError if the run is not finished.
    """
    settings, corpus = RunSettings.load(run), open_corpus(run / "corpus")
    model = load_pretrained(run / "model", BertForPreTraining).half()
    save_pretrained(model, target, corpus.tokenizer)
    write_json(target / "training.json", asdict(settings))
    with TemporaryDirectory() as folder:
        measured = measure(target, Path(folder))
    rows = thinned(read_metrics(run / "metrics.jsonl"))
    (target / "metrics.jsonl").unlink(missing_ok=True)
    metrics = MetricsFile(target / "metrics.jsonl")
    for row in rows:
        metrics.append(row)
    vocab_size = len(corpus.tokenizer.vocab)
    training_curves(rows, vocab_size=vocab_size, title=target.name).save(target / "curves.png")
    return measured


def thinned(rows: list[Row]) -> list[Row]:
    """All evaluations and every tenth step, rounded: enough for the curves."""
    return [
        {
            name: round(value, 7) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
        if row["kind"] == "held-out" or row["step"] % EVERY == 0
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a run of `python -m bertlab pretrain`")
    parser.add_argument("folder", type=Path, help="in bertlab/weights, gets weights and figures")
    options = parser.parse_args()
    print(release(options.run, options.folder))
