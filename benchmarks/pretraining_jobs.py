"""The pre-training step: ours in several variants, and that of `transformers`."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.model_setup import (
    Batch,
    Laps,
    adamw,
    config_of,
    make_batch,
    training_step,
    transformers_model,
)
from bertlab.model import BertForPreTraining


def pretraining_lap(
    model: nn.Module,
    loss: Callable[[Batch], Tensor],
    batch: Batch,
    fused: bool | None,
    compiled: bool = False,
) -> Laps:
    """One step; what is compared is the loss before it, of two sequences, without dropout."""
    model.eval()
    with torch.no_grad():
        first = loss(Batch(*(part[:2] for part in batch))).item()
    model.train()
    if compiled:
        model.compile()
    optimizer = adamw(model, fused)
    return [lambda: training_step(optimizer, lambda: loss(batch))], [first]


def pretraining_ours(
    size: str,
    sequences: int,
    length: int,
    everywhere: bool = False,
    fused: bool | None = None,
    dropout: float = 0.1,
    compiled: bool = False,
    bfloat16: bool = False,
) -> Laps:
    """`BertForPreTraining`; everywhere: logits at every position, as `transformers` does it."""
    model = BertForPreTraining(config_of(size, dropout))

    def loss(batch: Batch) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            output = model(
                batch.ids, batch.segment_ids, predict=None if everywhere else batch.predict
            )
            if everywhere:
                words = torch.where(batch.predict, batch.words, -100).flatten()
                mlm = F.cross_entropy(output.mlm_logits.flatten(0, 1), words)
            else:
                mlm = F.cross_entropy(output.mlm_logits, batch.words[batch.predict])
            return mlm + F.cross_entropy(output.nsp_logits, batch.next_sentence)

    return pretraining_lap(model, loss, make_batch(sequences, length), fused, compiled)


def pretraining_transformers(
    size: str, sequences: int, length: int, fused: bool | None = None, dropout: float = 0.1
) -> Laps:
    """`transformers`' `BertForPreTraining`, which adds both losses up itself."""
    model = transformers_model("BertForPreTraining", config_of(size, dropout), "sdpa")

    def loss(batch: Batch) -> Tensor:
        return model(
            input_ids=batch.ids,
            token_type_ids=batch.segment_ids,
            labels=torch.where(batch.predict, batch.words, -100),
            next_sentence_label=batch.next_sentence,
        ).loss

    return pretraining_lap(model, loss, make_batch(sequences, length), fused)
