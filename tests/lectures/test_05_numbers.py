"""Every worked number of lecture 05 that is not trained, by numpy, counting or PyTorch."""

import datetime
import re

import numpy as np
import pytest
from scipy.stats import entropy
from torch import nn


def test_the_page_has_the_numbers_computed_here(states):
    states("注意力就是你所需要的一切", "first token, 注")
    states(f"Twelve characters take {len('注意力就是你所需要的一切') + 1} steps")
    states(f"All {len('注意力就是你所需要的一切') + 1} steps of section 1")
    # The learning rate.
    states(f"{512**-0.5:.4f}", f"{4000**-0.5:.4f} = {(512 * 4000) ** -0.5:.4f}")
    states(f"{150**-0.5:.4f} = {(64 * 150) ** -0.5:.4f}")
    states(f"fifteen times the paper's {(64 * 150) ** -0.5 / 15:.4f}")
    # The garden path.
    states(f"$0.6 / 3 = {0.6 / 3:.1f}$", f"with {max(0.6 / 3, 0.4 * 1.0)}")


def waves(positions, d_model):
    """The formula of section 3.5 of the paper, in numpy."""
    dim = np.arange(d_model)
    angle = np.arange(positions)[:, None] / 10_000 ** (2 * (dim // 2) / d_model)
    return np.where(dim % 2, np.cos(angle), np.sin(angle))


def test_positions_and_their_dot_products(states):
    table = waves(64, 64)
    products = (table @ table.T).round(1)
    assert products[10, 11] == products[30, 31]
    assert products[10, 20] == products[30, 40]
    assert set(np.diag(products)) == {32.0}
    states(f"{products[10, 11]} for neighbours", f"{products[10, 20]} ten places apart;")
    lengths = np.linalg.norm(table, axis=1)
    assert lengths == pytest.approx(lengths[0])
    states("32 with itself", rf"\sqrt{{64/2}} = {lengths[0]:.1f}")
    assert waves(3, 4)[1].round(4).tolist() == [0.8415, 0.5403, 0.0100, 1.0]


@pytest.mark.slow
def test_the_base_model_has_63_million_parameters():
    layers = nn.Transformer(512, 8, 6, 6, 2048)
    norms = (layers.encoder.norm, layers.decoder.norm)  # the paper has none at the end
    counted = sum(p.numel() for p in layers.parameters())
    counted -= sum(p.numel() for norm in norms for p in norm.parameters())
    assert counted + 37_000 * 512 == 63_082_496


def test_label_smoothing(states):
    wanted = np.array([0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3])
    states("{:.4f}, {:.4f}, {:.4f}".format(*wanted))
    assert round(float(-(wanted * np.log([0.7, 0.2, 0.1])).sum()), 3) == 1.591
    best = np.full(45, 0.1 / 45)
    best[0] += 0.9
    states(f"right one {best[0]:.3f}", f"still {entropy(best):.2f}")
    states(f"label smoothing's {best[0]:.3f}", f"its floor of {entropy(best):.2f}")
    states(f"eleven symbols at {best[0]:.3f} each", f"$0.902^{{11}} = {best[0] ** 11:.2f}$")


def test_the_symbols_of_all_dates_and_a_slash_are_45(states):
    months = [f"{datetime.date(1900, number, 1):%B}" for number in range(1, 13)]
    states(f"(*March* is {months.index('March') + 1:02})")
    symbols = set("".join(months) + "the of st nd rd th" + "0123456789" + ",-/")
    states(f"with {len(symbols) + 3} symbols")  # three special ones


def test_the_powers_behind_a_hidden_score(states):
    states("$e^2 = {:.2f}$, $e^1 = {:.2f}$".format(*np.exp([2, 1])))


def test_what_others_report_is_quoted_as_they_print_it(states):
    states("English-German: 27.3, and **28.4** for the big model", "So 28.4 and our 95 %")
    states(
        "$d_{\\text{model}} = 512$, $d_{\\text{ff}}", "8 heads, dropout 0.1, label smoothing 0.1"
    )
    states("65 million parameters, 100,000 steps in 12 hours on 8 GPUs; 4.5 million sentence pairs")
    states("says $65 \\cdot 10^6$", "instead of 100,000, half of the paper's learning rate")
    states(r"^{-0.5} \cdot \min(\text{step}^{-0.5},\ \text{step} \cdot \text{warmup}^{-1.5})$")
    states(r"$\alpha = 0.6$ in the paper.", r"$\varepsilon = 0.1$ and spread")
    states(
        "probabilities 0.7, 0.2, 0.1, and", "`a` with 0.6 or `b` with 0.4", "`b`, with 0.4. **Beam"
    )
    states("Beam 4, $\\alpha = 0.6$", "vocabulary of about 37,000 tokens", "want ISO 8601")
    states("9.3 times the speed", "(and 21.3 times on a newer one)")


def test_where_a_vector_is_as_long_as_the_text(its_lecture, states):
    (cell,) = (cell for cell in its_lecture.code if cell.id == "before-train")
    (d,) = set(re.findall(r"d_model=(\d+)", cell.source))
    states(f"exceeds $d = {d}$")
    assert "task.held_out[:100]" in "".join(cell.source for cell in its_lecture.code)
    states("translates 100 held-out dates")
