"""The derivations of lecture 03b, on tables of any size: against autograd, NumPy and gensim."""

import itertools
import math
import re
from typing import NamedTuple

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn
from torch.nn import functional as F

from course.models.word_vectors import Word2VecConfig
from tests.conftest import ROOT, read_page
from tests.lectures.conftest import by_autograd, draw, functions_of


class GloVe(NamedTuple):
    """As on the page."""

    w: torch.Tensor
    w_context: torch.Tensor
    b: torch.Tensor
    b_context: torch.Tensor


PAGE = functions_of("03b_word_vectors_by_hand", torch=torch, math=math, F=F, GloVe=GloVe)


def bce(score, answer):
    return F.binary_cross_entropy_with_logits(score, torch.full_like(score, answer))


REAL, NOISE = [(1, 0), (1, 2), (4, 1)], [(1, 3), (1, 3), (1, 0), (4, 4)]


def test_skip_gram_is_binary_cross_entropy_of_its_pairs():
    v, u = draw(5, 3), draw(5, 3, seed=1)

    def loss(v, u):
        return sum(bce(v[i] @ u[j], 1.0) for i, j in REAL) + sum(
            bce(v[i] @ u[j], 0.0) for i, j in NOISE
        )

    ours = PAGE["skip_gram_gradients"](v, u, REAL, NOISE)
    torch.testing.assert_close(ours, by_autograd(loss, (v, u)))


@pytest.mark.parametrize("around", [[0], [0, 2, 4], [3, 3, 1, 0]])
def test_cbow_gives_each_word_its_share_of_the_gradient(around):
    v, u, noise = draw(5, 3), draw(5, 3, seed=1), [3, 0, 3]

    def loss(v, u):
        h = v[torch.tensor(around)].mean(dim=0)
        return bce(u[2] @ h, 1.0) + sum(bce(u[id] @ h, 0.0) for id in noise)

    ours = PAGE["cbow_gradients"](v, u, around, 2, noise)
    torch.testing.assert_close(ours, by_autograd(loss, (v, u)))


def test_a_weighted_context_gives_each_word_its_weight_times_the_gradient_of_the_context():
    v, u, around, noise = draw(5, 3), draw(5, 3, seed=1), [0, 2, 4], [3, 0, 3]
    weights = draw(3, seed=2).softmax(dim=0)

    def loss(v):
        return PAGE["weighted_cbow_loss"](v, u, around, 2, noise, weights)

    h = weights @ v[around]
    by_h = (u[2] @ h).sigmoid() * u[2] - u[2] + sum((u[id] @ h).sigmoid() * u[id] for id in noise)
    (by_v,) = by_autograd(loss, (v,))
    torch.testing.assert_close(by_v[around], weights[:, None] * by_h)
    flat = PAGE["weighted_cbow_loss"](v, u, around, 2, noise, torch.full_like(weights, 1 / 3))
    torch.testing.assert_close(flat, PAGE["cbow_loss"](v, u, around, 2, noise))


def gensims_sentence(v, u, words, *, sg, rate):
    """The tables after gensim has read one sentence once, with one noise word per example."""
    word2vec = pytest.importorskip("gensim.models").Word2Vec
    settings = {"vector_size": v.shape[1], "window": 5, "negative": 1, "min_count": 1, "sample": 0}
    model = word2vec(sg=sg, cbow_mean=1, workers=1, seed=1, shrink_windows=False, **settings)
    model.build_vocab([words])
    order = [words.index(word) for word in model.wv.index_to_key]
    model.wv.vectors[:], model.syn1neg[:] = v[order], u[order]
    model.train([words], total_examples=1, epochs=1, start_alpha=rate, end_alpha=rate)
    back = np.argsort(order)
    return torch.tensor(model.wv.vectors[back]), torch.tensor(model.syn1neg[back])


