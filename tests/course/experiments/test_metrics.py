"""Scores of tasks, against arithmetic by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from course.experiments.metrics import paired_bootstrap, task_score
from tests.bertlab.refusals import rejected

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
    rejected("1 labels and 2 guesses", task_score, "accuracy", ["a"], ["a", "b"])
    rejected("at least one", task_score, "accuracy", [], [])
    rejected("there is none", task_score, "F1 of spam", ["ham"], ["spam"])
    rejected("got 'f1'", task_score, "f1", ["ham"], ["spam"])


@pytest.mark.parametrize("n_items", [2, 10, 300])
@pytest.mark.parametrize("kind", ["right or wrong", "F1"])
def test_the_paired_bootstrap_equals_scipys(n_items, kind):
    first, second = np.random.default_rng(n_items).random((2, n_items))
    if kind == "right or wrong":
        first, second = (first < 0.8) * 1.0, (second < 0.6) * 1.0
    reference = bootstrap(
        (first, second),
        lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
        paired=True,
        n_resamples=2_000,
        method="percentile",
        rng=np.random.default_rng(3),
    )
    got = paired_bootstrap(list(first), list(second), resamples=2_000, seed=3)
    assert got.difference == pytest.approx(first.mean() - second.mean())
    assert (got.low, got.high) == pytest.approx(tuple(reference.confidence_interval))
    drawn = reference.bootstrap_distribution
    turned = drawn <= 1e-12 if got.difference > 0 else drawn >= -1e-12
    assert got.turned == pytest.approx(turned.mean())


def test_the_paired_bootstrap_by_hand():
    # Two items with differences 1 and -0.5: means 1, 0.25, 0.25, -0.5 in a quarter of draws each.
    got = paired_bootstrap([1, 0], [0, 0.5], resamples=4_000)
    assert got[:3] == (0.25, -0.5, 1)
    assert got.turned == pytest.approx(1 / 4, abs=0.03)
    swapped = paired_bootstrap([0, 0.5], [1, 0], resamples=4_000)
    assert swapped == pytest.approx((-got.difference, -got.high, -got.low, got.turned))
    assert paired_bootstrap([1, 0, 1], [1, 0, 1], resamples=9) == (0, 0, 0, 1)  # no better one
    better = paired_bootstrap([1, 1, 1], [0, 0, 0], resamples=9)
    assert better == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("first", "second", "resamples", "told"),
    [
        ([1, 0], [1, 0, 1], 9, r"got \[2\] and \[3\] scores"),
        ([1], [0], 9, r"two items or more.*got \[1\]"),
        ([], [], 9, r"got \[0\]"),
        ([1, math.nan], [0, 1], 9, "finite"),
        ([1, math.inf], [0, 1], 9, "finite"),
        ([[1, 0]], [[0, 1]], 9, r"got \[1, 2\]"),
        (1.0, 0.0, 9, r"got \[\] and \[\]"),
        ([1, 0], [0, 1], 0, "resamples be at least 1; .* and 0"),
    ],
)
def test_what_cannot_be_compared_is_rejected(first, second, resamples, told):
    with pytest.raises(ValueError, match=told):
        paired_bootstrap(first, second, resamples=resamples)
