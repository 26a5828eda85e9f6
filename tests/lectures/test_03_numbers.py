"""Lecture 03 against NumPy, PyTorch's convolutions and Hugging Face's MiniLM."""

import math
import re

import numpy as np
import pytest
import torch
from torch import nn

from bertlab import data
from bertlab.tokenizers.words import split_words


def test_what_the_proofs_of_the_page_assert(states):
    states("""
        ln(4/3) + 1 = 1.29, and occurs twice: 2.58 ... ln(4/2) + 1 = 1.69 ... 9 components here,
        30,522 in BERT ... 30 pairs for skip-gram, and one example per row for CBOW ... scores 0.78
        instead of 0, the noise word 0.63 instead of 2 ... the loss is 1.43 instead of 2.82
    """)
    far = 1 / (1 + math.exp(-2))  # the sigmoid
    states(rf"$\sigma(2) = {far:.3f}$ the loss is ... $0.5 - 1 = -0.5$ and by ${far:.3f}$")
    half, other = -math.log(0.5), -math.log(1 - far)
    states(rf"$-\ln 0.5 - \ln {1 - far:.3f} = {half:.3f} + {other:.3f} = {half + other:.3f}$")


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("""
        skip-gram solves about 60 % of all the questions (Mikolov et al., 2013b) ... **9.3 times as
        fast**, on an older GPU ... read a billion words and has 4,096 units in each direction,
        projected to 512 numbers ... only the masked words (15 %) teach
    """)


@pytest.mark.parametrize(
    ("widths", "dilations", "field"),
    [([3] * 4, [1] * 4, 9), ([5] * 6, [1] * 6, 25), ([3] * 4, [1, 2, 4, 8], 31)],
)
def test_fields_of_convolutions_are_pytorchs(widths, dilations, field, states):
    """A one at a single position, through layers of ones: which positions does it reach?"""
    x = torch.zeros(1, 1, 99)
    x[..., 49] = 1
    for width, dilation in zip(widths, dilations, strict=True):
        ones, pad = torch.ones(1, 1, width), dilation * (width // 2)
        x = nn.functional.conv1d(x, ones, padding=pad, dilation=dilation)
    assert (x > 0).sum() == field
    states("six blocks of width 5 with a field of 25 ... takes 256 layers of width 3")


@pytest.mark.corpora
def test_all_eight_pythons_are_in_one_article(states):
    articles = data.documents("wikipedia")
    pythons = [split_words(" ".join(article).lower()).count("python") for article in articles]
    assert sorted(pythons)[-2:] == [0, 8]
    states("all eight occurrences are in one article")


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
