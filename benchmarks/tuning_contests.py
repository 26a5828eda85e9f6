"""Who learns a task from the same few examples: our tuned models, and what they have to beat.

A contest is one task with one seed, which draws the examples, the head and the order of the texts.
It gives each contestant's guesses to one judge, so scores can be compared.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bertlab import data
from bertlab.finetuning.answers import answer_targets, best_span
from bertlab.finetuning.heads import Head, SequenceClassifier, SpanAnswerer, TokenTagger
from bertlab.finetuning.scores import answer_scores, entity_f1
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.tagging import (
    spans_from_logits,
    tag_names,
    tag_targets,
    tags_of_words,
    words_of,
)
from bertlab.finetuning.targets import TuningData
from bertlab.finetuning.texts import encode_texts
from bertlab.finetuning.tuning import TuningConfig, fine_tune, predict
from bertlab.model import Bert, BertConfig, BertForPreTraining, load_pretrained
from bertlab.model.pretrained import BERTLAB_MINI, read_config
from bertlab.tokenizers import WordPiece
from bertlab.tokenizers.files import load_tokenizer
from bertlab.training.start import plain_start
from course.experiments.baselines import majority_guesses, tfidf_guesses
from course.experiments.labels import Example
from course.experiments.mentions import LABEL, Marked, mentions
from course.experiments.metrics import task_score
from course.experiments.questions import Question, speech_questions
from course.experiments.tasks import Task, encode_task, subset, task
from course.toyworld.questions import toy_questions

T = TypeVar("T")

SCRATCH, TUNED, COUNTED = "from scratch", "fine-tuned", "counted"
RANDOM, RANDOM_BASE = "random, frozen", "random base, frozen"
ALL_CLASSIFIERS = ("majority", COUNTED, RANDOM, RANDOM_BASE, "frozen", TUNED, "MiniLM, frozen")
# That of base size takes an hour by itself.
CLASSIFIERS = tuple(who for who in ALL_CLASSIFIERS if who != RANDOM_BASE)
TAGS = tag_names([LABEL])


@dataclass(frozen=True)
class Plan:
    """How much is measured: seeds, examples to train on and to test with, and how to tune.

    max_length: of an encoding, in tokens; rate: the learning rate.
    """

    seeds: int = 3
    train: int = 500
    test: int = 500
    max_length: int = 64
    epochs: int = 5
    batch_size: int = 16
    rate: float = 5e-4

    def tuning(self, seed: int) -> TuningConfig:
        """How everybody is tuned."""
        return TuningConfig(self.epochs, self.batch_size, self.rate, seed=seed)


@dataclass(frozen=True)
class Result:
    """What a contestant reached; seconds: of one core, training and test.

    right: of a class per text, whether each test text was right, "1" or "0" each; otherwise "".
    """

    who: str
    score: float
    seconds: float
    right: str = ""


@cache
def tokenizer() -> WordPiece:
    """The one of `bertlab-mini`."""
    return load_tokenizer(BERTLAB_MINI)


def pretrained() -> Bert:
    """`bertlab-mini`, to be changed."""
    return load_pretrained(BERTLAB_MINI)


def from_scratch(seed: int) -> Bert:
    """The same model before its pre-training."""
    return with_random_weights(read_config(BERTLAB_MINI), seed)


def with_random_weights(config: BertConfig, seed: int) -> Bert:
    """A model that has read nothing."""
    return plain_start(BertForPreTraining(config), seed).bert


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives and how many seconds the processor worked on it."""
    started = time.process_time()
    return work(), time.process_time() - started


def tune(head: Head, train: TuningData, plan: Plan, seed: int) -> Head:
    """The head after its training."""
    pad_id = tokenizer().vocab["[PAD]"]
    fine_tune(head, train, plan.tuning(seed), pad_id=pad_id, progress=False)
    return head


def logits_of(head: Head, tested: TuningData) -> list[torch.Tensor]:
    """What a head says of every text."""
    return predict(head, tested.encodings, pad_id=tokenizer().vocab["[PAD]"])


# Classes of texts, and of pairs


def small_task(name: str, plan: Plan, seed: int) -> Task:
    """The task with the examples of one seed."""
    whole = task(name, seed)
    smaller = subset(whole, min(plan.train, len(whole.train)), seed)
    tested = replace(whole, train=whole.test)
    tested = subset(tested, min(plan.test, len(whole.test)), seed)
    return replace(smaller, test=tested.train)


