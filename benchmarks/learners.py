"""Somebody who learns from text: what a contestant of `bench_pretraining` must be able to do."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.data.prepared import PreparedCorpus, open_corpus
from bertlab.pretraining.batches import PretrainingData

LENGTH = 128  # tokens in a sequence, at most
CLIP = 1.0  # the largest norm of all gradients together


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


class Setting(NamedTuple):
    """What all contestants of a comparison share.

    folder: holds what `prepare` of `learner_contests.py` wrote; words: entries of the
    vocabulary that are scored; rate: the learning rate at its highest; start: of the weights, one
    of `STARTS`; seed: of the weights and of the order of the text.
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


def corpus_of(folder: str) -> PreparedCorpus:
    """The tokenizer and the token ids."""
    return open_corpus(Path(folder) / "corpus")


def held_out(folder: str) -> PretrainingData:
    """The held-out text with its masks, the same for everybody."""
    corpus = corpus_of(folder)
    return PretrainingData(
        corpus.validation, corpus.tokenizer, max_length=LENGTH, batch_size=32, drop_last=False
    )


def for_ever(loader: torch.utils.data.DataLoader) -> Iterator[Any]:
    """Epoch after epoch."""
    while True:
        yield from loader
