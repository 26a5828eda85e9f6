"""Normalisation, activations, feed-forward and encoder layer against PyTorch's and by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model import EncoderLayer, LayerNorm
from bertlab.model.layers import gelu, gelu_sigmoid, gelu_tanh, layer_norm
from tests.bertlab.model.test_transformer import copy_attention, copy_feed_forward
from tests.small_models import generator


def test_layer_norm_equals_torch_and_the_formula():
    x = torch.randn(5, 24, generator=generator()) * 7 + 3
    gamma, beta = torch.randn(2, 24, generator=generator(1))
    module = LayerNorm(24)
    module.gamma.data, module.beta.data = gamma, beta
    torch.testing.assert_close(layer_norm(x, gamma, beta), module(x))
    normed = layer_norm(x, torch.ones(24), torch.zeros(24))
    torch.testing.assert_close(normed.mean(dim=-1), torch.zeros(5), rtol=0, atol=1e-5)
    torch.testing.assert_close(normed.var(dim=-1, correction=0), torch.ones(5))


def test_layer_norm_by_hand_and_of_a_constant_row():
    # Row 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 4 = 3.5
    row = torch.tensor([1.0, 2.0, 3.0, 6.0])
    expected = torch.tensor([-2.0, -1.0, 0.0, 3.0]) / 3.5**0.5
    torch.testing.assert_close(layer_norm(row, torch.ones(4), torch.zeros(4)), expected)
    beta = torch.tensor([1.0, 2.0])
    assert torch.equal(layer_norm(torch.full((2,), 7.0), torch.ones(2), beta), beta)


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_encoder_layer_equals_torchs(pre_norm, activation):
    ours = EncoderLayer(24, 4, 40, eps=1e-5, activation=activation, pre_norm=pre_norm).eval()
    options = {"activation": activation, "norm_first": pre_norm, "batch_first": True}
    theirs = torch.nn.TransformerEncoderLayer(24, 4, 40, **options).eval()
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours, theirs)
    x = torch.randn(2, 30, 24, generator=generator())
    padding = torch.arange(30) < torch.tensor([[30], [4]])
    expected = theirs(x, src_key_padding_mask=~padding)
    tokens = padding[..., None].expand_as(x)  # torch's fast path leaves zeros at the padding
    torch.testing.assert_close(ours(x, padding)[0][tokens], expected[tokens], rtol=1e-5, atol=1e-5)


@given(st.floats(-30, 30))
def test_gelu_is_x_times_the_normal_distribution_function(x):
    expected = x * 0.5 * math.erfc(-x / math.sqrt(2))
    assert gelu(torch.tensor(x, dtype=torch.float64)).item() == pytest.approx(expected, abs=1e-12)


def test_gelus_equal_torch_and_err_as_much_as_their_docstrings_say():
    x = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    torch.testing.assert_close(gelu(x), F.gelu(x))
    torch.testing.assert_close(gelu_tanh(x), F.gelu(x, approximate="tanh"))
    torch.testing.assert_close(gelu_sigmoid(x), x * torch.sigmoid(1.702 * x))
    assert (gelu_tanh(x) - gelu(x)).abs().max().item() == pytest.approx(0.000473, abs=1e-6)
    assert (gelu_sigmoid(x) - gelu(x)).abs().max().item() == pytest.approx(0.0203, abs=1e-4)
