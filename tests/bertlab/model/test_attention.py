"""Attention against PyTorch's own, hand-worked numbers, and laws."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model.attention import (
    HeadWeights,
    MultiHeadAttention,
    attention,
    attention_probabilities,
    causal_mask,
    expand_mask,
    multi_head_attention,
    padding_mask,
    row_softmax,
    self_attention,
    single_query_attention,
)
from tests.bertlab.model.test_transformer import copy_attention
from tests.small_models import generator, normal


def head_weights(d_model, d_head, seed=0):
    shapes = [(d_model, d_head), (d_head,)] * 3
    return HeadWeights(*(normal(*shape, seed=seed + i) for i, shape in enumerate(shapes)))


def seeded_layer(d_model=12, n_heads=3, dropout=0.0):
    layer = MultiHeadAttention(d_model, n_heads, dropout)
    for i, parameter in enumerate(layer.parameters()):
        parameter.data = normal(*parameter.shape, seed=i) / math.sqrt(d_model)
    return layer.eval()


def as_reference(layer):
    """The same weights in PyTorch's own multi-head attention."""
    reference = torch.nn.MultiheadAttention(layer.d_model, layer.n_heads, batch_first=True).eval()
    copy_attention(layer, reference)
    return reference


def test_softmax_does_not_overflow_and_equals_torch():
    scores = torch.tensor([[112.0, 96.0], [1e4, -1e4], [0.0, -math.inf]])
    torch.testing.assert_close(row_softmax(scores), scores.softmax(dim=-1))
    assert row_softmax(scores)[2].tolist() == [1, 0]


@pytest.mark.parametrize("length", [1, 2, 9, 10, 64])
def test_loops_matrices_and_torch_give_the_same_attention(length):
    x, weights = normal(length, 6), head_weights(6, 4)
    looped = torch.stack([single_query_attention(e, x, weights) for e in x])
    updated, probabilities = self_attention(x, weights)
    torch.testing.assert_close(looped, updated)
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(length))
    q, k, v = (x @ w + b for w, b in (weights[0:2], weights[2:4], weights[4:6]))
    torch.testing.assert_close(updated, F.scaled_dot_product_attention(q, k, v))


def test_attention_equals_numpy_in_double_precision():
    q, k, v = (normal(2, 3, 11, 5, seed=i).double() for i in range(3))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(5)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    updated, probabilities = attention(q, k, v)
    np.testing.assert_allclose(probabilities.numpy(), weights, rtol=1e-12)
    np.testing.assert_allclose(updated.numpy(), weights @ v.numpy(), rtol=1e-10)


@pytest.mark.parametrize("length", [1, 7, 33])
def test_the_loop_over_heads_equals_the_fused_layer(length):
    layer, x = seeded_layer().double(), normal(length, 12).double()
    looped = multi_head_attention(x, layer.head_weights(), layer.output.weight.T, layer.output.bias)
    torch.testing.assert_close(layer(x[None])[0][0], looped, rtol=0, atol=1e-6)


RIGHT = torch.arange(33) < torch.tensor([33, 20, 9, 1])[:, None]  # [B, L], padded on the right


@pytest.mark.parametrize("output_attentions", [False, True])
@pytest.mark.parametrize(
    ("padding", "causal", "context"),
    [
        *((padding, causal, None) for padding in (None, RIGHT) for causal in (False, True)),
        (RIGHT.flip(1), False, None),
        (RIGHT, False, normal(4, 33, 12, seed=1)),
    ],
)
def test_the_layer_equals_torch_with_padding_and_context(
    padding, causal, context, output_attentions
):
    layer, x = seeded_layer(), normal(4, 33 if context is None else 7, 12)
    seen = x if context is None else context
    expected, weights = as_reference(layer)(
        *(x, seen, seen),
        key_padding_mask=None if padding is None else ~padding,
        attn_mask=~causal_mask(33) if causal else None,
        average_attn_weights=False,
    )
    options = {"causal": causal, "output_attentions": output_attentions}
    updated, probabilities = layer(x, padding, context=context, **options)
    torch.testing.assert_close(updated, expected, rtol=1e-5, atol=1e-5)
    if not output_attentions:
        assert probabilities is None
        return
    torch.testing.assert_close(probabilities, weights, rtol=1e-5, atol=1e-6)
    assert not (causal and probabilities.triu(diagonal=1).any())


