"""The score of a task by its name; the arithmetic is scikit-learn's.

For two lists of numbers, such as how similar sentences are to a model and to people, there is
nothing to add: call `scipy.stats.pearsonr(x, y).statistic`, or `spearmanr`. For tags see
`bertlab.finetuning.scores`.
"""

from collections.abc import Sequence

from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

F1_OF = "F1 of "  # and the label that is looked for


def task_score(metric: str, labels: Sequence[str], guesses: Sequence[str]) -> float:
    """How good the guesses are; more is better, 1 is perfect.

    metric: "accuracy", the share that is right; "F1 of spam" (or of any other label), the harmonic
    mean of precision and recall of that label, 0 if it is never guessed rightly; "macro F1", the
    mean of the F1 of each label; "Matthews", the correlation of labels and guesses, 0 for guesses
    that know nothing, also if a label is rare (GLUE scores CoLA by it).

    Raises ValueError for an unknown metric, if there is not one guess for each label, if there is
    none, or if no label is the one that F1 is asked of.

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
