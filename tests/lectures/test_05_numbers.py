"""Lecture 05 by NumPy, counting and PyTorch. What it trains it asserts itself."""

import numpy as np
import pytest
from torch import nn


def test_what_the_proofs_of_the_page_assert(states):
    states(r"""
        Twelve characters take 13 steps ... All 13 steps of section 1 ... fifteen times the
        paper's 0.0007 ... $0.6 / 3 = 0.2$ ... 30.9 for neighbours ... 21.1 ten places
        apart; ... 32 with itself ... right one 0.902 ... label
        smoothing's 0.902 ... its floor of 0.69 ... eleven symbols at 0.902 each ...
        $0.902^{11} = 0.32$ ... (*March* is 03) ... with 45 symbols
    """)


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(r"""
        English-German: 27.3, and **28.4** for the big model ... So 28.4 and our 95 % ...
        $d_{\text{model}} = 512$, $d_{\text{ff}} ... 8 heads, dropout 0.1, label smoothing 0.1 ...
        65 million parameters, 100,000 steps in 12 hours on 8 GPUs; 4.5 million sentence pairs ...
        says $65 \cdot 10^6$ ... ^{-0.5}
        \cdot \min(\text{step}^{-0.5},\ \text{step} \cdot \text{warmup}^{-1.5})$ ... $\alpha = 0.6$
        in the paper. ... $\varepsilon = 0.1$ and spread ... probabilities 0.7, 0.2, 0.1, and ...
        `a` with 0.6 or `b` with 0.4 ... `b`, with 0.4. **Beam ... Beam 4, $\alpha = 0.6$ ... want
        ISO 8601 ... 9.3 times the speed ... (and 21.3 times on a newer one)
    """)


def test_positions_and_their_dot_products_by_numpy():
    """The formula of section 3.5 of the paper."""
    dim = np.arange(64)
    angle = np.arange(64)[:, None] / 10_000 ** (2 * (dim // 2) / 64)
    table = np.where(dim % 2, np.cos(angle), np.sin(angle))
    products = (table @ table.T).round(1)
    assert products[5, 5] == 32
    assert products[10, [11, 20]].tolist() == products[30, [31, 40]].tolist() == [30.9, 21.1]


@pytest.mark.slow
def test_the_base_model_has_63_million_parameters():
    layers = nn.Transformer(512, 8, 6, 6, 2048)
    norms = (layers.encoder.norm, layers.decoder.norm)  # the paper has none at the end
    counted = sum(p.numel() for p in layers.parameters())
    counted -= sum(p.numel() for norm in norms for p in norm.parameters())
    assert counted + 37_000 * 512 == 63_082_496


def test_numbers_far_from_their_code(its_lecture, states):
    assert "task.held_out[:100]" in "".join(cell.source for cell in its_lecture.code)
    states("translates 100 held-out dates")
    states("$e^2 = {:.2f}$, $e^1 = {:.2f}$".format(*np.exp([2, 1])))
