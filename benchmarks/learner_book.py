"""The BERT of "Dive into Deep Learning" (PyPI: `d2l`), from the installed package.

Its data code makes all examples before training starts, with holes that stay where they are; so
`write_examples` runs off the clock, once. Its vocabulary is ours, its model is of our size; all
else is the book's: one sentence in each segment, padding to the full length, ReLU, embeddings
that are neither normed nor tied to the words' scores, Adam.
"""

import json
import random
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.learners import (
    CLIP,
    LENGTH,
    Learner,
    Scores,
    Setting,
    Shape,
    corpus_of,
    for_ever,
)
from bertlab.data.prepared import PreparedCorpus

# What the book calls our special tokens.
NAMES = {"[PAD]": "<pad>", "[UNK]": "<unk>", "[CLS]": "<cls>", "[SEP]": "<sep>", "[MASK]": "<mask>"}
# Arguments of `BERTModel`, as the configuration of the published models calls them.
SIZES = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_hidden_layers",
    "hidden_dropout_prob",
)


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


def book_vocabulary(d2l: Any, vocab: dict[str, int]) -> Any:
    """Our ids in the book's `Vocab`, which would count words itself."""
    book = d2l.Vocab()
    names = sorted(vocab, key=vocab.__getitem__)
    book.idx_to_token = [NAMES.get(name, name) for name in names]
    book.token_to_idx = {name: id for id, name in enumerate(book.idx_to_token)}
    return book


def write_examples(folder: str) -> int:
    """Let the book's code make examples of all documents; returns how many."""
    d2l, corpus = import_book(), corpus_of(folder)
    vocab = book_vocabulary(d2l, corpus.tokenizer.vocab)
    random.seed(0)
    paragraphs = sentences_as_tokens(corpus, vocab.idx_to_token)
    pairs = []
    for paragraph in paragraphs:
        pairs += d2l._get_nsp_data_from_paragraph(paragraph, paragraphs, vocab, LENGTH)
    masked = [(*d2l._get_mlm_data_from_tokens(tokens, vocab), *rest) for tokens, *rest in pairs]
    columns = d2l._pad_bert_inputs(masked, LENGTH, vocab)
    torch.save([torch.stack(column) for column in columns], Path(folder) / "book.pt")
    return len(pairs)


def sentences_as_tokens(corpus: PreparedCorpus, names: list[str]) -> list[list[list[str]]]:
    """Documents of sentences of tokens, as the book's code takes them."""
    store = corpus.training
    starts = store.sentence_starts.tolist()
    tokens = [names[id] for id in store.ids.tolist()]
    sentences = [tokens[start:end] for start, end in pairwise(starts)]
    edges = store.document_starts.tolist()
    return [sentences[start:end] for start, end in pairwise(edges)]


class OurArguments(nn.Module):
    """The book's model, called like ours."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, segment_ids: Tensor, attention_mask: Tensor, predict: Tensor
    ) -> Scores:
        """Score the words where `predict` is True; the book's column 1 means IsNext."""
        lengths = attention_mask.sum(dim=1).float()
        encoded, _, nsp_logits = self.model(ids, segment_ids, lengths)
        return Scores(self.model.mlm.mlp(encoded[predict]), nsp_logits.flip(-1))


def book(setting: Setting) -> Learner:
    """`BERTModel` with the loss and the optimiser of the book; gradients clipped as everybody's."""
    d2l = import_book()
    columns = torch.load(Path(setting.folder) / "book.pt")
    config = json.loads((setting.weights / "config.json").read_text(encoding="utf-8"))
    model = d2l.BERTModel(*(config[name] for name in SIZES), max_len=LENGTH).to(setting.device)
    loss, dataset = nn.CrossEntropyLoss(), TensorDataset(*columns)
    with torch.no_grad():  # its lazy layers get their sizes
        d2l._get_batch_loss_bert(model, loss, setting.words, *on(setting.device, dataset[:2]))
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.rate)
    loader = DataLoader(dataset, setting.sequences, shuffle=True, drop_last=True)

    def step(batch: list[Tensor]) -> None:
        optimizer.zero_grad()
        batch = on(setting.device, batch)
        *_, total = d2l._get_batch_loss_bert(model, loss, setting.words, *batch)
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()

    return Learner(model.train(), optimizer, for_ever(loader), step, shape, OurArguments)


def on(device: str, parts: Any) -> list[Tensor]:
    """All parts of a batch on a device."""
    return [part.to(device) for part in parts]


def shape(batch: list[Tensor]) -> Shape:
    """The book pads what is to be guessed, too: the same number in every sequence."""
    ids, _, lengths, positions, *_ = batch
    return Shape(*ids.shape, int(lengths.sum()), positions.numel())
