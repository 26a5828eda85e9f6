"""BERT: embeddings, a stack of encoder layers, and a pooled vector for the whole text."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.model.config import BertConfig
from bertlab.model.embeddings import Embeddings
from bertlab.model.layers import EncoderLayer


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
        with torch.random.fork_rng(devices=[]):  # PyTorch's own initial draw, which we replace
            self.embeddings = Embeddings(config)
            self.layers = nn.ModuleList(
                EncoderLayer(
                    config.d_model,
                    config.n_heads,
                    config.d_ff,
                    dropout=config.dropout,
                    eps=config.layer_norm_eps,
                )
                for _ in range(config.n_layers)
            )
            self.pooler = nn.Linear(config.d_model, config.d_model)
        initialise(self, torch.Generator().manual_seed(seed))

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


def initialise(model: nn.Module, generator: torch.Generator) -> None:
    """Draw every weight from a normal distribution, sd 0.02; set every bias to 0.

    On PyTorch's "meta" device, where tensors have no numbers, this does nothing.
    """
    if next(model.parameters()).is_meta:
        return
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02, generator=generator)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
