"""Dropout: the requested share of zeros, without a pattern, and an unchanged mean."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model.attention import Dropout, dropout, random_bits

N = 1_000_000
DTYPES = st.sampled_from([torch.float32, torch.bfloat16])


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def deviations(zeros, rate, n):
    """How many standard deviations of a binomial a count of zeros is from its mean."""
    return abs(zeros - n * rate) / (n * rate * (1 - rate)) ** 0.5


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5, 0.9])
def test_the_requested_share_becomes_zero(rate):
    ones = torch.ones(N)
    for drop in (dropout, F.dropout):  # the reference lies within the same bounds
        assert deviations((drop(ones, rate) == 0).sum().item(), rate, N) < 4


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.75])
def test_what_is_kept_grows_so_that_the_mean_stays(rate):
    kept = dropout(torch.full((N,), 3.0), rate)
    values = kept.unique()
    assert len(values) == 2
    torch.testing.assert_close(values, torch.tensor([0.0, 3 / (1 - rate)]), rtol=1e-4, atol=0)
    assert kept.mean().item() == pytest.approx(3, rel=0.01)


def test_the_expected_value_is_exact():
    # The rate becomes k / 65,536; the growth follows that share and not the rate.
    dropped = round(0.1 * 65_536)
    kept = dropout(torch.ones(1000), 0.1).max().item()
    assert kept * (65_536 - dropped) / 65_536 == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 5, 8])
def test_neighbours_are_dropped_independently(distance):
    # Four decisions come from one number of 64 bits: they must be independent.
    zeros = dropout(torch.ones(N), 0.3) == 0
    both = (zeros[:-distance] & zeros[distance:]).sum().item()
    assert deviations(both, 0.09, N - distance) < 4


def test_every_value_of_the_random_bits_is_equally_frequent():
    counts = torch.bincount(random_bits(4 * N).long() + 32_768, minlength=65_536).double()
    expected = 4 * N / 65_536
    chi_squared = ((counts - expected) ** 2 / expected).sum().item()
    assert abs(chi_squared - 65_535) < 5 * (2 * 65_535) ** 0.5


def test_the_gradient_passes_where_the_number_did():
    x = torch.randn(50, 40, requires_grad=True)
    y = dropout(x, 0.4)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), y.detach())


@given(st.lists(st.integers(0, 7), max_size=4), st.floats(0, 0.99), DTYPES)
def test_any_shape_any_rate_and_half_precision(shape, rate, dtype):
    x = torch.ones(shape, dtype=dtype)
    y = dropout(x, rate)
    assert y.shape == x.shape
    assert y.dtype == x.dtype
    assert torch.isfinite(y).all()


def test_the_same_seed_drops_the_same():
    torch.manual_seed(3)
    first = dropout(torch.ones(1000), 0.5)
    torch.manual_seed(3)
    assert torch.equal(dropout(torch.ones(1000), 0.5), first)
    assert not torch.equal(dropout(torch.ones(1000), 0.5), first)


def test_the_module_acts_in_training_only():
    module, x = Dropout(0.5), torch.ones(100)
    assert (module(x) == 0).any()
    assert module.eval()(x) is x
    assert dropout(x, 0.0) is x
    assert "rate=0.5" in repr(module)
