"""Sentence vectors, ours and sentence-transformers', side by side; and what scoring pairs costs.

    python -m benchmarks.bench_sentences              print the tables
    python -m benchmarks.bench_sentences --quick      one turn with 50 sentences: a trial
    python -m benchmarks.bench_sentences --turns 5    measure for longer
    python -m benchmarks.bench_sentences --write      fill in benchmarks/README.md

How many sentences per second become vectors of MiniLM, and how long it takes to find the most
similar pair of 10,000 sentences, with a cross-encoder and with vectors. Contestants take turns,
each turn in a new process, which imports our model only for our own jobs.
"""

import argparse
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from benchmarks import turns
from benchmarks.turns import Entry, Turns
from bertlab import data
from bertlab.tokenizers import WordPiece

PACKAGES = ("torch", "sentence-transformers", "transformers")
GOAL = 1.2  # times as fast as sentence-transformers as it comes
CLOSE = 1e-5  # how far apart a number of two vectors may be
MANY = 10_000  # sentences, in the paper's example
PAIRS = MANY * (MANY - 1) // 2
THEIRS = {  # texts to a batch; 32 if nothing is said
    "sentence-transformers": 32,
    "the same, batch_size=8": 8,
    "the same, batch_size=128": 128,
}
LEAST_WORDS = 4  # of a sentence
WIDTH = 384  # of MiniLM's vectors
WARM = 32  # texts that are encoded before the clock starts
LONGEST = 256  # tokens; MiniLM's makers cut here


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


class Race(NamedTuple):
    """The turns of everybody who encoded the sentences of a corpus.

    turns: first ours, then those of the peer as it comes, then with other settings; tokens: of the
    sentences, without padding.
    """

    corpus: str
    sentences: int
    tokens: int
    names: list[str]
    turns: list[Turns]

    def seconds(self, place: int) -> list[float]:
        """The times of a contestant, turn by turn."""
        return [answer["seconds"][0] for answer in self.turns[place]]


def sentences_of(corpus: str, number: int) -> list[str]:
    """This number of sentences of a corpus, drawn with a fixed seed."""
    every = (sentence for document in data.documents(corpus) for sentence in document)
    long = [sentence for sentence in every if len(sentence.split()) >= LEAST_WORDS]
    return random.Random(0).sample(long, number)


def take_turns(plan: Plan, folder: str, entries: list[Entry], given: list) -> list[Turns]:
    """Let everybody do the same; their answers, with the vectors that they made."""
    texts, vectors = Path(folder) / "texts.json", Path(folder) / "vectors.npy"
    texts.write_text(json.dumps(given), encoding="utf-8")

    def turn(entry: Entry) -> dict[str, Any]:
        turns.note(f"    {entry.name}: {entry.job}")
        entry = replace(entry, cores=plan.threads)
        answer = turns.take("bench_sentences", entry, texts=str(texts), vectors=str(vectors))
        return answer | {"vectors": np.load(vectors)}

    return turns.take_turns(entries, plan.turns, turn)


def race(plan: Plan, folder: str, corpus: str) -> Race:
    """Let everybody encode the same sentences, in turns."""
    turns.note(corpus)
    texts, weights = sentences_of(corpus, plan.sentences), data.weights("minilm")
    entries = [Entry("ours", "encode_ours", {"folder": str(weights)})]
    for name, size in THEIRS.items():
        options = {"folder": str(weights), "batch_size": size}
        entries.append(Entry(name, "encode_theirs", options, "sentence_transformers"))
    taken = take_turns(plan, folder, entries, texts)
    tokenizer = WordPiece.from_vocab(weights / "vocab.txt")
    tokens = sum(map(len, tokenizer.encode_batch(texts, max_length=LONGEST)))
    return Race(corpus, len(texts), tokens, [entry.name for entry in entries], taken)


