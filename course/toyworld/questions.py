"""Questions about toy-world stories: who, where and what, or what the passage does not say.

Each sentence's state is known, so an answer is exact by construction, without a search in the text.
"""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import torch

from course.experiments.questions import Question, Span
from course.toyworld.drawing import draw_next, draw_states, draw_words, spell
from course.toyworld.world import PARTS, SLOTS, TOYWORLD, Hero

GOES, FINDS, IS, MAKES = range(4)  # TOYWORLD's plans


class Form(NamedTuple):
    """A question form for a slot of the sentences of one plan, given some of their other parts."""

    kind: str
    plan: int
    slot: str
    given: tuple[str, str]
    text: str


FORMS = (
    Form("where", GOES, "PLACE", ("heroes", "things"), "Where {do} {who} go with {own} {thing}?"),
    Form("where", FINDS, "PLACE", ("heroes", "things"), "Where {do} {who} find {own} {thing}?"),
    Form("who", GOES, "SUBJECT", ("places", "things"), "Who goes to the {place} with {a}{thing}?"),
    Form("who", FINDS, "SUBJECT", ("places", "things"), "Who finds {a}{thing} near the {place}?"),
    Form("what", GOES, "THING", ("heroes", "places"), "What {do} {who} take to the {place}?"),
    Form("what", FINDS, "THING", ("heroes", "places"), "What {do} {who} find near the {place}?"),
    Form("what", IS, "DOING", ("heroes", "things"), "What {are} {who} doing with {own} {thing}?"),
    Form("what", MAKES, "THING", ("heroes", "moods"), "What makes {whom} {mood}?"),
)


class Told(NamedTuple):
    """A sentence of a story or a passage, and its meaning."""

    text: str
    plan: int
    says: dict[str, Any]  # the values of those of `PARTS` that it mentions
    start: int = 0  # its first character in the passage

    @property
    def hero(self) -> Hero:
        """Its hero: every plan mentions one, by name or by pronoun."""
        return self.says["heroes"]

    @property
    def names_its_hero(self) -> bool:
        """Whether it contains the hero's name."""
        return self.plan != MAKES and self.word("SUBJECT") == self.hero.name.lower()

    def word(self, slot: str) -> str:
        """The word that fills a slot of the plan, lower-cased."""
        return self.text.lower().split()[TOYWORLD.plans[self.plan].split().index(slot)]

    def span(self, slot: str) -> Span:
        """The characters of the passage that fill a slot of the plan."""
        number = TOYWORLD.plans[self.plan].split().index(slot)
        words = self.text.split()
        start = self.start + sum(len(word) + 1 for word in words[:number])
        return start, start + len(words[number])


def toy_questions(
    n: int, seed: int, sentences: tuple[int, int] = (2, 4), no_answer: float = 1 / 3
) -> list[Question]:
    """`n` questions, each about its own passage, in which the stories of two heroes are mixed.

    The heroes have different pronouns, and each is named at least once. A reader who connects "she"
    with Mia, "runs" with "goes" and "sees" with "finds" can answer; one who only searches for the
    words of the question often cannot. The answer to "who" is a name, at any of its occurrences;
    the first answer is the one nearest to the sentence in question.

    sentences: the smallest and the largest number of sentences of one hero's story; no_answer: the
    expected share of questions without an answer; these combine what the passage says about
    different things. Two seeds give independent questions: one for training, one for testing.

    Raises ValueError if n is below 1, sentences is not a range, or no_answer is not from 0 to 1.

    >>> (question,) = toy_questions(1, seed=7, sentences=(1, 2), no_answer=0)
    >>> question.passage
    'You see your boots near the bridge. Omar walks to the hill with his boots.'
    >>> question.question, question.texts
    ('Who goes to the hill with boots?', ['Omar'])
    """
    low, high = sentences
    if n < 1 or not 1 <= low <= high or not 0 <= no_answer <= 1:
        raise ValueError(
            f"toy_questions: n must be at least 1, sentences a range from 1 up, and no_answer "
            f"from 0 to 1; got n={n}, sentences={sentences}, no_answer={no_answer}"
        )
    rng = random.Random(seed)
    pairs = _pairs_of_stories(high, seed)
    asked: list[Question] = []
    while len(asked) < n:
        answerable, question = rng.random() >= no_answer, None
        while question is None:
            stories = [story[: rng.randint(low, high)] for story in next(pairs)]
            if all(any(told.names_its_hero for told in story) for story in stories):
                question = _ask(_mixed(stories, rng), answerable, rng)
        asked.append(question)
    return asked


