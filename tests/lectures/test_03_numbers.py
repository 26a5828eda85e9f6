"""The worked numbers of lecture 03, without the page and, where one can, without our code."""

import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn

from bertlab import data
from bertlab.tokenizers.words import split_words

LECTURE = "03_static_to_contextual"
ALASKA = ["Alaska", "is", "about", "twelve", "times", "larger", "than", "New", "York"]


@pytest.fixture(scope="module")
def articles():
    return [
        [[w for w in split_words(sentence.lower()) if w.isalpha()] for sentence in article]
        for article in data.documents("wikipedia")
    ]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_idf_of_the_three_documents(states):
    assert round(math.log(4 / 3) + 1, 2) == 1.29
    assert round(2 * (math.log(4 / 3) + 1), 2) == 2.58
    assert round(math.log(4 / 2) + 1, 2) == 1.69
    states("ln(4/3) + 1 = 1.29, and occurs twice: 2.58", "ln(4/2) + 1 = 1.69")
    documents = ["the python sleeps in the sun", "python is a language", "the sun is a star"]
    assert len(set(" ".join(documents).split())) == 9
    states("9 components here, 30,522 in BERT")


def test_a_window_of_two_makes_thirty_pairs(states):
    pairs = sum(0 < abs(i - j) <= 2 for i in range(9) for j in range(9))
    assert pairs == 30
    states("30 pairs for skip-gram, one example a row for CBOW")


def test_one_update_with_numpy(states):
    v, u, n = np.array([1.0, 1]), np.array([1.0, -1]), np.array([1.0, 1])

    def loss():
        return -math.log(sigmoid(u @ v)) - math.log(sigmoid(-n @ v))

    assert round(loss(), 3) == 2.820
    assert [round(-math.log(p), 3) for p in (0.5, 1 - sigmoid(2))] == [0.693, 2.127]
    near, far = sigmoid(u @ v) - 1, sigmoid(n @ v)
    assert (near, round(far, 3)) == (-0.5, 0.881)
    v, u, n = v - 0.5 * (near * u + far * n), u - 0.5 * near * v, n - 0.5 * far * v
    assert (round(u @ v, 2), round(n @ v, 2), round(loss(), 2)) == (0.78, 0.63, 1.43)
    states(r"0.693 + 2.127 = 2.820", "scores 0.78 instead of 0, the noise word 0.63 instead of 2")
    states("the loss is 1.43 instead of 2.82")


def test_triangles_of_the_nine_words(states):
    forward = [[row > column for column in range(9)] for row in range(9)]
    assert np.sum(forward) == 36
    assert np.sum(forward) + np.sum(np.transpose(forward)) == 9 * 9 - 9 == 72
    assert len(ALASKA) == 9
    states("a triangle below the diagonal")


def test_fields_of_convolutions_are_pytorchs(states):
    """A one at a single place, through layers of ones: where does it arrive?"""
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


@pytest.mark.slow
@pytest.mark.corpora
def test_what_the_corpus_holds(articles, states):
    words = [word for article in articles for sentence in article for word in sentence]
    assert (len(articles), len(words)) == (97, 387_805)
    counts = Counter(words)
    frequent = {word: count for word, count in counts.items() if count >= 5}
    assert len(frequent) == 7_649
    share = frequent["the"] / sum(frequent.values())
    assert round(math.sqrt(1e-3 / share), 2) == 0.11
    assert counts["python"] == 8
    assert sum(any("python" in sentence for sentence in article) for article in articles) == 1
    states("Only 11 % of all *the* stay", "all eight occurrences stand in one article")


@pytest.mark.slow
@pytest.mark.corpora
def test_six_pythons_by_hugging_face(lecture, states):
    transformers, tokenizers = map(pytest.importorskip, ("transformers", "tokenizers"))
    folder = data.weights("minilm")
    model = transformers.BertModel.from_pretrained(folder).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    (cell,) = (cell for cell in lecture(LECTURE).code if cell.id == "python-sentences")
    sentences = re.findall(r'^    "(.*python.*)",$', cell.source, re.MULTILINE)
    assert len(sentences) == 6

    def last_layers(sentence):
        encoding = tokenizer.encode(sentence)
        assert encoding.tokens[2] == "python"
        with torch.no_grad():
            output = model(torch.tensor([encoding.ids]), output_hidden_states=True)
        return torch.stack([layer[0, 2] for layer in output.hidden_states])

    vectors = torch.stack([last_layers(sentence) for sentence in sentences])  # [6, 7, D]
    units = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = torch.einsum("ald,bld->lab", units, units)
    torch.testing.assert_close(cosines[0], torch.ones(6, 6))
    below = [(1, 0), (2, 0), (2, 1)]
    same = np.mean([cosines[6, a + k, b + k].item() for a, b in below for k in (0, 3)])
    assert round(float(same), 2) == 0.88
    assert round(cosines[6, :3, 3:].mean().item(), 2) == 0.79
    assert (cosines[6] - torch.eye(6)).argmax(dim=1).tolist() == [1, 0, 5, 5, 5, 3]
    arm = last_layers("one python lay around the arm of a man")[6]
    assert (units[:, 6] @ (arm / arm.norm()))[[0, 1, 3, 4, 5]].argmax() < 2
    states(
        "to 0.88 inside a meaning and 0.79 across after layer 6", "ends up nearest to sentence 6"
    )
