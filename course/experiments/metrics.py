"""The score of a task by its name, computed by scikit-learn; and whether two scores really differ.

For two lists of numbers, such as similarities by a model and by people, call
`scipy.stats.pearsonr(x, y).statistic`, or `spearmanr`. For tags see `bertlab.finetuning.scores`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

F1_OF = "F1 of "  # followed by the label


def task_score(metric: str, labels: Sequence[str], guesses: Sequence[str]) -> float:
    """How good the guesses are; more is better, 1 is perfect.

    metric: "accuracy", the share of correct guesses; "F1 of spam" (or of any other label), the
    harmonic mean of precision and recall of that label, 0 if it is never guessed correctly;
    "macro F1", the mean of the F1 of each label; "Matthews", the correlation of labels and guesses,
    0 for uninformed guesses, also if a label is rare (GLUE scores CoLA by it).

    Raises ValueError for an unknown metric, if there is not one guess for each label, if there is
    none, or if no label is the one of the F1.

    >>> task_score("F1 of spam", ["spam", "spam", "ham", "ham"], ["spam", "ham", "spam", "ham"])
    0.5
    """
    if len(labels) != len(guesses) or not len(labels):
        raise ValueError(
            "task_score: there must be one guess for each label, and at least one; got "
            f"{len(labels)} labels and {len(guesses)} guesses"
        )
    if metric.startswith(F1_OF):
        label = metric.removeprefix(F1_OF)
        if label not in labels:
            raise ValueError(f"task_score: {metric!r} needs a label {label!r}; there is none")
        scores = f1_score(labels, guesses, labels=[label], average=None, zero_division=0)
        return float(scores[0])
    if metric == "macro F1":
        return float(f1_score(labels, guesses, average="macro", zero_division=0))
    if metric == "Matthews":
        return float(matthews_corrcoef(labels, guesses))
    if metric == "accuracy":
        return float(accuracy_score(labels, guesses))
    raise ValueError(
        "task_score: metric must be 'accuracy', 'macro F1', 'Matthews' or 'F1 of' and a label; "
        f"got {metric!r}"
    )


class Compared(NamedTuple):
    """How two systems differ on the same items; made by `paired_bootstrap`."""

    difference: float  # of the mean scores: the first system's minus the second's
    low: float  # 95 % of the resampled differences are from `low` to `high`
    high: float
    turned: float  # the share of resamples in which the better system is not better


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> Compared:
    """Is one system better than another, or was it lucky with the items of the test?

    first, second: the score of each item, such as 1 or 0 for right or wrong, in the same order;
    resamples: how often N of the N items are drawn, with replacement. Both systems get the same
    items, so an item that is hard for both makes no difference.

    The usual rule: a difference is significant if 0 is not between `low` and `high`; `turned` is
    then below about 0.025. The test knows only chance in the choice of items: the same systems,
    trained with other seeds, may differ by more.

    Raises ValueError if there is not one finite score of each system for each item, or if there
    are fewer than two items or no resamples.

    Source: Koehn (2004), paired bootstrap resampling. Berg-Kirkpatrick et al. (2012), section 2,
    count resamples with over twice the difference instead of those that turn: the same share if
    the resampled differences are symmetric.

    >>> paired_bootstrap([1, 1, 1, 1, 1, 1, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1, 0, 0, 1])
    Compared(difference=0.3, low=-0.1, high=0.7, turned=0.1092)
    """
    scores, others = np.asarray(first, float), np.asarray(second, float)  # [N] each
    fits = scores.ndim == 1 and scores.shape == others.shape and len(scores) > 1
    if not fits or not np.isfinite([scores, others]).all() or resamples < 1:
        raise ValueError(
            "paired_bootstrap: first and second must hold one finite score for each of two items "
            f"or more, and resamples be at least 1; got {list(scores.shape)} and "
            f"{list(others.shape)} scores, and {resamples}"
        )
    differences, generator = scores - others, np.random.default_rng(seed)
    n_items, observed = len(differences), differences.mean()
    drawn = (generator.integers(n_items, size=n_items) for _ in range(resamples))
    means = np.array([differences[items].mean() for items in drawn])  # [resamples]
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    turned = (means * np.sign(observed) <= 0).mean()
    return Compared(float(observed), low, high, float(turned))
