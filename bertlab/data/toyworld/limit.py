"""The best that any model can do: exact probabilities of masked words and of next sentences.

A pair is read as a hidden Markov model of two steps. Its states are those of the two sentences,
and the second one has, half of the time, followed from the first and has otherwise been drawn
anew. A state says how probable each word is at each place, and the masking how probable it is
that this word is read as [MASK], or as another one. So the probability of what is read, given a
state, is a product over the places, and Bayes' rule does the rest. Nothing is estimated.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.data.toyworld.world import CLS, MASK, N_SPECIAL, PAD, SEP, TOYWORLD, World

# The masking of Devlin et al. (2019): 15 % of the words are chosen, and of these ...
PROBABILITY, MASKED_SHARE, RANDOM_SHARE = 0.15, 0.8, 0.1
IMPOSSIBLE = -1e4  # for log 0, so that the difference of two of them is a number
CHUNK = 512  # pairs that are read at once: bounds the memory


class Limit(NamedTuple):
    """The best possible figures on a batch of pairs; losses in nats."""

    mlm_loss: float
    mlm_accuracy: float
    nsp_loss: float
    nsp_accuracy: float


def posterior(
    ids: Tensor, predict: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The probability of each true word at the N masked positions, given all that is read: [N, V].

    ids: [B, L], pairs with holes, [CLS] A [SEP] B [SEP]; predict: boolean [B, L], the positions
    that were chosen; probability: with which each was. No model can have a smaller expected loss.

    Raises ValueError if a row of `ids` is no pair of this world, or `predict` does not fit.
    """
    chains = _chains(world)
    return torch.cat(
        [_guess(*part, world, probability, chains) for part in _chunks(ids, predict)]
    )


