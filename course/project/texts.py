"""The training texts of an entry, and the hidden texts for its score."""

import random
from typing import NamedTuple

from bertlab.data.corpora import Documents, documents, split
from bertlab.data.prepared import known_passages, without_passages
from course.experiments.labels import Example, labelled

CORPORA = "books+wikipedia+lee"
HIDDEN = 0.1  # share of the documents
PASSAGES, PASSAGE_WORDS = 320, 64  # from the hidden documents; least words of each
QUESTIONS = 1500  # for the sentence probe


class ProjectTexts(NamedTuple):
    """given: documents to train on; passages: hidden texts; questions: hidden, with labels."""

    given: Documents
    passages: list[str]
    questions: list[Example]


def project_texts(split_seed: int = 0, passages: int = PASSAGES) -> ProjectTexts:
    """The texts of the project, by default those for work at home.

    split_seed: draws the hidden documents, passages and questions; the leaderboard has its own
    seed. No document is in both parts, and no passage of 13 words.

    Raises DataError if the corpora have not been fetched (`python -m bertlab.data fetch core`).
    """
    given, hidden = split(documents(CORPORA), HIDDEN, split_seed)
    found = [passage for document in hidden for passage in cut(document)]
    draw = random.Random(split_seed)
    draw.shuffle(found)
    questions = draw.sample(labelled("trec"), QUESTIONS)
    return ProjectTexts(
        without_passages(given, known_passages(hidden)), found[:passages], questions
    )


def cut(document: list[str], words: int = PASSAGE_WORDS) -> list[str]:
    """A document's sentences in passages of at least `words` words, without a shorter last one.

    >>> cut(["One two.", "Three.", "Four five six.", "Seven."], words=3)
    ['One two. Three.', 'Four five six.']
    """
    passages: list[str] = []
    waiting: list[str] = []
    for sentence in document:
        waiting.append(sentence)
        if sum(len(text.split()) for text in waiting) >= words:
            passages.append(" ".join(waiting))
            waiting = []
    return passages
