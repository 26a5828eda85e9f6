"""What the library gives, to be the same before and after its code moves.

    python -m benchmarks.golden record FILE     with the version that is trusted
    python -m benchmarks.golden compare FILE    with the one that was changed

PYTHONPATH says which version is imported, such as another checkout of this repository.
Vocabularies, merges, ids and offsets must be identical; numbers may differ by 1e-5 of themselves,
or of 1.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from bertlab import data
from bertlab._files import read_json, write_atomically
from bertlab.finetuning.heads import SequenceClassifier, SpanAnswerer, TokenTagger
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.texts import TuningData, encode_texts
from bertlab.finetuning.tuning import TuningConfig, fine_tune
from bertlab.interpretability.gradients import attention_gradients
from bertlab.interpretability.patterns import head_patterns, offset_shares
from bertlab.interpretability.rollout import attention_flow, attention_rollout
from bertlab.interpretability.traces import trace
from bertlab.model import Bert, BertForPreTraining, load_pretrained, load_tokenizer
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.pretraining.losses import mlm_loss, nsp_loss
from bertlab.tokenizers import BPE, ByteBPE, WordPiece
from bertlab.training.runs import read_metrics

Given = dict[str, Any]  # name -> a hash of something discrete, or a list of numbers
WITHIN = 1e-5
KEPT = 200  # of a large tensor's numbers, evenly over it
TRAINED: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "BPE": (BPE, 3000, {}),
    "BPE, newest first": (BPE, 1000, {"tie_break": "highest-id"}),
    "BPE, marked": (BPE, 1000, {"end_of_word": "</w>", "min_frequency": 2}),
    "byte BPE": (ByteBPE, 3000, {"special_tokens": ["<s>"], "processes": 2}),
    "WordPiece, gain": (WordPiece, 3000, {}),
    "WordPiece, likelihood": (WordPiece, 1000, {"criterion": "ratio", "min_frequency": 20}),
    "WordPiece, frequency": (WordPiece, 1000, {"criterion": "frequency"}),
    "WordPiece, cased": (WordPiece, 1000, {"lowercase": False}),
}


def digest(value: Any) -> str:
    """A hash of lists, dictionaries and texts, in their order."""
    return sha256(json.dumps(value).encode()).hexdigest()


def some(numbers: torch.Tensor) -> list[float]:
    """Numbers of a tensor, and its mean and deviation."""
    flat = numbers.detach().double().flatten()
    kept = flat[:: max(1, len(flat) // KEPT)]
    return [flat.mean().item(), flat.std(correction=0).item(), *kept.tolist()]


def texts_of(*names: str) -> list[str]:
    """The documents of corpora."""
    return [" ".join(document) for name in names for document in data.documents(name)]


def tokenizers() -> Iterator[tuple[str, Any]]:
    """Eight trainings; ids and offsets of 3,000 texts with six tokenizers."""
    prose = texts_of("books")[:60]
    trained = {name: k.train(prose, size, **how) for name, (k, size, how) in TRAINED.items()}
    for name, tokenizer in trained.items():
        yield f"training: {name}", digest([dict(tokenizer.vocab), tokenizer.merges])
    gains = trained["WordPiece, gain"].gains
    yield "training: gains", list(gains[::20])
    folder = data.path("gpt2-vocabulary", "encoder.json").parent
    gpt2 = ByteBPE.from_gpt2(folder / "encoder.json", folder / "vocab.bpe")
    used = {name: trained[name] for name in ("BPE, marked", "byte BPE", "WordPiece, cased")}
    used |= {"GPT-2": gpt2, "bertlab-mini": load_tokenizer(BERTLAB_MINI)}
    used |= {"MiniLM": load_tokenizer(data.weights("minilm"))}
    sentences = [s for d in data.documents("books") for s in d][:1400]
    many = [*sentences, *texts_of("newsgroups")[:1000], *texts_of("udhr")[:600]]
    for name, tokenizer in used.items():
        encoded = tokenizer.encode_batch(many[:3000])
        yield f"ids: {name}", digest([one.ids for one in encoded])
        yield f"offsets: {name}", digest([one.offsets for one in encoded])
        yield f"decoded: {name}", digest([tokenizer.decode(one.ids) for one in encoded])


def models() -> Iterator[tuple[str, Any]]:
    """Hidden states, attentions, scores and losses of two models; every measure of their heads."""
    texts = [" ".join(document[:2])[:300] for document in list(data.documents("wikipedia"))[:10]]
    for name, folder in (("MiniLM", data.weights("minilm")), ("bertlab-mini", BERTLAB_MINI)):
        bert, tokenizer = load_pretrained(folder), load_tokenizer(folder)
        traces = [trace(bert, tokenizer, text) for text in texts]
        for layer in range(len(traces[0].attentions)):
            hidden = torch.cat([one.hidden_states[layer + 1].flatten() for one in traces])
            seen = torch.cat([one.attentions[layer].flatten() for one in traces])
            yield f"{name}: hidden states of layer {layer}", some(hidden)
            yield f"{name}: attentions of layer {layer}", some(seen)
        for what, values in head_patterns(traces).items():
            yield f"{name}: heads, {what}", values.flatten().tolist()
        yield f"{name}: heads, offsets", offset_shares(traces).flatten().tolist()
        yield f"{name}: rollout", some(attention_rollout(traces[0].attentions))
        yield f"{name}: flow", some(attention_flow(traces[0].attentions, 0))
        vectors = SentenceEncoder(bert, tokenizer, "mean").encode(texts, progress=False)
        yield f"{name}: sentence vectors", some(torch.as_tensor(vectors))
    mini = load_pretrained(BERTLAB_MINI, BertForPreTraining)
    tokenizer = load_tokenizer(BERTLAB_MINI)
    ids = torch.tensor([tokenizer.encode(texts[0]).ids])
    output = mini.eval()(ids)
    yield "bertlab-mini: words", some(output.mlm_logits)
    yield "bertlab-mini: mlm loss", [mlm_loss(output.mlm_logits[0], ids[0]).item()]
    yield "bertlab-mini: nsp loss", [nsp_loss(output.nsp_logits, torch.tensor([0])).item()]
    found = attention_gradients(mini, ids, lambda out: out.nsp_logits[0, 0])  # type: ignore[union-attr]
    yield "bertlab-mini: gradients by attention", some(torch.cat([g.flatten() for g in found]))


def finetunings() -> Iterator[tuple[str, Any]]:
    """The first 20 losses of four heads, and of one on a frozen encoder."""
    tokenizer = load_tokenizer(BERTLAB_MINI)
    sentences = [sentence for document in data.documents("books") for sentence in document][:160]
    read = encode_texts(sentences, tokenizer, max_length=48, truncate=True)
    how: dict[str, Any] = {"pairs": sentences[1::2], "truncate": True}
    halves = encode_texts(sentences[::2], tokenizer, max_length=48, **how)
    classes = [len(one) % 2 for one in read]
    tags = [
        [-100 if i in (0, len(one) - 1) else id % 3 for i, id in enumerate(one.ids)] for one in read
    ]
    spans = [(1, min(3, len(one) - 1)) for one in halves]

    def mini() -> Bert:
        return load_pretrained(BERTLAB_MINI)

    recipe = TuningConfig(epochs=4, batch_size=16, learning_rate=3e-4)
    for name, head, encodings, targets in (
        ("texts", SequenceClassifier(mini(), n_classes=2), read, classes),
        ("pairs", SequenceClassifier(mini(), n_classes=2), halves, classes[:80]),
        ("tags", TokenTagger(mini(), n_tags=3), read, tags),
        ("spans", SpanAnswerer(mini()), halves, spans),
        ("frozen", SequenceClassifier(mini(), n_classes=2, frozen=True), read, classes),
    ):
        examples, pad_id = TuningData(encodings, list(targets)), tokenizer.vocab["[PAD]"]
        rows = fine_tune(head, examples, recipe, pad_id=pad_id, progress=False)
        yield f"fine-tuning: {name}", [row["loss"] for row in rows[:20]]


def pretraining() -> Iterator[tuple[str, Any]]:
    """20 steps of two sizes, by one process and by two; the command's own words."""
    two = "torch.distributed.run --standalone --nproc-per-node=2 -m "
    for size in ("tiny", "mini"):
        for processes, starter in ((1, ""), (2, two)):
            with TemporaryDirectory() as folder:
                run = f"bertlab pretrain --corpus books --size {size} --steps 20 --vocab-size 2000"
                run += f" --max-length 64 --batch-size 16 --evaluate-every 10 --out {folder}/run"
                said(starter + run)
                rows = read_metrics(Path(folder, "run", "metrics.jsonl"))
            for what in ("mlm_loss", "nsp_loss"):
                losses = [row[what] for row in rows if what in row]
                yield f"pretrain: {size}, {processes} processes, {what}", losses
    for line in ("bertlab --help", "bertlab pretrain --help", "bertlab.data list"):
        yield f"says: python -m {line}", digest(said(line))
    for line in ("", " --out x --size huge", " --out x --steps -1"):
        yield f"says: pretrain{line}", digest(said(f"bertlab pretrain{line}", fails=True))
    yield "says: prertain", digest(said("bertlab prertain", fails=True))


