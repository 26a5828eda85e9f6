"""Ids to vectors: the sum of three learned tables.

Source: Devlin et al. (2019), figure 2; Phuong & Hutter (2022), Algorithms 1 and 2 (their encoder
has no segments; BERT does).
"""

import torch
from torch import Tensor, nn

from bertlab.model.config import BertConfig
from bertlab.model.layers import LayerNorm


class Embeddings(nn.Module):
    """Token + position + segment embedding, then layer norm and dropout."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model)  # W_e
        self.position = nn.Embedding(config.max_length, config.d_model)  # W_p
        self.segment = nn.Embedding(config.n_segments, config.d_model)  # W_s
        self.norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segment_ids: Tensor | None = None) -> Tensor:
        """ids, segment_ids: [B, L] -> [B, L, D]. Without segment ids every token is segment A.

        Raises ValueError if an id or a segment is out of range or the text is too long.
        """
        if segment_ids is None:
            segment_ids = torch.zeros_like(ids)
        self._check(ids, segment_ids)
        positions = torch.arange(ids.shape[1], device=ids.device)  # [L]
        summed = self.token(ids) + self.position(positions) + self.segment(segment_ids)
        return self.dropout(self.norm(summed))  # [B, L, D]

    def _check(self, ids: Tensor, segment_ids: Tensor) -> None:
        if ids.dim() != 2 or not ids.numel():
            raise ValueError(f"Bert: ids must be [B, L] and not empty; got {list(ids.shape)}")
        if segment_ids.shape != ids.shape:
            raise ValueError(
                f"Bert: segment_ids must have the shape of ids, {list(ids.shape)}; "
                f"got {list(segment_ids.shape)}"
            )
        if ids.shape[1] > self.position.num_embeddings:
            raise ValueError(
                f"Bert: ids must hold at most max_length={self.position.num_embeddings} tokens a "
                f"sequence; got {ids.shape[1]}; shorten the text"
            )
        if ids.device.type != "cpu":
            return  # reading values would make the device wait; it raises its own error
        for name, values, table in (
            ("ids", ids, self.token),
            ("segment_ids", segment_ids, self.segment),
        ):
            low, high = values.min().item(), values.max().item()
            if low < 0 or high >= table.num_embeddings:
                raise ValueError(
                    f"Bert: {name} must be from 0 to {table.num_embeddings - 1}; "
                    f"got {low if low < 0 else high}; do tokenizer and model belong together?"
                )