def classify(
    name: str, plan: Plan, seed: int, only: Sequence[str] = CLASSIFIERS
) -> Iterator[Result]:
    """One task of `course.experiments.tasks`; only: which contestants."""
    contest = small_task(name, plan, seed)
    contestants: dict[str, Callable[[], list[str]]] = {
        "majority": lambda: majority_guesses(contest),
        COUNTED: lambda: tfidf_guesses(contest),
        SCRATCH: lambda: tuned_guesses(contest, from_scratch(seed), plan, seed),
        RANDOM: lambda: on_vectors(contest, means(from_scratch(seed), plan)),
        RANDOM_BASE: lambda: on_vectors(contest, means(random_base(seed), plan)),
        "frozen": lambda: on_vectors(contest, means(pretrained(), plan)),
        TUNED: lambda: tuned_guesses(contest, pretrained(), plan, seed),
        "MiniLM, frozen": lambda: on_vectors(contest, minilm()),
    }
    labels = [example.label for example in contest.test]
    for who in only:
        guesses, seconds = timed(contestants[who])
        right = "".join(str(int(a == b)) for a, b in zip(labels, guesses, strict=True))
        yield Result(who, task_score(contest.metric, labels, guesses), seconds, right)


def tuned_guesses(contest: Task, encoder: Bert, plan: Plan, seed: int) -> list[str]:
    """Encoder and head together."""
    train, tested = encode_task(contest, tokenizer(), encoder.config, max_length=plan.max_length)
    head = SequenceClassifier(encoder, len(contest.labels), seed=seed)
    guesses = logits_of(tune(head, train, plan, seed), tested)
    return [contest.labels[int(row.argmax())] for row in guesses]


def means(encoder: Bert, plan: Plan) -> SentenceEncoder:
    """Means of an encoder's vectors, with `bertlab-mini`'s tokens."""
    return SentenceEncoder(encoder, tokenizer(), max_length=plan.max_length)


def random_base(seed: int) -> Bert:
    """BERT-base before its pre-training, with `bertlab-mini`'s vocabulary."""
    sizes = BertConfig.base(vocab_size=read_config(BERTLAB_MINI).vocab_size)
    return with_random_weights(sizes, seed)


def minilm() -> SentenceEncoder:
    """A larger model, which has read a thousand times as much."""
    return SentenceEncoder.from_folder(data.path("minilm", "config.json").parent)


def on_vectors(contest: Task, encoder: SentenceEncoder) -> list[str]:
    """Logistic regression on the vectors of texts; of pairs on (u, v, |u - v|)."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, C=0.01))
    classifier.fit(vectors(encoder, contest.train), [e.label for e in contest.train])
    return classifier.predict(vectors(encoder, contest.test)).tolist()


def vectors(encoder: SentenceEncoder, examples: list[Example]) -> torch.Tensor:
    """[N, D] of texts, [N, 3 D] of pairs."""
    u = encoder.encode([e.text for e in examples], truncate=True, progress=False)
    if not examples[0].pair:
        return u
    v = encoder.encode([e.pair for e in examples], truncate=True, progress=False)
    return torch.cat([u, v, (u - v).abs()], dim=-1)


# Tags of words


def marked_sentences(plan: Plan, seed: int) -> tuple[list[Marked], list[Marked]]:
    """Sentences of Wikipedia with their links, for training and for the test; by articles."""
    sides = []
    for articles, n in zip(data.split(mentions(), 0.2), (plan.train, plan.test), strict=True):
        sentences = [s for article in articles for s in article]
        sides.append([s for s in drawn(sentences, len(sentences), seed) if fits(s.text, plan)][:n])
    return sides[0], sides[1]


def fits(text: str, plan: Plan) -> bool:
    """Whether a text need not be cut."""
    return len(tokenizer().encode(text)) <= plan.max_length


def drawn(items: list[T], n: int, seed: int) -> list[T]:
    """So many of them at random, fewer if there are not as many."""
    return [items[k] for k in np.random.default_rng(seed).permutation(len(items))[:n]]


def tag(plan: Plan, seed: int) -> Iterator[Result]:
    """Mentions: what Wikipedia links."""
    train, tested = marked_sentences(plan, seed)
    truth = [words_and_tags(s)[1] for s in tested]
    contestants: dict[str, Callable[[], list[list[str]]]] = {
        "majority": lambda: [["O"] * len(tags) for tags in truth],
        COUNTED: lambda: seen_before(train, tested),
        SCRATCH: lambda: tuned_tags(train, tested, from_scratch(seed), plan, seed),
        TUNED: lambda: tuned_tags(train, tested, pretrained(), plan, seed),
    }
    for who, guess in contestants.items():
        guesses, seconds = timed(guess)
        yield Result(who, entity_f1(truth, guesses).f1, seconds)


def words_and_tags(sentence: Marked) -> tuple[list[str], list[str]]:
    """The words of a sentence and their tags."""
    words = words_of(sentence.text, tokenizer())
    return [sentence.text[a:b] for a, b in words], tags_of_words(words, sentence.spans)


def seen_before(train: list[Marked], tested: list[Marked]) -> list[list[str]]:
    """Every word gets the tag that it had most often in training; new ones are outside."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in train:
        for word, its_tag in zip(*words_and_tags(sentence), strict=True):
            counts[word][its_tag] += 1
    usual = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    return [[usual.get(word, "O") for word in words_and_tags(s)[0]] for s in tested]


