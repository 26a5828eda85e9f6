"""Worked numbers of lecture 08, found again without the page: by hand, numpy, plain Python.

`states` checks besides that the page really says the number, so neither can change alone. What
its trainings reach is asserted on the page itself, where they run.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from bertlab import data

LECTURE = "08_pretraining"


# Data.


def test_documents_are_held_out_whole_and_every_one_is_on_one_side(states):
    documents = data.documents("books+wikipedia")
    training, held_out = data.split(documents, 0.05)
    assert (len(training), len(held_out), len(documents)) == (279, 15, 294)
    assert sum(map(len, training)) == 21_212
    assert sum(map(len, held_out)) == 1_333
    assert not {tuple(document) for document in training} & {tuple(one) for one in held_out}
    states("hold some *documents* out", "2,000 tokens and not 30,522")


def test_knowing_nothing_costs_ln_2000(states):
    assert sum(1 / n for n in range(1, 2001)) - 0.5772 == pytest.approx(7.60, abs=0.01)
    states(r"$\ln 2000 = 7.60$ nats")


# The loop of practice.


def multiplications_of_the_head(rows, size=128, vocabulary=2000):
    return sum(rows * inputs * outputs for inputs, outputs in ((size, size), (size, vocabulary)))


def test_what_the_head_costs_everywhere_and_where_it_is_asked(states):
    everywhere, asked = multiplications_of_the_head(32 * 32), multiplications_of_the_head(130)
    assert (everywhere, asked) == (278_921_216, 35_409_920)
    assert round(everywhere / asked, 1) == round(1024 / 130, 1) == 7.9
    layers = 1024 * 2 * sum(parameters_of_a_layer(128))
    assert round((layers + everywhere) / (layers + asked), 1) == 1.6
    states("7.9 times as few", "1.6 times as few")


def parameters_of_a_layer(size):
    """Matrices and biases of attention and feed-forward, and two norms."""
    attention = 4 * (size * size + size)
    feed_forward = size * 4 * size + 4 * size + 4 * size * size + size
    return attention, feed_forward, 2 * 2 * size


def test_matrices_and_vectors_of_our_model():
    size, vocabulary = 128, 2000
    tables = (vocabulary + 128 + 2) * size
    layers = 2 * (4 * size * size + 2 * 4 * size * size)
    heads = 2 * size * size + 2 * size  # pooler, transform, next sentences
    assert tables + layers + heads == 698_880
    biases = 2 * (4 * size + 4 * size + size) + 2 * size + vocabulary + 2
    norms = (1 + 2 * 2 + 1) * 2 * size
    assert biases + norms == 6_098


def test_a_weight_without_gradient_keeps_61_percent_in_all_of_berts_training(states):
    steps, warmup = 1_000_000, 10_000
    step = np.arange(1, steps + 1)
    rate = 1e-4 * np.where(step <= warmup, step / warmup, (steps - step + 1) / (steps - warmup))
    assert rate.sum() == pytest.approx(50, rel=1e-4)
    assert np.log1p(-0.01 * rate).sum() == pytest.approx(math.log(0.61), abs=0.01)
    states("It keeps 61 % of itself")


def test_the_schedule_of_the_page_and_of_the_answer(states):
    up = [Fraction(step, 4) for step in range(1, 5)]
    down = [Fraction(left, 5) for left in range(5, 0, -1)]
    assert [float(factor) for factor in up + down] == [
        0.25, 0.5, 0.75, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2,
    ]  # fmt: skip
    assert Fraction(1_000_000 - 505_000, 990_000) == Fraction(1, 2)
    states("990{,}000 = 0.5$, so $0.5 \\cdot 10^{-4}$")


def test_matrices_start_with_the_spread_that_base_has(states):
    numbers = np.random.default_rng(0).standard_normal((2, 4000, 768))
    sums = (numbers[0] * 0.02 * numbers[1]).sum(axis=1)
    assert sums.std() == pytest.approx(0.55, abs=0.02)
    sums = (numbers[0, :, :128] * 0.02 * numbers[1, :, :128]).sum(axis=1)
    assert sums.std() == pytest.approx(0.23, abs=0.01)
    states(r"$0.02 \cdot \sqrt{768} = 0.55$", "with our 128 it would be only 0.23")


def test_a_gradient_of_length_5_is_shortened_to_1(states):
    gradient = np.array([3.0, 4.0])
    length = math.hypot(*gradient)
    assert length == 5
    assert (gradient / length).tolist() == [0.6, 0.8]
    states("the gradient (3, 4) has length 5 and becomes (0.6, 0.8)")


def test_the_mean_of_means_is_not_the_mean(states):
    first, second = [1, 3], [5]
    assert Fraction(sum(first + second), 3) == 3
    means = Fraction(sum(first), 2), Fraction(sum(second), 1)
    assert means == (2, 5)
    assert sum(means) / 2 == Fraction(7, 2)
    assert round(float(sum(means) / 3), 2) == 2.33
    states("losses (1, 3) and (5)", "the mean of the means 2 and 5 is 3.5")


def test_clipping_and_adam_hide_a_gradient_that_is_four_times_too_long(states):
    weights = []
    for factor in (1.0, 4.0):
        weight = torch.nn.Parameter(torch.tensor([0.5, -0.2]))
        optimizer = torch.optim.AdamW([weight], lr=0.01)
        for step in range(5):
            weight.grad = factor * torch.tensor([3.0, 4.0]) * (1 + step)
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
            optimizer.step()
        weights.append(weight.detach())
    torch.testing.assert_close(weights[0], weights[1], rtol=1e-5, atol=1e-6)
    states("about 4 times too long", "Clipping and Adam hide the mistake almost completely")


# The bill.


def passed(layers, size, vocabulary=30_522):
    """Parameters that a token is multiplied with: layers, and the head for 15 % of tokens."""
    return layers * sum(parameters_of_a_layer(size)) + 0.15 * (size * size + size * vocabulary)


def test_tokens_and_operations_of_the_original(states):
    tokens = 256 * (900_000 * 128 + 100_000 * 512)
    assert tokens == 42_598_400_000
    assert round(tokens / (4 * 24 * 60) / 1e6, 1) == 7.4
    assert round(tokens / (600 * 32 * 32), -4) == 70_000
    states("7.4 million tokens a minute", "seventy thousand times as much")
    operations = [6 * passed(*sizes) * tokens for sizes in ((12, 768), (24, 1024))]
    assert [f"{number:.1e}" for number in operations] == ["2.3e+19", "7.9e+19"]
    states("**6 operations per parameter and token**", "2.3 \\cdot 10^{19}")


def test_chips_and_days(states):
    assert (4 * 4 * 4, 16 * 4 * 4) == (64, 256)  # a Cloud TPU has four chips
    states("4 Cloud TPUs in a Pod (16 chips)", "16 Cloud TPUs (64 chips)")


def test_forty_epochs_are_counted_at_full_length(states):
    assert 256 * 512 == 131_072
    passes = 1_000_000 * 128_000 / 3.3e9
    assert passes == pytest.approx(39, abs=0.5)
    share = 0.9 * 128 / 512 + 0.1
    assert share == pytest.approx(1 / 3, abs=0.01)
    states("it is a third of that", "rounded to 128,000")
