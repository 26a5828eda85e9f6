"""Asking a model without changing it."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """No dropout inside; afterwards every part is again as it was, also after an error.

    `model.train(was_training)` would not do: it wakes parts up that were asleep on purpose, such
    as a frozen encoder below a new head.
    """
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in before.items():
            module.training = training