def tag_data(sentences: list[Marked], plan: Plan) -> TuningData:
    """Sentences for a `TokenTagger`."""
    texts = [s.text for s in sentences]
    encodings = encode_texts(texts, tokenizer(), max_length=plan.max_length)
    targets = [
        tag_targets(s.text, s.spans, encoding, tokenizer(), TAGS)
        for s, encoding in zip(sentences, encodings, strict=True)
    ]
    return TuningData(encodings, targets)


def tuned_tags(
    train: list[Marked], tested: list[Marked], encoder: Bert, plan: Plan, seed: int
) -> list[list[str]]:
    """What a fine-tuned tagger says of the words of the test."""
    head = TokenTagger(encoder, len(TAGS), seed=seed)
    tune(head, tag_data(train, plan), plan, seed)
    return tags_said(head, tested, plan)


def tags_said(head: Head, tested: list[Marked], plan: Plan) -> list[list[str]]:
    """The tags of the words of every sentence, by way of the spans of characters."""
    asked = tag_data(tested, plan)
    return [
        tags_of_words(
            words_of(s.text, tokenizer()),
            spans_from_logits(s.text, logits, encoding, tokenizer(), TAGS),
        )
        for s, encoding, logits in zip(tested, asked.encodings, logits_of(head, asked), strict=True)
    ]


# Answers


def toy_answers(plan: Plan, seed: int) -> Iterator[Result]:
    """Questions to stories of the toy world."""
    train = toy_questions(plan.train, seed=2 * seed)
    return answer(train, toy_questions(plan.test, seed=2 * seed + 1), plan, seed)


def speech_answers(plan: Plan, seed: int) -> Iterator[Result]:
    """Who and when, to the presidents' messages; no message is on both sides."""
    messages = drawn(speech_questions(seed), 10**6, seed)
    sides = [[q for m in side for q in m] for side in data.split(messages, 0.2)]
    train, tested = (
        [q for q in side if len(tokenizer().encode(q.question, q.passage)) <= plan.max_length]
        for side in sides
    )
    return answer(train[: plan.train], tested[: plan.test], plan, seed)


def answer(
    train: list[Question], tested: list[Question], plan: Plan, seed: int
) -> Iterator[Result]:
    """Exact match, of "no answer" to everything and of tuned models."""
    contestants: dict[str, Callable[[], list[str | None]]] = {
        "majority": lambda: [None] * len(tested),
        TUNED: lambda: tuned_answers(train, tested, pretrained(), plan, seed),
    }
    for who, guess in contestants.items():
        guesses, seconds = timed(guess)
        truth = [question.texts for question in tested]
        yield Result(who, answer_scores(guesses, truth).exact_match, seconds)


def answer_data(questions: list[Question], plan: Plan) -> TuningData:
    """Questions for a `SpanAnswerer`."""
    encodings = encode_texts(
        [q.question for q in questions],
        tokenizer(),
        pairs=[q.passage for q in questions],
        max_length=plan.max_length,
    )
    targets = [
        answer_targets(encoding, q.passage, q.answers[0] if q.answers else None)
        for q, encoding in zip(questions, encodings, strict=True)
    ]
    return TuningData(encodings, targets)


def tuned_answers(
    train: list[Question], tested: list[Question], encoder: Bert, plan: Plan, seed: int
) -> list[str | None]:
    """What a fine-tuned model answers."""
    head = tune(SpanAnswerer(encoder, seed=seed), answer_data(train, plan), plan, seed)
    asked = answer_data(tested, plan)
    guesses = []
    for q, encoding, logits in zip(tested, asked.encodings, logits_of(head, asked), strict=True):
        span = best_span(logits, encoding, q.passage)
        guesses.append(None if span is None else q.passage[slice(*span)])
    return guesses