def nearest(v, u, found, questions, step, rate=0.5):
    """How near gensim's tables come to those after all questions, however noise words are drawn.

    questions: (what is read, the right word); gensim skips a noise word that is the right one.
    """
    far = []
    for drawn in itertools.product(range(len(v)), repeat=len(questions)):
        tables = v, u
        for (read, right), noise in zip(questions, drawn, strict=True):
            by_v, by_u = step(*tables, read, right, [noise] if noise != right else [])
            tables = tables[0] - rate * by_v, tables[1] - rate * by_u
        far.append(max((a - b).abs().max().item() for a, b in zip(tables, found, strict=True)))
    return min(far)


@pytest.mark.slow
def test_gensim_takes_the_same_step_of_skip_gram():
    v, u = draw(2, 3), draw(2, 3, seed=1)
    found = gensims_sentence(v, u, ["a", "b"], sg=1, rate=0.5)

    def step(v, u, read, right, noise):
        gradients = PAGE["skip_gram_gradients"]
        return gradients(v, u, [(read, right)], [(read, word) for word in noise])

    # gensim walks through the middles, and lets the word around it be the one that is read.
    # It reads its sigmoid from a table.
    assert nearest(v, u, found, [(1, 0), (0, 1)], step) < 0.01


@pytest.mark.slow
def test_gensims_cbow_gives_each_word_the_whole_gradient():
    v, u = draw(3, 3), draw(3, 3, seed=1)
    found = gensims_sentence(v, u, ["a", "b", "c"], sg=0, rate=0.5)
    questions = [([1, 2], 0), ([0, 2], 1), ([0, 1], 2)]

    def whole(v, u, *question):
        by_v, by_u = PAGE["cbow_gradients"](v, u, *question)
        return 2 * by_v, by_u  # two words around

    assert nearest(v, u, found, questions, whole) < 0.01
    assert nearest(v, u, found, questions, PAGE["cbow_gradients"]) > 0.05


def table_of_counts(size=7):
    counts = draw(size, size, seed=3).abs().mul(9).round()
    counts[0, 3] = counts[2, 2] = 0
    return counts


def parameters(size, d_model):
    shapes = [(size, d_model), (size, d_model), (size,), (size,)]
    return GloVe(*(draw(*shape, seed=seed) for seed, shape in enumerate(shapes)))


def test_gloves_loss_and_gradient_cell_by_cell():
    counts, p = table_of_counts(), parameters(7, 3)
    f = torch.where(counts < 10, (counts / 10) ** 0.75, 1)

    def loss(w, w_context, b, b_context):
        total = 0
        for i, j in counts.nonzero().tolist():
            weight = min(1, (counts[i, j].item() / 10) ** 0.75)
            bracket = w[i] @ w_context[j] + b[i] + b_context[j] - math.log(counts[i, j])
            total = total + weight * bracket**2
        return total

    torch.testing.assert_close(PAGE["glove_loss"](p, counts, f), loss(*p))
    ours = PAGE["glove_gradients"](p, counts, f)
    torch.testing.assert_close(tuple(ours), by_autograd(loss, p))


@pytest.mark.slow
@pytest.mark.parametrize("d_model", [1, 2, 3])
def test_with_equal_weights_training_ends_where_numpys_singular_values_are(d_model):
    counts, even = table_of_counts(5).clamp(min=1), torch.ones(5, 5, dtype=torch.float64)
    start = GloVe(*(part / 2 for part in parameters(5, d_model)))
    _, losses = PAGE["train"](start, counts, even, steps=3000, rate=0.02)
    L = np.log(counts.numpy())
    centring = np.eye(5) - 1 / 5
    left = np.linalg.svd(centring @ L @ centring, compute_uv=False)[d_model:]
    assert losses[-1] == pytest.approx((left**2).sum(), abs=1e-6)
    fit, s = PAGE["factorise"](counts, d_model)
    assert ((fit.numpy() - L) ** 2).sum() == pytest.approx((left**2).sum())
    np.testing.assert_allclose(s[d_model:], left, atol=1e-12)


