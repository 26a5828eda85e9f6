"""Short sequences first: most relations are between near words, and are learned faster there."""

from copy import copy
from typing import Any

from torch.utils.data import ConcatDataset, Dataset, Subset

from bertlab._checks import require
from bertlab.pretraining.batches import Batch, Batches, PretrainingData

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
