"""Who learns from text in `bench_pretraining`: ours, `transformers` and `d2l`, each in its process.

Only a contestant's own function imports its package, and ours what makes our training fast.

`d2l` is the BERT of "Dive into Deep Learning", from the installed package. Its data code makes all
examples before training starts, with masks that stay where they are; so `write_examples` runs off
the clock, once. Its vocabulary is ours, its model is of our size; all else is the book's: one
sentence in each segment, padding to the full length, ReLU, embeddings that are neither normed nor
tied to the words' scores, Adam.
"""

import copy
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import chain, pairwise, takewhile
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from benchmarks.turns import clock, cpu_seconds
from bertlab.data.prepared import PreparedCorpus, open_corpus
from bertlab.pretraining.batches import Batch, PretrainingData
from bertlab.pretraining.pairs import plan_pairs
from bertlab.training.start import ShortFirst

LENGTH = 128  # tokens in a sequence, at most
CLIP = 1.0  # the largest norm of all gradients together
WARMUP = 0.1  # the share of the time in which the learning rate rises
SQUARE = {"cpu": 2048, "cuda": 8192}  # rows of the matrices that show the device's limit


class Setting(NamedTuple):
    """What all contestants of a comparison share.

    folder: holds what `prepare` of `bench_pretraining` wrote; words: entries of the vocabulary
    that are scored; rate: the learning rate at its highest; start: of the weights, one of `STARTS`;
    seed: of the weights and of the order of the text.
    """

    folder: str
    size: str
    words: int
    sequences: int
    rate: float = 1e-4
    device: str = "cpu"
    start: str = "plain"
    seed: int = 0

    @property
    def weights(self) -> Path:
        """The folder of the weights that everybody starts from who can."""
        return Path(self.folder) / f"{self.size}-{self.words}-{self.start}-{self.seed}"

    @property
    def corpus(self) -> PreparedCorpus:
        """The tokenizer and the token ids."""
        return open_corpus(Path(self.folder) / "corpus")


class Shape(NamedTuple):
    """How large a batch is."""

    sequences: int
    length: int  # padded to
    tokens: int  # without padding
    predicted: int  # positions at which words are scored


class Scores(NamedTuple):
    """What `evaluate` asks of a model; names and shapes as in `PreTrainingOutput`."""

    mlm_logits: Tensor  # [N, V]
    nsp_logits: Tensor  # [B, 2], column 0 = IsNext


class Learner(NamedTuple):
    """A model with its data and its training step, ready to start."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    batches: Iterator[Any]  # for ever; drawing one is on the clock
    step: Callable[[Any], None]  # forward, backward, update
    shape: Callable[[Any], Shape]
    scorer: Callable[[nn.Module], nn.Module]  # the model, with our arguments and `Scores`


def measure(job: Callable[..., dict[str, Any]], options: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if "setting" in options:
        options["setting"] = Setting(**options["setting"])
    return job(**options)


def speed(who: str, setting: Setting, seconds: float, warm: int, **options: Any) -> dict[str, Any]:
    """Train for this many seconds after `warm` steps; numbers: both losses before the first."""
    learner = start(who, setting, **options)
    untrained = copy.deepcopy(learner.model)
    shapes, drawing = [], 0.0
    for _ in range(warm):
        learner.step(next(learner.batches))
    wait(setting.device)
    begun, cpu = perf_counter(), cpu_seconds()
    while perf_counter() - begun < seconds:
        before = perf_counter()
        batch = next(learner.batches)
        drawing += perf_counter() - before
        learner.step(batch)
        shapes.append(learner.shape(batch))
    wait(setting.device)
    spent = {"seconds": [perf_counter() - begun], "cpu": [cpu_seconds() - cpu]}
    found = judge(learner, untrained, setting, batches=1)
    numbers = [found["mlm_loss"], found["nsp_loss"]]
    return spent | {"drawing": drawing, "shapes": shapes, "numbers": numbers}


def learn(
    who: str, setting: Setting, seconds: float, batches: int | None, **options: Any
) -> dict[str, Any]:
    """Train for this many seconds from scratch, then guess the held-out words."""
    if "short_first" in options:  # the share of the time in which sequences are short
        options["short_seconds"] = options.pop("short_first") * seconds
    learner = start(who, setting, **options)
    tokens, steps = 0, 0
    begun, cpu = perf_counter(), cpu_seconds()
    while (elapsed := perf_counter() - begun) < seconds:
        for group in learner.optimizer.param_groups:
            group["lr"] = setting.rate * factor(elapsed / seconds)
        batch = next(learner.batches)
        learner.step(batch)
        tokens, steps = tokens + learner.shape(batch).tokens, steps + 1
    wait(setting.device)
    spent = {"seconds": [perf_counter() - begun], "cpu": [cpu_seconds() - cpu]}
    found = judge(learner, learner.model, setting, batches)
    return spent | {"steps": steps, "tokens": tokens, "found": found}


def start(who: str, setting: Setting, **options: Any) -> Learner:
    """A contestant before its first step."""
    torch.manual_seed(setting.seed)
    return {"ours": ours, "theirs": theirs, "book": book}[who](setting, **options)


def factor(progress: float) -> float:
    """The learning rate's factor: up for a tenth of the time, then down to 0."""
    return progress / WARMUP if progress < WARMUP else (1 - progress) / (1 - WARMUP)


