"""Scores of tasks, against arithmetic by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.experiments.metrics import task_score

LABELS = ["spam"] * 4 + ["ham"] * 6
GUESSES = ["spam", "spam", "spam", "ham", "spam", "ham", "ham", "ham", "ham", "ham"]
# 3 spam found of 4, and 1 of 6 ham taken for spam.


def test_the_scores_by_hand():
    precision, recall = 3 / 4, 3 / 4
    f1 = 2 * precision * recall / (precision + recall)
    assert task_score("F1 of spam", LABELS, GUESSES) == pytest.approx(f1)
    f1_of_ham = 2 * 5 / (2 * 5 + 1 + 1)  # 2 TP / (2 TP + FP + FN)
    assert task_score("F1 of ham", LABELS, GUESSES) == pytest.approx(f1_of_ham)
    assert task_score("macro F1", LABELS, GUESSES) == pytest.approx((f1 + f1_of_ham) / 2)
    assert task_score("accuracy", LABELS, GUESSES) == pytest.approx(0.8)
    matthews = (3 * 5 - 1 * 1) / math.sqrt((3 + 1) * (3 + 1) * (5 + 1) * (5 + 1))
    assert task_score("Matthews", LABELS, GUESSES) == pytest.approx(matthews)


def test_predicting_no_spam_is_accurate_and_has_no_value():
    labels, never = ["spam"] + ["ham"] * 9, ["ham"] * 10
    assert task_score("accuracy", labels, never) == pytest.approx(0.9)
    assert task_score("F1 of spam", labels, never) == 0
    assert task_score("Matthews", labels, never) == 0


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20))
def test_all_right_is_one_by_every_metric(labels):
    metrics = ["accuracy", "macro F1", f"F1 of {labels[0]}"]
    if len(set(labels)) > 1:
        metrics.append("Matthews")  # undefined if all labels are equal
    assert [task_score(metric, labels, labels) for metric in metrics] == [1] * len(metrics)


def test_what_cannot_be_scored_is_rejected():
    with pytest.raises(ValueError, match="1 labels and 2 guesses"):
        task_score("accuracy", ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="at least one"):
        task_score("accuracy", [], [])
    with pytest.raises(ValueError, match="there is none"):
        task_score("F1 of spam", ["ham"], ["spam"])
    with pytest.raises(ValueError, match="got 'f1'"):
        task_score("f1", ["ham"], ["spam"])