def _pairs_of_stories(length: int, seed: int) -> Iterator[list[list[Told]]]:
    """Endless pairs of stories about heroes with different pronouns."""
    generator, size = torch.Generator().manual_seed(seed), 256
    while True:
        states = draw_states(2 * size, TOYWORLD, generator)
        stories: list[list[Told]] = [[] for _ in states]
        for _ in range(length):
            words = draw_words(states, TOYWORLD, generator)
            for story, ids, state in zip(stories, words.tolist(), states.tolist(), strict=True):
                story.append(_told(ids, state))
            states = draw_next(states, TOYWORLD, generator)
        for first, second in zip(stories[:size], stories[size:], strict=True):
            if first[0].hero.possessive != second[0].hero.possessive:
                yield [first, second]


def _told(ids: list[int], state: list[int]) -> Told:
    """A sentence with the parts of its state that its plan has slots for."""
    plan, *numbers = state
    slots = [slot for slot in TOYWORLD.plans[plan].split() if slot in SLOTS]
    parts = [SLOTS[slot].part for slot in slots if slot not in ("MOOD", "DOING")]
    values = {part: getattr(TOYWORLD, part)[n] for part, n in zip(PARTS, numbers, strict=True)}
    told = Told(spell(ids, TOYWORLD), plan, {part: values[part] for part in parts})
    if plan == MAKES:  # the word, not the mood: a hungry hero need not be thirsty
        told.says["moods"] = told.word("MOOD")
    return told


def _mixed(stories: list[list[Told]], rng: random.Random) -> list[Told]:
    """The sentences of a passage: each story in its own order, a full stop after each sentence."""
    turns = [story for story in stories for _ in story]
    rng.shuffle(turns)
    rest = {id(story): iter(story) for story in stories}
    passage, start = [], 0
    for story in turns:
        passage.append(next(rest[id(story)])._replace(start=start))
        start += len(passage[-1].text) + len(". ")
    return passage


def _ask(passage: list[Told], answerable: bool, rng: random.Random) -> Question | None:
    """A question about the passage, or None if there is none of the requested kind."""
    ways: dict[str, list[tuple[Form, dict[str, Any], tuple[Span, ...]]]] = {}
    for form in FORMS:
        for given in _combinations(passage, form.given):
            answers = _answers(passage, form, given)
            if answers is not None and bool(answers) == answerable:
                ways.setdefault(form.kind, []).append((form, given, answers))
    if not ways:
        return None
    kind = rng.choice(list(ways))  # so that no kind is rare
    form, given, answers = rng.choice(ways[kind])
    text = " ".join(f"{told.text}." for told in passage)
    return Question(form.text.format(**_words(given)), text, answers, kind)


def _combinations(passage: list[Told], parts: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """All possible givens: every combination of the values of each part in the passage."""
    said = ([told.says[part] for told in passage if part in told.says] for part in parts)
    for values in product(*map(dict.fromkeys, said)):
        yield dict(zip(parts, values, strict=True))


def _answers(passage: list[Told], form: Form, given: dict[str, Any]) -> tuple[Span, ...] | None:
    """The spans of the answer, empty if there is none; None if the answers differ."""
    told_so = [told for told in passage if given.items() <= told.says.items()]
    about = [told for told in told_so if told.plan == form.plan]
    if form.slot != "SUBJECT":
        different = len({told.word(form.slot) for told in about}) > 1
        return None if different else tuple(told.span(form.slot) for told in about)
    heroes = {told.hero for told in about}
    if len(heroes) > 1:
        return None
    names = [told for told in passage if told.hero in heroes and told.names_its_hero]
    nearest = sorted(names, key=lambda told: abs(told.start - about[0].start))
    return tuple(told.span("SUBJECT") for told in nearest)


def _words(given: dict[str, Any]) -> dict[str, str]:
    """The words for the gaps of a form."""
    words = {"place": given.get("places", ""), "mood": given.get("moods", "")}
    if "heroes" in given:
        hero = given["heroes"]
        is_pronoun = hero.name == hero.subject  # "we": "what makes us happy?"
        words |= {
            "who": hero.name,
            "whom": hero.object if is_pronoun else hero.name,
            "own": hero.possessive,
            "do": "do" if hero.plural else "does",
            "are": "are" if hero.plural else "is",
        }
    if "things" in given:
        words |= {"thing": given["things"].name, "a": "" if given["things"].plural else "a "}
    return words
