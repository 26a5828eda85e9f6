"""BERT: ids to vectors, a stack of encoder layers, and a pooled vector for the whole text.

Ids become the sum of three learned tables; fixed sinusoidal positions are here, too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bertlab.model.attention import Dropout
from bertlab.model.checks import check_embedded
from bertlab.model.config import BertConfig
from bertlab.model.layers import EncoderLayer, LayerNorm
from bertlab.parts import part

Module = TypeVar("Module", bound=nn.Module)


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """No dropout inside; afterwards every part's mode is restored, also after an error.

    `model.train(was_training)` would not be enough: it would set all parts to training mode, also
    a frozen encoder below a new head.
    """
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, training in before.items():
            module.training = training


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

    @part("06", check=check_embedded)
    def forward(self, ids: Tensor, segment_ids: Tensor | None = None) -> Tensor:
        """ids, segment_ids: [B, L] -> [B, L, D]. Without segment ids every token is segment A.

        Raises ValueError if an id or a segment is out of range or the text is too long.
        """
        if segment_ids is None:
            segment_ids = torch.zeros_like(ids)
        positions = torch.arange(ids.shape[1], device=ids.device)  # [L]
        summed = self.token(ids) + self.position(positions) + self.segment(segment_ids)
        return self.dropout(self.norm(summed))  # [B, L, D]


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


class BertOutput(NamedTuple):
    """The output of `Bert`; the names are those of Hugging Face."""

    last_hidden_state: Tensor  # [B, L, D]
    pooler_output: Tensor  # [B, D], from the first token, [CLS]
    hidden_states: tuple[Tensor, ...] | None  # embeddings, then every layer: [B, L, D] each
    attentions: tuple[Tensor, ...] | None  # one for each layer: [B, H, L, L]


class Bert(nn.Module):
    """The encoder of BERT; with `config.causal`, a decoder-only model with the same parts.

    Source: Phuong & Hutter (2022), Algorithm 9 (ETransformer), lines 1 to 9, and the stack of
    Algorithm 10 (DTransformer); Devlin et al. (2019).

    seed: draws the initial weights, normal with standard deviation 0.02 (biases are 0); the
    global random state does not change.

    >>> bert = Bert(BertConfig.tiny(vocab_size=100))
    >>> output = bert.eval()(torch.tensor([[2, 17, 3]]), output_attentions=True)
    >>> output.last_hidden_state.shape, output.attentions[0].shape
    (torch.Size([1, 3, 128]), torch.Size([1, 2, 3, 3]))
    """

    layers: Any  # an nn.ModuleList of EncoderLayer: PyTorch's type does not state its items

    def __init__(self, config: BertConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        sizes = config.d_model, config.n_heads, config.d_ff
        draw = torch.Generator().manual_seed(seed)
        self.embeddings = drawn(lambda: Embeddings(config), draw)
        layer = partial(EncoderLayer, *sizes, dropout=config.dropout, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(drawn(layer, draw) for _ in range(config.n_layers))
        self.pooler = drawn(lambda: nn.Linear(config.d_model, config.d_model), draw)

    @part("06")
    def forward(
        self,
        ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> BertOutput:
        """Encode a batch.

        ids: [B, L] token ids; segment_ids: [B, L], 0 for sentence A and 1 for sentence B;
        attention_mask: [B, L], 1 (or True) for tokens and 0 for padding, or [B, 1, L, L] for
        any pattern. Raises ValueError if an id is out of range or a shape does not fit.
        """
        x = self.embeddings(ids, segment_ids)  # [B, L, D]
        hidden_states, attentions = [x] if output_hidden_states else [], []
        for layer in self.layers:
            x, probabilities = layer(
                x,
                attention_mask,
                causal=self.config.causal,
                output_attentions=output_attentions,
            )
            if output_hidden_states:  # otherwise the next layer reuses the memory
                hidden_states.append(x)
            attentions.append(probabilities)
        return BertOutput(
            last_hidden_state=x,
            pooler_output=torch.tanh(self.pooler(x[:, 0])),
            hidden_states=tuple(hidden_states) if output_hidden_states else None,
            attentions=tuple(attentions) if output_attentions else None,
        )


class Undrawn(TorchFunctionMode):
    """Inside it PyTorch's own constructors draw no weights."""

    def __torch_function__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        draws = getattr(call, "__module__", "") == "torch.nn.init"
        return kwargs["tensor"] if draws else call(*args, **kwargs or {})


@contextmanager
def sizes_alone() -> Iterator[None]:
    """Inside it a model has sizes alone. A draw on this device would import PyTorch's compiler."""
    with torch.device("meta"), Undrawn():
        yield


def drawn(make: Callable[[], Module], generator: torch.Generator) -> Module:
    """What `make` builds, with weights that are drawn once, by `draw_weights`."""
    with Undrawn():
        module = make()
    draw_weights(module, generator)
    return module


def draw_weights(model: nn.Module, generator: torch.Generator, std: float = 0.02) -> None:
    """Draw every matrix from a normal distribution; vectors are 0, the scales of norms 1."""
    for name, weights in model.named_parameters():
        if weights.ndim > 1:
            nn.init.normal_(weights, std=std, generator=generator)
        else:
            nn.init.constant_(weights, 1.0 if name.endswith("gamma") else 0.0)
