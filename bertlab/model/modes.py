"""Run a model in evaluation mode, then restore its mode."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """No dropout inside; afterwards every part's mode is restored, also after an error.

    `model.train(was_training)` would not be enough: it would set all parts to training mode, also
    a frozen encoder below a new head.
    """
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in before.items():
            module.training = training
