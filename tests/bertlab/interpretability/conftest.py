"""A model that a measure must leave as it was."""

import copy
from contextlib import contextmanager

import torch


def hooks_of(model):
    return [part for part in model.modules() if part._forward_hooks or part._forward_pre_hooks]


@contextmanager
def untouched(model):
    """Trained or not, part by part, its weights, gradients and hooks: as before."""
    modes = [part.training for part in model.modules()]
    state = copy.deepcopy(model.state_dict())
    yield
    assert [part.training for part in model.modules()] == modes
    assert len(set(modes)) == 2, "some parts are in training and some are not"
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not hooks_of(model)