def speed_table(races: list[Race]) -> str:
    """Sentences per second, and how much of what the model read was padding."""
    rows = []
    for one in races:
        what = f"{one.corpus}, {one.sentences:,} sentences, {one.tokens:,} tokens"
        for place, name in enumerate(one.names):
            rows.append([what if place == 0 else "", name, *speed_cells(one, place)])
    head = ["what", "who", "sentences per second", "padding", "we are times as fast", "goal"]
    return turns.table("Encoding sentences", [*head, "vectors"], rows)


def speed_cells(race: Race, place: int) -> list[str]:
    """What was measured of one contestant; the second one's row has the goal."""
    own, seconds = race.turns[place], race.seconds(place)
    if not own:
        return ["not installed", *[""] * 4]
    speeds = turns.spread(race.sentences / second for second in seconds)
    cells = [speeds, f"{1 - race.tokens / own[0]['slots']:.1%}"]
    if place == 0:
        return [*cells, "", "", ""]
    ratio = median(seconds) / median(race.seconds(0))
    goal = turns.verdict(ratio, GOAL if place == 1 else None)
    same = turns.difference(race.turns[0], own, "vectors", CLOSE)
    return [*cells, turns.times_as_fast(ratio), goal, same]


def ten_thousand(plan: Plan, folder: str, race: Race) -> str:
    """The paper's example: the sentences of the race as pairs, and 10,000 vectors."""
    texts, draw = sentences_of(race.corpus, race.sentences), random.Random(1)
    pairs = [draw.sample(texts, 2) for _ in range(plan.pairs)]
    entries = [
        Entry("cross-encoder", "score_pairs", {"folder": str(data.weights("minilm"))}),
        Entry("cosines", "compare_all", {"number": MANY, "width": WIDTH}),
    ]
    taken = take_turns(plan, folder, entries, pairs)
    scored, compared = (median(answer["seconds"][0] for answer in own) for own in taken)
    speed = race.sentences / median(race.seconds(0))
    return pairs_table(len(pairs) / scored, speed, PAIRS / compared)


def pairs_table(pairs: float, sentences: float, comparisons: float) -> str:
    """The most similar pair of 10,000 sentences, found in two ways, beside the paper's numbers.

    All three are per second: pairs that a cross-encoder scores, sentences that become vectors,
    pairs of vectors that are compared.
    """
    scoring, encoding, comparing = PAIRS / pairs, MANY / sentences, PAIRS / comparisons
    ways = [
        ("cross-encoder: reads every pair", pairs, PAIRS, "pairs"),
        ("encoder: reads every sentence", sentences, MANY, "sentences"),
        ("and the cosines of all pairs", comparisons, PAIRS, "pairs"),
    ]
    rows = [[way, f"{speed:,.0f} {what}", f"{n:,} {what}"] for way, speed, n, what in ways]
    rows[0] += [f"{scoring / 3600:,.1f} hours, extrapolated", "65 hours"]
    rows[1] += [f"{encoding:,.1f} seconds", "5 seconds"]
    rows[2] += [f"{comparing:,.2f} seconds", "0.01 seconds"]
    rows.append(["times as fast", "", "", f"{scoring / (encoding + comparing):,.0f}", "46,707"])
    head = ["way", "per second", "to be done", "time", "the paper: BERT on one V100"]
    return turns.table(f"The most similar pair of {MANY:,} sentences", head, rows)


def tables(plan: Plan, folder: str) -> Iterator[str]:
    """Run everything, and yield the tables."""
    races = [race(plan, folder, corpus) for corpus in plan.corpora]
    yield speed_table(races)
    yield ten_thousand(plan, folder, races[0])


# Jobs

Job = tuple[Callable[[list], np.ndarray], nn.Module]  # what is timed; whose input is counted


