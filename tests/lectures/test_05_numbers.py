"""Every worked number of lecture 05 that is not trained, found again by numpy, counting or PyTorch.

`states` checks besides that the page really says the number, so neither can change alone.
"""

import datetime
import math

import numpy as np
import pytest
import torch
from torch import nn

LECTURE = "05_transformer"


def waves(positions, d_model):
    """The formula of section 3.5 of the paper, one number at a time, in numpy."""
    table = np.zeros((positions, d_model))
    for pos in range(positions):
        for dim in range(d_model):
            angle = pos / np.power(10_000, 2 * (dim // 2) / d_model)
            table[pos, dim] = np.cos(angle) if dim % 2 else np.sin(angle)
    return table


def test_the_translation_has_twelve_characters_and_13_steps(states):
    assert len("注意力就是你所需要的一切") == 12
    states("注意力就是你所需要的一切", "Twelve characters take 13 steps", "first token, 注")


def test_positions_and_their_dot_products(states):
    table = waves(64, 64)
    products = (table @ table.T).round(1)
    assert {products[10, 11], products[30, 31]} == {30.9}
    assert {products[10, 20], products[30, 40]} == {21.1}
    assert set(np.diag(products)) == {32.0}
    assert np.linalg.norm(table, axis=1).round(1).tolist() == [5.7] * 64
    states("30.9 for neighbours", "21.1 ten places apart", "32 with itself", r"\sqrt{64/2} = 5.7")
    assert waves(3, 4)[1].round(4).tolist() == [0.8415, 0.5403, 0.0100, 1.0]


def test_a_shift_is_the_same_matrix_everywhere():
    table = waves(40, 16)
    solved, *_ = np.linalg.lstsq(table[:-3], table[3:], rcond=None)  # without any formula
    np.testing.assert_allclose(table[:-3] @ solved, table[3:], atol=1e-8)


def test_a_hidden_score_leaves_0731_and_0269():
    shares = torch.tensor([2.0, 1.0, -math.inf]).softmax(dim=0)
    assert [round(share, 3) for share in shares.tolist()] == [0.731, 0.269, 0.0]


@pytest.mark.slow
def test_the_base_model_has_63_million_parameters():
    layers = nn.Transformer(512, 8, 6, 6, 2048)
    norms = (layers.encoder.norm, layers.decoder.norm)  # the paper has none at the end
    counted = sum(p.numel() for p in layers.parameters())
    counted -= sum(p.numel() for norm in norms for p in norm.parameters())
    assert counted + 37_000 * 512 == 63_082_496


def test_label_smoothing(states):
    wanted = np.array([0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3])
    assert wanted.round(4).tolist() == [0.0333, 0.9333, 0.0333]
    assert round(float(-(wanted * np.log([0.7, 0.2, 0.1])).sum()), 3) == 1.591
    best = np.full(45, 0.1 / 45)
    best[0] += 0.9
    assert round(float(best[0]), 3) == 0.902
    assert round(float(-(best * np.log(best)).sum()), 2) == 0.69  # its own entropy
    assert round(float(best[0] ** 11), 2) == 0.32
    states("0.0333, 0.9333, 0.0333", "right one 0.902", "still 0.69", "$0.902^{11} = 0.32$")


def test_the_symbols_of_all_dates_and_a_slash_are_45(states):
    years = [datetime.date(1900, 1, 1) + datetime.timedelta(days=day) for day in range(366)]
    months = {f"{date:%B}" for date in years}
    letters = set("".join(months)) | set("the of st nd rd th")
    specials = 3
    assert len(letters | set("0123456789") | set(",-/")) + specials == 45
    states("with 45 symbols")


def test_the_learning_rate(states):
    assert round(512**-0.5 * 4000**-0.5, 4) == 0.0007
    assert (round(512**-0.5, 4), round(4000**-0.5, 4)) == (0.0442, 0.0158)
    assert round(64**-0.5 * 150**-0.5, 4) == 0.0102
    assert round((64 * 150) ** -0.5 / (512 * 4000) ** -0.5) == 15
    states("0.0442", "0.0158 = 0.0007", "0.0816 = 0.0102", "fifteen times the paper's 0.0007")


def test_the_garden_path(states):
    assert math.isclose(0.6 / 3, 0.2)
    assert max(0.6 / 3, 0.4 * 1.0) == 0.4
    states("$0.6 / 3 = 0.2$", "with 0.4")


def test_what_the_papers_say(states):
    states(
        "English-German: 27.3, and **28.4** for the big model",
        "65 million parameters, 100,000 steps in 12 hours on 8 GPUs",
        "9.3 times the speed",
        "Beam 4, $\\alpha = 0.6$",
        "vocabulary of about 37,000 tokens",
    )
