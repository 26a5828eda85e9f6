"""Scaled scores and their softmax: with integer divisors, and with temperatures."""

import math
import re

import numpy as np
import pytest
import torch

from course.widgets import softmax_scaling, softmax_temperature
from tests.course.widgets.conftest import pages_of, rows_of, soup


def columns_of(page):
    """The numbers of a page: scaled scores and weights."""
    rows = [row.find_all("td", class_="number") for row in page.tbody.find_all("tr")]
    return np.array([[float(cell.get_text()) for cell in row] for row in rows]).T


def reference(scores, temperature):
    """PyTorch's own weights and entropy in bits."""
    logits = torch.tensor(scores, dtype=torch.float64) / temperature
    weights = torch.distributions.Categorical(logits=logits)
    return weights.probs.numpy(), weights.entropy().item() / math.log(2)


def temperature_of(page):
    return float(re.match(r"Temperature (\S+):", page["data-label"])[1])


def test_temperatures_go_from_a_tenth_to_ten_in_equal_ratios():
    temperatures = [temperature_of(page) for page in pages_of(softmax_temperature())]
    assert (temperatures[0], temperatures[10], temperatures[-1]) == (0.1, 1.0, 10.0)
    ratios = np.array(temperatures[1:]) / temperatures[:-1]
    np.testing.assert_allclose(ratios, 10**0.1, rtol=0.04)  # they are rounded to two digits


def test_at_temperature_1_the_scores_3_2_1_are_the_shares_of_the_lecture():
    page = pages_of(softmax_temperature())[10]
    assert page["data-label"] == "Temperature 1: weights 0.67, 0.24, 0.09, entropy 1.20 bits"
    scaled, weights = columns_of(page)
    assert scaled.tolist() == [3, 2, 1]
    assert weights.tolist() == [0.67, 0.24, 0.09]
    slider = soup(softmax_temperature())
    assert slider.option["value"] == "10"  # the tick


@pytest.mark.parametrize("scores", [(3, 2, 1), (-5, 0, 1.5, 1.5), (112, 96), (2, 2, 2, 2)])
def test_every_page_agrees_with_pytorch(scores):
    for page in pages_of(softmax_temperature(scores)):
        temperature = temperature_of(page)
        expected, entropy = reference(scores, temperature)
        scaled, weights = columns_of(page)
        np.testing.assert_allclose(scaled, np.array(scores) / temperature, rtol=1e-3)
        np.testing.assert_allclose(weights, expected, atol=0.0051)
        bits = float(re.search(r"entropy (\S+) bits", page["data-label"])[1])
        assert bits == pytest.approx(entropy, abs=0.0051)
        assert f"{bits:.2f} of at most {math.log2(len(scores)):.2f} bits" in page.get_text()


def test_bars_are_as_long_as_what_they_show():
    for page in pages_of(softmax_temperature((4.0, -1.0))):
        _, weights = columns_of(page)
        drawn = [
            float(re.search(r"width:([\d.]+)%", bar.span["style"])[1])
            for bar in page.find_all("span", class_="bar")
        ]
        scaled_share = 100 * 0.1 / temperature_of(page) * np.array([4, 1]) / 5
        np.testing.assert_allclose(drawn[0:4:2], scaled_share, atol=0.06)
        np.testing.assert_allclose(drawn[1:4:2], 100 * weights, atol=0.55)
        _, entropy = reference((4.0, -1.0), temperature_of(page))
        assert drawn[4] == pytest.approx(100 * entropy, abs=0.06)  # of one bit


def test_labels_are_text_the_alt_has_both_ends_and_a_root_has_its_page():
    shown = softmax_temperature((1.0, 2.0), ["<b>", "it"])
    assert pages_of(shown)[0].tbody.th.get_text() == "<b>"
    assert all(f"Temperature {end}:" in shown.alt for end in ("0.1", "1", "10"))
    labels = [page["data-label"] for page in pages_of(softmax_scaling(d_attn=2))]
    divisors = [label.split(":")[0].removeprefix("Divided by ") for label in labels]
    assert divisors == ["1", "1.41, the square root of d_attn = 2", "2", "3"]


def test_the_scores_112_and_96_become_14_and_12_at_the_square_root_of_64():
    pages = pages_of(softmax_scaling())
    assert len(pages) == 16
    eighth = pages[7]
    label = "Divided by 8, the square root of d_attn = 64: weights 0.88, 0.12"
    assert eighth["data-label"] == label
    assert rows_of(eighth)[1:] == [["key 1", "", "14", "", "0.88"], ["key 2", "", "12", "", "0.12"]]
    assert soup(softmax_scaling()).option["value"] == "7"
