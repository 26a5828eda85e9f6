"""Probing: do the vectors contain a property? Train a classifier that reads nothing else.

A linear classifier learns to distinguish, for example, adjectives from nouns by the vectors of one
layer. If it can, the vectors contain that property in a form that is easy to read. But a classifier
with many inputs can also memorise words. So it gets a second task, the control task, whose labels
are drawn at random, one for each word: it can be solved only by memorising. The difference between
the two accuracies is what the vectors contain beyond the word.

Source: Alain & Bengio (2016), "Understanding intermediate layers using linear classifier probes";
Hewitt & Liang (2019), "Designing and Interpreting Probes with Control Tasks".
"""

import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController
from torch import Tensor

from bertlab.interpretability.traces import Trace
from bertlab.tokenizers.checks import entries
from bertlab.tokenizers.words import CLS, SEP

TEST = 0.25  # share of the texts that the classifier is tested on
PULL = 0.1  # scikit-learn's C: the inverse strength of weight decay
LIBRARIES = ThreadpoolController()  # those with threads; found now, as a sandbox hides /proc/self


@dataclass(frozen=True)
class WordVectors:
    """Every word of some texts with its vector in every layer, N words in all."""

    words: list[str]  # N, as the tokenizer spells them, pieces joined
    texts: list[int]  # N, the number of the word's text
    layers: tuple[Tensor, ...]  # [N, D] each: the embeddings, then every layer


@dataclass(frozen=True)
class Probe:
    """How well a classifier reads a property from one layer's vectors, on held-out texts."""

    accuracy: float  # of the real task
    control_accuracy: float  # of the control task: labels drawn at random, one for each word
    majority: float  # of always predicting the most frequent training label

    @property
    def selectivity(self) -> float:
        """What the vectors contain beyond the word's identity: accuracy - control accuracy."""
        return self.accuracy - self.control_accuracy


def word_vectors(traces: Sequence[Trace]) -> WordVectors:
    """One vector for each word and layer: the mean over the word's pieces (##s continues one).

    [CLS] and [SEP] are not words. With BERT's tokenizer the words of a text are those of
    `bertlab.tokenizers.words.split_words`, in its order, so labels can be made from the text.

    Raises ValueError if there is no trace.
    """
    if not traces:
        raise ValueError("word_vectors: traces must hold at least one; got none")
    words, texts, layers = [], [], []
    for number, trace in enumerate(traces):
        groups = pieces_of_words(trace.tokens)
        words += [_joined([trace.tokens[place] for place in group]) for group in groups]
        texts += [number] * len(groups)
        mean = torch.zeros(len(groups), len(trace.tokens))  # [words, L]
        for row, group in enumerate(groups):
            mean[row, group] = 1 / len(group)
        layers.append([mean @ states.float() for states in trace.hidden_states])
    return WordVectors(words, texts, tuple(map(torch.cat, zip(*layers, strict=True))))


def pieces_of_words(tokens: Sequence[str]) -> list[list[int]]:
    """The positions of each word's pieces; special tokens belong to no word.

    >>> pieces_of_words(["[CLS]", "two", "card", "##s", ".", "[SEP]"])
    [[1], [2, 3], [4]]
    """
    groups: list[list[int]] = []
    for place, token in enumerate(tokens):
        if token.startswith("##") and groups and groups[-1][-1] == place - 1:
            groups[-1].append(place)
        elif token not in (CLS, SEP):
            groups.append([place])
    return groups


def control_labels(
    words: Sequence[str], labels: Sequence[Hashable], seed: int = 0
) -> list[Hashable]:
    """The control task: for every word a random label, the same at all its occurrences.

    words, labels: N each. Labels are drawn with the frequencies of the real task.

    Raises ValueError if there is not one label for each word.

    Source: Hewitt & Liang (2019), section 2.
    """
    labels, words = _columns("control_labels", labels=labels, words=words)
    frequencies = Counter(labels)
    types = list(dict.fromkeys(words))  # in the order of the texts: the same draw every time
    drawn = np.random.default_rng(seed).choice(
        len(frequencies), size=len(types), p=np.array(list(frequencies.values())) / len(labels)
    )
    names = list(frequencies)
    label_of = {word: names[number] for word, number in zip(types, drawn, strict=True)}
    return [label_of[word] for word in words]


