"""The best possible predictions: exact probabilities of masked words and of next sentences.

A pair is a hidden Markov model with two steps. A and B each have a hidden state; B's follows from
A's with probability 1/2, otherwise it is drawn independently. `world` defines the words of a state,
`reading` the effect of masking, and Bayes' rule gives the result. Nothing is estimated, and no
state is omitted: the parts of a state change independently, so the sum over all pairs of states,
over eight million, is a product of small sums.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from course.toyworld.reading import (
    PROBABILITY,
    log_reading_table,
    masking_matrix,
    read_pairs,
)
from course.toyworld.world import MASK_ID, N_SPECIAL, TOYWORLD, World

CHUNK = 512  # pairs that are processed together: bounds the memory


class Limit(NamedTuple):
    """The best possible figures on a batch of pairs; losses in nats."""

    mlm_loss: float
    mlm_accuracy: float
    nsp_loss: float
    nsp_accuracy: float


def posterior(
    ids: Tensor, predict: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The probability of each word at the N masked positions, given the visible text: [N, V].

    ids: [B, L], masked pairs, [CLS] A [SEP] B [SEP]; predict: boolean [B, L], the chosen positions;
    probability: with which each was chosen. No model can have a smaller expected loss, whatever its
    training data: another story adds nothing about this one beyond `world`.

    Raises ValueError if a row of `ids` is not a pair of this world, or `predict` does not fit.

    >>> a, b = "[MASK] finds [MASK] drum near the lake", "her drum makes her happy"
    >>> ids = torch.tensor([TOYWORLD.tokenizer.encode(a, b).ids])
    >>> guesses = posterior(ids, ids == MASK_ID)
    >>> [TOYWORLD.spelling[guess.argmax()] for guess in guesses]
    ['she', 'her']
    """
    chains = _chains(world)
    return torch.cat([_guess(*part, world, probability, chains) for part in _chunks(ids, predict)])


