"""What tests of small models share: draws from a seed, weights large enough to matter, a twin."""

import torch
import transformers

from bertlab.model import BertConfig


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=generator(seed), dtype=dtype)


def random_attention(*shape, seed=0):
    """Probabilities: each row sums to 1."""
    return (3 * normal(*shape, seed=seed)).softmax(dim=-1)


def assert_the_seed_decides(draw):
    """`draw(seed)`, a tensor, depends on its seed alone and moves nothing global."""
    drawn = []
    for number, seed in enumerate((1, 1, 2)):
        torch.manual_seed(number)  # must not matter
        state = torch.get_rng_state()
        drawn.append(draw(seed))
        assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def strong(model, others=0):
    """Matrices large enough that models and heads differ; others: noise on biases and norms."""
    for number, parameter in enumerate(model.parameters()):
        if parameter.dim() == 2:
            parameter.data *= 8
        else:
            parameter.data += others * normal(*parameter.shape, seed=number, dtype=parameter.dtype)
    return model


def random_weights(model, seed=0, scale=1 / 3):
    """All weights, biases and norms too, drawn so large that no part is lost in 0."""
    draw = generator(seed)
    for parameter in model.parameters():
        parameter.data = scale * torch.randn(parameter.shape, generator=draw)
    return model


def weights(model):
    """All weights in a row."""
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def hugging_face(kind, config, **more):
    """Their model of our sizes, with random weights."""
    sizes = {
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_length,
    }
    options = {"vocab_size": config.vocab_size, "attn_implementation": "eager", **sizes, **more}
    return random_weights(kind(transformers.BertConfig(**options)).eval())


def reference_model(kind, **changes):
    return hugging_face(kind, BertConfig(50, 24, 3, 4, 40, max_length=64), **changes)


def assert_same_gradients(ours, reference, names, atol):
    """Of every tensor; names: what `tensor_names` gives, ours -> the parts that it stacks."""
    gradients = {name: parameter.grad for name, parameter in reference.named_parameters()}
    for name, theirs in names.items():
        expected = torch.cat([gradients[part] for part in theirs])
        torch.testing.assert_close(ours.get_parameter(name).grad, expected, rtol=1e-3, atol=atol)
