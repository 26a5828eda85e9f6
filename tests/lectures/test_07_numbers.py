"""Every worked number of lecture 07, found again without the page: by hand, numpy, differences.

`states` checks besides that the page really says the number, so neither can change alone.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

LECTURE = "07_objectives"

DOG_MAT_CARPET = np.array([0.1, 0.6, 0.3])
TRUTH = np.array([0.0, 1.0, 0.0])


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


# Masking.


def test_the_cat_sat_with_two_holes(states):
    text, outcomes = (21, 11987, 5438), ("mask", "keep", "mask")
    hidden = tuple(50001 if o == "mask" else id for id, o in zip(text, outcomes, strict=True))
    assert hidden == (50001, 11987, 50001)
    assert {t for t, id in enumerate(hidden, 1) if id == 50001} == {1, 3}
    states("(21, 11987, 5438)", r"$\tilde T = \{1, 3\}$", "50001")


def test_of_a_hundred_tokens_12_are_hidden_and_one_and_a_half_swapped(states):
    chosen = Fraction(15, 100)
    hidden, swapped, kept = (chosen * share / 100 for share in (80, 10, 10))
    assert (100 * hidden, 100 * swapped, 100 * kept) == (12, 1.5, 1.5)
    visible = 1 - hidden
    assert visible == Fraction(88, 100)
    assert round(100 * float(swapped / visible), 1) == 1.7
    assert swapped / (swapped + kept) == Fraction(1, 2)
    assert [float(512 * share) for share in (chosen, hidden, swapped)] == [76.8, 61.44, 7.68]
    states("12 % are hidden, 1.5 % swapped", "1.5 of the 88 visible", "1.7 %", "85 % are simply")
    states("76.8 are chosen; 61.4 become `[MASK]`, 7.7 another word, 7.7 stay")


def test_two_pieces_of_a_word_are_torn_apart_with_25_point_5_percent(states):
    one_of_two = 2 * Fraction(15, 100) * Fraction(85, 100)
    assert one_of_two == Fraction(255, 1000)
    states(r"$2 \cdot 0.15 \cdot 0.85 = 25.5\,\%$")


def test_what_two_sentences_share_says_nothing_about_their_order(states):
    def share(first, second):
        return bool(set(first.split()) & set(second.split()))

    texts = ["a b c", "c d", "e f", "f a", "x"]
    for first in texts:
        for second in texts:
            right = [share(first, second) is True, share(second, first) is False]
            assert sum(right) == 1  # of a pair and its reverse exactly one, whatever the texts
    states("76 %", "exactly 50 %")


# Losses.


def test_the_loss_of_mat_and_the_logarithm_of_the_margin(states):
    assert round(-math.log(0.6), 2) == 0.51
    assert round(-math.log10(0.6), 2) == 0.22
    assert (round(math.log10(0.999), 4), round(math.log10(0.0001), 4)) == (-0.0004, -4)
    assert (round(math.log(0.999), 3), round(math.log(0.0001), 2)) == (-0.001, -9.21)
    assert round(math.exp(0.51), 2) == round(1 / 0.6, 2) == 1.67
    assert round(math.log(2), 2) == 0.69  # what halving costs
    states(r"$-\log(0.6) = 0.51$", "would be 0.22", "$e^{0.51} = 1.67$", "costs 0.69 more")


def test_line_9_is_a_sum_and_practice_a_mean(states):
    at_1, at_3 = -math.log(0.0041), -math.log(0.02)
    assert (round(at_1, 2), round(at_3, 2)) == (5.50, 3.91)
    assert (round(at_1 + at_3, 2), round((at_1 + at_3) / 2, 2)) == (9.41, 4.70)
    assert np.mean([4, 1, 1, 1]) == 1.75
    assert np.mean([np.mean([4]), np.mean([1, 1, 1])]) == 2.5
    states("$5.50 + 3.91 = 9.41$", "$9.41 / 2 = 4.70$", "2.5, where the mean of all four is 1.75")


def test_the_losses_of_the_pairs(states):
    y, p = np.array([1, 0, 1, 1]), np.array([0.9, 0.2, 0.6, 0.01])
    losses = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    assert np.round(losses, 3).tolist() == [0.105, 0.223, 0.511, 4.605]
    assert (round(losses[:3].sum(), 3), round(losses[:3].mean(), 2)) == (0.839, 0.28)
    assert round(losses.mean(), 2) == 1.36
    assert 4.5 < losses.mean() / losses[:3].mean() < 5  # "nearly five times"
    assert round(-math.log(0.7), 2) == 0.36
    assert round(-math.log(0.6) - math.log(0.7), 2) == 0.87
    swapped = -((1 - y) * np.log(p) + y * np.log(1 - p))
    assert round(swapped[:3].mean(), 2) == 1.61
    states("0.105 + 0.223 + 0.511)/3 = 0.839/3 = 0.28", "4.605", "1.36", r"L = -\log 0.7 = 0.36")
    states("make 0.87", "1.61 instead of 0.28", "pays 0.69")


@pytest.mark.parametrize(("z_0", "z_1"), [(0.0, 0.0), (2.0, -1.0), (-30.0, 5.0), (105.0, 100.0)])
def test_two_neurons_are_one_neuron_with_their_difference(z_0, z_1):
    assert math.isclose(softmax(np.array([z_0, z_1]))[0], 1 / (1 + math.exp(z_1 - z_0)))


def test_knowing_nothing_costs_the_logarithm_of_the_choices(states):
    uniform = np.full(30_522, 1 / 30_522)
    assert round(-math.log(uniform[7]), 2) == 10.33
    assert round(-math.log(1 / 2), 2) == 0.69
    states(r"$\ln 30522 = 10.33$", r"$\ln 2 = 0.69$")


# Gradients and steps.


def test_the_gradient_is_softmax_minus_truth_by_differences(states):
    logits = np.log(DOG_MAT_CARPET)

    def loss(z):
        return -math.log(softmax(z)[1])

    tiny = 1e-6
    by_differences = [
        (loss(logits + tiny * unit) - loss(logits - tiny * unit)) / (2 * tiny) for unit in np.eye(3)
    ]
    assert np.allclose(by_differences, DOG_MAT_CARPET - TRUTH)
    assert np.allclose(DOG_MAT_CARPET - TRUTH, [0.1, -0.4, 0.3])
    states("$(0.1, 0.6, 0.3) - (0, 1, 0) = (0.1, -0.4, 0.3)$", "$0.7 - 1 = -0.3$")
    assert round(-math.log(0.01) / -math.log(0.7)) == 13
    assert round(0.99 / 0.3, 1) == 3.3
    states("thirteen times", "$0.01 - 1 = -0.99$, only 3.3 times")


def test_the_chain_rule_through_the_last_matrix_by_differences(states):
    h, gradient = np.array([1.0, 2.0]), DOG_MAT_CARPET - TRUTH
    second = np.array([1.0, -1, 0])
    matrix = np.stack([np.log(DOG_MAT_CARPET) - 2 * second, second])
    assert np.allclose(softmax(h @ matrix), DOG_MAT_CARPET)

    def loss(changed):
        return -math.log(softmax(h @ changed)[1])

    tiny = 1e-6
    for row in range(2):
        for column in range(3):
            unit = np.zeros((2, 3))
            unit[row, column] = tiny
            slope = (loss(matrix + unit) - loss(matrix - unit)) / (2 * tiny)
            assert math.isclose(slope, h[row] * gradient[column], abs_tol=1e-8)
    states(r"$1 \cdot (0.1, -0.4, 0.3)$ and $2 \cdot (0.1, -0.4, 0.3)$")


def test_a_step_of_sgd_lifts_mat_to_0_74(states):
    after = softmax(np.log(DOG_MAT_CARPET) - (DOG_MAT_CARPET - TRUTH))
    assert round(after[1], 2) == 0.74
    assert round(-math.log(after[1]), 2) == 0.30
    states("from 0.60 to 0.74, the loss falls from 0.51 to 0.30")


def test_two_steps_of_adam_by_hand(states):
    logits, m, v = np.log(DOG_MAT_CARPET), np.zeros(3), np.zeros(3)
    g = DOG_MAT_CARPET - TRUTH
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    assert np.allclose(m, [0.01, -0.04, 0.03])
    assert np.allclose(v, [0.00001, 0.00016, 0.00009])
    step = -0.1 * (m / (1 - 0.9)) / np.sqrt(v / (1 - 0.999))
    assert np.allclose(step, [-0.1, 0.1, -0.1])
    logits = logits + step
    assert round(softmax(logits)[1], 3) == 0.647
    g = softmax(logits) - TRUTH
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    assert (round(g[1], 3), round(m[1], 4), round(v[1], 6)) == (-0.353, -0.0713, 0.000285)
    mean, size = m[1] / (1 - 0.9**2), math.sqrt(v[1] / (1 - 0.999**2))
    assert (round(mean, 3), round(size, 3)) == (-0.375, 0.377)
    assert round(-0.1 * mean / size, 4) == 0.0995
    states("0.000285", r"$+0.1 \cdot 0.375 / 0.377 = +0.0995$", "−0.353", "| 0.00016 |")


@pytest.mark.parametrize(
    ("kind", "scale", "belief"),
    [("SGD", 1, 0.79), ("SGD", 0.01, 0.60), ("Adam", 1, 0.97), ("Adam", 0.01, 0.97)],
)
def test_where_twenty_steps_lead(kind, scale, belief):
    logits = torch.tensor(DOG_MAT_CARPET).log().requires_grad_()
    optimizer = getattr(torch.optim, kind)([logits], lr=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        (-scale * logits.log_softmax(dim=0)[1]).backward()
        optimizer.step()
    assert round(logits.softmax(dim=0)[1].item(), 2) == belief


def test_adam_remembers_twice_as_much_as_there_is(states):
    parameters = 110_106_428
    assert (round(parameters * 4 / 1e6), round(2 * parameters * 4 / 1e6)) == (440, 881)
    states("440 MB for the weights, 881 MB")


# What is expensive.


def test_logits_everywhere_take_500_megabytes(states):
    assert round(32 * 128 * 30_522 * 4 / 1e6) == 500
    assert round(0.15 * 32 * 128 * 30_522 * 4 / 1e6) == 75
    states("500 MB, and 75 MB")


@pytest.mark.parametrize(
    ("layers", "size", "share", "gain"),
    [(2, 128, 91, 4.4), (4, 256, 71, 2.5), (4, 512, 56, 1.9), (12, 768, 22, 1.2)],
    ids=["tiny", "mini", "small", "base"],
)
def test_how_much_of_the_work_is_the_head(layers, size, share, gain):
    encoder = layers * (12 * size * size + 13 * size)  # matrices, biases and norms of a layer
    head = size * size + size * 30_522
    assert round(100 * head / (encoder + head)) == share
    assert round((encoder + head) / (encoder + 0.15 * head), 1) == gain


def test_the_page_says_how_much_faster(states):
    states("91 % of the work", "4.4 times as fast", "still 1.2")


def test_the_first_loss_of_25_is_too_high_and_the_answers_of_the_questions(states):
    assert round(-math.log(0.1), 2) == 2.30
    assert np.allclose(DOG_MAT_CARPET - [1, 0, 0], [-0.9, 0.6, 0.3])
    states(r"$-\ln 0.1 = 2.30$; $(0.1 - 1, 0.6, 0.3) = (-0.9, 0.6, 0.3)$")


def test_the_differences_in_the_papers_tables(states):
    assert round(87.9 - 77.8, 1) == 10.1
    assert (round(95.4 - 94.9, 1), round(94.9 - 94.0, 1)) == (0.5, 0.9)
    states("another 10.1 points", "loses 0.5 points, and 0.9", "| 82.1 | 84.3 | 77.8 |")
    states("| 80 / 10 / 10 | 84.2 | 95.4 | 94.9 |", "| 100 / 0 / 0 | 84.3 | 94.9 | 94.0 |")