def posterior_of_sentence(
    ids: Tensor, predict: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The same, for a reader who sees only the word's own sentence: [N, V].

    Computed as if B were known to be from another story: then the other sentence is uninformative.
    """
    chains = [chain[1:] for chain in _chains(world)]
    return torch.cat([_guess(*part, world, probability, chains) for part in _chunks(ids, predict)])


def word_frequencies(world: World = TOYWORLD) -> Tensor:
    """How frequent each word is in all stories: [V]; special tokens have 0."""
    parts = world.words.split(world.sizes, dim=2)
    counts = sum(part.mean(dim=2) for part in parts).sum(dim=(0, 1))  # values are equally likely
    counts[:N_SPECIAL] = 0
    return counts / counts.sum()


def next_sentence_posterior(
    ids: Tensor, world: World = TOYWORLD, probability: float = PROBABILITY
) -> Tensor:
    """The probability that B follows A, given everything that is read: [B].

    ids: [B, L], pairs, masked or unmasked (then probability=0). Raises ValueError if a row is not
    a pair of this world.
    """
    joint = _of_relations(ids, world, probability)
    return (joint[:, 0] / joint.sum(dim=1)).float()


def log_probability(ids: Tensor, world: World = TOYWORLD) -> Tensor:
    """log P(A and B), of the whole pair, in nats: [B].

    ids: [B, L], unmasked pairs. By the chain rule it is the sum over their tokens, each predicted
    from those before it: no model that reads from left to right has a smaller expected loss than
    the mean of its negative. Raises ValueError if a row is not a pair of this world.

    >>> a, b = "Mia sees her kite near the lake", "her kite makes her merry"
    >>> log_probability(torch.tensor([TOYWORLD.tokenizer.encode(a, b).ids]))
    tensor([-12.0444])
    """
    n_states = len(world.plans) * math.prod(world.sizes)  # of A, all equally likely
    return (_of_relations(ids, world, 0.0).mean(dim=1) / n_states).log().float()


def limit(
    ids: Tensor,
    predict: Tensor,
    words: Tensor,
    next_sentence: Tensor,
    world: World = TOYWORLD,
    probability: float = PROBABILITY,
) -> Limit:
    """The figures of the best possible reader on these pairs.

    ids, predict: as in `posterior`; words: [N], the true ids at `predict`, row by row;
    next_sentence: [B], 0 if B follows A.
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

    probabilities: [N, V], or [V] for the same prediction everywhere; words: [N].
    """
    of_word = probabilities.expand(len(words), -1).gather(1, words[:, None])
    return -of_word.log().mean().item()


def _of_relations(ids: Tensor, world: World, probability: float) -> Tensor:
    """The sum over all states of A and B of P(text | states) P(B | A): [B, 2].

    In the first column B follows from A, in the second it is drawn independently.
    """
    plans, *_ = chains = _chains(world)
    relations = []
    for part in ids.split(CHUNK):
        ties = _ties(read_pairs(part, world, probability).evidence, chains, world)
        relations.append((plans * ties.prod(dim=0)).sum(dim=(2, 3)))
    return torch.cat(relations)


def _chains(world: World) -> list[Tensor]:
    """For the plan, for none of the parts, and for each: P(value in B | value in A), [2, n, n].

    In the first half B follows from A, in the second it is drawn independently.
    """
    follow = [world.next_plan, torch.ones(1, 1), *world.next_part]
    return [torch.stack([step, torch.full_like(step, 1 / len(step))]).double() for step in follow]


def _ties(evidence: Tensor, chains: list[Tensor], world: World) -> Tensor:
    """How well A's and B's evidence about each part fits together: [C, B, Y, K, K].

    For each of the C parts, each of the Y relations of B to A, and each plan of A and of B.
    evidence: [B, 2, K, J]; chains: of `_chains`, [Y, n, n].
    """
    parts = evidence.exp().split(world.sizes, dim=-1)  # [B, 2, K, n] each
    return torch.stack(
        [
            torch.einsum("bku,yuv,blv->bykl", part[:, 0], chain, part[:, 1])
            for part, chain in zip(parts, chains[1:], strict=True)
        ]
    )


def _messages(evidence: Tensor, chains: list[Tensor], world: World) -> Tensor:
    """The evidence of everything else about each part of a sentence's state: [B, 2, K, J].

    Everything else is the other parts of this sentence, and the other sentence. Source: Pearl
    (1982), "Reverend Bayes on inference engines" (belief propagation, the sum-product algorithm).
    """
    ties = _ties(evidence, chains, world)
    messages = []
    for c, part in enumerate(evidence.exp().split(world.sizes, dim=-1)):
        others = chains[0] * torch.cat([ties[:c], ties[c + 1 :]]).prod(dim=0)  # [B, Y, K, K]
        from_second = torch.einsum("yuv,blv->byul", chains[1 + c], part[:, 1])
        from_first = torch.einsum("yuv,bku->byvk", chains[1 + c], part[:, 0])
        to_first = torch.einsum("bykl,byul->bku", others, from_second)
        to_second = torch.einsum("bykl,byvk->blv", others, from_first)
        messages.append(torch.stack([to_first, to_second], dim=1))
    return torch.cat(messages, dim=-1)


def _guess(
    ids: Tensor, predict: Tensor, world: World, probability: float, chains: list[Tensor]
) -> Tensor:
    """Bayes' rule for each masked word: [N, V]."""
    sentence, place, evidence = read_pairs(ids, world, probability)
    row = predict.nonzero()[:, 0]
    sentence, place, read = sentence[predict], place[predict], ids[predict]  # [N] each
    own = evidence[row, sentence] - log_reading_table(world, probability)[place, read]
    states = own.exp() * _messages(evidence, chains, world)[row, sentence]  # [N, K, J]
    words = torch.zeros(len(row), len(world.spelling), dtype=states.dtype)
    for i in place.unique():
        words[place == i] = torch.einsum("nkj,kjv->nv", states[place == i], world.words[i].double())
    words = words * masking_matrix(world, chosen=1.0)[:, read].T  # [MASK]: known to be chosen
    return (words / words.sum(dim=1, keepdim=True)).float()


def _chunks(ids: Tensor, predict: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Some rows at a time."""
    if predict.dtype != torch.bool or predict.shape != ids.shape:
        raise ValueError(
            f"toyworld: predict must be boolean and have the shape of ids, {list(ids.shape)}; "
            f"got {predict.dtype} {list(predict.shape)}"
        )
    if (predict & (ids < N_SPECIAL) & (ids != MASK_ID)).any():
        raise ValueError("toyworld: predict must be False at [CLS], [SEP] and padding")
    return zip(ids.split(CHUNK), predict.split(CHUNK), strict=True)