def measure(
    job: Callable[..., Job], texts: str, vectors: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Do a job once, after a few texts that do not count.

    texts: a file of JSON with what the job reads; vectors: where its result goes, as NumPy saves
    it; slots: tokens that the model has read, padding included.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    given = json.loads(Path(texts).read_text(encoding="utf-8"))
    work, embeddings = job(**options)
    work(given[:WARM])
    slots = count_slots(embeddings)
    wall, cpu, result = turns.clock(lambda: work(given))
    np.save(vectors, result)
    return {"seconds": [wall], "cpu": [cpu], "slots": sum(slots)}


def count_slots(embeddings: nn.Module) -> list[int]:
    """A list that gets the number of tokens, padding included, of every batch that is read."""
    slots: list[int] = []

    def count(module: nn.Module, given: tuple, named: dict[str, Any]) -> None:
        slots.append((given[0] if given else named["input_ids"]).numel())

    embeddings.register_forward_pre_hook(count, with_kwargs=True)
    return slots


def encode_ours(folder: str) -> Job:
    """`SentenceEncoder`."""
    from bertlab.finetuning.sentences import SentenceEncoder

    model = SentenceEncoder.from_folder(folder)
    embeddings = model.bert.embeddings
    return lambda texts: model.encode(texts, truncate=True, progress=False).numpy(), embeddings


def encode_theirs(folder: str, batch_size: int) -> Job:
    """`encode` of sentence-transformers: a transformer, the mean, the length 1."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = Transformer(folder, max_seq_length=LONGEST)
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu")
    return lambda texts: model.encode(texts, batch_size=batch_size), transformer.model.embeddings


def score_pairs(folder: str) -> Job:
    """A cross-encoder: both sentences in one sequence, one score; its head knows nothing yet.

    It gets the batches that the sentence encoder gets, without padding.
    """
    from bertlab.finetuning.heads import SequenceClassifier
    from bertlab.finetuning.sentences import batches_of_one_length
    from bertlab.finetuning.texts import collate, encode_texts
    from bertlab.model import load_pretrained

    tokenizer = WordPiece.from_vocab(Path(folder) / "vocab.txt")
    model = SequenceClassifier(load_pretrained(folder), n_classes=2).eval()
    length, pad_id = model.bert.config.max_length, tokenizer.vocab["[PAD]"]

    def work(pairs: list[list[str]]) -> np.ndarray:
        first, second = zip(*pairs, strict=True)
        encodings = encode_texts(first, tokenizer, pairs=second, max_length=length, truncate=True)
        scores = torch.empty(len(pairs), 2)
        with torch.inference_mode():
            for numbers in batches_of_one_length(list(map(len, encodings))):
                scores[numbers] = model(*collate([encodings[number] for number in numbers], pad_id))
        return scores.numpy()

    return work, model.bert.embeddings


def compare_all(number: int, width: int) -> Job:
    """The most similar pair of vectors, of all pairs; they are random, which is as slow."""
    from bertlab.finetuning.search import closest_pairs

    vectors = torch.randn(number, width, generator=torch.Generator().manual_seed(0))
    return lambda _: closest_pairs(vectors, 1).scores.numpy(), nn.Identity()


def read_plan() -> tuple[Plan, bool]:
    """What the command line asks for, and whether to write it into the README."""
    parser = argparse.ArgumentParser(description="Sentence vectors and pairs.")
    parser.add_argument("--quick", action="store_true", help="one turn with 50 sentences: a trial")
    parser.add_argument("--sentences", type=int, help="of each corpus")
    parser.add_argument("--turns", type=int, help="of every contestant")
    parser.add_argument("--threads", type=int, help="of every contestant")
    args = turns.read_options(parser, "quick")
    asked = {name: getattr(args, name) for name in ("sentences", "turns", "threads")}
    asked = {name: value for name, value in asked.items() if value is not None}
    return replace(QUICK if args.quick else Plan(), **asked), args.write


def main() -> None:
    """Read the command line, run, print, and write if asked to."""
    plan, write = read_plan()
    what = f"{plan.threads} threads; medians of {plan.turns} turns (smallest–largest)."
    with TemporaryDirectory() as folder:
        turns.publish("sentences" if write else None, PACKAGES, what, tables(plan, folder))


if __name__ == "__main__":
    main()
