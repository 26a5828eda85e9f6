"""Tiny models of Hugging Face, which ours are compared with."""

import torch
from transformers import BertConfig, BertModel

from tests.bertlab.seeds import generator


def reference_model(kind=BertModel, **changes):
    """Weights large enough to tell differences apart; no two tensors, biases and norms, alike."""
    sizes = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4}
    sizes |= {"intermediate_size": 40, "max_position_embeddings": 64}
    model = kind(BertConfig(**sizes | changes, attn_implementation="eager")).eval()
    for number, parameter in enumerate(model.parameters()):
        parameter.data = torch.randn(parameter.shape, generator=generator(number)) / 3
    return model


def assert_same_gradients(ours, reference, names, atol):
    """Of every tensor; names: what `tensor_names` gives, ours -> the parts that it stacks."""
    gradients = {name: parameter.grad for name, parameter in reference.named_parameters()}
    for name, theirs in names.items():
        expected = torch.cat([gradients[part] for part in theirs])
        torch.testing.assert_close(ours.get_parameter(name).grad, expected, rtol=1e-3, atol=atol)
