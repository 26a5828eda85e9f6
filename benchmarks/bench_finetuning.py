"""What `bertlab-mini` is worth on real tasks: fine-tuned, frozen, from scratch, and a bag of words.

    python -m benchmarks.bench_finetuning                      print the tables
    python -m benchmarks.bench_finetuning --only spam layers   some of them
    python -m benchmarks.bench_finetuning --who counted        some contestants, tasks with classes
    python -m benchmarks.bench_finetuning --quick              one seed, few examples: a trial
    python -m benchmarks.bench_finetuning --write              keep the results

--write puts the scores beside the weights, into `finetuning.json`, where lecture 9 reads them, and
tables of them into benchmarks/README.md; with --only or --who it replaces what was measured again.
Scores do not depend on the machine's speed, so it need not be left alone.

A contest is one task with one seed, which draws the examples, the head and the order of the texts.
It gives each contestant's guesses to one judge, so scores can be compared.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import turns
from bertlab import data
from bertlab._files import write_atomically
from bertlab.finetuning.answers import answer_targets, best_span
from bertlab.finetuning.heads import (
    IGNORED,
    MIXES,
    Features,
    Head,
    SequenceClassifier,
    SpanAnswerer,
    TokenTagger,
    layer_features,
)
from bertlab.finetuning.scores import answer_scores, entity_f1
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.tagging import (
    spans_from_logits,
    tag_names,
    tag_targets,
    tags_of_words,
    words_of,
)
from bertlab.finetuning.texts import TuningData, collate, encode_texts
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
from course.experiments.multitask import MultiTask, tune_together
from course.experiments.questions import Question, speech_questions
from course.experiments.tasks import TASKS, Task, encode_task, subset, task
from course.toyworld.questions import toy_questions

T = TypeVar("T")
Row = dict[str, Any]  # "name", "experiment", "task", "metric", "train", "seed", and a `Result`

PACKAGES = ("torch", "scikit-learn")
KEPT = BERTLAB_MINI / "finetuning.json"
SCRATCH, TUNED, COUNTED = "from scratch", "fine-tuned", "counted"
RANDOM, RANDOM_BASE = "random, frozen", "random base, frozen"
ALL_CLASSIFIERS = ("majority", COUNTED, RANDOM, RANDOM_BASE, "frozen", TUNED, "MiniLM, frozen")
# That of base size takes an hour by itself.
CLASSIFIERS = tuple(who for who in ALL_CLASSIFIERS if who != RANDOM_BASE)
TAGS = tag_names([LABEL])
SIZES = (50, 100, 200, 400, 800)  # of the learning curve
UPPER = "question-type"  # the task at the top of the encoder, when two are on it
LOW = 2  # the layer at which mentions are asked below the top
TITLES = {
    "tasks": "Tasks",
    "curve": "More examples",
    "layers": "Which layer should we use?",
    "together": "Two tasks on one encoder",
}


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


PLANS = {  # what is not measured as the others are
    "toy stories": Plan(train=1_500, max_length=128),
    "speeches": Plan(max_length=128),
    "layers": Plan(train=300, test=300),
    "together": Plan(train=300),
}


@dataclass(frozen=True)
class Result:
    """What a contestant reached; seconds: of one core, training and test.

    right: of a class per text, whether each test text was right, "1" or "0" each; otherwise "".
    """

    who: str
    score: float
    seconds: float
    right: str = ""


def experiments(
    plan: Plan, who: Sequence[str] = CLASSIFIERS
) -> dict[str, Callable[[int], Iterator[Row]]]:
    """All that is measured, by name: a function of the seed; who: in the tasks with classes."""

    def rows(task: str, results: Iterator[Result], metric: str, **more: Any) -> Iterator[Row]:
        for result in results:
            about = {"experiment": "tasks", "task": task, "metric": metric, "train": plan.train}
            reached = {key: value for key, value in vars(result).items() if value != ""}
            yield {**about, **reached, **more}

    def classes(name: str, seed: int) -> Iterator[Row]:
        metric = "F1 of spam" if name == "spam" else "accuracy"
        return rows(name, classify(name, plan, seed, only=who), metric)

    def curve(seed: int) -> Iterator[Row]:
        for size in SIZES[: 1 if plan.seeds == 1 else None]:
            smaller = replace(plan, train=size)
            results = classify(UPPER, smaller, seed, only=(COUNTED, SCRATCH, TUNED))
            yield from rows(UPPER, results, "accuracy", experiment="curve", train=size)

    def layers(seed: int) -> Iterator[Row]:
        return rows("mentions", read_layers(plan, seed), "entity F1", experiment="layers")

    def together(seed: int) -> Iterator[Row]:
        for name, result in tune_both(plan, seed):
            metric = "entity F1" if name == "mentions" else "accuracy"
            yield from rows(name, iter([result]), metric, experiment="together")

    return {
        **{name: partial(classes, name) for name in TASKS},
        "mentions": lambda seed: rows("mentions", tag(plan, seed), "entity F1"),
        "toy stories": lambda seed: rows("toy stories", toy_answers(plan, seed), "exact match"),
        "speeches": lambda seed: rows("speeches", speech_answers(plan, seed), "exact match"),
        "curve": curve,
        "layers": layers,
        "together": together,
    }


@cache
def tokenizer() -> WordPiece:
    return load_tokenizer(BERTLAB_MINI)


def pad_id() -> int:
    return tokenizer().vocab["[PAD]"]


def pretrained() -> Bert:
    return load_pretrained(BERTLAB_MINI)


def from_scratch(seed: int, config: BertConfig | None = None) -> Bert:
    """The same model before its pre-training, or another one that has read nothing."""
    return plain_start(BertForPreTraining(config or read_config(BERTLAB_MINI)), seed).bert


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives and how many seconds the processor worked on it."""
    started = time.process_time()
    return work(), time.process_time() - started