def judge(
    learner: Learner, model: nn.Module, setting: Setting, batches: int | None
) -> dict[str, float]:
    """What our `evaluate` says of the held-out text; its masks are the same for everybody."""
    from bertlab.training.runs import evaluate  # imported when the clock has stopped

    corpus, sizes = setting.corpus, {"max_length": LENGTH, "batch_size": 32}
    held_out = PretrainingData(corpus.validation, corpus.tokenizer, **sizes, drop_last=False)
    return evaluate(learner.scorer(model), held_out, batches).as_dict()


def wait(device: str) -> None:
    """A GPU is told what to do long before it has done it."""
    if device == "cuda":
        torch.cuda.synchronize()


def limit(device: str, calls: int = 10) -> dict[str, Any]:
    """The product of two large square matrices: what no step can beat.

    On a CPU they are float32, on a GPU bfloat16, as the training is there.
    """
    side = SQUARE[device]
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    a = torch.randn(side, side, device=device, dtype=kind)
    clocked = [clock(lambda: (a @ a, wait(device))) for _ in range(1 + calls)]
    seconds, cpu, _ = zip(*clocked[1:], strict=True)
    name = torch.cuda.get_device_name() if device == "cuda" else ""
    flops = 2 * side**3 / min(seconds)
    return {"seconds": seconds, "cpu": cpu, "flops": flops, "device": name}


def ours(
    setting: Setting, precision: str = "float32", compiled: bool = False, short_seconds: float = 0
) -> Learner:
    """`BertForPreTraining`, trained as `python -m bertlab pretrain` does it.

    precision, compiled: as in `TrainingConfig`; short_seconds: how long it reads short sequences.
    """
    from bertlab.model import BertForPreTraining, load_pretrained
    from bertlab.training.fast import InBfloat16, keep_freed_memory
    from bertlab.training.steps import adamw, training_step

    corpus = setting.corpus
    sizes = {"max_length": LENGTH, "batch_size": setting.sequences, "seed": setting.seed}
    data = PretrainingData(corpus.training, corpus.tokenizer, **sizes)
    keep_freed_memory()  # as every training of ours
    model = load_pretrained(setting.weights, BertForPreTraining).to(setting.device).train()
    optimizer = adamw(model, setting.rate)
    if compiled:
        model.compile()
    precise = InBfloat16(model) if precision == "bfloat16" else model

    def step(batch: Batch) -> None:
        training_step(precise, optimizer, batch.to(setting.device), clip=CLIP)

    def shape(batch: Batch) -> Shape:
        return Shape(*batch.ids.shape, int(batch.attention_mask.sum()), len(batch.words))

    batches = (batch for _, batch in data.batches())
    if short_seconds:
        end = perf_counter() + short_seconds  # `ShortFirst` counts steps, here the clock decides
        short = (batch for _, batch in ShortFirst(data, steps=1).short.batches())
        batches = chain(takewhile(lambda _: perf_counter() < end, short), batches)
    return Learner(model, optimizer, batches, step, shape, scorer=lambda model: model)


