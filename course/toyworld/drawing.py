"""Stories and sentence pairs, drawn from a world."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from course.toyworld.world import CLS_ID, PAD_ID, SEP_ID, TOYWORLD, World


class Pairs(NamedTuple):
    """Unmasked sentence pairs, [CLS] A [SEP] B [SEP], ready for masking and for the model."""

    ids: Tensor  # [N, L]
    segment_ids: Tensor  # [N, L], 1 for B and the [SEP] after it
    attention_mask: Tensor  # [N, L], boolean, False at padding
    next_sentence: Tensor  # [N], 0 if B follows A in A's story, 1 if B is from another


def stories(
    n: int, seed: int, sentences: tuple[int, int] = (4, 8), world: World = TOYWORLD
) -> list[list[str]]:
    """`n` stories, each a list of sentences: documents as in `bertlab.data.documents`.

    sentences: the smallest and the largest number of sentences in a story.

    >>> stories(1, seed=0, sentences=(2, 2))
    [['You run to the castle with your lamp', 'You are cooking with your lamp']]
    """
    low, high = sentences
    if n < 1 or not 1 <= low <= high:
        raise ValueError(
            f"stories: n must be at least 1 and sentences a range from 1 up; "
            f"got n={n}, sentences={sentences}"
        )
    generator = torch.Generator().manual_seed(seed)
    told = []
    states = draw_states(n, world, generator)
    for _ in range(high):
        told.append(draw_words(states, world, generator))
        states = draw_next(states, world, generator)
    lengths = torch.randint(low, high + 1, (n,), generator=generator).tolist()
    return [
        [spell(sentence, world) for sentence in story[:length]]
        for story, length in zip(torch.stack(told, dim=1).tolist(), lengths, strict=True)
    ]


def pairs(n: int, seed: int, world: World = TOYWORLD) -> Pairs:
    """`n` pairs of sentences; with probability 1/2 B is from another, independent story.

    Two seeds give independent pairs, so one can be for training and another for validation. All
    rows have the length of the longest possible pair of this world.

    Source: Devlin et al. (2019), section 3.1, task 2.
    """
    if n < 1:
        raise ValueError(f"pairs: n must be at least 1; got {n}")
    generator = torch.Generator().manual_seed(seed)
    next_sentence = torch.randint(2, (n,), generator=generator)
    first = draw_states(n, world, generator)
    following = draw_next(first, world, generator)
    other = draw_states(n, world, generator)
    second = torch.where(next_sentence[:, None] == 0, following, other)
    ids, segment_ids = join(
        draw_words(first, world, generator), draw_words(second, world, generator)
    )
    return Pairs(ids, segment_ids, ids != PAD_ID, next_sentence)


def draw_states(n: int, world: World, generator: torch.Generator) -> Tensor:
    """Uniformly random states: [n, 5], the numbers of plan, hero, place, thing and mood."""
    sizes = [len(world.plans), *world.sizes[1:]]
    return torch.stack([torch.randint(size, (n,), generator=generator) for size in sizes], dim=1)


def draw_next(states: Tensor, world: World, generator: torch.Generator) -> Tensor:
    """The states of the next sentences: [n, 5]."""
    columns = [
        torch.multinomial(matrix[now], 1, generator=generator).flatten()
        for matrix, now in zip((world.next_plan, *world.next_part), states.T, strict=True)
    ]
    return torch.stack(columns, dim=1)


def draw_words(states: Tensor, world: World, generator: torch.Generator) -> Tensor:
    """The words of a sentence for each state [n, 5], with [SEP] and [PAD]: ids [n, I]."""
    distinct, of_row = states.unique(dim=0, return_inverse=True)  # [U, 5], [n]
    plan, parts = distinct[:, :1], distinct[:, 1:]
    columns = F.pad(parts + torch.tensor(world.sizes[:-1]).cumsum(0), (1, 0))  # [U, 5]
    ids = []
    for words in world.words:  # [K, J, V]
        cumulated = words[plan, columns].sum(dim=1).cumsum(dim=1)[of_row]  # [n, V]
        draw = torch.rand(len(states), 1, generator=generator) * cumulated[:, -1:]
        ids.append(torch.searchsorted(cumulated, draw, right=True))  # the first word above it
    return torch.cat(ids, dim=1)


def join(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """[CLS] A [SEP] B [SEP] from sentences with [SEP] and [PAD]: ids and segments [n, 1 + 2I].

    first, second: [n, I].
    """
    n, width = first.shape
    ids = torch.full((n, 1 + 2 * width), PAD_ID)
    ids[:, 0] = CLS_ID
    ids[:, 1 : 1 + width] = first
    start = 1 + (first != PAD_ID).sum(dim=1, keepdim=True)  # [n, 1], where B begins
    places = start + torch.arange(width)
    ids.scatter_(1, places, second)
    segment_ids = (torch.arange(ids.shape[1]) >= start) & (ids != PAD_ID)
    return ids, segment_ids.long()


def spell(ids: list[int], world: World) -> str:
    """A sentence as text, with a capital letter."""
    text = " ".join(world.spelling[id] for id in ids if id not in (SEP_ID, PAD_ID))
    return text[:1].upper() + text[1:]
