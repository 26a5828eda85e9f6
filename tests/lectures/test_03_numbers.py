"""The worked numbers of lecture 03, without the page and, if possible, without our code."""

import math
import re

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn

from bertlab import data
from bertlab.tokenizers.words import split_words
from course.models.word_vectors import Word2VecConfig
from tests.lectures.conftest import functions_of


def test_idf_of_the_three_documents(states):
    once, twice = math.log(4 / 3) + 1, math.log(4 / 2) + 1
    states(f"ln(4/3) + 1 = {once:.2f}, and occurs twice: {2 * once:.2f}")
    states(f"ln(4/2) + 1 = {twice:.2f}")
    documents = ["the python sleeps in the sun", "python is a language", "the sun is a star"]
    states(f"{len(set(' '.join(documents).split()))} components here, 30,522 in BERT")


def test_a_window_of_two_makes_thirty_pairs_and_nine_words_two_triangles(states):
    pairs = sum(0 < abs(i - j) <= 2 for i in range(9) for j in range(9))
    states(f"{pairs} pairs for skip-gram, and one example per row for CBOW")
    forward = np.tri(9, k=-1)
    assert forward.sum() == 36
    assert (forward + forward.T).sum() == 9 * 9 - 9
    states("a triangle below the diagonal")


def test_one_update_with_numpy(states):
    v, u, n = np.array([1.0, 1]), np.array([1.0, -1]), np.array([1.0, 1])

    def losses():
        return -math.log(expit(u @ v)), -math.log(expit(-n @ v))

    before = losses()
    near, far = expit(u @ v) - 1, expit(n @ v)
    assert near == -0.5
    states(f"$\\sigma(2) = {far:.3f}$ the loss is", f"$0.5 - 1 = {near}$ and by ${far:.3f}$")
    states(
        f"the loss is $-\\ln 0.5 - \\ln {1 - far:.3f} "
        f"= {before[0]:.3f} + {before[1]:.3f} = {sum(before):.3f}$"
    )
    v, u, n = v - 0.5 * (near * u + far * n), u - 0.5 * near * v, n - 0.5 * far * v
    states(f"scores {u @ v:.2f} instead of 0, the noise word {n @ v:.2f} instead of 2")
    states(f"the loss is {sum(losses()):.2f} instead of {sum(before):.2f}")


def test_fields_of_convolutions_are_pytorchs(states):
    """A one at a single position, through layers of ones: which positions does it reach?"""
    for widths, dilations, field in (
        ([3] * 4, [1] * 4, 9),
        ([5] * 6, [1] * 6, 25),
        ([3] * 4, [1, 2, 4, 8], 31),
    ):
        x = torch.zeros(1, 1, 99)
        x[..., 49] = 1
        for width, dilation in zip(widths, dilations, strict=True):
            ones = torch.ones(1, 1, width)
            pad = dilation * (width // 2)
            x = nn.functional.conv1d(x, ones, padding=pad, dilation=dilation)
        assert (x > 0).sum() == field
    assert 1 + 2 * 255 < 512 <= 1 + 2 * 256
    states("takes 256 layers of width 3", "six blocks of width 5 with a field of 25")


def test_a_window_over_the_edge_reveals_four_positions(states):
    """Zeros outside: which of 20 positions see a unique pattern of inside and outside?"""
    inside = [tuple(0 <= place + step < 20 for step in (-2, -1, 0, 1, 2)) for place in range(20)]
    alone = sum(inside.count(pattern) == 1 for pattern in inside)
    assert alone == 4
    share = (alone + 1) / 20  # and of the others, one guess hits one place
    states(f"in {100 * share:.0f} % of the cases without", "by chance, 1 in 16, between them")


def test_the_slanted_triangle_joins_three_points(states):
    slanted = functions_of("03_static_to_contextual")["slanted_triangle"]
    for T, cut, ratio in ((1_000, 100, 32), (200, 20, 8)):
        ours = [slanted(t, T, ratio=ratio) for t in range(T + 1)]
        reference = np.interp(range(T + 1), [0, cut, T], [1 / ratio, 1, 1 / ratio])
        np.testing.assert_allclose(ours, reference, rtol=1e-12)
    states("it starts and ends at a 32nd of the highest", r"(1 + 31 p) / 32")


@pytest.mark.corpora
def test_all_eight_pythons_are_in_one_article(states):
    articles = data.documents("wikipedia")
    pythons = [split_words(" ".join(article).lower()).count("python") for article in articles]
    assert sorted(pythons)[-2:] == [0, 8]
    states("all eight occurrences are in one article", "Only 11 % of all *the* stay")


@pytest.mark.slow
@pytest.mark.corpora
def test_six_pythons_by_hugging_face(minilm, its_lecture, states):
    (cell,) = (cell for cell in its_lecture.code if cell.id == "python-sentences")
    sentences = re.findall(r'^    "(.*python.*)",$', cell.source, re.MULTILINE)
    assert len(sentences) == 6

    def units(sentence):
        """The vectors of "python" after each layer, of length 1: [7, D]."""
        read = minilm(sentence)
        assert read.tokens[2] == "python"
        return read.hidden[:, 2] / np.linalg.norm(read.hidden[:, 2], axis=-1, keepdims=True)

    vectors = np.stack([units(sentence) for sentence in sentences], axis=1)  # [7, 6, D]
    cosines = vectors @ vectors.swapaxes(1, 2)
    np.testing.assert_allclose(cosines[0], 1, atol=1e-5)
    below = [(1, 0), (2, 0), (2, 1)]
    same = np.mean([cosines[6, a + k, b + k] for a, b in below for k in (0, 3)])
    across = cosines[6, :3, 3:].mean()
    states(f"to {same:.2f} inside a meaning and {across:.2f} across after the last layer")
    assert (cosines[6] - np.eye(6)).argmax(axis=1).tolist() == [1, 0, 5, 5, 5, 3]
    arm = units("one python lay around the arm of a man")[6]
    assert (vectors[6] @ arm)[[0, 1, 3, 4, 5]].argmax() < 2
    states("ends up nearest to sentence 6")


def test_a_piece_has_as_many_words_as_the_library_takes(states):
    states(f"takes {Word2VecConfig().piece} words at a time")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("skip-gram solves about 60 % of all the questions (Mikolov et al., 2013b)")
    states("**9.3 times as fast**, on an older GPU than the LSTMs had")
    states("a billion words; 4,096 units in each direction, projected to 512 numbers")
    states("only the hidden words (15 %) teach", "divided by 2.6")
