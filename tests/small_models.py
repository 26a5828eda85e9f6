"""What tests of small models share: draws from a seed, weights large enough to matter, a twin."""

import torch
import transformers


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def strong(model):
    """Matrices large enough that models and heads differ in what they say."""
    for parameter in model.parameters():
        if parameter.dim() == 2:
            parameter.data *= 8
    return model


def weights(model):
    """All weights in a row."""
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def hugging_face(kind, config, **more):
    """Their model of our sizes, with random weights so large that no part is lost in 0."""
    sizes = {
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_length,
    }
    options = {"vocab_size": config.vocab_size, **sizes, **more}
    reference = kind(transformers.BertConfig(**options)).eval()
    for i, parameter in enumerate(reference.parameters()):
        parameter.data = torch.randn(parameter.shape, generator=generator(i)) / 3
    return reference
