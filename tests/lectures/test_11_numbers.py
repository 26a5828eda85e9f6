"""Worked numbers of lecture 11, found again without the page: by hand, numpy, scipy.

`states` checks besides that the page really says the number, so neither can change alone. What
its encoders reach is asserted on the page itself, where they run.
"""

import math
import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cosine as cosine_distance
from scipy.special import log_softmax, softmax

from bertlab import data
from tests.conftest import ROOT

LECTURE = "11_sentence_bert"
U, V = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.6, 0.8], [0.0, 2.0]])
SENTEVAL = {
    "GloVe, mean": (77.25, 78.30, 91.17, 87.85, 80.18, 83.0, 72.87, 81.52),
    "fastText, mean": (77.96, 79.23, 91.68, 87.81, 82.15, 83.6, 74.49, 82.42),
    "BERT, mean": (78.66, 86.25, 94.37, 88.66, 84.40, 92.8, 69.45, 84.94),
    "BERT, [CLS]": (78.68, 84.85, 94.21, 88.23, 84.13, 91.4, 71.13, 84.66),
    "InferSent": (81.57, 86.54, 92.50, 90.38, 84.18, 88.2, 75.77, 85.59),
    "Universal Sentence Encoder": (80.09, 85.19, 93.98, 86.70, 86.38, 93.2, 70.14, 85.10),
    "SBERT-NLI-base": (83.64, 89.43, 94.39, 89.86, 88.96, 89.6, 76.00, 87.41),
    "SBERT-NLI-large": (84.88, 90.07, 94.52, 90.33, 90.66, 87.4, 75.94, 87.69),
}


def cosines(rows, columns):
    return np.array([[1 - cosine_distance(row, column) for column in columns] for row in rows])


# The price of pairs.


def test_ten_thousand_sentences_have_49995000_pairs(states):
    assert sum(range(10_000)) == math.comb(10_000, 2) == 49_995_000
    assert len(list(combinations(range(100), 2))) == 4_950
    assert math.comb(100_000, 2) == 4_999_950_000
    states("49,995,000 for 10,000", "fifty million readings", "4,999,950,000 pairs")


def test_the_papers_65_hours_and_5_seconds(states):
    seconds = 65 * 60 * 60
    assert round(49_995_000 / seconds) == 214
    assert Fraction(seconds, 5) == 46_800
    assert Fraction(10_000, 5) == 2_000
    assert 50 < 40_000_000 / 214 / 3600 < 53
    states("214 pairs a second", "2,000 sentences a second", "over 50 hours")


def test_the_table_with_the_machine_to_itself_is_that_of_the_benchmarks(states):
    table = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    table = table.partition("<!-- sentences: begin -->")[2]
    for row in (
        r"cross-encoder.*\| 95 pairs .*\| 146\.5 hours",
        r"encoder: .*\| 208 sentences .*\| 48\.1 seconds",
        r"cosines.*\| 0\.3\d seconds",
        r"times as fast.*\| 10,879 ",
    ):
        assert re.search(row, table), f"the benchmark has no row {row}"
    states("95 pairs and 208 sentences per second, 146.5 hours against 48 seconds", "10,879")
    assert abs(49_995_000 / 3600 / 95 - 146.5) < 0.8  # half a pair a second
    assert abs(10_000 / 208 - 48.1) < 0.1
    assert Fraction(49_995_000, 10_000) == Fraction(9_999, 2)
    assert (round(46_800 / 10_879, 1), round(2_000 / 214, 1)) == (4.3, 9.3)
    states("is $4999.5$ times the ratio", "is 4.3 times ours", "9.3 times as many as pairs")


# Pooling and objectives.


def test_the_three_poolings_by_hand():
    tokens = np.array([[1.0, 4.0], [3.0, 2.0], [9.0, 9.0]])
    assert tokens[:2].mean(axis=0).tolist() == [2, 3]
    assert tokens[:2].max(axis=0).tolist() == [3, 4]
    assert np.allclose(tokens.mean(axis=0), [13 / 3, 5])


def test_cosines_of_the_pairs_and_across(states):
    assert np.allclose(cosines(U, V), [[0.6, 0], [0.8, 1]])
    states("the cosines 0.6 and 1.0", "$u_1$ and $v_2$ have 0, $u_2$ and $v_1$ have 0.8")


