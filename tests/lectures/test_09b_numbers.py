"""Lecture 09b without its page: confusion matrices, and a rule that reveals no label."""

import random
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import confusion_matrix

from course.experiments.labels import Example
from tests.lectures.conftest import functions_of

LABELS = ("entailed", "neutral", "contradicted")
FIRST = ("The {} went to the {}.", "At last the {} came to the {}.")
SECOND = ("The {} was at the {}.", "The {} had come to the {}.")
PEOPLE, PLACES = ["king", "queen", "boy", "girl"], ["river", "town", "sea"]
KNOWN = {"torch": torch, "random": random, "Example": Example}
KNOWN |= {"FIRST": FIRST, "SECOND": SECOND, "LABELS": LABELS}
PAGE = functions_of("09b_pairs_and_opinions", **KNOWN)


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1))
def test_confusion_is_scikit_learns(answers):
    true, said = zip(*answers, strict=True)
    reference = confusion_matrix(true, said, labels=LABELS)
    assert PAGE["confusion"](LABELS, true, said).tolist() == reference.tolist()


@pytest.fixture(scope="module")
def drawn():
    """6,000 examples, each as (person, place) of both sentences and the label."""
    found = []
    for example in PAGE["draw_inferences"](6_000, PEOPLE, PLACES, seed=0):
        words = [text.strip(".").split() for text in (example.text, example.pair)]
        who = [next(w for w in text if w in PEOPLE) for text in words]
        where = [next(w for w in text if w in PLACES) for text in words]
        found.append((who[0], where[0], who[1], where[1], example.label))
    return found


def test_labels_follow_the_rule(drawn):
    for who, where, person, place, label in drawn:
        if person != who:
            assert label == "neutral"
        else:
            assert label == ("entailed" if place == where else "contradicted")
    assert set(Counter(label for *_, label in drawn).values()) == {2_000}


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_one_word_alone_carries_no_information_on_the_label(drawn, column):
    counts = Counter((row[column], row[-1]) for row in drawn)
    words = sorted({row[column] for row in drawn})
    table = [[counts[word, label] for label in LABELS] for word in words]
    assert chi2_contingency(table).pvalue > 0.001


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("a GLUE score of 80.5 % and 86.7 % on MultiNLI")
    states("CoLA has 8,551 sentences for training, SST-2 67,349")
