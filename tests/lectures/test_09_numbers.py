"""Worked numbers of lecture 09, found again without the page: numpy, scikit-learn, seqeval.

`states` checks besides that the page really says the number, so neither can change alone. What its
trainings reach is asserted on the page itself, where they run.
"""

import numpy as np
import pytest
from seqeval.metrics import f1_score as seqeval_f1
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from transformers import BertConfig as ReferenceConfig
from transformers import BertForQuestionAnswering, BertForSequenceClassification

LECTURE = "09_finetuning"


def test_the_head_by_hand():
    scores = np.array([[1, 2], [2, 0]]) @ np.array([1, -1]) + np.array([0.5, 0])
    chances = np.exp(scores) / np.exp(scores).sum()
    assert scores.tolist() == [-0.5, 2]
    assert chances.round(3).tolist() == [0.076, 0.924]
    assert (-np.log(chances)).round(3).tolist() == [2.579, 0.079]


def test_how_many_weights_are_new(states):
    base = ReferenceConfig(num_hidden_layers=1, vocab_size=10, num_labels=6)
    classifier = BertForSequenceClassification(base).classifier
    answerer = BertForQuestionAnswering(ReferenceConfig(num_hidden_layers=1, vocab_size=10))
    assert sum(p.numel() for p in classifier.parameters()) == 4_614
    assert sum(p.numel() for p in answerer.qa_outputs.parameters()) == 1_538
    assert 2 * 256 + 2 == 514
    states("4{,}614", "1{,}538", "514 numbers")


def test_never_spam_is_right_88_times_in_100(states):
    truth, guess = [1] * 120 + [0] * 880, [0] * 1000
    assert accuracy_score(truth, guess) == 0.88
    assert f1_score(truth, guess, zero_division=0) == 0
    states("88 times in 100")


def test_precision_recall_and_f1_of_a_filter(states):
    truth = [1] * 120 + [0] * 880
    guess = [1] * 90 + [0] * 30 + [1] * 10 + [0] * 870
    assert precision_score(truth, guess) == 0.9
    assert recall_score(truth, guess) == 0.75
    assert f1_score(truth, guess) == pytest.approx(0.818, abs=5e-4)
    assert accuracy_score(truth, guess) == 0.96
    states("= 0.90$", "= 0.75$", "= 0.818$", "accuracy 0.96")


def test_a_stretch_that_ends_too_early_is_wrong():
    true = [["B-LINK", "I-LINK", "O", "B-LINK"]]
    said = [["B-LINK", "O", "O", "B-LINK"]]
    assert seqeval_f1(true, said) == 0.5


def test_the_best_start_and_end():
    start, end = np.array([2, 0.5, 1]), np.array([3, 1, 2.5])
    every = {(i, j): start[i] + end[j] for i in range(3) for j in range(i, 3)}
    assert max(every, key=every.get) == (0, 0)
    assert every[0, 0] == 5
