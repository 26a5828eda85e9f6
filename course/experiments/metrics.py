"""The score of a task by its name, computed by scikit-learn.

For two lists of numbers, such as similarities by a model and by people, call
`scipy.stats.pearsonr(x, y).statistic`, or `spearmanr`. For tags see `bertlab.finetuning.scores`.
"""

from collections.abc import Sequence

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
