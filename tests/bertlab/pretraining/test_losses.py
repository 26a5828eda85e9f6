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


def test_gradients_by_hand():
    p = torch.tensor([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], dtype=torch.float64)
    gradient = mlm_gradient(p.log(), torch.tensor([1, 2]))
    by_hand = torch.tensor([[0.05, -0.2, 0.15], [0.1, 0.1, -0.2]], dtype=torch.float64)
    torch.testing.assert_close(gradient, by_hand)
    p = torch.tensor([0.9, 0.2], dtype=torch.float64)
    gradient = nsp_sigmoid_gradient(p.logit(), torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(gradient, torch.tensor([-0.05, 0.1], dtype=torch.float64))


# What does not fit together: PyTorch would answer with a wrong number, nan, or not at all.


def test_a_label_of_minus_100_is_rejected_instead_of_making_the_mean_too_small():
    """PyTorch's own mean omits it: 1.609; a sum over all three rows would be 0.536 of each."""
    logits, words = torch.zeros(3, 5), torch.tensor([1, -100, -100])
    assert F.cross_entropy(logits, words).item() == pytest.approx(math.log(5))
    for refused in (mlm_loss, mlm_gradient):
        with pytest.raises(ValueError, match=r"words must be from 0 to 4; got -100; omit"):
            refused(logits, words)
    asked = words != -100
    assert mlm_loss(logits[asked], words[asked]).item() == pytest.approx(math.log(5))


@pytest.mark.parametrize(
    ("logits", "true", "message"),
    [
        (torch.zeros(3, 5), torch.tensor([0, 1, 5]), r"from 0 to 4; got 5"),
        (torch.zeros(3, 5), torch.tensor([0, 1]), r"\[N\].*got \[3, 5\] and \[2\]"),
        (torch.zeros(2, 5), torch.eye(5)[:2], r"got \[2, 5\] and \[2, 5\]"),  # probabilities
        (torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long), r"must be \[N, C\]"),
        (torch.zeros(2, 5), torch.tensor([0.0, 1.0]), "integers, torch.long; got torch.float32"),
        (torch.zeros(2, 5, dtype=torch.long), torch.tensor([0, 1]), "got torch.int64 and torch"),
    ],
)
def test_words_that_do_not_match_their_logits_are_rejected(logits, true, message):
    for refused in (mlm_loss, mlm_gradient):
        with pytest.raises(ValueError, match=f"{refused.__name__}: .*{message}"):
            refused(logits, true)


def test_no_pair_has_no_loss_and_a_pair_has_two_classes():
    with pytest.raises(ValueError, match=r"nsp_loss: logits must be \[B, 2\] with at least one"):
        nsp_loss(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long))
    with pytest.raises(ValueError, match=r"IsNext and NotNext; got \[3, 5\]"):
        nsp_loss(torch.zeros(3, 5), torch.tensor([0, 1, 0]))
    with pytest.raises(ValueError, match="next_sentence must be from 0 to 1; got -100"):
        nsp_loss(torch.zeros(3, 2), torch.tensor([0, 1, -100]))


@pytest.mark.parametrize("refused", [nsp_sigmoid_loss, nsp_sigmoid_gradient])
def test_one_score_is_compared_with_one_truth_without_broadcasting(refused):
    logit, is_next = torch.tensor([5.0, -5.0, 5.0]), torch.tensor([1.0, 0.0, 1.0])
    expected = F.binary_cross_entropy_with_logits(logit, is_next)
    torch.testing.assert_close(nsp_sigmoid_loss(logit, is_next), expected)
    for one, other in ((logit, is_next[:, None]), (logit[:, None], is_next), (logit, is_next[:1])):
        with pytest.raises(ValueError, match=f"{refused.__name__}: logit and is_next must both be"):
            refused(one, other)
    with pytest.raises(ValueError, match=r"at least one pair; got \[0\] and \[0\]"):
        refused(logit[:0], is_next[:0])
    with pytest.raises(ValueError, match="0 elsewhere; got 0 to 2"):
        refused(logit, 2 * is_next)
