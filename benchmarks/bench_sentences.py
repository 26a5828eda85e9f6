"""Sentence vectors, ours and sentence-transformers', side by side; and what scoring pairs costs.

    python -m benchmarks.bench_sentences              print the tables
    python -m benchmarks.bench_sentences --quick      one turn with 50 sentences: a trial
    python -m benchmarks.bench_sentences --turns 5    measure for longer
    python -m benchmarks.bench_sentences --write      fill in benchmarks/README.md

How many sentences per second become vectors of MiniLM, and how long it takes to find the most
similar pair of 10,000 sentences, with a cross-encoder and with vectors. Contestants take turns,
each turn in a fresh process (`sentence_jobs.py`).
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.contests import Entry
from benchmarks.sentence_jobs import LONGEST
from benchmarks.sentence_reports import MANY, PAIRS, Race, pairs_table, speed_table
from benchmarks.turns import take, take_turns
from bertlab import data
from bertlab.tokenizers import WordPiece

PACKAGES = ("torch", "sentence-transformers", "transformers")
THEIRS = {  # texts to a batch; 32 if nothing is said
    "sentence-transformers": 32,
    "the same, batch_size=8": 8,
    "the same, batch_size=128": 128,
}
LEAST_WORDS = 4  # of a sentence
WIDTH = 384  # of MiniLM's vectors


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    corpora: where sentences come from; sentences: of each; pairs: that are scored; turns, threads:
    of each contestant.
    """

    corpora: tuple[str, ...] = ("wikipedia", "lee")
    sentences: int = 2_000
    pairs: int = 1_000
    turns: int = 3
    threads: int = 2


QUICK = Plan(corpora=("wikipedia",), sentences=50, pairs=20, turns=1)


class Bench:
    """A run: what is measured, with which weights, and where its files are."""

    def __init__(self, plan: Plan, folder: str) -> None:
        self.plan, self.folder, self.weights = plan, Path(folder), data.weights("minilm")

    def entry(self, name: str, job: str, package: str = "bertlab", **options: Any) -> Entry:
        """A contestant with a job of `sentence_jobs.py`."""
        return Entry(name, job, options, package, self.plan.threads)

    def turn(self, entry: Entry, given: list) -> dict[str, Any]:
        """Let one contestant do its job once; its answer, and the vectors it made."""
        print(f"    {entry.name}: {entry.job}", file=sys.stderr, flush=True)
        texts, vectors = self.folder / "texts.json", self.folder / "vectors.npy"
        texts.write_text(json.dumps(given), encoding="utf-8")
        files = {"texts": str(texts), "vectors": str(vectors)}
        return take(entry, "benchmarks.sentence_jobs", files) | {"vectors": np.load(vectors)}

    def race(self, corpus: str) -> Race:
        """Let everybody encode the same sentences, in turns."""
        texts, folder = sentences_of(corpus, self.plan.sentences), str(self.weights)
        entries = [self.entry("ours", "encode_ours", folder=folder)]
        for name, size in THEIRS.items():
            options = {"folder": folder, "batch_size": size}
            entries.append(self.entry(name, "encode_theirs", "sentence_transformers", **options))
        turns = take_turns(entries, self.plan.turns, lambda entry: self.turn(entry, texts))
        tokenizer = WordPiece.from_vocab(self.weights / "vocab.txt")
        tokens = sum(map(len, tokenizer.encode_batch(texts, max_length=LONGEST)))
        return Race(corpus, len(texts), tokens, [entry.name for entry in entries], turns)

    def ten_thousand(self, race: Race) -> str:
        """The paper's example: the sentences of the race as pairs, and 10,000 vectors."""
        texts, draw = sentences_of(race.corpus, race.sentences), random.Random(1)
        pairs = [draw.sample(texts, 2) for _ in range(self.plan.pairs)]
        entries = [
            self.entry("cross-encoder", "score_pairs", folder=str(self.weights)),
            self.entry("cosines", "compare_all", number=MANY, width=WIDTH),
        ]
        turns = take_turns(entries, self.plan.turns, lambda entry: self.turn(entry, pairs))
        scored, compared = (median(turn["seconds"][0] for turn in own) for own in turns)
        return pairs_table(len(pairs) / scored, race.speed, PAIRS / compared)


def sentences_of(corpus: str, number: int) -> list[str]:
    """So many sentences of a corpus, drawn with a fixed seed."""
    sentences = [
        sentence
        for document in data.documents(corpus)
        for sentence in document
        if len(sentence.split()) >= LEAST_WORDS
    ]
    return random.Random(0).sample(sentences, number)


def tables(plan: Plan, folder: str) -> Iterator[str]:
    """Run everything, and yield the tables."""
    bench, races = Bench(plan, folder), []
    for corpus in plan.corpora:
        print(corpus, file=sys.stderr, flush=True)
        races.append(bench.race(corpus))
    yield speed_table(races)
    yield bench.ten_thousand(races[0])


def read_plan() -> tuple[Plan, bool]:
    """What the command line asks for, and whether to write it into the README."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_sentences", description="Sentence vectors and pairs."
    )
    parser.add_argument("--quick", action="store_true", help="one turn with 50 sentences: a trial")
    parser.add_argument("--sentences", type=int, help="of each corpus")
    parser.add_argument("--turns", type=int, help="of every contestant")
    parser.add_argument("--threads", type=int, help="of every contestant")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/README.md")
    args = parser.parse_args()
    if args.write and args.quick:
        parser.error("--write is for a whole run: leave out --quick")
    asked = {name: getattr(args, name) for name in ("sentences", "turns", "threads")}
    asked = {name: value for name, value in asked.items() if value is not None}
    return replace(QUICK if args.quick else Plan(), **asked), args.write


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    plan, write = read_plan()
    command = " ".join(["python -m benchmarks.bench_sentences", *sys.argv[1:]])
    what = f"{plan.threads} threads; medians of {plan.turns} turns (smallest–largest)."
    parts = [report.circumstances(command, PACKAGES, what)]
    print(parts[0])
    with TemporaryDirectory() as folder:
        for table in tables(plan, folder):
            print(f"\n{table}", flush=True)
            parts.append(table)
    if write:
        report.write("\n\n".join(parts), "sentences")


if __name__ == "__main__":
    main()