def judged(
    contestants: dict[str, Callable[[], T]], score: Callable[[T], float]
) -> Iterator[Result]:
    """One contestant after the other, and the score of their guesses."""
    for who, guess in contestants.items():
        guesses, seconds = timed(guess)
        yield Result(who, score(guesses), seconds)


def tune(head: Head, train: TuningData, plan: Plan, seed: int) -> Head:
    """The head after its training."""
    fine_tune(head, train, plan.tuning(seed), pad_id=pad_id(), progress=False)
    return head


def drawn(items: list[T], seed: int) -> list[T]:
    """In a random order."""
    return [items[k] for k in np.random.default_rng(seed).permutation(len(items))]


def regression(max_iter: int) -> Pipeline:
    classifier = LogisticRegression(max_iter=max_iter, C=0.01)
    return make_pipeline(StandardScaler(), classifier)


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
    base = partial(BertConfig.base, vocab_size=read_config(BERTLAB_MINI).vocab_size)
    contestants: dict[str, Callable[[], list[str]]] = {
        "majority": lambda: majority_guesses(contest),
        COUNTED: lambda: tfidf_guesses(contest),
        SCRATCH: lambda: tuned_guesses(contest, from_scratch(seed), plan, seed),
        RANDOM: lambda: on_vectors(contest, means(from_scratch(seed), plan)),
        RANDOM_BASE: lambda: on_vectors(contest, means(from_scratch(seed, base()), plan)),
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
    head = tune(SequenceClassifier(encoder, len(contest.labels), seed=seed), train, plan, seed)
    return labels_said(head, tested, contest)


def labels_said(head: Head, tested: TuningData, contest: Task) -> list[str]:
    """The label of every test text."""
    logits = predict(head, tested.encodings, pad_id=pad_id())
    return [contest.labels[int(row.argmax())] for row in logits]


def means(encoder: Bert, plan: Plan) -> SentenceEncoder:
    return SentenceEncoder(encoder, tokenizer(), max_length=plan.max_length)


def minilm() -> SentenceEncoder:
    """A larger model, which has read a thousand times as much."""
    return SentenceEncoder.from_folder(data.weights("minilm"))


def on_vectors(contest: Task, encoder: SentenceEncoder) -> list[str]:
    """Logistic regression on the vectors of texts; of pairs on (u, v, |u - v|)."""
    classifier = regression(max_iter=1000)
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
        sentences = drawn([s for article in articles for s in article], seed)
        fitting = [s for s in sentences if len(tokenizer().encode(s.text)) <= plan.max_length]
        sides.append(fitting[:n])
    return sides[0], sides[1]


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
    return judged(contestants, lambda guesses: entity_f1(truth, guesses).f1)


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
    return tags_said(tune(head, tag_data(train, plan), plan, seed), tested, plan)


def tags_said(head: Head, tested: list[Marked], plan: Plan) -> list[list[str]]:
    """The tags of the words of every sentence, by way of the spans of characters."""
    encodings = tag_data(tested, plan).encodings
    said = predict(head, encodings, pad_id=pad_id())
    return [
        tags_of_words(
            words_of(s.text, tokenizer()),
            spans_from_logits(s.text, logits, encoding, tokenizer(), TAGS),
        )
        for s, encoding, logits in zip(tested, encodings, said, strict=True)
    ]


# Answers


def toy_answers(plan: Plan, seed: int) -> Iterator[Result]:
    """Questions to stories of the toy world."""
    train = toy_questions(plan.train, seed=2 * seed)
    return answer(train, toy_questions(plan.test, seed=2 * seed + 1), plan, seed)


def speech_answers(plan: Plan, seed: int) -> Iterator[Result]:
    """Who and when, to the presidents' messages; no message is on both sides."""
    train, tested = (
        [
            question
            for message in side
            for question in message
            if len(tokenizer().encode(question.question, question.passage)) <= plan.max_length
        ]
        for side in data.split(drawn(speech_questions(seed), seed), 0.2)
    )
    return answer(train[: plan.train], tested[: plan.test], plan, seed)


def answer(
    train: list[Question], tested: list[Question], plan: Plan, seed: int
) -> Iterator[Result]:
    """Exact match, of "no answer" to everything and of tuned models."""
    truth = [question.texts for question in tested]
    contestants: dict[str, Callable[[], list[str | None]]] = {
        "majority": lambda: [None] * len(tested),
        TUNED: lambda: tuned_answers(train, tested, pretrained(), plan, seed),
    }
    return judged(contestants, lambda guesses: answer_scores(guesses, truth).exact_match)


def answer_data(questions: list[Question], plan: Plan) -> TuningData:
    """Questions for a `SpanAnswerer`."""
    texts, passages = [q.question for q in questions], [q.passage for q in questions]
    encodings = encode_texts(texts, tokenizer(), pairs=passages, max_length=plan.max_length)
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
    encodings = answer_data(tested, plan).encodings
    said = predict(head, encodings, pad_id=pad_id())
    guesses = []
    for q, encoding, logits in zip(tested, encodings, said, strict=True):
        span = best_span(logits, encoding, q.passage)
        guesses.append(None if span is None else q.passage[slice(*span)])
    return guesses


# Layers: which of them to read (Devlin et al., 2019, table 7), and at which of them to ask

States = tuple[list[torch.Tensor], list[int]]  # of words: a tensor [N, D] a layer; their tags


def read_layers(plan: Plan, seed: int) -> Iterator[Result]:
    """Entity F1 of mentions, read off every layer and every mix of the frozen encoder."""
    train, tested = marked_sentences(plan, seed)
    encoder = pretrained().eval()
    seen, asked = (hidden_states(encoder, side, plan) for side in (train, tested))
    truth = [words_and_tags(sentence)[1] for sentence in tested]
    contestants = {
        str(how): partial(read_off, seen, asked, truth, how)
        for how in (*range(encoder.config.n_layers + 1), *MIXES[1:])
    }
    return judged(contestants, lambda guesses: entity_f1(truth, guesses).f1)


def hidden_states(encoder: Bert, sentences: list[Marked], plan: Plan) -> States:
    """What every layer says of the first piece of each word."""
    read = tag_data(sentences, plan)
    layers: list[list[torch.Tensor]] = [[] for _ in range(encoder.config.n_layers + 1)]
    for encoding, targets in zip(read.encodings, read.targets, strict=True):
        asked = torch.tensor(targets) != IGNORED
        with torch.inference_mode():
            said = encoder(*collate([encoding], pad_id()), output_hidden_states=True).hidden_states
        for layer, states in zip(layers, said, strict=True):
            layer.append(states[0, asked])
    tags = [target for targets in read.targets for target in targets if target != IGNORED]
    return [torch.cat(layer) for layer in layers], tags


def read_off(seen: States, asked: States, truth: list[list[str]], how: Features) -> list[list[str]]:
    """Tags by logistic regression on the features of words, sentence by sentence."""
    classifier = regression(max_iter=200)
    classifier.fit(layer_features(seen[0], how), seen[1])
    guesses = iter(classifier.predict(layer_features(asked[0], how)).tolist())
    return [[TAGS[next(guesses)] for _ in tags] for tags in truth]


def tune_both(plan: Plan, seed: int) -> Iterator[tuple[str, Result]]:
    """(task, result): mentions and types of questions, each alone and both on one encoder.

    Together, the lower task is asked at the top or below, as Søgaard & Goldberg (2016).
    """
    train, tested = marked_sentences(plan, seed)
    upper = small_task(UPPER, plan, seed)
    truth = [words_and_tags(sentence)[1] for sentence in tested]
    labels = [example.label for example in upper.test]

    def mentioned(who: str, guesses: list[list[str]], seconds: float) -> tuple[str, Result]:
        return "mentions", Result(who, entity_f1(truth, guesses).f1, seconds)

    def asked(who: str, guesses: list[str], seconds: float) -> tuple[str, Result]:
        return UPPER, Result(who, task_score(upper.metric, labels, guesses), seconds)

    yield mentioned("alone", *timed(lambda: tuned_tags(train, tested, pretrained(), plan, seed)))
    yield asked("alone", *timed(lambda: tuned_guesses(upper, pretrained(), plan, seed)))
    for who, features in (("together, both at the top", "last"), ("together, mentions lower", LOW)):
        encoder = pretrained()
        tagger = TokenTagger(encoder, len(TAGS), features=features, seed=seed)
        classifier = SequenceClassifier(encoder, len(upper.labels), seed=seed)
        model = MultiTask({"mentions": tagger, UPPER: classifier})
        texts, questions = encode_task(upper, tokenizer(), encoder.config)
        both = {"mentions": tag_data(train, plan), UPPER: texts}
        how = plan.tuning(seed)
        train_both = partial(tune_together, model, both, how, pad_id=pad_id(), progress=False)
        _, seconds = timed(train_both)
        yield mentioned(who, tags_said(tagger, tested, plan), seconds)
        yield asked(who, labels_said(classifier, questions, upper), seconds)


def run(names: list[str], who: Sequence[str], quick: bool) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each experiment, when it has come to its end."""
    for name in names:
        plan = PLANS.get(name, Plan())
        if quick:
            plan = replace(plan, seeds=1, train=60, test=60, epochs=1)
        rows = []
        for seed in range(plan.seeds):
            for row in experiments(plan, who)[name](seed):
                rows.append({**row, "seed": seed, "name": name})
                told = f"    {name}, seed {seed}: {row['who']} {row['score']:.3f}"
                turns.note(f"{told} ({row['seconds']:.0f} s)")
        yield name, rows


def keep(rows: list[Row], name: str) -> list[Row]:
    """Put the rows of an experiment into the file, in place of the older ones of their contestants.

    Returns all of the file's rows.
    """
    measured = {row["who"] for row in rows}
    older = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    every = [r for r in older if r["name"] != name or r["who"] not in measured] + rows
    order = list(experiments(Plan()))

    def place(row: Row) -> tuple[int, int, int]:
        who = ALL_CLASSIFIERS.index(row["who"]) if row["name"] in TASKS else 0
        return order.index(row["name"]), row["seed"], who

    every.sort(key=place)  # stable: otherwise the rows of one stay in order
    write_atomically(KEPT, json.dumps(every, indent=0) + "\n")
    return every


def table(experiment: str, rows: list[Row]) -> str:
    """The scores of one experiment: a row per task and size, a column per contestant."""
    cells: dict[tuple, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["experiment"] == experiment:
            cells[row["task"], str(row["train"]), row["metric"]][row["who"]].append(row["score"])
    who = list(dict.fromkeys(who for own in cells.values() for who in own))
    return turns.table(
        TITLES[experiment],
        ["task", "examples", "score", *who],
        [
            [*line, *(turns.mean_spread(own[one]) if one in own else "" for one in who)]
            for line, own in cells.items()
        ],
    )


def main() -> None:
    """Read the command line, run, print, and keep the results if asked to."""
    names = list(experiments(Plan()))
    parser = argparse.ArgumentParser(description="bertlab-mini on real tasks.")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--who", nargs="+", choices=ALL_CLASSIFIERS, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="one seed, few examples: a trial")
    args = turns.read_options(parser, "quick", write="keep the results")
    if args.who and not set(args.only or TASKS) <= set(TASKS):
        parser.error(f"--who is for the tasks with classes: {', '.join(TASKS)}")
    torch.set_num_threads(1)  # so that seconds are those of one core, whoever else is at work
    rows: list[Row] = []
    names = args.only or (list(TASKS) if args.who else names)
    for name, own in run(names, args.who or CLASSIFIERS, args.quick):
        rows = keep(own, name) if args.write else rows + own
    what = "Means over three seeds, ± their standard deviation."
    found = {row["experiment"] for row in rows}
    tables = [table(experiment, rows) for experiment in TITLES if experiment in found]
    section = "finetuning" if args.write else None
    about = turns.measured_again("finetuning") if section and (args.only or args.who) else None
    turns.publish(section, PACKAGES, what, tables, about=about)


if __name__ == "__main__":
    main()
