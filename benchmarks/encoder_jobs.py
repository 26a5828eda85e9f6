"""Forward and training step of the bare encoder: ours, that of `transformers`, PyTorch's own."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.model_setup import (
    Batch,
    Laps,
    adamw,
    config_of,
    make_batch,
    training_step,
    transformers_model,
)
from bertlab.model import Bert, BertConfig

Encode = Callable[[Tensor, Tensor, Tensor | None], Tensor]  # ids, segments, mask -> [B, L, D]


def encoder_laps(model: nn.Module, encode: Encode, batch: Batch, width: int) -> Laps:
    """Forward and training step, each without and with padding: `model_contests.LAPS`."""
    target = torch.randn(width, generator=torch.Generator().manual_seed(1))

    def forward(mask: Tensor | None) -> Tensor:
        model.eval()
        with torch.no_grad():
            return encode(batch.ids, batch.segment_ids, mask)

    def step(mask: Tensor | None) -> None:
        model.train()
        training_step(
            optimizer, lambda: (encode(batch.ids, batch.segment_ids, mask) * target).mean()
        )

    optimizer = adamw(model)
    first = [forward(mask)[-1, :8, :4].flatten() for mask in (None, batch.mask)]  # not padding
    laps = [lambda f=f, mask=mask: f(mask) for f in (forward, step) for mask in (None, batch.mask)]
    return laps, torch.cat(first).tolist()


def encoder_ours(size: str, sequences: int, length: int) -> Laps:
    """`Bert`."""
    config = config_of(size)
    model = Bert(config)

    def encode(ids: Tensor, segment_ids: Tensor, mask: Tensor | None) -> Tensor:
        return model(ids, segment_ids, mask).last_hidden_state

    return encoder_laps(model, encode, make_batch(sequences, length), config.d_model)


def encoder_transformers(size: str, sequences: int, length: int, attention: str) -> Laps:
    """`transformers`' `BertModel`; attention: "sdpa" or "eager"."""
    model = transformers_model("BertModel", config_of(size), attention)

    def encode(ids: Tensor, segment_ids: Tensor, mask: Tensor | None) -> Tensor:
        return model(
            input_ids=ids, token_type_ids=segment_ids, attention_mask=mask
        ).last_hidden_state

    return encoder_laps(model, encode, make_batch(sequences, length), model.config.hidden_size)


def encoder_torch(size: str, sequences: int, length: int) -> Laps:
    """PyTorch's `nn.TransformerEncoder` between our embeddings and a pooler."""
    config = config_of(size)
    model = TorchEncoder(config)
    return encoder_laps(model, model, make_batch(sequences, length), config.d_model)


class TorchEncoder(nn.Module):
    """A BERT with PyTorch's own encoder; it has `Bert(config)`'s weights."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            config.d_model,
            config.n_heads,
            config.d_ff,
            config.dropout,
            "gelu",
            config.layer_norm_eps,
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, config.n_layers)
        ours = Bert(config)
        self.embeddings, self.pooler = ours.embeddings, ours.pooler
        for theirs, mine in zip(self.layers.layers, ours.layers, strict=True):
            theirs.dropout.p = 0.0  # inside the feed-forward network, where BERT has none
            copy(mine.attention.query_key_value, theirs.self_attn, "in_proj_weight", "in_proj_bias")
            copy(mine.attention.output, theirs.self_attn.out_proj)
            copy(mine.feed_forward.expand, theirs.linear1)
            copy(mine.feed_forward.contract, theirs.linear2)

    def forward(self, ids: Tensor, segment_ids: Tensor, mask: Tensor | None) -> Tensor:
        """The last hidden state; as in BERT, the pooler runs too."""
        hidden = self.layers(
            self.embeddings(ids, segment_ids), src_key_padding_mask=None if mask is None else ~mask
        )
        self.pooler(hidden[:, 0]).tanh()
        return hidden


def copy(ours: nn.Linear, theirs: nn.Module, weight: str = "weight", bias: str = "bias") -> None:
    """Give PyTorch's layer our numbers; the norms are ones and zeros on both sides."""
    with torch.no_grad():
        getattr(theirs, weight).copy_(ours.weight)
        getattr(theirs, bias).copy_(ours.bias)
