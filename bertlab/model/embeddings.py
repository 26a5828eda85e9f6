"""Ids to vectors: the sum of three learned tables; and fixed sinusoidal positions."""

import torch
from torch import Tensor, nn

from bertlab.model.checks import check_ids
from bertlab.model.config import BertConfig
from bertlab.model.dropout import Dropout
from bertlab.model.layers import LayerNorm


class Embeddings(nn.Module):
    """Token + position + segment embedding, then layer norm and dropout.

    Source: Phuong & Hutter (2022), Algorithms 1 and 2 (their encoder has no segments; BERT does);
    Devlin et al. (2019), figure 2.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model)  # W_e
        self.position = nn.Embedding(config.max_length, config.d_model)  # W_p
        self.segment = nn.Embedding(config.n_segments, config.d_model)  # W_s
        self.norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, segment_ids: Tensor | None = None) -> Tensor:
        """ids, segment_ids: [B, L] -> [B, L, D]. Without segment ids every token is segment A.

        Raises ValueError if an id or a segment is out of range or the text is too long.
        """
        self._check(ids, segment_ids)
        if segment_ids is None:
            segment_ids = torch.zeros_like(ids)
        positions = torch.arange(ids.shape[1], device=ids.device)  # [L]
        summed = self.token(ids) + self.position(positions) + self.segment(segment_ids)
        return self.dropout(self.norm(summed))  # [B, L, D]

    def _check(self, ids: Tensor, segment_ids: Tensor | None) -> None:
        check_ids("Bert", "ids", ids, self.token.num_embeddings, self.position.num_embeddings)
        if segment_ids is None:
            return
        check_ids("Bert", "segment_ids", segment_ids, self.segment.num_embeddings)
        if segment_ids.shape != ids.shape:
            raise ValueError(
                f"Bert: segment_ids must have the shape of ids, {list(ids.shape)}; "
                f"got {list(segment_ids.shape)}"
            )


def sinusoidal_positions(max_length: int, d_model: int) -> Tensor:
    """Vectors for the positions 0, 1, 2, ...: sines and cosines of increasing wavelength.

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)); PE(pos, 2i + 1) = cos of the same angle.
    Returns [max_length, d_model]. Raises ValueError if a size is below 1 or `d_model` is odd.

    Source: Vaswani et al. (2017), section 3.5.

    >>> sinusoidal_positions(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    if max_length < 1 or d_model < 1 or d_model % 2:
        raise ValueError(
            "sinusoidal_positions: max_length must be at least 1 and d_model even, one sine and "
            f"one cosine per wave; got max_length={max_length}, d_model={d_model}"
        )
    position = torch.arange(max_length, dtype=torch.float64)[:, None]  # [max_length, 1]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2i: [d_model / 2]
    angle = position / 10_000 ** (even / d_model)  # [max_length, d_model / 2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()
