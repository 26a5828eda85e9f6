"""One contestant of `bench_sentences` at work in one fresh process.

`python -m benchmarks.sentence_jobs '{"job": "encode_ours", "texts": ..., "vectors": ..., "options":
{...}}'` prints one line of JSON. Our model is imported by our own jobs alone: a peer is to run as
it comes.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.jobs import clock

WARM = 32  # texts that are encoded before the clock starts
LONGEST = 256  # tokens; MiniLM's makers cut here
Work = Callable[[list], np.ndarray]
Job = tuple[Work, nn.Module]  # what is timed; the embeddings, whose input is counted


def encode_ours(folder: str) -> Job:
    """`SentenceEncoder`."""
    from bertlab.finetuning.sentences import SentenceEncoder

    model = SentenceEncoder.from_folder(folder)

    def work(texts: list[str]) -> np.ndarray:
        return model.encode(texts, truncate=True, progress=False).numpy()

    return work, model.bert.embeddings


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
    from bertlab.tokenizers import WordPiece

    tokenizer = WordPiece.from_vocab(Path(folder) / "vocab.txt")
    model = SequenceClassifier(load_pretrained(folder), n_classes=2).eval()

    def work(pairs: list[list[str]]) -> np.ndarray:
        first, second = zip(*pairs, strict=True)
        encodings = encode_texts(
            first,
            tokenizer,
            pairs=second,
            max_length=model.bert.config.max_length,
            truncate=True,
        )
        scores = torch.empty(len(pairs), 2)
        with torch.inference_mode():
            for numbers in batches_of_one_length([len(encoding) for encoding in encodings]):
                batch = collate([encodings[number] for number in numbers], tokenizer.vocab["[PAD]"])
                scores[numbers] = model(*batch)
        return scores.numpy()

    return work, model.bert.embeddings


def compare_all(number: int, width: int) -> Job:
    """The most similar pair of so many vectors, of all pairs; they are random, which is as slow."""
    from bertlab.finetuning.search import closest_pairs

    vectors = torch.randn(number, width, generator=torch.Generator().manual_seed(0))
    return lambda _: closest_pairs(vectors, 1).scores.numpy(), nn.Identity()


JOBS = {job.__name__: job for job in (encode_ours, encode_theirs, score_pairs, compare_all)}


def count_slots(embeddings: nn.Module) -> list[int]:
    """A list that gets the number of tokens, padding included, of every batch that is read."""
    slots: list[int] = []

    def count(module: nn.Module, given: tuple, named: dict[str, Any]) -> None:
        slots.append((given[0] if given else named["input_ids"]).numel())

    embeddings.register_forward_pre_hook(count, with_kwargs=True)
    return slots


def measure(job: str, texts: str, vectors: str, options: dict[str, Any]) -> dict[str, Any]:
    """Do a job once, after a few texts that do not count.

    texts: a file of JSON with what the job reads; vectors: where its result goes, as NumPy saves
    it; slots: tokens that the model has read, padding included.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    given = json.loads(Path(texts).read_text(encoding="utf-8"))
    work, embeddings = JOBS[job](**options)
    work(given[:WARM])
    slots = count_slots(embeddings)
    wall, cpu, result = clock(lambda: work(given))
    np.save(vectors, result)
    return {"seconds": [wall], "cpu": [cpu], "slots": sum(slots)}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
