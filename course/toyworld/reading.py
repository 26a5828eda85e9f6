"""The tokens that are read of a sentence, and their probability given each hidden state."""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from course.toyworld.world import CLS_ID, MASK_ID, N_SPECIAL, PAD_ID, SEP_ID, World

# The masking of Devlin et al. (2019): 15 % of the words are chosen, and of these ...
PROBABILITY, MASKED_SHARE, RANDOM_SHARE = 0.15, 0.8, 0.1
IMPOSSIBLE = -1e4  # for log 0, so that the difference of two of them is finite


class Reading(NamedTuple):
    """Pairs, and the evidence of each of their sentences about its state."""

    sentence: Tensor  # [B, L], 0 in A and 1 in B
    place: Tensor  # [B, L], the place in the sentence, counted from 0
    evidence: Tensor  # [B, 2, K, J], log P(what is read of a sentence | plan, a part's value)


def read_pairs(ids: Tensor, world: World, probability: float) -> Reading:
    """Split pairs [B, L] into sentences and compute their evidence.

    As every word depends on only one part of the state, P(sentence | state) is a product of one
    factor per part. Their logarithms are in the columns of `World.words`, J for each plan.

    Raises ValueError if a row is not a pair of this world.
    """
    ends = ids == SEP_ID  # [B, L]
    if (ids[:, 0] != CLS_ID).any() or (ends.sum(dim=1) != 2).any():
        raise ValueError("toyworld: ids must be rows of [CLS] A [SEP] B [SEP], then padding")
    sentence = ends.cumsum(dim=1) - ends.long()
    start = 1 + ends.int().argmax(dim=1, keepdim=True)  # [B, 1], where B begins
    place = torch.arange(ids.shape[1]) - torch.where(sentence == 0, 1, start)

    log_read = log_reading_table(world, probability)
    places = torch.arange(len(log_read))  # [I]
    padded = F.pad(ids, (0, len(places)), value=PAD_ID)
    first = torch.where(1 + places < start, padded[:, 1 : 1 + len(places)], PAD_ID)
    tokens = torch.stack([first, padded.gather(1, start + places)], dim=1)  # [B, 2, I]
    evidence = log_read[places, tokens].sum(dim=2)  # [B, 2, K, J]
    best = sum(part.amax(dim=-1) for part in evidence.split(world.sizes, dim=-1)).amax(dim=2)
    if best.min() < IMPOSSIBLE / 2:
        text = world.tokenizer.decode(ids[best.amin(dim=1).argmin()], skip_special_tokens=False)
        raise ValueError(f"toyworld: ids must be pairs of this world's sentences; got {text!r}")
    return Reading(sentence, place, evidence)


@lru_cache(maxsize=4)
def log_reading_table(world: World, probability: float) -> Tensor:
    """log P(a token is read at a place | plan, a part's value): [I, V, K, J].

    It is 0 if the place does not depend on the part.
    """
    looks = world.words.sum(dim=-1, keepdim=True) > 0  # [I, K, J, 1]
    read = world.words @ masking_matrix(world, chosen=probability)  # [I, K, J, V]
    log_read = torch.where(looks, read, 1.0).double().log().clamp(min=IMPOSSIBLE)
    return log_read.permute(0, 3, 1, 2).contiguous()


def masking_matrix(world: World, *, chosen: float) -> Tensor:
    """The probability that a word (row) is read as another token (column): [V, V].

    chosen: the probability that the word was chosen. Special tokens are always read unchanged.
    """
    size = len(world.spelling)
    hidden = (1 - MASKED_SHARE - RANDOM_SHARE) * torch.eye(size)
    hidden[:, MASK_ID] += MASKED_SHARE
    hidden[:, N_SPECIAL:] += RANDOM_SHARE / (size - N_SPECIAL)
    matrix = (1 - chosen) * torch.eye(size) + chosen * hidden
    matrix[:N_SPECIAL] = torch.eye(size)[:N_SPECIAL]
    return matrix