@pytest.fixture
def sixteen_digits():
    """The page's default type."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.slow
@pytest.mark.usefixtures("sixteen_digits")
def test_the_weighted_loss_of_the_six_words_has_two_minima():
    rows = ("4 16 8 1 1 2", "16 4 8 2 1 1", "8 8 2 4 1 1", "1 2 4 2 16 8", "1 1 1 16 4 8")
    rows = [[int(count) for count in row.split()] for row in (*rows, "2 1 1 8 8 2")]
    counts = torch.tensor(rows).double()
    f = (counts / 16).clamp(max=1) ** 0.75

    def loss(flat):
        w, w_context, b, b_context = flat.split([12, 12, 6, 6])
        bracket = w.view(6, 2) @ w_context.view(6, 2).T + b[:, None] + b_context - counts.log()
        return (f * bracket**2).sum()

    for seed, lowest in ((0, 1.6682), (1, 1.1392)):
        start = PAGE["start"](seed)
        after, _ = PAGE["train"](start, counts, f, steps=3_000)
        flat = torch.cat([part.flatten() for part in after])
        assert loss(flat).item() == pytest.approx(lowest, abs=1e-4)
        curvature = torch.linalg.eigvalsh(torch.autograd.functional.hessian(loss, flat))
        assert curvature.min() > -1e-3  # a valley, not a saddle


@pytest.mark.parametrize(("count", "noise"), [(16, 5 * 32 * 32 / 174), (1, 5 * 32 * 31 / 174)])
def test_negative_sampling_of_a_free_score_is_lowest_at_shifted_pmi(count, noise):
    """The loss as a function of one score: 40,001 values tried, without any derivative."""
    scores, lowest = np.linspace(-10, 10, 40_001), math.log(count / noise)
    losses = -count * np.log(expit(scores)) - noise * np.log(expit(-scores))
    assert scores[losses.argmin()] == pytest.approx(lowest, abs=1e-3)
    wrong = [PAGE["how_wrong"](torch.tensor(lowest), answer).item() for answer in (1, 0)]
    assert count * wrong[0] + noise * wrong[1] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(("length", "size"), [(1, 4), (8, 32), (20, 5)])
def test_a_recurrent_network_keeps_one_state_for_each_word(length, size):
    x, W, U = draw(length, 3), draw(3, size, seed=1), draw(size, size, seed=2)
    W.requires_grad_()
    U.requires_grad_()
    assert PAGE["kept_bytes"](PAGE["recurrent"], x, W, U) == 8 * size * (length + 1)
    cell = nn.RNN(3, size, bias=False, dtype=torch.float64)
    cell.weight_ih_l0.data, cell.weight_hh_l0.data = W.data.T, U.data.T
    torch.testing.assert_close(PAGE["recurrent"](x, W, U), cell(x)[1])


def test_stored_tensors_are_counted_once_and_without_inputs():
    x = draw(6, 5).requires_grad_()
    kept = PAGE["kept_bytes"]
    assert kept(lambda x: x * x, x) == 0  # x itself, which was there
    assert kept(lambda x: x.exp(), x) == 6 * 5 * 8  # its result
    assert kept(lambda x: (y := x.exp()) * y, x) == 6 * 5 * 8  # the same tensor, three times
    assert kept(lambda x: x + 1, x) == 0


def test_rates_and_pieces_are_those_of_lecture_3_and_the_library(states):
    code = read_page(ROOT / "lectures" / "03_static_to_contextual.ipynb").code
    rates = re.findall(r"Word2VecConfig\(rate=([\d.]+)", " ".join(cell.source for cell in code))
    skip_gram, cbow = rates
    states(f"a rate of {cbow} where skip-gram has {skip_gram}")
    states(f"updated once per piece of {Word2VecConfig().piece} words")


def test_the_page_has_the_numbers_of_its_code_and_of_the_papers(its_lecture, states):
    code = "\n".join(cell.source for cell in its_lecture.code)
    assert "logarithms of 36 counts" in code
    assert "moon, negatives=1, rate=0.5)" in code
    states(f"It was $\\ln 3 = {math.log(3):.3f}$")
    states(r"""
        all 36 logarithms agree ... With a learning rate of 0.5, what ... for 32 words: $33 \cdot
        128 = 4,224$ bytes ... How many bytes must be kept at once for 512 words ... As many as for
        32 words ... with $x_\text{max} = 100$ and $\alpha = \tfrac34$
    """)
