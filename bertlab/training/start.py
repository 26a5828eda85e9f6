"""How a pre-training starts: its initial weights, and perhaps with short sequences.

A masked language model stays on a plateau for long: it knows word frequencies, and must discover by
chance that a neighbour tells more. `neighbours_start` shortens the plateau. What it plants must not
be called learned afterwards (lecture 10, section 2).
"""

import math
from copy import copy
from typing import Any

import torch
from torch.utils.data import ConcatDataset, Dataset, Subset

from bertlab.model.bert import draw_weights, sinusoidal_positions
from bertlab.model.checks import require
from bertlab.model.heads import BertForPreTraining
from bertlab.parts import part
from bertlab.pretraining.batches import Batch, Batches, PretrainingData

OFFSETS = (-1, 1, -2, 2)  # from a token to those that the planted heads attend to
WAVES = 8  # for finding it, from 1 radian per token down to about 1/3
SHARPNESS = 3.0  # gives about half of the attention to that one token


@part("08")
def plain_start(model: BertForPreTraining, seed: int = 0) -> BertForPreTraining:
    """Draw all matrices at random, including positions: BERT's sd 0.02, times √(768 / D).

    So a small model starts with the activation scale of BERT-base; for BERT-base this is BERT's
    own initialisation. Returns the same model.

    Source: Devlin et al.'s code (sd 0.02 at D = 768).
    """
    std = 0.02 * math.sqrt(768 / model.config.d_model)
    draw_weights(model, torch.Generator().manual_seed(seed), std)
    return model


@part("08")
def initial_weights(model: BertForPreTraining, seed: int = 0) -> BertForPreTraining:
    """`plain_start`, but positions are waves with the scale of random ones.

    So the model need not learn which positions are adjacent. Returns the same model.

    Source: Vaswani et al. (2017), section 3.5 (waves).
    """
    position = plain_start(model, seed).bert.embeddings.position.weight
    waves = sinusoidal_positions(model.config.max_length, model.config.d_model)
    with torch.no_grad():
        position.copy_(0.02 * math.sqrt(768 / model.config.d_model) * math.sqrt(2) * waves)
    return model


@part("08")
def look_at_neighbours(model: BertForPreTraining) -> BertForPreTraining:
    """Let up to four heads of the first layer attend to the nearest tokens at the start.

    A few numbers of every vector are only for the position: (sin ωp, cos ωp) of eight fast waves.
    A query copies them, a key rotates them by ω times the offset; so their product, the sum of
    cos ω(p_key - p_query - offset), is largest at that offset. Training then changes all of it.
    Returns the same model, which must come from `initial_weights`.

    Source: ours, after Vaswani et al. (2017), section 3.5 (an offset is a rotation of the waves),
    and Clark et al. (2019), section 3.1 (BERT's own heads learn to attend to the next token).
    """
    D, H = model.config.d_model, model.config.n_heads
    d_head = D // H
    sines = 2 * max(1, D // 128) * torch.arange(min(WAVES, d_head // 2))
    speeds = 10_000 ** (-sines / D)  # radians per token
    columns = torch.stack([sines, sines + 1], dim=1).flatten()
    n = len(columns)
    embeddings, attention = model.bert.embeddings, model.bert.layers[0].attention
    with torch.no_grad():
        embeddings.token.weight[:, columns] = 0
        embeddings.segment.weight[:, columns] = 0
        query, key, _ = attention.query_key_value.weight.chunk(3)
        for head, offset in zip(range(H), OFFSETS, strict=False):
            sin, cos = (speeds * offset).sin(), (speeds * offset).cos()
            turns = torch.stack([cos, -sin, sin, cos], dim=1).view(-1, 2, 2)
            rows = slice(head * d_head, head * d_head + n)
            query[rows], key[rows] = 0, 0
            query[rows, columns] = SHARPNESS * torch.eye(n)
            key[rows, columns] = SHARPNESS * torch.block_diag(*turns)
    return model


def neighbours_start(model: BertForPreTraining, seed: int = 0) -> BertForPreTraining:
    """Both: waves, and heads that attend to the neighbours. Returns the same model."""
    return look_at_neighbours(initial_weights(model, seed))


STARTS = {"plain": plain_start, "neighbours": neighbours_start}


PART = 4  # of the length, as BERT's 128 of 512
SHORTEST = 16  # tokens


class ShortFirst(Batches):
    """Batches of short sequences for the first steps, then those of `data`.

    data: of the second stage; steps: the number of batches, at least 1, with sequences of a quarter
    of its length and four times as many of them, so that a step reads the same number of tokens.

    The short stage is epoch 0, even if it passes over the text several times; epoch 0 of `data`
    follows it. Raises ValueError if `steps` is less than 1.

    Source: Devlin et al. (2019), appendix A.2: 128 tokens for 90 % of the steps, then 512.
    """

    def __init__(self, data: PretrainingData, steps: int) -> None:
        self.data, self.short, self.steps = data, copy(data), steps
        require(self, "steps", steps >= 1, "must be at least 1")
        self.short.max_length = min(data.max_length, max(SHORTEST, data.max_length // PART))
        self.short.batch_size = data.batch_size * data.max_length // self.short.max_length

    def epoch(self, number: int) -> Dataset[Batch]:
        """The short stage for 0, else an epoch of long sequences. Raises as `PretrainingData`."""
        if number > 0:
            return self.data.epoch(number - 1)
        epochs: list[Any] = []
        batches = 0
        while batches < self.steps:
            epochs.append(self.short.epoch(len(epochs)))
            batches += len(epochs[-1])
        return Subset(ConcatDataset(epochs), range(self.steps))
