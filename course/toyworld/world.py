"""The world of the stories: who, where, with what, in which mood, in which words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bertlab.tokenizers.wordpiece import BERT_SPECIAL_TOKENS, WordPiece

PAD_ID, _, CLS_ID, SEP_ID, MASK_ID = range(len(BERT_SPECIAL_TOKENS))
N_SPECIAL = len(BERT_SPECIAL_TOKENS)  # their ids come first
PARTS = ("heroes", "places", "things", "moods")  # of a sentence's hidden state, besides the plan


class Hero(NamedTuple):
    """The hero of a story, and the pronouns for the name."""

    name: str
    subject: str  # she
    object: str  # her
    possessive: str  # her
    plural: bool = False


class Thing(NamedTuple):
    """Something that a hero finds and keeps."""

    name: str
    plural: bool = False


class Mood(NamedTuple):
    """How a hero feels, and what a hero in this mood does."""

    adjectives: tuple[str, ...]
    doings: tuple[str, ...]


HEROES = (
    *(Hero(name, "she", "her", "her") for name in ("Mia", "Rosa")),
    *(Hero(name, "he", "him", "his") for name in ("Tom", "Omar")),
    *(Hero(name, "it", "it", "its") for name in ("Rex", "Puck")),
    *(Hero(name, "they", "them", "their", plural=True) for name in ("elves", "pirates")),
    Hero("we", "we", "us", "our", plural=True),
    Hero("you", "you", "you", "your", plural=True),
)
PLACES = ("village", "bridge", "forest", "lake", "hill", "castle")
THINGS = (*(Thing(name) for name in ("lamp", "drum", "kite")), Thing("boots", plural=True))
MOODS = (
    Mood(("happy", "merry"), ("singing", "dancing")),
    Mood(("hungry", "thirsty"), ("cooking", "drinking")),
    Mood(("tired", "sleepy"), ("resting", "dreaming")),
)
PLANS = (  # kinds of sentences; lower-case parts are words, capitals are `SLOTS`
    "SUBJECT GOES to the PLACE with POSSESSIVE THING",
    "SUBJECT FINDS POSSESSIVE THING near the PLACE",
    "SUBJECT IS DOING with POSSESSIVE THING",
    "POSSESSIVE THING MAKES OBJECT MOOD",
)


class Slot(NamedTuple):
    """A gap in a plan: the part of the hidden state that fills it, and its words."""

    part: str
    words: Callable[[Any], list[str]]


def agreeing(part: str, singular: str, plural: str) -> Slot:
    """Verbs in singular and plural: "she walks", "they walk"."""
    return Slot(part, lambda value: (plural if value.plural else singular).split())


SLOTS = {
    "SUBJECT": Slot("heroes", lambda hero: sorted({hero.name, hero.subject})),
    "OBJECT": Slot("heroes", lambda hero: [hero.object]),
    "POSSESSIVE": Slot("heroes", lambda hero: [hero.possessive]),
    "GOES": agreeing("heroes", "walks runs comes", "walk run come"),
    "FINDS": agreeing("heroes", "finds sees", "find see"),
    "IS": agreeing("heroes", "is", "are"),
    "PLACE": Slot("places", lambda place: [place]),
    "THING": Slot("things", lambda thing: [thing.name]),
    "MAKES": agreeing("things", "makes", "make"),
    "MOOD": Slot("moods", lambda mood: list(mood.adjectives)),
    "DOING": Slot("moods", lambda mood: list(mood.doings)),
}


@dataclass(frozen=True)
class World:
    """A small language with known probabilities.

    A sentence has a hidden state: a plan (the kind of sentence), a hero, a place, a thing and a
    mood. From one sentence of a story to the next,

    - each part stays or, with its probability in `anew` (in the order of `PARTS`), is drawn again,
      possibly with the same result; a hero always stays;
    - the plan is any other one.

    All of this treats states equally. So at each sentence of a story, including the first one, all
    states are equally likely.

    The words depend only on the state, each of them on the plan and at most one other part of it.
    If a slot has several words, all are equally likely, and so are a name and its pronoun.

    Raises ValueError if a part is empty, a plan has an unknown slot, or a probability is invalid.

    >>> len(TOYWORLD.tokenizer.vocab)
    68
    """

    heroes: tuple[Hero, ...] = HEROES
    places: tuple[str, ...] = PLACES
    things: tuple[Thing, ...] = THINGS
    moods: tuple[Mood, ...] = MOODS
    plans: tuple[str, ...] = PLANS
    anew: tuple[float, float, float, float] = (0, 0.5, 0.3, 0.5)

    def __post_init__(self) -> None:
        for name in (*PARTS, "plans"):
            if not getattr(self, name):
                raise ValueError(f"World: {name} must hold at least one; got none")
        if len(self.anew) != len(PARTS) or not all(0 <= share <= 1 for share in self.anew):
            raise ValueError(
                f"World: anew must hold a probability for each of {', '.join(PARTS)}; "
                f"got {self.anew}"
            )
        slots = {slot for plan in self.plans for slot in plan.split() if slot.isupper()}
        if unknown := slots - set(SLOTS):
            raise ValueError(
                f"World: plans may use the slots {', '.join(SLOTS)}; "
                f"got {', '.join(sorted(unknown))}"
            )

    @cached_property
    def next_plan(self) -> Tensor:
        """P(plan of the next sentence | plan of this one): [K, K]."""
        k = len(self.plans)
        return (torch.ones(k, k) - torch.eye(k)) / (k - 1) if k > 1 else torch.ones(1, 1)

    @cached_property
    def next_part(self) -> tuple[Tensor, ...]:
        """For hero, place, thing and mood: P(the next sentence's | this one's), [n, n] each.

        Rows sum to 1, and so do columns: that is why all states stay equally likely.
        """
        counts = [len(getattr(self, part)) for part in PARTS]
        return tuple(
            (1 - share) * torch.eye(n) + share / n
            for n, share in zip(counts, self.anew, strict=True)
        )

    @cached_property
    def sizes(self) -> list[int]:
        """The number of columns of `words` for each part: 1 for no part, then one per value."""
        return [1, *(len(getattr(self, part)) for part in PARTS)]

    @cached_property
    def spelling(self) -> list[str]:
        """The vocabulary by id, spelled as in stories: names are capitalised."""
        words = {word for *_, choices in self._choices() for word in choices}
        return [*BERT_SPECIAL_TOKENS, *sorted(words - set(BERT_SPECIAL_TOKENS), key=str.lower)]

    @cached_property
    def tokenizer(self) -> WordPiece:
        """BERT's tokenizer with this world's words, each of which is one token."""
        words = [*BERT_SPECIAL_TOKENS, *(word.lower() for word in self.spelling[N_SPECIAL:])]
        vocab = {word: id for id, word in enumerate(words)}
        return WordPiece(vocab, special_tokens=BERT_SPECIAL_TOKENS)

    @cached_property
    def words(self) -> Tensor:
        """The probability of each token at each place of a sentence: [I, K, J, V].

        K plans; J columns, the first for words that depend only on the plan, then a column for each
        hero, place, thing and mood. For example, a place that is filled by a thing has its
        probabilities in the columns of the things and 0 elsewhere. A sentence's words are followed
        by [SEP], then [PAD] up to the I-th place.
        """
        ids = {word: id for id, word in enumerate(self.spelling)}
        length = 1 + max(len(plan.split()) for plan in self.plans)
        table = torch.zeros(length, len(self.plans), sum(self.sizes), len(ids))
        for place, plan, column, choices in self._choices():
            table[place, plan, column, [ids[word] for word in choices]] = 1 / len(choices)
        return table

    def _choices(self) -> Iterator[tuple[int, int, int, list[str]]]:
        """(place, plan, column, the possible words), each plan from left to right."""
        length = 1 + max(len(plan.split()) for plan in self.plans)
        start = dict(zip(PARTS, accumulate(self.sizes), strict=False))  # first columns of the parts
        for k, plan in enumerate(self.plans):
            slots = [*plan.split(), "[SEP]"]
            slots += ["[PAD]"] * (length - len(slots))
            for place, slot in enumerate(slots):
                if slot not in SLOTS:
                    yield place, k, 0, [slot]
                    continue
                part, words = SLOTS[slot]
                for j, value in enumerate(getattr(self, part), start[part]):
                    yield place, k, j, words(value)


TOYWORLD = World()
