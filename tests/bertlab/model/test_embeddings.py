"""Sinusoidal positions by the formula, by hand and by their law."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertlab.model import sinusoidal_positions


def test_the_table_equals_the_formula_entry_by_entry():
    table = sinusoidal_positions(512, 64).numpy()
    expected = np.empty((512, 64))
    for position in range(512):
        for i in range(32):
            angle = position / 10_000 ** (2 * i / 64)
            expected[position, 2 * i] = math.sin(angle)
            expected[position, 2 * i + 1] = math.cos(angle)
    np.testing.assert_allclose(table, expected, atol=1e-6)


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_shift_is_a_rotation_that_does_not_depend_on_the_position(position, shift):
    table = sinusoidal_positions(401, 8).double().unflatten(-1, (4, 2))  # [pos, wave, (sin, cos)]
    angle = shift / 10_000 ** (torch.arange(0, 8, 2).double() / 8)
    sine, cosine = table[position].unbind(-1)
    turned = sine * angle.cos() + cosine * angle.sin(), cosine * angle.cos() - sine * angle.sin()
    rotated = torch.stack(turned, dim=-1)
    torch.testing.assert_close(rotated, table[position + shift], rtol=0, atol=1e-5)
