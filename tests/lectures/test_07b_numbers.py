"""The backward functions of lecture 07b, on shapes of any size, against autograd."""

import math

import pytest
import torch

from bertlab.model.activations import gelu
from bertlab.model.attention import attention, row_softmax
from bertlab.model.layers import layer_norm
from tests.conftest import ROOT, read_page


@pytest.fixture
def by_page():
    """`by_page("gelu_backward")` is that function of the page."""
    page = read_page(ROOT / "lectures" / "07b_backward_pass.ipynb")

    def function(name, **others):
        found = page.function(name)
        found.__globals__.update(torch=torch, math=math, **others)
        return found

    return function


def draw(*shape):
    generator = torch.Generator().manual_seed(math.prod(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def reference(function, inputs, handed):
    inputs = [x.clone().requires_grad_() for x in inputs]
    return torch.autograd.grad(function(*inputs), inputs, handed)


@pytest.mark.parametrize("shape", [(2,), (3, 5), (2, 4, 7)])
def test_softmax_and_gelu_backwards(by_page, shape):
    x, handed = draw(*shape), draw(*shape).flip(-1)
    by_hand = by_page("softmax_backward")(row_softmax(x), handed)
    torch.testing.assert_close(by_hand, *reference(row_softmax, [x], handed))
    torch.testing.assert_close(by_hand.sum(dim=-1), torch.zeros_like(x[..., 0]))
    by_hand = by_page("gelu_backward")(x, handed)
    torch.testing.assert_close(by_hand, *reference(gelu, [x], handed))


@pytest.mark.parametrize("shape", [(1, 3), (4, 8), (2, 3, 16)])
def test_layer_norm_backwards(by_page, shape):
    x, handed = draw(*shape), draw(*shape).flip(-1)
    gamma, beta = draw(shape[-1]), torch.zeros(shape[-1], dtype=torch.float64)
    by_hand = by_page("layer_norm_backward")(x, gamma, handed)
    theirs = reference(layer_norm, (x, gamma, beta), handed)
    torch.testing.assert_close(by_hand, theirs)


@pytest.mark.parametrize("shape", [(2, 2), (5, 3), (4, 6, 8)])
def test_attention_backwards(by_page, shape):
    Q, K, V, handed = (draw(*shape).roll(k, dims=-2) * (1 + k) for k in range(4))
    softmax_backward = by_page("softmax_backward")
    backward = by_page("attention_backward", softmax_backward=softmax_backward)
    A = attention(Q, K, V)[1]
    theirs = reference(lambda *parts: attention(*parts)[0], (Q, K, V), handed)
    torch.testing.assert_close(backward(handed, Q, K, V, A), theirs)


def test_an_embedding_row_collects_from_all_its_places(by_page):
    table, ids, handed = draw(6, 4), torch.tensor([5, 0, 5, 5, 2]), draw(5, 4)
    by_hand = by_page("embedding_backward")(ids, handed, 6)
    torch.testing.assert_close(by_hand, reference(lambda t: t[ids], [table], handed)[0])
