"""Multi-task learning: several heads on one encoder, each at its own layer, fine-tuned together.

Source: Caruana (1997); Søgaard & Goldberg (2016), who supervise a low-level task (parts of speech)
at a lower layer and a higher one (chunks) at the top; before, all tasks were at the top.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from torch import nn

from bertlab.finetuning.heads import Head
from bertlab.finetuning.texts import TuningData, batch_of, batches_by_length, check_data
from bertlab.finetuning.tuning import TuningConfig, score, tune
from bertlab.training.runs import Row


class MultiTask(nn.Module):
    """Heads that share one encoder.

    heads: at least two, by the names of their tasks, all made with the same encoder. A task is
    supervised at the layer of its head's `features`: `TokenTagger(encoder, 3, features=2)` reads
    the second layer, so its loss changes only the embeddings and the first two layers. A single
    head can be used as usual: `model.heads["tags"]`.

    Raises ValueError if there is one head, or if their encoders are not the same object.

    >>> from bertlab.model import Bert, BertConfig
    >>> from bertlab.finetuning.heads import SequenceClassifier, TokenTagger
    >>> encoder = Bert(BertConfig.tiny(vocab_size=100))
    >>> tags, topic = TokenTagger(encoder, 3, features=1), SequenceClassifier(encoder, 8)
    >>> list(MultiTask({"tags": tags, "topic": topic}).heads)
    ['tags', 'topic']
    """

    heads: Any  # an nn.ModuleDict of Head: PyTorch's type does not state its items

    def __init__(self, heads: Mapping[str, Head]) -> None:
        super().__init__()
        if len(heads) < 2:
            raise ValueError(f"MultiTask: heads must be at least two; got {list(heads)}")
        encoders = [head.bert for head in heads.values()]
        if any(encoder is not encoders[0] for encoder in encoders):
            raise ValueError(
                "MultiTask: all heads must be made with the same encoder; got several, and they "
                "would learn nothing from each other"
            )
        self.heads = nn.ModuleDict(heads)


def tune_together(
    model: MultiTask,
    data: Mapping[str, TuningData],
    config: TuningConfig,
    *,
    pad_id: int,
    validation: Mapping[str, TuningData] | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train all heads and the encoder below them; everything is changed in place.

    data: the examples of each task, under the names of the heads. A step is a batch of one task;
    an epoch takes every batch of every task once, in random order, so a task with more examples is
    trained more often: use a part of them if it must not dominate. validation: as `data`, of all
    tasks or some.

    Returns rows as `fine_tune` does, each with its "task". Deterministic as `fine_tune`.

    Raises ValueError if data are missing for a head, have no head, or do not fit it;
    FloatingPointError if a loss is not finite.

    Source: Søgaard & Goldberg (2016): one task at a time, and its loss updates the layers up to
    its own. They draw the task at each step.
    """
    check_names("data", model, data)
    if set(data) != set(model.heads):
        raise ValueError(
            f"tune_together: data must be there for each of {', '.join(model.heads)}; got "
            f"{', '.join(data)}"
        )
    check_names("validation", model, validation or {})
    for name, part in [*data.items(), *(validation or {}).items()]:
        check_data(f"tune_together: {name}", model.heads[name], part)

    def train(batch: tuple[str, list[int]]) -> Row:
        name, numbers = batch
        head = model.heads[name].train()
        inputs, targets = batch_of(head, data[name], numbers, pad_id)
        loss = head.loss(head(*inputs), targets)
        loss.backward()  # layers above the task's get no gradient, so they do not change
        return {"task": name, "loss": loss.item()}

    def held_out(epoch: int) -> Iterator[Row]:
        for name, part in (validation or {}).items() if epoch else ():
            loss, accuracy, _ = score(model.heads[name], part, pad_id=pad_id)
            yield {"task": name, "loss": loss, "accuracy": accuracy}

    batches = partial(mixed_batches, data, config.batch_size)
    n_batches = sum(math.ceil(len(part) / config.batch_size) for part in data.values())
    shown = {"label": "tuning together", "watch": watch, "progress": progress}
    return tune(model, config, n_batches, batches, train, held_out, **shown)


def check_names(what: str, model: MultiTask, data: Mapping[str, TuningData]) -> None:
    """Raise ValueError if there is a task without a head."""
    strange = [name for name in data if name not in model.heads]
    if strange:
        raise ValueError(
            f"tune_together: {what} has {strange[0]!r}, for which there is no head; the heads are "
            f"{', '.join(model.heads)}"
        )


def mixed_batches(
    data: Mapping[str, TuningData], batch_size: int, generator: np.random.Generator
) -> list[tuple[str, list[int]]]:
    """The batches of one epoch, mixed over all tasks: the task and the numbers of its texts."""
    batches = [
        (name, numbers)
        for name, part in data.items()
        for numbers in batches_by_length([len(e) for e in part.encodings], batch_size, generator)
    ]
    return [batches[number] for number in generator.permutation(len(batches))]
