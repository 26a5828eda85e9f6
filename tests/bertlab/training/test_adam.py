"""Adam by hand against `torch.optim`, step by step."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertlab.training.steps import Moments, adam_step

SETTINGS = [
    *[{}, {"lr": 0.3}, {"betas": (0.5, 0.9)}, {"betas": (0.0, 0.99)}],
    {"eps": 0.1},  # large, so that it matters where it is added
    {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3},
]


def one(number):
    return torch.tensor([number], dtype=torch.float64)


def gradients(shape, steps=100, seed=0):
    """Gradients of changing size, the first of some weights 0."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(steps, *shape, generator=generator, dtype=torch.float64)
    drawn *= torch.logspace(-4, 2, steps, dtype=torch.float64).view(-1, *[1] * len(shape))
    drawn[:3].flatten()[::3] = 0
    return drawn


def by_torch(optimizer, start, all_gradients):
    """The weights after each step of PyTorch's optimizer, and its memory."""
    weight = start.clone().requires_grad_()
    optimizer = optimizer([weight])
    for gradient in all_gradients:
        weight.grad = gradient.clone()
        optimizer.step()
        state = optimizer.state[weight]
        yield weight.detach().clone(), state["exp_avg"], state["exp_avg_sq"]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_hundred_steps_are_those_of_torchs_adam(settings):
    ours = settings.copy()
    learning_rate = ours.pop("lr", 1e-3)
    start = gradients((3, 4), 1, seed=1)[0]
    all_gradients = gradients((3, 4))
    expected = by_torch(lambda ps: torch.optim.Adam(ps, **settings), start, all_gradients)
    parameter, moments = start, Moments.start(start)
    for step, gradient, after in zip(range(1, 101), all_gradients, expected, strict=True):
        parameter, moments = adam_step(parameter, gradient, moments, step, learning_rate, **ours)
        close = {"rtol": 1e-9, "atol": 1e-12, "msg": lambda text, n=step: f"step {n}: {text}"}
        torch.testing.assert_close((parameter, *moments), after, **close)


@given(st.floats(1e-3, 1e3), st.sampled_from([-1.0, 1.0]), st.floats(1e-5, 1.0))
def test_the_first_step_is_the_learning_rate_whatever_the_gradients_size(size, sign, rate):
    moved, _ = adam_step(one(0.0), one(sign * size), Moments.start(one(0.0)), 1, rate)
    assert moved.item() == pytest.approx(-sign * rate, rel=1e-4)


def test_nothing_is_changed_in_place():
    given = [torch.full((3,), number) for number in (1.0, 2.0, 0.5, 0.25)]
    before = [tensor.clone() for tensor in given]
    start, gradient, *moments = given
    moved, after = adam_step(start, gradient, Moments(*moments), 4, 0.1)
    assert all(map(torch.equal, given, before))
    assert not torch.equal(moved, start)
    assert not torch.equal(after.mean, moments[0])