def test_regression_and_triplets_by_hand():
    assert np.allclose((np.diag(cosines(U, V)) - [1, 0.5]) ** 2, [0.16, 0.25])
    assert math.isclose((0.16 + 0.25) / 2, 0.205)
    assert math.hypot(0.6, 0.8) - math.hypot(0, 1.5) + 1 == pytest.approx(0.5)


@pytest.mark.parametrize(("scale", "loss"), [(1, 0.518), (20, 0.009)])
def test_in_batch_negatives_by_hand(scale, loss):
    of_each = -np.diag(log_softmax(scale * cosines(U, V), axis=1))
    assert round(of_each.mean(), 3) == loss
    if scale == 1:
        assert np.round(of_each, 3).tolist() == [0.437, 0.598]


def test_why_cosines_are_multiplied(states):
    one_right = np.array([1.0] + [0.0] * 31)
    assert round(-log_softmax(one_right)[0], 2) == 2.52
    assert -log_softmax(20 * one_right)[0] < 1e-6
    assert (round(math.log(32), 2), round(math.log(64), 2)) == (3.47, 4.16)
    states("$(0.437 + 0.598) / 2 = 0.518$; with 20, the default, 0.009", r"3.47 of pure guessing")
    states("the loss is 2.52", r"$\ln 64 = 4.16$", "a difference of 0.2 counts as 4")


def test_a_classifier_may_call_a_pair_of_cosine_1_different(states):
    different = [softmax([0, 2 * np.abs(u - v).sum()])[1] for u, v in zip(U, V, strict=True)]
    assert np.round(different, 2).tolist() == [0.92, 0.88]
    assert cosines(U, V)[1, 1] == pytest.approx(1)
    states("cosine 1, and the classifier is 88 % sure")


# Judges and data.


def test_fifty_texts_have_1225_pairs(states):
    assert math.comb(50, 2) == len(data.labelled("lee-similarity")) == 1_225
    states("50 news texts are, all 1,225 pairs")


def test_the_documents_of_the_third_judge_are_not_learned_from(states):
    documents = data.documents("wikipedia+lee+plots")
    learn_from, held_out = data.split(documents, 0.15)
    assert (len(learn_from), len(held_out)) == (1_254, 226)
    assert not {tuple(text) for text in learn_from} & {tuple(text) for text in held_out}
    states("From each of 175 documents", "The documents of the third judge stay out")


def test_no_judged_news_is_among_those_to_learn_from():
    judged = {example.text for example in data.labelled("lee-similarity")}
    assert not judged & {" ".join(text) for text in data.documents("lee")}


# The paper.


@pytest.mark.parametrize("name", SENTEVAL)
def test_the_means_of_the_papers_table_are_those_of_its_columns(name, lecture):
    *tasks, mean = SENTEVAL[name]
    assert sum(tasks) / 7 == pytest.approx(mean, abs=0.006)
    line = next(line for line in lecture(LECTURE).prose.splitlines() if f"| {name} |" in line)
    numbers = [float(cell) for cell in line.split("|")[3:-1]]
    assert numbers == [*tasks, mean]


def test_the_published_columns_of_our_table_are_the_papers(lecture):
    ours = {
        "GloVe, mean": "GloVe, mean",
        "bertlab-mini, cls": "BERT, [CLS]",
        "bertlab-mini, mean": "BERT, mean",
        "ours (section 6)": "SBERT-NLI-base",
    }
    (cell,) = [cell for cell in lecture(LECTURE).code if cell.id == "senteval-table"]
    for here, there in ours.items():
        mr, _, subj, _, _, trec, _, _ = SENTEVAL[there]
        assert f'"{here}": ({mr}, {subj}, {trec})' in cell.source


def test_a_million_labelled_pairs_and_what_smart_batching_gains(states):
    assert 570_000 + 430_000 == 1_000_000
    assert (round(83 / 44, 2), round(2_042 / 1_378, 2)) == (1.89, 1.48)
    states("SNLI (570,000) and MultiNLI (430,000)", "44 / 1,378, with smart batching 83 / 2,042")
