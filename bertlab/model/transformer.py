"""The Transformer of 2017: an encoder reads the source, a decoder writes the target.

It has the parts of BERT (`attention.py`, `layers.py`); new are the decoder layer, which attends to
the encoder's output, and fixed positions. Letters in shape comments are those of `attention.py`; L
is the source's length, T the target's.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.model.attention import Dropout, MultiHeadAttention
from bertlab.model.bert import sinusoidal_positions
from bertlab.model.checks import check_ids, check_memory, check_tokens_mask, require
from bertlab.model.config import check_sizes
from bertlab.model.layers import EncoderLayer, FeedForward, LayerNorm


def initialise_xavier(model: nn.Module, generator: torch.Generator) -> None:
    """Draw every weight so that a layer's outputs vary about as much as its inputs.

    Matrices are uniform as in Glorot & Bengio (2010), embeddings normal with standard deviation
    1 / sqrt(D), biases 0; scale vectors (in norms) stay 1. Vaswani et al. (2017) do not give
    their initialisation; `torch.nn.Transformer` draws its matrices in this way too.
    """
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5, generator=generator)
        elif isinstance(module, nn.Linear | nn.Conv1d | nn.RNNBase):
            for parameter in module.parameters(recurse=False):
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                else:
                    nn.init.zeros_(parameter)


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and rates of an encoder-decoder Transformer; the defaults are the paper's base model.

    Raises ValueError if a size is not a positive integer, if `d_model` is odd (positions need pairs
    of dimensions) or cannot be split evenly among the heads, if `dropout` is not in [0, 1), or if
    another value is impossible, as in `BertConfig`.

    Source: Vaswani et al. (2017), table 3, and section 5.1 for the vocabulary of about 37,000.

    >>> TransformerConfig().d_head
    64
    """

    vocab_size: int = 37_000  # N_V: one vocabulary for source and target
    d_model: int = 512  # d_e
    n_layers: int = 6  # of the encoder, and the same number in the decoder
    n_heads: int = 8  # H
    d_ff: int = 2048  # d_mlp
    max_length: int = 512  # l_max, of source and of target
    dropout: float = 0.1
    pre_norm: bool = False  # True: normalise each part's input, not the sum after it
    layer_norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        check_sizes(self)
        require(
            self, "d_model", self.d_model % 2 == 0, "must be even, one sine and one cosine per wave"
        )

    @property
    def d_head(self) -> int:
        """Size of one head's queries, keys and values (d_attn and d_mid)."""
        return self.d_model // self.n_heads


class TransformerOutput(NamedTuple):
    """The output of `Transformer`; the attentions are None unless requested."""

    logits: Tensor  # [B, T, N_V]: at t, scores for the token that follows target token t
    encoder_attentions: tuple[Tensor, ...] | None  # one per layer: [B, H, L, L]
    decoder_attentions: tuple[Tensor, ...] | None  # one per layer: [B, H, T, T], causal
    cross_attentions: tuple[Tensor, ...] | None  # one per layer: [B, H, T, L]