class OurArguments(nn.Module):
    """A peer's model that is called like ours: it scores words where `predict` is True."""

    def __init__(self, score: Callable[..., Scores], model: nn.Module) -> None:
        super().__init__()
        self.score, self.model = score, model

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor, predict: Tensor) -> Scores:
        return self.score(self.model, ids, segments, mask, predict)


def for_ever(loader: DataLoader) -> Iterator[Any]:
    """Epoch after epoch."""
    while True:
        yield from loader


# `transformers`: its model, its collator, its `Trainer`'s optimiser, on our pairs of sentences


def theirs(setting: Setting, own_start: bool = False) -> Learner:
    """`BertForPreTraining`, `DataCollatorForLanguageModeling`, fused AdamW, clipped gradients.

    own_start: with the weights that it draws itself, instead of ours.
    """
    import transformers

    transformers.logging.set_verbosity_error()
    corpus = setting.corpus
    kind, how = transformers.BertForPreTraining, {"attn_implementation": "sdpa"}
    if own_start:
        config = transformers.BertConfig.from_pretrained(setting.weights)
        model = kind._from_config(config, **how)
    else:
        model = kind.from_pretrained(setting.weights, **how)
    model = model.to(setting.device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=setting.rate, fused=True)
    collator = transformers.DataCollatorForLanguageModeling(tokenizer_of(corpus))
    pairs = PairDataset(corpus, setting.seed)
    how = {"shuffle": True, "drop_last": True, "collate_fn": collator}
    loader = DataLoader(pairs, setting.sequences, **how)

    def step(batch: dict[str, Tensor]) -> None:
        model(**{name: part.to(setting.device) for name, part in batch.items()}).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()

    def shape(batch: dict[str, Tensor]) -> Shape:  # the words of every position are scored
        sequences, length = batch["input_ids"].shape
        return Shape(sequences, length, int(batch["attention_mask"].sum()), sequences * length)

    def score(model: Any, ids: Tensor, segments: Tensor, mask: Tensor, where: Tensor) -> Scores:
        said = model(input_ids=ids, token_type_ids=segments, attention_mask=mask)
        return Scores(said.prediction_logits[where], said.seq_relationship_logits)

    scorer = partial(OurArguments, score)
    return Learner(model, optimizer, for_ever(loader), step, shape, scorer)


def tokenizer_of(corpus: PreparedCorpus) -> Any:
    """Our vocabulary in a tokenizer of `transformers`: it pads, and knows what [MASK] is."""
    from transformers import BertTokenizer

    return BertTokenizer(vocab=dict(corpus.tokenizer.vocab))


class PairDataset(Dataset):
    """The pairs that we train on, in the form that the collator reads."""

    def __init__(self, corpus: PreparedCorpus, seed: int = 0) -> None:
        self.store = corpus.training
        self.pairs = plan_pairs(self.store, LENGTH, np.random.default_rng(seed))
        self.cls, self.sep = (corpus.tokenizer.vocab[name] for name in ("[CLS]", "[SEP]"))

    def __len__(self) -> int:
        return len(self.pairs.not_next)

    def __getitem__(self, i: int) -> dict[str, Any]:
        pairs, ids = self.pairs, self.store.ids
        a = ids[pairs.a_start[i] : pairs.a_end[i]].tolist()
        b = ids[pairs.b_start[i] : pairs.b_end[i]].tolist()
        return {
            "input_ids": [self.cls, *a, self.sep, *b, self.sep],
            "token_type_ids": [0] * (len(a) + 2) + [1] * (len(b) + 1),
            "special_tokens_mask": [1, *[0] * len(a), 1, *[0] * len(b), 1],
            "next_sentence_label": int(pairs.not_next[i]),
        }


# `d2l`


