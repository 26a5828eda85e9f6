"""Receptive fields by formula and by gradients; the influence in a recurrent network."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course.experiments.reach import ConvolutionStack, influence, receptive_field
from tests.bertlab.refusals import rejected

sizes = st.tuples(st.sampled_from([1, 3, 5]), st.sampled_from([1, 2, 3]))  # width, dilation
layers = st.lists(sizes, min_size=1, max_size=3)


def text(length, d_model=3):
    return torch.randn(length, d_model, generator=torch.Generator().manual_seed(length))


@pytest.mark.slow
@given(layers)
def test_the_formula_counts_what_gradients_find(layers):
    widths, dilations = zip(*layers, strict=True)
    field = receptive_field(widths, dilations)
    heard = influence(ConvolutionStack(3, widths, dilations), text(41), position=20)
    where = heard.nonzero().flatten()
    # From the first to the last; with a dilation, positions between may be omitted.
    assert where[-1] - where[0] + 1 == field
    assert where[0] + where[-1] == 40


def test_receptive_fields_by_hand_and_impossible_stacks():
    assert receptive_field([3] * 4) == 9
    assert receptive_field([5] * 6) == 25  # six layers of width 5: Gehring et al.'s own example
    assert receptive_field([3] * 4, [1, 2, 4, 8]) == 31
    assert receptive_field([1, 1]) == 1
    one_each = "dilations must be one for each of the 2 layers; got 1"
    rejected(one_each, receptive_field, [3, 3], [1])
    rejected("widths must be odd numbers", ConvolutionStack, 3, [2])
    rejected(r"inputs must be \[L, D\]", influence, nn.Identity(), torch.zeros(2, 3, 4), 0)
    rejected("got .* and 5", influence, nn.Identity(), torch.zeros(5, 3), 5)


def test_influence_of_a_matrix_is_its_norm():
    linear = nn.Linear(4, 2)
    heard = influence(linear, text(5, 4), position=3)
    expected = torch.zeros(5)
    expected[3] = linear.weight.detach().norm()
    torch.testing.assert_close(heard, expected)


def test_a_recurrent_network_sees_only_the_past_with_decreasing_influence():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        gru = nn.GRU(16, 16)
    heard = influence(lambda x: gru(x)[0], text(40, 16), position=30)
    assert (heard[31:] == 0).all()
    assert (heard[:31] > 0).all()
    assert heard[0] < heard[15] < heard[30] / 100


def test_a_bidirectional_layer_sees_the_word_itself_from_the_second_layer_on():
    """The state before a word and the state after it, from which a model would predict it."""
    place = 4
    for depth, sees_itself in ((1, False), (2, True)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            lstm = nn.LSTM(3, 3, num_layers=depth, bidirectional=True)
        from_left = influence(lambda x, net=lstm: net(x)[0][:, :3], text(9), place - 1)
        from_right = influence(lambda x, net=lstm: net(x)[0][:, 3:], text(9), place + 1)
        assert bool(from_left[place] > 0) == bool(from_right[place] > 0) == sees_itself
