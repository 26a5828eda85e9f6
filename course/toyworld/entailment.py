"""Natural language inference in the toy world, where labels are not opinions: they are computed.

A moment of a story is who, where, with what, and in which mood. A sentence is true of the moments
that it may describe, and there are only 720 moments: enumerating them shows what follows from a
sentence.
"""

import random
from collections.abc import Collection
from itertools import product
from typing import NamedTuple

from course.experiments.labels import Example
from course.toyworld.world import PARTS, SLOTS, TOYWORLD, Hero, Mood, Thing, World

LABELS = ("entailment", "neutral", "contradiction")
TRIES = 40  # premises drawn for a hypothesis; without all three labels, another hypothesis is drawn
CHANGED = 0.7  # of the premises describe a moment in which one to four parts are drawn again


class Moment(NamedTuple):
    """Everything that sentences can say about a moment; the fields are `PARTS`."""

    heroes: Hero
    places: str
    things: Thing
    moods: Mood


def meanings(world: World = TOYWORLD) -> dict[str, set[Moment]]:
    """Every sentence of a world, and the moments of which it is true.

    >>> len(meanings()), len(meanings()["Mia is singing with her drum"])
    (2160, 6)
    """
    true_of: dict[str, set[Moment]] = {}
    for moment in moments(world):
        for plan in world.plans:
            for sentence in sentences_of(moment, plan):
                true_of.setdefault(sentence, set()).add(moment)
    return true_of


def moments(world: World = TOYWORLD) -> list[Moment]:
    """All moments of a world, in order: 10 heroes x 6 places x 4 things x 3 moods are 720."""
    return [Moment(*values) for values in product(*(getattr(world, part) for part in PARTS))]


def sentences_of(moment: Moment, plan: str) -> list[str]:
    """All sentences of one kind about a moment."""
    words = [
        SLOTS[slot].words(getattr(moment, SLOTS[slot].part)) if slot in SLOTS else [slot]
        for slot in plan.split()
    ]
    texts = map(" ".join, product(*words))
    return [text[0].upper() + text[1:] for text in texts]


def relation(premise: set[Moment], hypothesis: set[Moment]) -> str:
    """The label of a pair of sentences, given the moments of which each is true.

    Entailment: the hypothesis is true in every moment that the premise allows; contradiction: in
    none of them; neutral: in some. Both are about the same moment.

    Source: the three labels are those of Bowman et al. (2015).

    >>> of = meanings()
    >>> relation(of["Mia is singing with her drum"], of["Her drum makes her merry"])
    'entailment'
    """
    if premise <= hypothesis:
        return "entailment"
    return "neutral" if premise & hypothesis else "contradiction"


def draw_inferences(
    n: int, seed: int, sentences: Collection[str] | None = None, world: World = TOYWORLD
) -> list[Example]:
    """`n` pairs, premise and hypothesis, with alternating labels.

    Each hypothesis occurs three times in a row, once with each label: alone it says nothing about
    the label. A premise describes a moment of which the hypothesis is true, or one that differs
    from such a moment in one to four parts. No sentence is its own premise.

    sentences: those to use, by default all of the world's. Raises ValueError if n is not a positive
    multiple of 3.
    """
    if n < 1 or n % len(LABELS):
        raise ValueError(f"draw_inferences: n must be a multiple of 3 and above 0; got {n}")
    true_of, everything, rng = meanings(world), moments(world), random.Random(seed)
    kept = true_of.keys() if sentences is None else set(sentences)
    told = {
        (moment, plan): [text for text in sentences_of(moment, plan) if text in kept]
        for moment, plan in product(everything, world.plans)
    }

    def some_sentence(moment: Moment) -> str:
        texts = told[moment, rng.choice(world.plans)]
        return rng.choice(texts) if texts else ""

    examples: list[Example] = []
    while len(examples) < n:
        hypothesis = some_sentence(rng.choice(everything))
        premises: dict[str, str] = {}
        for _ in range(TRIES if hypothesis else 0):
            moment = rng.choice(sorted(true_of[hypothesis]))
            if rng.random() < CHANGED:
                parts = rng.sample(PARTS, rng.randint(1, len(PARTS)))
                moment = moment._replace(**{p: rng.choice(getattr(world, p)) for p in parts})
            if (premise := some_sentence(moment)) not in ("", hypothesis):
                premises.setdefault(relation(true_of[premise], true_of[hypothesis]), premise)
        if len(premises) == len(LABELS):
            examples += [Example(premises[label], label, hypothesis) for label in LABELS]
    return examples
