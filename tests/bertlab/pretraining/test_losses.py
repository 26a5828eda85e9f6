"""The losses of pre-training against PyTorch's, autograd, `transformers` and numbers by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.pretraining.losses import (
    mlm_gradient,
    mlm_loss,
    nsp_loss,
    nsp_sigmoid_gradient,
    nsp_sigmoid_loss,
)
from tests.small_models import generator, normal

logit = st.floats(-60, 60)


# A number by hand; those of the lectures are asserted there.


def test_the_cat_sat_costs_the_sum_of_line_9():
    """P(21) = 0.0041 at t = 1, from the formal algorithm's example; P(5438) = 0.02 is ours."""
    P = torch.full((2, 12_000), 1e-6, dtype=torch.float64)
    P[0, 21], P[1, 5438] = 0.0041, 0.02
    P[:, 0] += 1 - P.sum(dim=1)
    loss = mlm_loss(P.log(), torch.tensor([21, 5438]))
    assert 2 * loss.item() == pytest.approx(5.4968 + 3.9120, abs=1e-4)
    assert mlm_loss(P[:1].log(), torch.tensor([21])).item() == pytest.approx(5.4968, abs=1e-4)


# PyTorch and transformers.


@given(st.integers(1, 20), st.integers(1, 50), st.integers(0, 1000))
def test_the_loss_and_the_gradient_of_masked_words_are_pytorchs(n, vocab_size, seed):
    logits = 4 * normal(n, vocab_size, seed=seed, dtype=torch.float64)
    true = torch.randint(vocab_size, (n,), generator=generator(seed))
    before = logits.clone().requires_grad_()
    expected = F.cross_entropy(before, true)
    torch.testing.assert_close(mlm_loss(logits, true), expected)
    by_hand = -sum(math.log(row.softmax(0)[w]) for row, w in zip(logits, true, strict=True)) / n
    assert mlm_loss(logits, true).item() == pytest.approx(by_hand)
    gradient = torch.autograd.grad(expected, before)[0]  # ours is derived by hand
    torch.testing.assert_close(mlm_gradient(logits, true), gradient)
    assert torch.equal(before, logits), "the logits stay as they were"


def test_without_masked_words_the_loss_of_words_is_0_and_so_is_its_gradient():
    """PyTorch's mean of nothing is nan, which one batch without masks would spread everywhere."""
    hidden = torch.ones(4, 7, requires_grad=True)
    loss = mlm_loss(hidden[:0], torch.empty(0, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0
    assert not hidden.grad.any()
    assert mlm_gradient(torch.empty(0, 7), torch.empty(0, dtype=torch.long)).shape == (0, 7)


@given(st.lists(st.tuples(logit, logit, st.integers(0, 1)), min_size=1, max_size=9))
def test_the_loss_of_next_sentences_is_pytorchs_and_the_sigmoid_form_is_the_same(rows):
    logits = torch.tensor([row[:2] for row in rows], dtype=torch.float64)
    not_next = torch.tensor([row[2] for row in rows])
    is_next = 1.0 - not_next
    loss = nsp_loss(logits, not_next)
    close = {"check_dtype": False, "rtol": 1e-9, "atol": 1e-12}
    torch.testing.assert_close(loss, F.cross_entropy(logits, not_next), **close)
    difference = logits[:, 0] - logits[:, 1]
    ours = nsp_sigmoid_loss(difference, is_next)
    torch.testing.assert_close(ours, loss, **close)
    reference = F.binary_cross_entropy_with_logits(difference, is_next.double())
    torch.testing.assert_close(ours, reference, **close)


@pytest.mark.parametrize("huge", [1e2, 1e4, 1e30])
def test_huge_logits_stay_finite(huge):
    """Neither exp nor log overflows; a mistake costs its logit."""
    logits = torch.tensor([[huge, -huge], [0, huge]])
    assert mlm_loss(logits, torch.tensor([1, 1])).item() == pytest.approx(huge)
    assert nsp_loss(logits, torch.tensor([0, 1])).item() == 0
    assert nsp_loss(logits, torch.tensor([1, 0])).item() == pytest.approx(1.5 * huge)
    for y, cost in ((0.0, huge), (1.0, 0.0)):
        one = torch.tensor([huge])
        assert nsp_sigmoid_loss(one, torch.tensor([y])).item() == pytest.approx(cost)
        assert nsp_sigmoid_loss(-one, torch.tensor([1 - y])).item() == pytest.approx(cost)
    gradient = mlm_gradient(logits, torch.tensor([1, 1]))
    torch.testing.assert_close(gradient, torch.tensor([[0.5, -0.5], [0, 0]]))
    both = nsp_sigmoid_gradient(torch.tensor([huge, -huge]), torch.tensor([0.0, 1.0]))
    assert both.tolist() == [0.5, -0.5]


# Gradients, derived by hand, against autograd's.


@given(st.lists(st.tuples(logit, st.sampled_from([0.0, 1.0])), min_size=1, max_size=9))
def test_the_gradient_of_next_sentences_is_autograds(rows):
    z, is_next = torch.tensor(rows, dtype=torch.float64).T
    z.requires_grad_()
    loss = F.binary_cross_entropy_with_logits(z, is_next)
    (expected,) = torch.autograd.grad(loss, z)
    ours = nsp_sigmoid_gradient(z.detach(), is_next)
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-12)
