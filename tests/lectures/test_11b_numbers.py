"""Lecture 11b without its page: losses, gradients and trees by scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.optimize import approx_fprime
from scipy.special import log_softmax, softmax
from scipy.stats import spearmanr

from tests.lectures.conftest import functions_of

PAGE = functions_of("11b_what_follows")
U, V = np.array([1.0, 0.0]), np.array([0.6, 0.8])


def test_the_gradient_of_one_pair_by_differences(states):
    def log_p(u):
        return log_softmax(np.array([-1, 0, 1]) * np.abs(u - V).sum())

    p, (down, up) = softmax(log_p(U)), approx_fprime(U, lambda u: -log_p(u)[0], 1e-7)
    states(f"which has {p[0]:.3f} ... {p[0] - 1:.3f}, {p[1]:.3f}, {p[2]:.3f}")
    states(f"({1 - p[0]:.3f} + {p[2]:.3f}) \\cdot (+1, -1) = ({down:.2f}, {up:.2f})")
    states(f"at most {spearmanr(np.repeat([0, 1, 2], 200), range(600)).statistic:.2f}")


@given(st.lists(st.tuples(*2 * [st.floats(-9, 9)]), min_size=3, max_size=9, unique=True))
def test_average_linkage_is_scipys(points):
    x = np.random.default_rng(0).normal(0, 1e-3, (len(points), 2)) + points  # so that none tie
    apart = np.linalg.norm(x[:, None] - x[None], axis=-1)
    merges, reference = PAGE["average_linkage"](apart), linkage(x, "average")
    assert [height for _, height in merges] == pytest.approx(reference[:, 2].tolist())
    assert [len(members) for members, _ in merges] == reference[:, 3].tolist()


def test_a_tree_of_10_000_sentences(states):
    n = math.comb(10_000, 2)
    states(f"take {8 * n / 1e6:.0f} MB, at 8 bytes each ... both need {n:,} distances")
    states(f"The rest and 12: at $(12 + 11 + 8 + 6) / 4 = {(12 + 11 + 8 + 6) / 4}$")
    states("""
        {4, 6} and 12 would merge ... at 0, 1, 4, 6 and 12: ... The paper's 65 hours are also ...
        in the paper, 65 hours ... 10,000 sentences in about 65 hours with BERT
    """)


def test_what_others_report_is_quoted_as_they_print_it(states):
    states(r"""
        is right for about 67 % of SNLI ... (The order is the paper's: 66.04, 69.78, 80.78.) ... |
        $(u, v)$ | 66.04 | | $\lvert u - v \rvert$ | 69.78 | | $u \cdot v$ | 70.54 | ... | $(\lvert
        u - v \rvert, u \cdot v)$ | 78.37 | | $(u, v, u \cdot v)$ | 77.44 | ... | $(u, v, \lvert u
        - v \rvert)$ | 80.78 | ... | $(u, v, \lvert u - v \rvert, u \cdot v)$ | 80.44 | ... SNLI:
        570,000 pairs ... MultiNLI: 430,000, from ten kinds
    """)