def said(line: str, fails: bool = False) -> str:
    """What a module prints; raises RuntimeError if it fails and should not."""
    settings = os.environ | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *line.split()]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if bool(done.returncode) != fails:
        raise RuntimeError(f"{line}: {done.stderr[-3000:]}")
    return done.stderr if fails else done.stdout


def everything() -> Given:
    """All of it."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    found: Given = {}
    for job in (tokenizers, models, finetunings, pretraining):
        for name, value in job():
            print(name, flush=True)
            found[name] = value
    return found


def differences(before: Given, after: Given) -> Iterator[str]:
    """One line for each name whose value is another."""
    for name in before.keys() | after.keys():
        one, other = before.get(name), after.get(name)
        if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
            if one != other:
                yield f"{name}: is not the same"
            continue
        worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(one, other, strict=True))
        if not worst <= WITHIN:
            yield f"{name}: differs by {worst:.2g}"


def main() -> int:
    """Read the command line; the exit status is 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    found = everything()
    if options.what == "record":
        write_atomically(options.file, json.dumps(found, indent=1))
        return 0
    found_differences = sorted(differences(read_json(options.file), found))
    print("\n".join(found_differences) or f"{len(found)} values: all the same")
    return 1 if found_differences else 0


if __name__ == "__main__":
    sys.exit(main())
