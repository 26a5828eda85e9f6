"""The learning rate, the groups of the optimizer, and the settings of a training."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import get_linear_schedule_with_warmup

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.training.loop import TrainingConfig
from bertlab.training.steps import adamw, linear_schedule, parameter_groups
from tests.bertlab.refusals import rejected


@pytest.mark.parametrize(("steps", "warmup"), [(100, 10), (7, 1), (50, 0), (10, 9)])
def test_the_schedule_is_that_of_transformers(steps, warmup):
    # Theirs counts from 0 and so gives the first step of the warm-up a rate of 0; ours does not.
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimizer, warmup, steps).lr_lambdas[0]
    for step in range(1, steps + 1):
        expected = theirs(step) if step <= warmup else theirs(step - 1)
        assert linear_schedule(step, steps, warmup) == pytest.approx(expected)


@given(st.integers(1, 10_000), st.floats(0, 0.99))
def test_the_schedule_rises_to_one_then_falls_and_never_reaches_zero(steps, share):
    warmup = TrainingConfig(steps=steps, warmup=share).warmup_steps
    factors = [linear_schedule(step, steps, warmup) for step in range(1, min(steps, 300) + 1)]
    assert all(0 < factor <= 1 for factor in factors)
    top = factors.index(max(factors))
    assert factors[: top + 1] == sorted(factors[: top + 1])
    assert factors[top:] == sorted(factors[top:], reverse=True)


def test_matrices_decay_and_biases_and_norms_do_not_move():
    model = BertForPreTraining(BertConfig.tiny(vocab_size=50))
    matrices, vectors = parameter_groups(model, 0.01)
    assert (matrices["weight_decay"], vectors["weight_decay"]) == (0.01, 0.0)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    free, decayed = ([names[id(p)] for p in group["params"]] for group in (vectors, matrices))
    assert all(name.endswith(("bias", "gamma", "beta")) for name in free)
    assert not any(name.endswith(("bias", "gamma", "beta")) for name in decayed)
    assert len(free) + len(decayed) == len(names)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = adamw(model, learning_rate=0.1, weight_decay=0.5)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, parameter in model.named_parameters():
        expected = before[name] * (0.95 if parameter.ndim >= 2 else 1)
        torch.testing.assert_close(parameter.detach(), expected)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("steps", 0, "must be at least 1; got 0"),
        ("steps", 1.5, "must be an integer; got 1.5"),
        ("steps", "10", "must be an integer; got '10'"),
        ("accumulate", 0, "must be at least 1"),
        ("learning_rate", 0.0, "must be above 0"),
        ("learning_rate", math.nan, "must be above 0"),
        ("learning_rate", math.inf, "must be above 0 and finite; got inf"),
        ("learning_rate", "1e-3", "must be a number; got '1e-3'"),
        ("clip", -1.0, "must be above 0"),
        ("warmup", 1.0, "must be a share of all steps"),
        ("weight_decay", -0.1, "must be at least 0 and finite"),
        ("weight_decay", math.nan, "must be at least 0 and finite; got nan"),
        ("seed", -1, "must be at least 0; got -1"),
        ("seed", 0.5, "must be an integer; got 0.5"),
        ("compile", "no", "must be True or False; got 'no'"),
        ("precision", "float16", "must be one of float32, bfloat16; got 'float16'"),
    ],
)
def test_settings_out_of_range_are_rejected(name, value, message):
    rejected(f"{name} {message}", TrainingConfig, **{"steps": 10} | {name: value})