def posterior_of_sentence(
    ids: Tensor, predict: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The same, for a reader who sees only the sentence that the word stands in: [N, V].

    Computed as if it were known that B is from another story: then the other sentence says nothing.
    """
    chains = [chain[1:] for chain in _chains(world)]
    return torch.cat(
        [_guess(*part, world, probability, chains) for part in _chunks(ids, predict)]
    )


def word_frequencies(world: World = TOYWORLD) -> Tensor:
    """How frequent each word is in all stories: [V]; special tokens have 0."""
    parts = world.words.split(world.sizes, dim=2)
    counts = sum(part.mean(dim=2) for part in parts).sum(dim=(0, 1))  # a part's values are alike
    counts[:N_SPECIAL] = 0
    return counts / counts.sum()


def next_sentence_posterior(
    ids: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The probability that B follows A, given all that is read: [B].

    ids: [B, L], pairs, with holes or without (then probability=0). Raises ValueError if a row is
    no pair of this world.
    """
    plans, *_ = chains = _chains(world)
    relations = []
    for part in ids.split(CHUNK):
        ties = _ties(_read(part, world, probability).evidence, chains, world)
        joint = (plans * ties.prod(dim=0)).sum(dim=(2, 3))  # [B, 2], up to a factor
        relations.append(joint[:, 0] / joint.sum(dim=1))
    return torch.cat(relations).float()


def limit(
    ids: Tensor,
    predict: Tensor,
    words: Tensor,
    next_sentence: Tensor,
    world: World = TOYWORLD,
    probability: float = PROBABILITY,
) -> Limit:
    """What the best possible reader reaches on these very pairs.

    ids, predict: as in `posterior`; words: [N], the true ids at `predict`, row by row;
    next_sentence: [B], 0 where B follows A.
    """
    guesses = posterior(ids, predict, world, probability)
    following = next_sentence_posterior(ids, world, probability)
    of_label = torch.where(next_sentence == 0, following, 1 - following)
    return Limit(
        mlm_loss=mean_loss(guesses, words),
        mlm_accuracy=(guesses.argmax(dim=1) == words).float().mean().item(),
        nsp_loss=-of_label.log().mean().item(),
        nsp_accuracy=(of_label > 0.5).float().mean().item(),
    )


def mean_loss(probabilities: Tensor, words: Tensor) -> float:
    """The mean of -log p(true word), in nats.

    probabilities: [N, V], or [V] for the same guess everywhere; words: [N].
    """
    of_word = probabilities.expand(len(words), -1).gather(1, words[:, None])
    return -of_word.log().mean().item()


def masking_matrix(world: World, *, chosen: float) -> Tensor:
    """The probability that a word (row) is read as another token (column): [V, V].

    chosen: the probability that the word was chosen. Special tokens are always read as they are.
    """
    size = len(world.spelling)
    hidden = (1 - MASKED_SHARE - RANDOM_SHARE) * torch.eye(size)
    hidden[:, MASK] += MASKED_SHARE
    hidden[:, N_SPECIAL:] += RANDOM_SHARE / (size - N_SPECIAL)
    matrix = (1 - chosen) * torch.eye(size) + chosen * hidden
    matrix[:N_SPECIAL] = torch.eye(size)[:N_SPECIAL]
    return matrix


class _Reading(NamedTuple):
    """What is read, place by place, and what it says about the hidden states.

    As each word looks at one part of the state only, P(what is read | state) is a product of one
    number for each part; they stand in the columns of `World.words`.
    """

    sentence: Tensor  # [B, L], 0 in A and 1 in B
    place: Tensor  # [B, L], the place in the sentence, counted from 0
    evidence: Tensor  # [B, 2, K, J], log P(what is read of a sentence | plan, a part's value)


def _read(ids: Tensor, world: World, probability: float) -> _Reading:
    """Split pairs [B, L] into sentences and weigh what they say."""
    ends = ids == SEP  # [B, L]
    if (ids[:, 0] != CLS).any() or (ends.sum(dim=1) != 2).any():
        raise ValueError("toyworld: ids must be rows of [CLS] A [SEP] B [SEP], with padding behind")
    sentence = ends.cumsum(dim=1) - ends.long()
    start = 1 + ends.int().argmax(dim=1, keepdim=True)  # [B, 1], where B begins
    place = torch.arange(ids.shape[1]) - torch.where(sentence == 0, 1, start)

    log_read = _log_read(world, probability)
    places = torch.arange(len(log_read))  # [I]
    padded = F.pad(ids, (0, len(places)), value=PAD)
    first = torch.where(1 + places < start, padded[:, 1 : 1 + len(places)], PAD)
    tokens = torch.stack([first, padded.gather(1, start + places)], dim=1)  # [B, 2, I]
    evidence = log_read[places, tokens].sum(dim=2)  # [B, 2, K, J]
    best = sum(part.amax(dim=-1) for part in evidence.split(world.sizes, dim=-1)).amax(dim=2)
    if best.min() < IMPOSSIBLE / 2:  # no plan fits
        row = ids[best.amin(dim=1).argmin()]
        raise ValueError(
            f"toyworld: ids must be pairs of this world's sentences; got "
            f"{world.tokenizer.decode(row, skip_special_tokens=False)!r}"
        )
    return _Reading(sentence, place, evidence)


def _chains(world: World) -> list[Tensor]:
    """For the plan, for none of the parts, and for each: P(value in B | value in A), [2, n, n].

    In the first half B follows from A, in the second it is drawn anew.
    """
    follow = [world.next_plan, torch.ones(1, 1), *world.next_part]
    return [torch.stack([step, torch.full_like(step, 1 / len(step))]).double() for step in follow]


def _ties(evidence: Tensor, chains: list[Tensor], world: World) -> Tensor:
    """How well what A and B say about each part fits together: [C, B, Y, K, K].

    For each of the C parts, each of the Y relations of B to A, and each plan of A and of B.
    """
    parts = evidence.exp().split(world.sizes, dim=-1)  # [B, 2, K, n] each
    return torch.stack(
        [
            torch.einsum("bku,yuv,blv->bykl", part[:, 0], step, part[:, 1])
            for part, step in zip(parts, chains[1:], strict=True)
        ]
    )


def _messages(evidence: Tensor, chains: list[Tensor], world: World) -> Tensor:
    """What all the rest says about a part of a sentence's state: [B, 2, K, J].

    The rest are the other parts of this sentence, and the other sentence. This is the sum-product
    algorithm: the sum over all states is never written out.
    """
    ties = _ties(evidence, chains, world)
    messages = []
    for c, part in enumerate(evidence.exp().split(world.sizes, dim=-1)):
        rest = chains[0] * torch.cat([ties[:c], ties[c + 1 :]]).prod(dim=0)  # [B, Y, K, K]
        from_second = torch.einsum("yuv,blv->byul", chains[1 + c], part[:, 1])
        from_first = torch.einsum("yuv,bku->byvk", chains[1 + c], part[:, 0])
        to_first = torch.einsum("bykl,byul->bku", rest, from_second)
        to_second = torch.einsum("bykl,byvk->blv", rest, from_first)
        messages.append(torch.stack([to_first, to_second], dim=1))
    return torch.cat(messages, dim=-1)


def _guess(
    ids: Tensor, predict: Tensor, world: World, probability: float, chains: list[Tensor]
) -> Tensor:
    """Bayes' rule for each hole: [N, V]."""
    reading = _read(ids, world, probability)
    row, position = predict.nonzero(as_tuple=True)
    sentence, place = reading.sentence[row, position], reading.place[row, position]
    read = ids[row, position]
    own = reading.evidence[row, sentence] - _log_read(world, probability)[place, read]  # without it
    states = own.exp() * _messages(reading.evidence, chains, world)[row, sentence]  # [N, K, J]
    words = torch.zeros(len(row), len(world.spelling), dtype=states.dtype)
    for i in place.unique():
        words[place == i] = torch.einsum("nkj,kjv->nv", states[place == i], world.words[i].double())
    words = words * masking_matrix(world, chosen=1.0)[:, read].T  # as each hole was chosen
    return (words / words.sum(dim=1, keepdim=True)).float()


@lru_cache(maxsize=4)
def _log_read(world: World, probability: float) -> Tensor:
    """log P(what is read at a place | plan, a part's value): [I, V, K, J].

    It is 0 where the place does not look at the part.
    """
    looks = world.words.sum(dim=-1, keepdim=True) > 0  # [I, K, J, 1]
    read = world.words @ masking_matrix(world, chosen=probability)  # [I, K, J, V]
    log_read = torch.where(looks, read, 1.0).double().log().clamp(min=IMPOSSIBLE)
    return log_read.permute(0, 3, 1, 2).contiguous()


def _chunks(ids: Tensor, predict: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Some rows at a time."""
    if predict.dtype != torch.bool or predict.shape != ids.shape:
        raise ValueError(
            f"toyworld: predict must be boolean and have the shape of ids, {list(ids.shape)}; "
            f"got {predict.dtype} {list(predict.shape)}"
        )
    return zip(ids.split(CHUNK), predict.split(CHUNK), strict=True)
