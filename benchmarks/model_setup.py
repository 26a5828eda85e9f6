"""What all model jobs share: the batch, the weights, the optimiser.

All contestants start from the weights of `BertForPreTraining(config)`, see the same batch and
train with the same AdamW.
"""

from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.model import BertConfig, BertForPreTraining, save_pretrained

MASKED = 0.15
SQUARE = 2048  # rows and columns of the matrices that show the machine's limit
Laps = tuple[list[Callable[[], Any]], list[float]]  # what is timed; numbers to compare


class Batch(NamedTuple):
    """Random tokens in the shapes of pre-training."""

    ids: Tensor  # [B, L]
    segment_ids: Tensor  # [B, L], the second half of each sequence is sentence B
    mask: Tensor  # [B, L], boolean; a quarter of all tokens is padding
    predict: Tensor  # [B, L], boolean; 15 % of the positions
    words: Tensor  # [B, L], what stood there
    next_sentence: Tensor  # [B]


def make_batch(sequences: int, length: int, vocab_size: int = 30_522) -> Batch:
    """The same batch every time."""
    draw = torch.Generator().manual_seed(0)
    shape = (sequences, length)
    predict = torch.zeros(sequences * length, dtype=torch.bool)
    chosen = torch.randperm(sequences * length, generator=draw)
    predict[chosen[: predicted_tokens(sequences * length)]] = True
    lengths = torch.linspace(length, length / 2, sequences).long()
    return Batch(
        ids=torch.randint(vocab_size, shape, generator=draw),
        segment_ids=(torch.arange(length) >= length // 2).long().repeat(sequences, 1),
        mask=torch.arange(length) < lengths[:, None],
        predict=predict.view(shape),
        words=torch.randint(vocab_size, shape, generator=draw),
        next_sentence=torch.randint(2, (sequences,), generator=draw),
    )


def predicted_tokens(tokens: int) -> int:
    """How many of so many tokens are masked."""
    return round(MASKED * tokens)


def adamw(model: nn.Module, fused: bool | None = None) -> torch.optim.Optimizer:
    """The optimiser of every contestant; None is PyTorch's own choice, which here is False."""
    return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)


def training_step(optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor]) -> None:
    """Forward, backward, update."""
    loss().backward()
    optimizer.step()
    optimizer.zero_grad()


def config_of(size: str, dropout: float = 0.1) -> BertConfig:
    """A published size."""
    return getattr(BertConfig, size)(dropout=dropout)


def transformers_model(kind: str, config: BertConfig, attention: str) -> Any:
    """A model of `transformers` with the weights of `BertForPreTraining(config)`."""
    import transformers

    transformers.logging.set_verbosity_error()
    with TemporaryDirectory() as folder:
        save_pretrained(BertForPreTraining(config), folder)
        return getattr(transformers, kind).from_pretrained(folder, attn_implementation=attention)
