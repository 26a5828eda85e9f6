"""Initial weights of an encoder-decoder."""

import torch
from torch import nn


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
