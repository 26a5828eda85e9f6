"""The backward functions of lecture 07b, on shapes of any size, against autograd."""

import math

import pytest
import torch

from bertlab.model.attention import attention, row_softmax
from bertlab.model.layers import gelu, layer_norm
from tests.lectures.conftest import by_autograd, draw, functions_of

PAGE = functions_of("07b_backward_pass", torch=torch, math=math)


@pytest.mark.parametrize("shape", [(2,), (3, 5), (2, 4, 7)])
def test_softmax_and_gelu_backwards(shape):
    x, handed = draw(*shape), draw(*shape).flip(-1)
    by_hand = PAGE["softmax_backward"](row_softmax(x), handed)
    torch.testing.assert_close(by_hand, *by_autograd(row_softmax, [x], handed))
    torch.testing.assert_close(by_hand.sum(dim=-1), torch.zeros_like(x[..., 0]))
    by_hand = PAGE["gelu_backward"](x, handed)
    torch.testing.assert_close(by_hand, *by_autograd(gelu, [x], handed))


@pytest.mark.parametrize("shape", [(1, 3), (4, 8), (2, 3, 16)])
def test_layer_norm_backwards(shape):
    x, handed = draw(*shape), draw(*shape).flip(-1)
    gamma, beta = draw(shape[-1]), torch.zeros(shape[-1], dtype=torch.float64)
    by_hand = PAGE["layer_norm_backward"](x, gamma, handed)
    theirs = by_autograd(layer_norm, (x, gamma, beta), handed)
    torch.testing.assert_close(by_hand, theirs)


@pytest.mark.parametrize("shape", [(2, 2), (5, 3), (4, 6, 8)])
def test_attention_backwards(shape):
    Q, K, V, handed = (draw(*shape).roll(k, dims=-2) * (1 + k) for k in range(4))
    A = attention(Q, K, V)[1]
    theirs = by_autograd(lambda *parts: attention(*parts)[0], (Q, K, V), handed)
    torch.testing.assert_close(PAGE["attention_backward"](handed, Q, K, V, A), theirs)


def test_an_embedding_row_sums_gradients_of_all_its_positions():
    table, ids, handed = draw(6, 4), torch.tensor([5, 0, 5, 5, 2]), draw(5, 4)
    by_hand = PAGE["embedding_backward"](ids, handed, 6)
    torch.testing.assert_close(by_hand, by_autograd(lambda t: t[ids], [table], handed)[0])


def test_what_a_proof_of_the_page_asserts(states):
    states(r"(0.75 \cdot 1.5,\; 0.25 \cdot (-4.5)) = (1.125, -1.125)$ ... Adding 100 to both")
