"""The weights that a pre-training starts from."""

import math

import torch
from torch import nn

from bertlab.model.embeddings import sinusoidal_positions
from bertlab.model.heads import BertForPreTraining


def good_start(model: BertForPreTraining, seed: int = 0) -> BertForPreTraining:
    """Draw all matrices anew: BERT's 0.02, times √(768 / D); positions as waves of that size.

    So a small model starts with the spread of activations of BERT-base, for which this is BERT's
    own start, and finds out sooner which position is next to which. Returns the same model.

    Source: Devlin et al.'s code (sd 0.02 at D = 768); Vaswani et al. (2017), section 3.5 (waves).
    """
    dice = torch.Generator().manual_seed(seed)
    std = 0.02 * math.sqrt(768 / model.config.d_model)
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=std, generator=dice)
    waves = sinusoidal_positions(model.config.max_length, model.config.d_model)
    with torch.no_grad():
        model.bert.embeddings.position.weight.copy_(std * math.sqrt(2) * waves)
    return model