def probe(
    vectors: Tensor,
    labels: Sequence[Hashable | None],
    words: Sequence[str],
    texts: Sequence[int],
    *,
    seed: int = 0,
) -> Probe:
    """Train a linear classifier on the vectors of some texts, and test it on those of others.

    vectors: [N, D]; labels: N of them, None for words that do not take part; words: N, for the
    control task; texts: N, the number of each word's text; a text is entirely in training or in
    the test. seed: draws texts and control labels. The classifier is logistic regression on
    standardised numbers.

    Raises ValueError if the lengths differ, or if there are fewer than two texts or labels.

    Source: Hewitt & Liang (2019), section 2.
    """
    return probe_layers([vectors], labels, words, texts, seed=seed)[0]


def probe_layers(
    layers: Sequence[Tensor],
    labels: Sequence[Hashable | None],
    words: Sequence[str],
    texts: Sequence[int],
    *,
    seed: int = 0,
) -> list[Probe]:
    """`probe` for every layer, [N, D] each, all with the same texts and the same control task."""
    labels, texts, words = _columns("probe", labels=labels, texts=texts, words=words)
    for vectors in layers:
        if vectors.dim() != 2 or len(vectors) != len(words):
            raise ValueError(
                f"probe: vectors must be [N, D] with a row for each of the {len(words)} words; "
                f"got {list(vectors.shape)}"
            )
    taking_part = [number for number, label in enumerate(labels) if label is not None]
    real = [labels[number] for number in taking_part]
    if len(set(real)) < 2 or len({texts[number] for number in taking_part}) < 2:
        raise ValueError(
            "probe: there must be at least two labels and two texts; got "
            f"{len(set(real))} labels in {len({texts[number] for number in taking_part})} texts"
        )
    control = control_labels([words[number] for number in taking_part], real, seed)
    train, test = _split([texts[number] for number in taking_part], seed)
    most = Counter(real[number] for number in train).most_common(1)[0][0]
    results = []
    for vectors in layers:
        numbers = vectors[taking_part].detach().float().cpu().numpy()
        results.append(
            Probe(
                accuracy=_accuracy(numbers, real, train, test),
                control_accuracy=_accuracy(numbers, control, train, test),
                majority=float(np.mean([real[number] == most for number in test])),
            )
        )
    return results


def _split(texts: Sequence[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers for training and for the test; a text's rows are all in one part."""
    splitter = GroupShuffleSplit(n_splits=1, test_size=TEST, random_state=seed)
    return next(splitter.split(np.zeros(len(texts)), groups=np.asarray(texts)))


def _accuracy(
    vectors: np.ndarray, labels: Sequence[Hashable], train: np.ndarray, test: np.ndarray
) -> float:
    """The share of the test's rows that a classifier trained on the others predicts correctly."""
    names = list(dict.fromkeys(labels))
    numbers = np.array([names.index(label) for label in labels])
    if len(set(numbers[train])) == 1:  # nothing to learn
        return float(np.mean(numbers[test] == numbers[train][0]))
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=PULL, max_iter=200, tol=1e-3))
    # With two threads, such a small regression takes three times as long.
    with warnings.catch_warnings(), LIBRARIES.limit(limits=1):
        # The last digits of the weights do not matter here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(vectors[train], numbers[train])
    return float(classifier.score(vectors[test], numbers[test]))


def _columns(where: str, **given: Iterable[Any]) -> list[list[Any]]:
    """Each as a list; ValueError unless they have one entry per word, and none is nan."""
    columns = {name: list(entries(where, name, values)) for name, values in given.items()}
    for name, values in columns.items():
        if len(values) != len(columns["words"]) or not values:
            raise ValueError(
                f"{where}: {name} must hold one entry per word, at least one; "
                f"got {len(values)} for {len(columns['words'])} words"
            )
        if odd := [number for number, value in enumerate(values) if value != value]:
            raise ValueError(f"{where}: {name} must not be nan; {name}[{odd[0]}] is; give None")
    return list(columns.values())


def _joined(pieces: Sequence[str]) -> str:
    return pieces[0] + "".join(piece.removeprefix("##") for piece in pieces[1:])
