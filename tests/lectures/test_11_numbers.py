"""Lecture 11 by hand, SciPy and Hugging Face; the tables of the paper and of the benchmark.

The results of its encoders it asserts itself.
"""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import log_softmax

from bertlab import data
from bertlab.data.published import hub_model
from course.experiments.labels import labelled
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def senteval(its_lecture):
    """The paper's table of SentEval as the page has it: name -> seven accuracies and their mean."""
    rows = re.findall(
        r"^\| ([^|]+) \| [\d.]* ?\| (\d[\d. |]+) \|$", its_lecture.prose, re.MULTILINE
    )
    return {name: [float(cell) for cell in row.split("|")] for name, row in rows}


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        214 pairs per second ... the cosines 0.6 and 1.0 ... $u_1$ and $v_2$ have 0, $u_2$ and
        $v_1$ have 0.8 ... cosine 1, and the classifier is 88 % sure ... $(0.437 + 0.598) / 2 ...
        with 20, the default, 0.009 ... a difference of 0.2 counts as 4 ... 3.47 of pure guessing
        ... $\ln 64 = 4.16$
    """)
    assert math.comb(10_000, 2) == 49_995_000
    states("""
        With one vector per sentence, comparing 10,000 sentences takes 10,000 readings instead of
        49,995,000.
    """)
    states(f"read once instead of {2 * math.comb(10_000, 2) // 10_000:,} times")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        | GloVe, mean | 61.32 | 77.25 | 78.30 | 91.17 | 87.85 | 80.18 | 83.0 | 72.87 | 81.52 | ...
        | fastText, mean | | 77.96 | 79.23 | 91.68 | 87.81 | 82.15 | 83.6 | 74.49 | 82.42 | ... |
        BERT, mean | 54.81 | 78.66 | 86.25 | 94.37 | 88.66 | 84.40 | 92.8 | 69.45 | 84.94 | ... |
        BERT, [CLS] | 29.19 | 78.68 | 84.85 | 94.21 | 88.23 | 84.13 | 91.4 | 71.13 | 84.66 | ... |
        InferSent | 65.01 | 81.57 | 86.54 | 92.50 | 90.38 | 84.18 | 88.2 | 75.77 | 85.59 | ... |
        Universal Sentence Encoder | 71.22 | 80.09 | 85.19 | 93.98 | 86.70 | 86.38 | 93.2 | 70.14 |
        85.10 | ... | SBERT-NLI-base | 74.89 | 83.64 | 89.43 | 94.39 | 89.86 | 88.96 | 89.6 | 76.00
        | 87.41 | ... | SBERT-NLI-large | 76.55 | 84.88 | 90.07 | 94.52 | 90.33 | 90.66 | 87.4 |
        75.94 | 87.69 | ... GloVe has 58.02 %, the mean of BERT 46.35 %, and `[CLS]` 16.50 % (table
        1) ... mean 80.78, [CLS] 79.80, max 79.07 ... a new topic: 50.65 against 57.23 ... averaged
        GloVe 6,469 / – ... about 0.6, and a bag of words reached 0.5 at best ... SNLI (570,000) and
        MultiNLI (430,000) ... 44 / 1,378, with smart batching 83 / 2,042
    """)


# The price of pairs.


def test_the_ratio_of_both_ways(states):
    states(f"is ${math.comb(10_000, 2) / 10_000}$ times the ratio")
    states(f"reads {2_000 / 214:.1f} times as many sentences per second as pairs")


# Pooling and objectives.


def test_in_batch_negatives_by_scipy():
    u, v = np.eye(2), [[0.6, 0.8], [0.0, 2.0]]
    cosines = 1 - cdist(u, v, "cosine")
    assert cosines.round(9).tolist() == [[0.6, 0], [0.8, 1]]
    plain, scaled = (-np.diag(log_softmax(scale * cosines, axis=1)) for scale in (1, 20))
    assert [round(loss, 3) for loss in (*plain, plain.mean())] == [0.437, 0.598, 0.518]
    assert round(scaled.mean(), 3) == 0.009
    one_right = np.array([1.0] + [0.0] * 31)
    assert -log_softmax(20 * one_right)[0] < 1e-6
    assert round(-log_softmax(one_right)[0], 2) == 2.52


@pytest.mark.slow
def test_what_counts_in_a_mean_by_hugging_face_and_numpy(minilm, states):
    pairs = [pair for article in data.documents("wikipedia") for pair in pairwise(article)]
    pairs = [pair for pair in pairs if all(40 <= len(text) <= 200 for text in pair)]
    counted = {"[CLS]": [], "both": []}  # shares times L: of the cosine, of the attention received
    for pair in pairs[:: len(pairs) // 60][:60]:
        one, other = map(minilm, pair)
        h, u, v = one.hidden[-1], one.hidden[-1].mean(axis=0), other.hidden[-1].mean(axis=0)
        if u @ v > 0.15 * np.linalg.norm(u) * np.linalg.norm(v):
            both = np.stack([h @ v / (u @ v), one.attention.sum(axis=2).mean(axis=(0, 1))])
            for token, numbers in zip(one.tokens, both.T, strict=True):
                shared = token in other.tokens and token.isalpha() and len(token) > 3
                if shared or token == "[CLS]":
                    counted["both" if shared else token].append(numbers)
    (cls, received), (words, _) = (np.mean(found, axis=0) for found in counted.values())
    assert round(received) == 10
    states(f"count {words:.1f} times their even share", f"of attention, counts {cls:.1f} times")


# Judges and data.


def test_fifty_texts_have_1225_pairs_and_none_is_in_training(states):
    assert math.comb(50, 2) == len(labelled("lee-similarity"))
    states(f"50 news texts are, all {math.comb(50, 2):,} pairs")
    judged = {example.text for example in labelled("lee-similarity")}
    assert not judged & {" ".join(text) for text in data.documents("lee")}
    states("and so do the 50 texts that people judged")


def test_the_documents_of_the_third_test_are_not_in_training(states):
    learn_from, held_out = data.split(data.documents("wikipedia+lee+plots"), 0.15)
    assert not {tuple(text) for text in learn_from} & {tuple(text) for text in held_out}
    states("From each of 175 documents ... The documents of the third judge stay out")
    states(
        "two of the 175 questions are chance"
    )  # as many as there are documents: the page asserts it


def test_sizes_of_the_models(minilm, states):
    card = (ROOT / "bertlab" / "weights" / "bertlab-mini" / "README.md").read_text("utf-8")
    assert "3.2 million tokens of three corpora" in card
    states("was pre-trained on 3.2 million tokens")
    glove = np.load(data.path("glove", "glove_6B_50d_emb.npy"), mmap_mode="r")
    states(f"Our GloVe has {glove.shape[1]} dimensions")
    states(f"(6 layers, {minilm.model.config.hidden_size} dimensions) that was trained")
    states(f"two directions out of {minilm.model.config.hidden_size} dimensions")
    states(f"is a download of {hub_model('bert-base-uncased').megabytes:.0f} MB")


# The paper.


def test_the_means_of_the_papers_table_are_those_of_its_columns(senteval):
    assert len(senteval) == 8
    for *tasks, mean in senteval.values():
        assert sum(tasks) / 7 == pytest.approx(mean, abs=0.006)