def test_the_layer_without_its_kernel_computes_the_same_also_in_bfloat16():
    layer, x = seeded_layer(), normal(3, 21, 12)
    mask = torch.arange(21) < torch.tensor([21, 8, 1])[:, None]
    for causal in (False, True):
        kernel = layer(x, mask, causal=causal)[0]
        by_hand = layer(x, mask, causal=causal, output_attentions=True)[0]
        layer.dropout = 1e-6  # rounds to no dropout at all, but takes its way
        trained = layer.train()(x, mask, causal=causal)[0]
        layer.dropout = 0.0
        layer.eval()
        torch.testing.assert_close(by_hand, kernel, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(trained, kernel, rtol=1e-5, atol=1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        kernel, trained = layer.eval()(x, mask)[0], layer.train()(x, mask)[0]
    torch.testing.assert_close(trained, kernel, rtol=0.02, atol=0.02)


def test_a_mask_that_hides_nothing_is_dropped():
    layer, x = seeded_layer(), normal(2, 17, 12)
    assert torch.equal(layer(x, torch.ones(2, 17, dtype=torch.bool))[0], layer(x)[0])
    assert expand_mask(torch.ones(2, 17, dtype=torch.long), 2, 17, 17) is None
    assert expand_mask(torch.ones(2, 17, dtype=torch.bool).tril(16 - 1), 2, 17, 17) is not None


def test_dropout_falls_on_the_probabilities_only_in_training():
    layer, x = seeded_layer(dropout=0.5), normal(2, 40, 12)
    quiet = layer(x)[0]
    torch.testing.assert_close(layer(x, output_attentions=True)[0], quiet)
    layer.train()
    for asked in (False, True):
        assert not torch.allclose(layer(x, output_attentions=asked)[0], quiet)
    torch.manual_seed(0)
    mean = torch.stack([layer(x, output_attentions=True)[0] for _ in range(400)]).mean(dim=0)
    assert (mean - quiet).abs().mean() < 0.1 * quiet.abs().mean()


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_shuffling_the_tokens_shuffles_the_output(seed, length):
    layer, x = seeded_layer(), normal(1, length, 12, seed=seed)
    order = torch.randperm(length, generator=generator(seed))
    torch.testing.assert_close(layer(x[:, order])[0], layer(x)[0][:, order], rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 6))
def test_padding_changes_nothing_for_the_tokens(seed, length, padding):
    layer, x = seeded_layer(), normal(1, length + padding, 12, seed=seed)
    mask = (torch.arange(length + padding) < length)[None]
    padded = layer(x, mask)[0][:, :length]
    torch.testing.assert_close(padded, layer(x[:, :length])[0], rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_every_row_of_probabilities_sums_to_one(seed, length):
    query, key = normal(3, length, 8, seed=seed), normal(3, length, 8, seed=seed + 1)
    probabilities = attention_probabilities(100 * query, key)
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(3, length))
    assert (probabilities >= 0).all()


@given(st.integers(0, 10**6), st.integers(2, 12), st.data())
def test_what_comes_later_never_changes_what_came_before(seed, length, data):
    layer, x = seeded_layer(), normal(1, length, 12, seed=seed)
    later = data.draw(st.integers(1, length - 1))
    changed = x.clone()
    changed[:, later:] += 1
    before, after = (layer(vectors, causal=True)[0][:, :later] for vectors in (x, changed))
    torch.testing.assert_close(after, before)


def test_masks_by_hand():
    assert causal_mask(3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert padding_mask(torch.tensor([[5, 0, 6], [7, 8, 0]])).tolist() == [[1, 0, 1], [1, 1, 0]]
    assert padding_mask(torch.tensor([[5, 0, 9]]), pad_id=9).tolist() == [[1, 1, 0]]


def test_a_query_that_sees_one_key_gets_its_value_as_from_pytorch():
    x, mask = normal(2, 3, 4), torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(attention(x, x, x, mask)[0], x)
    torch.testing.assert_close(F.scaled_dot_product_attention(x, x, x, mask), x)
