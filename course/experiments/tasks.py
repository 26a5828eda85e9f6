"""Real tasks for fine-tuning: texts, or pairs of texts, split, with their metric.

All come from the collections and documents of `bertlab.data`. A split is the source's own if it has
one; otherwise near copies, and all sentences of a document, are in the same part.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from bertlab.data.corpora import Documents, documents, split
from bertlab.finetuning.texts import TuningData, labelled_data
from bertlab.model.config import BertConfig
from bertlab.tokenizers.tokenizer import Tokenizer
from course.experiments.labels import Example, labelled
from course.experiments.pairing import Partners, any_two, draw_pairs, neighbours
from course.experiments.splits import families, split_families, without_those_in

TEST = 0.2  # share of the test if the source has none
SEEN_NEVER = 0.05  # share of Wikipedia that `prepare_corpus` holds out of pre-training
FEWEST_WORDS = 10  # in a sentence of "subjectivity", as in Pang & Lee (2004)


@dataclass(frozen=True, repr=False)
class Task:
    """A task: its labels, examples and metric.

    labels: all of them, class number 0 first; metric: a name for
    `course.experiments.metrics.task_score`, "accuracy" or "F1 of spam".
    """

    name: str
    train: list[Example]
    test: list[Example]
    labels: tuple[str, ...]
    metric: str = "accuracy"

    @property
    def is_pairs(self) -> bool:
        """Whether an example is two texts."""
        return bool(self.train[0].pair)

    def __repr__(self) -> str:
        return (
            f"Task({self.name!r}: {len(self.train):,} to train, {len(self.test):,} to test; "
            f"{', '.join(self.labels)}; {self.metric})"
        )


def task(name: str, seed: int = 0) -> Task:
    """One of `TASKS` by its name; the seed draws splits and pairs, unless the source has them.

    The metric is accuracy if all labels are equally important, even if some are rarer: published
    results use it too. Spam is different: 7 of 8 messages are ham, so "never spam" is right 88
    times in 100; F1 of spam, the harmonic mean of its precision and recall, is then 0.

    Raises ValueError for an unknown name, DataError if its collection has not been fetched.
    """
    if name not in TASKS:
        raise ValueError(f"task: there is no task {name!r}; expected one of {', '.join(TASKS)}")
    return replace(TASKS[name](seed), name=name)


def subset(task: Task, n: int, seed: int = 0) -> Task:
    """The task with `n` training examples, for learning curves; the test does not change.

    Labels keep their shares, with at least one example each. With the same seed a smaller subset is
    part of a larger one.

    Raises ValueError if `n` is below the number of labels or above that of examples.
    """
    if not len(task.labels) <= n <= len(task.train):
        raise ValueError(
            f"subset: n must be from {len(task.labels)}, one example a label, to "
            f"{len(task.train):,}, all that there are; got {n}"
        )
    shuffled = np.random.default_rng(seed).permutation(len(task.train)).tolist()
    by_label: dict[str, list[int]] = {label: [] for label in task.labels}
    for number in shuffled:
        by_label[task.train[number].label].append(number)
    # The k-th of m examples of its label comes after a share k / m of all examples, so every
    # label has a constant rate.
    order = sorted(
        (place / len(numbers), task.labels.index(label), number)
        for label, numbers in by_label.items()
        for place, number in enumerate(numbers)
    )
    return replace(task, train=[task.train[number] for _, _, number in order[:n]])


def encode_task(
    task: Task,
    tokenizer: Tokenizer,
    config: BertConfig,
    *,
    max_length: int | None = None,
    truncate: bool = True,
) -> tuple[TuningData, TuningData]:
    """Training and test, ready for `fine_tune` and a `SequenceClassifier`.

    config: of the model that will read them; max_length: of an encoding, None for the model's
    maximum; truncate: cut longer ones. Raises ValueError as `labelled_data` does.
    """

    def encode(examples: list[Example]) -> TuningData:
        texts, labels, pairs = zip(*((e.text, e.label, e.pair) for e in examples), strict=True)
        return labelled_data(
            texts,
            labels,
            task.labels,
            tokenizer,
            config,
            pairs=pairs if task.is_pairs else None,
            max_length=max_length,
            truncate=truncate,
        )

    return encode(task.train), encode(task.test)


def spam(seed: int) -> Task:
    """SMS: spam or ham. Source: Almeida, Hidalgo & Yamakami (2011).

    In a random split, four in ten spam messages of the test have a copy in training that differs in
    a number or a prize; here families of copies stay together. Only ham has "&lt;#&gt;" and similar
    marks in place of numbers: its collectors inserted them.
    """
    return _by_families(labelled("sms-spam"), ("ham", "spam"), seed, metric="F1 of spam")


def sentiment(seed: int) -> Task:
    """Film reviews in one sentence: rotten or fresh. The task MR; after Pang & Lee (2005).

    From "rotten-tomatoes", whose labels are the critics' own verdicts: "pang-lee" has 200 of Pang
    & Lee's 10,662 sentences, and nearly all of them are here as well.
    """
    return _by_families(labelled("rotten-tomatoes"), ("rotten", "fresh"), seed)


def subjectivity(seed: int) -> Task:
    """A sentence of a film's plot, or of a review: what happens, or an opinion.

    The task SUBJ, made as in Pang & Lee (2004): sentences of ten words or more, the same number of
    both. All sentences of a plot are in the same part.
    """
    plots = documents("plots")
    reviews = [e.text for e in labelled("rotten-tomatoes") if _long(e.text)]
    texts = [" ".join(plot) for plot in plots] + reviews
    labels = ["plot"] * len(plots) + ["review"] * len(reviews)
    generator = np.random.default_rng(seed)
    sides = []
    for numbers in split_families(texts, labels, test=TEST, seed=seed):
        told = [s for n in numbers if n < len(plots) for s in plots[n] if _long(s)]
        told = list(dict.fromkeys(told))
        felt = [texts[n] for n in numbers if n >= len(plots)]
        felt = [felt[n] for n in sorted(generator.permutation(len(felt))[: len(told)])]
        sides.append([Example(s, "plot") for s in told] + [Example(s, "review") for s in felt])
    return Task("", sides[0], sides[1], ("plot", "review"))


def question_type(seed: int) -> Task:
    """What a question asks for: an abbreviation, a description, an entity, a human, ...

    The task TREC; source: Li & Roth (2002), their training questions. The 500 for the test are not
    in the collection, so a fifth of these is the test.
    """
    labels = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    return _by_families(labelled("trec"), labels, seed)


def topic() -> Task:
    """News of 1987 by topic, lower-cased, without digits: Reuters-21578, R8, with its own split.

    Half of the texts are about earnings, 1 in 150 is about grain. Source: Lewis (1997);
    Cardoso-Cachopo (2007).
    """
    return _own_split("reuters")


def newsgroups() -> Task:
    """Messages to 20 newsgroups, lower-cased, without digits; later ones are the test.

    Source: Lang (1995); Cardoso-Cachopo (2007).
    """
    return _own_split("newsgroups")


def next_sentence(seed: int) -> Task:
    """Two sentences of Wikipedia: does the second follow, or is it from another article?

    As in pre-training, labels in the order of `nsp_logits`. Test articles are those that
    `prepare_corpus` holds out, so with any seed our models have not seen them.
    """
    sides = split(documents("wikipedia"), SEEN_NEVER)
    return _pairs(sides, neighbours, ("next", "not next"), seed)


def same_article(seed: int) -> Task:
    """Two sentences of the news of 2001: of one article, in any order, or of two?

    Of an article that occurs twice, or again with changes, only the first is used. Articles on the
    same event still have much in common, so a perfect score is impossible. Source: the 300
    background texts of Lee, Pincombe & Welsh (2005).
    """
    articles = documents("lee")
    _, first = np.unique(families([" ".join(article) for article in articles]), return_index=True)
    train, test = train_test_split(first.tolist(), test_size=TEST, random_state=seed)
    sides = [articles[n] for n in sorted(train)], [articles[n] for n in sorted(test)]
    return _pairs(sides, any_two, ("one", "two"), seed)


def _by_families(
    examples: list[Example], labels: tuple[str, ...], seed: int, metric: str = "accuracy"
) -> Task:
    """A task whose source has no split."""
    texts, names, _ = zip(*examples, strict=True)
    train, test = split_families(texts, names, test=TEST, seed=seed)
    return Task("", [examples[n] for n in train], [examples[n] for n in test], labels, metric)


def _own_split(source: str) -> Task:
    """A task whose source has a split; texts of both parts are only in the test."""
    test = labelled(f"{source}-test")
    train = without_those_in(labelled(f"{source}-train"), test)
    labels: set[Any] = {example.label for example in train}
    return Task("", train, test, tuple(sorted(labels)))


def _pairs(
    sides: tuple[Documents, Documents], partners: Partners, labels: tuple[str, str], seed: int
) -> Task:
    """A task of sentence pairs, from the training documents and from the test documents."""
    generator = np.random.default_rng(seed)
    long = [[[s for s in text if len(s.split()) >= 3] for text in side] for side in sides]
    train, test = (draw_pairs(side, partners, labels, generator) for side in long)
    return Task("", train, test, labels)


def _long(sentence: str) -> bool:
    return len(sentence.split()) >= FEWEST_WORDS


TASKS: dict[str, Callable[[int], Task]] = {
    "spam": spam,
    "sentiment": sentiment,
    "subjectivity": subjectivity,
    "question-type": question_type,
    "topic": lambda _seed: topic(),
    "newsgroups": lambda _seed: newsgroups(),
    "next-sentence": next_sentence,
    "same-article": same_article,
}