def book(setting: Setting) -> Learner:
    """`BERTModel` with the loss and the optimiser of the book; gradients clipped as everybody's."""
    d2l = import_book()
    columns = torch.load(Path(setting.folder) / "book.pt")
    config = json.loads((setting.weights / "config.json").read_text(encoding="utf-8"))
    sizes = ["vocab_size", "hidden_size", "intermediate_size", "num_attention_heads"]
    sizes += ["num_hidden_layers", "hidden_dropout_prob"]
    model = d2l.BERTModel(*(config[name] for name in sizes), max_len=LENGTH).to(setting.device)
    cross_entropy, dataset = nn.CrossEntropyLoss(), TensorDataset(*columns)

    def loss(batch: list[Tensor]) -> Tensor:
        batch = [part.to(setting.device) for part in batch]
        return d2l._get_batch_loss_bert(model, cross_entropy, setting.words, *batch)[-1]

    with torch.no_grad():  # its lazy layers get their sizes
        loss(dataset[:2])
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.rate)
    loader = DataLoader(dataset, setting.sequences, shuffle=True, drop_last=True)

    def step(batch: list[Tensor]) -> None:
        optimizer.zero_grad()
        loss(batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()

    def shape(batch: list[Tensor]) -> Shape:  # words are padded, too: as many in every sequence
        ids, _, lengths, positions, *_ = batch
        return Shape(*ids.shape, int(lengths.sum()), positions.numel())

    scorer = partial(OurArguments, book_scores)
    return Learner(model.train(), optimizer, for_ever(loader), step, shape, scorer)


def book_scores(model: Any, ids: Tensor, segments: Tensor, mask: Tensor, where: Tensor) -> Scores:
    """What the book's model says, whose column 1 means IsNext."""
    encoded, _, nsp_logits = model(ids, segments, mask.sum(dim=1).float())
    return Scores(model.mlm.mlp(encoded[where]), nsp_logits.flip(-1))


def import_book() -> Any:
    """`d2l.torch`; other chapters than BERT's need pandas and torchvision, empty ones will do."""
    vision = ModuleType("torchvision")
    vision.transforms = ModuleType("torchvision.transforms")
    stand_ins = [ModuleType("pandas"), vision, vision.transforms]
    missing = [module for module in stand_ins if find_spec(module.__name__.split(".")[0]) is None]
    sys.modules |= {module.__name__: module for module in missing}
    try:
        from d2l import torch as d2l
    finally:
        for module in missing:
            del sys.modules[module.__name__]
    return d2l


def write_examples(setting: Setting) -> dict[str, Any]:
    """The book's preparation: a job that lets its code make examples of all documents."""
    d2l, corpus = import_book(), setting.corpus
    vocab = d2l.Vocab()  # which would count words itself; it gets our ids
    names = sorted(corpus.tokenizer.vocab, key=corpus.tokenizer.vocab.__getitem__)
    special = {f"[{name.upper()}]": f"<{name}>" for name in ("pad", "unk", "cls", "sep", "mask")}
    vocab.idx_to_token = [special.get(name, name) for name in names]
    vocab.token_to_idx = {name: id for id, name in enumerate(vocab.idx_to_token)}

    def write() -> None:
        random.seed(0)
        paragraphs = sentences_as_tokens(corpus, vocab.idx_to_token)
        pairs = []
        for paragraph in paragraphs:
            pairs += d2l._get_nsp_data_from_paragraph(paragraph, paragraphs, vocab, LENGTH)
        masked = [(*d2l._get_mlm_data_from_tokens(tokens, vocab), *rest) for tokens, *rest in pairs]
        columns = d2l._pad_bert_inputs(masked, LENGTH, vocab)
        torch.save([torch.stack(column) for column in columns], Path(setting.folder) / "book.pt")

    seconds, cpu, _ = clock(write)
    return {"seconds": [seconds], "cpu": [cpu]}


def sentences_as_tokens(corpus: PreparedCorpus, names: list[str]) -> list[list[list[str]]]:
    """Documents of sentences of tokens, as the book's code takes them."""
    store = corpus.training
    tokens = [names[id] for id in store.ids.tolist()]
    sentences = [tokens[start:end] for start, end in pairwise(store.sentence_starts.tolist())]
    return [sentences[start:end] for start, end in pairwise(store.document_starts.tolist())]
