"""The Transformer with one part changed, for lecture 5b: no norms, other positions."""

import torch
from torch import Tensor, nn

from bertlab.model.bert import sinusoidal_positions
from bertlab.model.layers import EncoderLayer, LayerNorm
from bertlab.model.transformer import Transformer, initialise_xavier

NORMS = ("post", "pre", "none")
POSITIONS = ("computed", "learned", "none")


class Stack(nn.Module):
    """Encoder layers that predict one of the input's symbols at each position.

    norm: "post" normalises each sum, "pre" the input of each half and the last sum, "none"
    nothing; seed: draws the initial weights, the same ones for each norm.

    Source: Xiong et al. (2020), section 3.1.
    """

    def __init__(self, norm: str, vocab_size: int, n_layers: int, d_model: int, seed: int) -> None:
        super().__init__()
        _check("Stack", "norm", norm, NORMS)
        with torch.random.fork_rng(devices=[]):  # PyTorch's own initial draw, which we replace
            self.token = nn.Embedding(vocab_size, d_model)
            self.layers = nn.ModuleList(
                EncoderLayer(
                    d_model,
                    n_heads=2,
                    d_ff=2 * d_model,
                    dropout=0.0,
                    eps=1e-5,
                    activation="relu",
                    pre_norm=norm == "pre",
                )
                for _ in range(n_layers)
            )
        self.last_norm = LayerNorm(d_model, 1e-5) if norm == "pre" else nn.Identity()
        initialise_xavier(self, torch.Generator().manual_seed(seed))
        if norm == "none":
            for layer in self.layers:
                layer.attention_norm = layer.feed_forward_norm = nn.Identity()

    def forward(self, ids: Tensor) -> Tensor:
        """[B, L] -> logits [B, L, V]."""
        d_model = self.token.embedding_dim
        x = self.token(ids) * d_model**0.5 + sinusoidal_positions(ids.shape[1], d_model)
        for layer in self.layers:
            x, _ = layer(x)
        return self.last_norm(x) @ self.token.weight.T


def with_positions(model: Transformer, kind: str, seed: int = 0) -> Transformer:
    """The same model, changed in place, with other positions; its other weights do not change.

    kind: "computed", unchanged; "learned", one vector per position, on average of the same length
    as the computed one, drawn from `seed`; "none", zeros.
    """
    _check("with_positions", "kind", kind, POSITIONS)
    if kind == "learned":
        drawn = torch.randn(model.positions.shape, generator=torch.Generator().manual_seed(seed))
        del model.positions
        model.positions = nn.Parameter(drawn / 2**0.5)
    elif kind == "none":
        model.positions = torch.zeros_like(model.positions)
    return model


def _check(function: str, name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{function}: {name} must be one of {', '.join(known)}; got {value!r}")