class Transformer(nn.Module):
    """Encoder and decoder with one shared vocabulary; the unembedding is the embedding itself.

    seed: draws the initial weights; the global random state does not change.

    Source: Vaswani et al. (2017), section 3; Phuong & Hutter (2022), Algorithm 8 (EDTransformer).

    >>> model = Transformer(TransformerConfig(vocab_size=30, d_model=8, n_layers=1, n_heads=2))
    >>> source_ids, target_ids = torch.tensor([[5, 9, 4, 2]]), torch.tensor([[1, 7]])
    >>> model(source_ids, target_ids).logits.shape
    torch.Size([1, 2, 30])
    """

    encoder: Any  # nn.ModuleLists of EncoderLayer and DecoderLayer
    decoder: Any
    positions: Tensor

    def __init__(self, config: TransformerConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        sizes = (config.d_model, config.n_heads, config.d_ff)
        common: dict[str, Any] = {
            "dropout": config.dropout,
            "eps": config.layer_norm_eps,
            "pre_norm": config.pre_norm,
        }
        with torch.random.fork_rng(devices=[]):  # PyTorch's own initial draw, which we replace
            self.token = nn.Embedding(config.vocab_size, config.d_model)
            self.encoder = nn.ModuleList(
                EncoderLayer(*sizes, activation="relu", **common) for _ in range(config.n_layers)
            )
            self.decoder = nn.ModuleList(
                DecoderLayer(*sizes, **common) for _ in range(config.n_layers)
            )
        # With pre-norm the last sum is not yet normalised; with post-norm it is.
        sized = partial(LayerNorm, config.d_model, config.layer_norm_eps)
        last_norm = sized if config.pre_norm else nn.Identity
        self.encoder_norm, self.decoder_norm = last_norm(), last_norm()
        self.dropout = Dropout(config.dropout)
        positions = sinusoidal_positions(config.max_length, config.d_model)
        self.register_buffer("positions", positions, persistent=False)
        initialise_xavier(self, torch.Generator().manual_seed(seed))

    def forward(
        self,
        source_ids: Tensor,
        target_ids: Tensor,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        *,
        output_attentions: bool = False,
    ) -> TransformerOutput:
        """Score every possible next token after each target token (teacher forcing).

        source_ids: [B, L]; target_ids: [B, T], beginning with the start token; source_mask,
        target_mask: [B, L] and [B, T], True for tokens and False for padding.

        Raises ValueError if an id is out of range or a shape or a mask does not fit.
        """
        memory, encoder = self._encode(source_ids, source_mask, output_attentions)
        logits, decoder, cross = self._decode(
            target_ids, memory, source_mask, target_mask, output_attentions
        )
        if not output_attentions:
            return TransformerOutput(logits, None, None, None)
        return TransformerOutput(logits, tuple(encoder), tuple(decoder), tuple(cross))

    def encode(self, source_ids: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """The source as the decoder sees it: [B, L] -> memory [B, L, D]. Once per sentence."""
        return self._encode(source_ids, source_mask, False)[0]

    def decode(
        self, target_ids: Tensor, memory: Tensor, source_mask: Tensor | None = None
    ) -> Tensor:
        """Logits [B, T, N_V] after each token of the target so far, [B, T]."""
        return self._decode(target_ids, memory, source_mask, None, False)[0]

    def embed(self, ids: Tensor) -> Tensor:
        """Token vectors times sqrt(D), plus positions: [B, T] -> [B, T, D].

        A token vector has length about 1, a position vector sqrt(D / 2): without the factor
        sqrt(D), the position would dominate. Source: Vaswani et al. (2017), sections 3.4 and 3.5.
        """
        tokens = self.token(ids) * math.sqrt(self.config.d_model)
        return self.dropout(tokens + self.positions[: ids.shape[1]])

    def _encode(
        self, source_ids: Tensor, source_mask: Tensor | None, output_attentions: bool
    ) -> tuple[Tensor, list[Any]]:
        check_ids(
            "Transformer", "source_ids", source_ids, self.config.vocab_size, self.config.max_length
        )
        check_tokens_mask("Transformer", "source_mask", source_mask, source_ids.shape)
        x, attentions = self.embed(source_ids), []
        for layer in self.encoder:
            x, probabilities = layer(x, source_mask, output_attentions=output_attentions)
            attentions.append(probabilities)
        return self.encoder_norm(x), attentions

    def _decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        source_mask: Tensor | None,
        target_mask: Tensor | None,
        output_attentions: bool,
    ) -> tuple[Tensor, list[Any], list[Any]]:
        check_ids(
            "Transformer", "target_ids", target_ids, self.config.vocab_size, self.config.max_length
        )
        check_tokens_mask("Transformer", "target_mask", target_mask, target_ids.shape)
        check_memory("Transformer", memory, len(target_ids), self.config.d_model)
        check_tokens_mask("Transformer", "source_mask", source_mask, memory.shape[:2])
        x, own, cross = self.embed(target_ids), [], []
        for layer in self.decoder:
            x, *probabilities = layer(
                x, memory, target_mask, source_mask, output_attentions=output_attentions
            )
            own.append(probabilities[0])
            cross.append(probabilities[1])
        return self.decoder_norm(x) @ self.token.weight.T, own, cross  # [B, T, N_V]


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the memory, feed-forward: each with a residual.

    Arguments as in `EncoderLayer`; the activation is ReLU.

    Source: Phuong & Hutter (2022), Algorithm 8, the decoder; Vaswani et al. (2017), figure 1.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        eps: float = 1e-5,
        pre_norm: bool = False,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.self_attention_norm = LayerNorm(d_model, eps)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention_norm = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, "relu")
        self.feed_forward_norm = LayerNorm(d_model, eps)
        self.dropout = Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        target_mask: Tensor | None = None,
        source_mask: Tensor | None = None,
        *,
        output_attentions: bool = False,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """x: [B, T, D], the target so far; memory: [B, L, D], the encoded source.

        Returns [B, T, D] and, if requested, the probabilities of the self-attention [B, H, T, T]
        and of the cross-attention [B, H, T, L].
        """
        own = {"mask": target_mask, "causal": True, "output_attentions": output_attentions}
        other = {"mask": source_mask, "context": memory, "output_attentions": output_attentions}
        if self.pre_norm:
            attended, decoder = self.self_attention(self.self_attention_norm(x), **own)
            x = x + self.dropout(attended)
            attended, cross = self.cross_attention(self.cross_attention_norm(x), **other)
            x = x + self.dropout(attended)
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        else:
            attended, decoder = self.self_attention(x, **own)
            x = self.self_attention_norm(x + self.dropout(attended))
            attended, cross = self.cross_attention(x, **other)
            x = self.cross_attention_norm(x + self.dropout(attended))
            x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x, decoder, cross
