"""The language with known entropy, in batches for `pretrain` and `evaluate`."""

import numpy as np
import torch
from torch.utils.data import Dataset

from bertlab.pretraining.batches import Batch, Batches
from bertlab.pretraining.masking import Masking, mask_tokens
from course.toyworld import TOYWORLD, World, pairs


class ToyData(Batches):
    """Pairs of a toy world, new ones in every epoch, so none can be memorised.

    n_batches: of an epoch, arbitrary for an endless language; probability: that a word is chosen.
    Another seed gives independent pairs, for validation.
    """

    def __init__(
        self,
        world: World = TOYWORLD,
        *,
        batch_size: int = 64,
        n_batches: int = 250,
        seed: int = 0,
        probability: float = 0.15,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("n_batches", n_batches)):
            if value < 1:
                raise ValueError(f"ToyData: {name} must be at least 1; got {value}")
        self.world, self.batch_size, self.n_batches = world, batch_size, n_batches
        self.seed, self.masking = seed, Masking.of(world.tokenizer, probability)

    def epoch(self, number: int) -> "ToyEpoch":
        """The batches of an epoch, counted from 0."""
        return ToyEpoch(self, number)


class ToyEpoch(Dataset):
    """`epoch[i]` is batch i, always the same one."""

    def __init__(self, data: ToyData, number: int) -> None:
        self.data, self.number = data, number
        # All at once: batch by batch, drawing would take as long as training.
        self.pairs = pairs(data.n_batches * data.batch_size, self._seed(), data.world)

    def __len__(self) -> int:
        return self.data.n_batches

    def __getitem__(self, index: int) -> Batch:
        index = range(len(self))[index]  # raises IndexError, which ends a `for`
        rows = slice(index * self.data.batch_size, (index + 1) * self.data.batch_size)
        width = int(self.pairs.attention_mask[rows].sum(dim=1).max())  # of the longest pair
        ids, segment_ids, attention_mask = (part[rows, :width] for part in self.pairs[:3])
        generator = torch.Generator().manual_seed(self._seed(index))
        holes, predict = mask_tokens(ids, self.data.masking, generator)
        next_sentence = self.pairs.next_sentence[rows]
        return Batch(holes, segment_ids, attention_mask, predict, ids[predict], next_sentence)

    def _seed(self, *numbers: int) -> int:
        """A seed for the pairs of this epoch, or for the masks of one of its batches."""
        sequence = np.random.SeedSequence(self.data.seed, spawn_key=(self.number, *numbers))
        return int(sequence.generate_state(1)[0])
