"""Encoder-decoders before 2017, made of gated recurrent units (GRU).

The first gives the decoder one vector, for any length of the source; the second lets it attend to
every position. The comparison is about the idea, so both are small: one layer, and attention as in
`bertlab.model.attention`, without a matrix of its own.

Source: Cho et al. (2014); Sutskever et al. (2014); Bahdanau et al. (2015); Luong et al. (2015).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bertlab.model.attention import attention
from bertlab.model.checks import check_ids, check_memory, check_tokens_mask
from bertlab.model.transformer import initialise_xavier


class Recurrent(nn.Module):
    """A GRU reads the source; from its last state, another GRU writes the target.

    vocab_size: symbols of source and target; d_model: size of vectors and states; seed: draws
    the initial weights.

    Source: Cho et al. (2014); Sutskever et al. (2014).
    """

    def __init__(self, vocab_size: int, d_model: int, dropout: float = 0.1, seed: int = 0) -> None:
        super().__init__()
        check_sizes("Recurrent", vocab_size, d_model, dropout)
        with torch.random.fork_rng(devices=[]):  # PyTorch's own initial draw, which we replace
            self.token = nn.Embedding(vocab_size, d_model)
            self.reader = nn.GRU(d_model, d_model, batch_first=True)
            self.writer = nn.GRU(d_model, d_model, batch_first=True)
            self.unembedding = nn.Linear(d_model, vocab_size)
        self.dropout = nn.Dropout(dropout)
        initialise_xavier(self, torch.Generator().manual_seed(seed))

    def encode(self, source_ids: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """The reader's last state, [B, L] -> memory [B, 1, D]: the only summary of the source."""
        return read(self, source_ids, source_mask)[1]

    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        source_mask: Tensor | None = None,  # noqa: ARG002
    ) -> Tensor:
        """[B, T], memory -> logits [B, T, V]. The mask is not needed: nothing looks back."""
        states = write(self, target_ids, memory, memory)  # [B, T, D]
        return self.unembedding(self.dropout(states))


class LooksBack(nn.Module):
    """The common half of models with attention: a GRU writes, and attends to the memory.

    A model defines `first_states`, from which the writer starts.

    Source: Bahdanau et al. (2015), section 3; Luong et al. (2015), section 3.
    """

    first_states: Callable[[Tensor, Tensor | None], Tensor]

    def decode(
        self, target_ids: Tensor, memory: Tensor, source_mask: Tensor | None = None
    ) -> Tensor:
        """[B, T], memory -> logits [B, T, V]."""
        return self.look_back(target_ids, memory, source_mask)[0]

    def look_back(
        self, target_ids: Tensor, memory: Tensor, source_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Logits [B, T, V], and the attention of each step: [B, T, L]."""
        check_tokens_mask(type(self).__name__, "source_mask", source_mask, memory.shape[:2])
        first = self.first_states(memory, source_mask)  # [B, 1, D]
        states = write(self, target_ids, memory, first)  # [B, T, D]
        return predict(self, states, memory, source_mask)


class RecurrentWithAttention(LooksBack):
    """The same two GRUs; the writer attends to every state of the reader.

    Arguments as in `Recurrent`.

    Source: Bahdanau et al. (2015), section 3; the order of steps is that of Luong et al. (2015),
    section 3: first the writer's new state, then attention, then the prediction from both.
    """

    def __init__(self, vocab_size: int, d_model: int, dropout: float = 0.1, seed: int = 0) -> None:
        super().__init__()
        check_sizes("RecurrentWithAttention", vocab_size, d_model, dropout)
        with torch.random.fork_rng(devices=[]):
            self.token = nn.Embedding(vocab_size, d_model)
            self.reader = nn.GRU(d_model, d_model, batch_first=True)
            self.writer = nn.GRU(d_model, d_model, batch_first=True)
            self.combine = nn.Linear(2 * d_model, d_model)
            self.unembedding = nn.Linear(d_model, vocab_size)
        self.dropout = nn.Dropout(dropout)
        initialise_xavier(self, torch.Generator().manual_seed(seed))

    def encode(self, source_ids: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """Every state of the reader: [B, L] -> memory [B, L, D]."""
        return read(self, source_ids, source_mask)[0]

    def first_states(self, memory: Tensor, source_mask: Tensor | None) -> Tensor:
        """The writer continues where the reader ended: [B, L, D] -> [B, 1, D]."""
        return last_states(memory, source_mask)


def read(model: Any, source_ids: Tensor, source_mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Run `model.reader`: every state [B, L, D] and the last before the padding [B, 1, D]."""
    name = type(model).__name__
    check_ids(name, "source_ids", source_ids, model.token.num_embeddings)
    check_tokens_mask(name, "source_mask", source_mask, source_ids.shape)
    if source_mask is None:
        source_mask = torch.ones_like(source_ids, dtype=torch.bool)
    x = model.dropout(model.token(source_ids))  # [B, L, D]
    lengths = source_mask.sum(dim=1).cpu()
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    states, last = model.reader(packed)
    length = source_ids.shape[1]
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=length)
    return states, last.transpose(0, 1)


def write(model: Any, target_ids: Tensor, memory: Tensor, first: Tensor) -> Tensor:
    """Run `model.writer` over the target from the state `first`, [B, 1, D]: states [B, T, D]."""
    name = type(model).__name__
    check_ids(name, "target_ids", target_ids, model.token.num_embeddings)
    check_memory(name, memory, len(target_ids), model.token.embedding_dim)
    x = model.dropout(model.token(target_ids))
    return model.writer(x, first.transpose(0, 1).contiguous())[0]


def last_states(memory: Tensor, source_mask: Tensor | None) -> Tensor:
    """The state at the last token of each source: [B, L, D] -> [B, 1, D]."""
    if source_mask is None:
        return memory[:, -1:]
    last = source_mask.sum(dim=1) - 1  # [B]
    return memory[torch.arange(len(memory), device=memory.device), last][:, None]


def predict(
    model: Any, states: Tensor, memory: Tensor, source_mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Attend from each state to the memory; logits [B, T, V] from both, and the weights."""
    mask = None if source_mask is None else source_mask.bool()[:, None, :]  # [B, 1, L]
    looked, weights = attention(states, memory, memory, mask)  # [B, T, D], [B, T, L]
    both = torch.tanh(model.combine(torch.cat([looked, states], dim=-1)))  # [B, T, D]
    return model.unembedding(model.dropout(both)), weights


def check_sizes(name: str, vocab_size: int, d_model: int, dropout: float) -> None:
    """Raise ValueError unless there are symbols, dimensions and a rate."""
    if vocab_size < 1 or d_model < 1 or not 0 <= dropout < 1:
        raise ValueError(
            f"{name}: vocab_size and d_model must be at least 1 and dropout in [0, 1); "
            f"got vocab_size={vocab_size}, d_model={d_model}, dropout={dropout}"
        )
