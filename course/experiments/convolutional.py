"""A convolutional encoder with position embeddings, read by the recurrent decoder with attention.

Source: Gehring et al. (2017), section 3: positions, gated linear units, residuals. Their decoder
is convolutional too; ours is the one of `recurrent.py`, so that only the encoder differs.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.checks import check_ids, check_tokens_mask
from bertlab.model.transformer import initialise_xavier
from course.experiments.recurrent import LooksBack, check_sizes


class Convolutional(LooksBack):
    """Layers of convolutions read the source; a GRU with attention writes the target.

    vocab_size, d_model, dropout, seed: as in `Recurrent`; n_layers: convolutions; width: how many
    neighbouring positions one reads, odd, so that it has a middle; max_length: longest source.
    Position i of layer n sees the tokens i - n * (width - 1) / 2 to i + n * (width - 1) / 2.

    Source: Gehring et al. (2017), section 3.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_layers: int = 2,
        width: int = 3,
        max_length: int = 512,
        dropout: float = 0.1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        check_sizes("Convolutional", vocab_size, d_model, dropout)
        if n_layers < 1 or width < 1 or width % 2 == 0 or max_length < 1:
            raise ValueError(
                "Convolutional: n_layers and max_length must be at least 1 and width odd; "
                f"got n_layers={n_layers}, max_length={max_length}, width={width}"
            )
        with torch.random.fork_rng(devices=[]):  # PyTorch's own initial draw, which we replace
            self.token = nn.Embedding(vocab_size, d_model)
            self.position = nn.Embedding(max_length, d_model)
            self.layers = nn.ModuleList(
                nn.Conv1d(d_model, 2 * d_model, width, padding="same") for _ in range(n_layers)
            )
            self.writer = nn.GRU(d_model, d_model, batch_first=True)
            self.combine = nn.Linear(2 * d_model, d_model)
            self.unembedding = nn.Linear(d_model, vocab_size)
        self.dropout = nn.Dropout(dropout)
        initialise_xavier(self, torch.Generator().manual_seed(seed))

    def encode(self, source_ids: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """[B, L] -> memory [B, L, D]; padding is 0 before every layer, so it has no influence."""
        check_ids(
            "Convolutional",
            "source_ids",
            source_ids,
            self.token.num_embeddings,
            self.position.num_embeddings,
        )
        check_tokens_mask("Convolutional", "source_mask", source_mask, source_ids.shape)
        places = torch.arange(source_ids.shape[1], device=source_ids.device)
        x = self.dropout(self.token(source_ids) + self.position(places)).mT  # [B, D, L]
        for layer in self.layers:
            if source_mask is not None:
                x = x * source_mask[:, None, :]
            x = (x + F.glu(layer(self.dropout(x)), dim=1)) * 0.5**0.5
        return x.mT  # [B, L, D]

    def first_states(self, memory: Tensor, source_mask: Tensor | None) -> Tensor:
        """The writer starts from the mean of the memory: [B, L, D] -> [B, 1, D]."""
        return mean_of_tokens(memory, source_mask)


def mean_of_tokens(memory: Tensor, source_mask: Tensor | None) -> Tensor:
    """The mean vector of each source without its padding: [B, L, D] -> [B, 1, D]."""
    if source_mask is None:
        return memory.mean(dim=1, keepdim=True)
    weights = source_mask[:, :, None].to(memory.dtype)  # [B, L, 1]
    return (memory * weights).sum(dim=1, keepdim=True) / weights.sum(dim=1, keepdim=True)
