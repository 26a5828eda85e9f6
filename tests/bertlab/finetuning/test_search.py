"""Search against sentence-transformers and against brute force over every pair."""

from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import util
from torch.nn.functional import cosine_similarity

from bertlab.finetuning import search
from bertlab.finetuning.search import closest_pairs, semantic_search
from tests.bertlab.refusals import rejected


def vectors(n, size=4, seed=0):
    return torch.randn(n, size, generator=torch.Generator().manual_seed(seed))


NAN, INF = torch.nan, torch.inf


def broken(number):
    """Five vectors, one of which has a number that is not finite."""
    known = vectors(5)
    known[3, 2] = number
    return known


def test_search_equals_sentence_transformers(monkeypatch):
    monkeypatch.setattr(search, "ROWS", 3)  # more queries than are looked up at a time
    queries, known = vectors(7, seed=1) * 5, vectors(30)
    found = semantic_search(queries, known, k=4)
    reference = util.semantic_search(queries, known, top_k=4)
    assert found.numbers.tolist() == [[hit["corpus_id"] for hit in hits] for hits in reference]
    scores = torch.tensor([[hit["score"] for hit in hits] for hits in reference])
    torch.testing.assert_close(found.scores, scores)


SCALES = {
    torch.float32: [1e-37, 1e-30, 1e-13, 1e-6, 1e18, 1e30, 1e37],
    torch.float64: [1e-300, 1e-13, 1e30, 1e300],
    torch.float16: [1e-3, 1e4],
    torch.bfloat16: [1e-37, 1e37],
}


@pytest.mark.parametrize(("dtype", "scales"), SCALES.items())
def test_directions_do_not_depend_on_lengths(dtype, scales):
    queries, known = vectors(2, seed=1).to(dtype), vectors(6).to(dtype)
    reference = util.cos_sim(queries.double(), known.double())
    both = util.cos_sim(known.double(), known.double()).triu(diagonal=1)
    close = {"atol": 1e-6 if dtype.itemsize > 2 else 3e-2, "rtol": 0}
    for scale in scales:
        for lengths in ([scale] * 6, [scale, 1] * 3):
            scaled = known * torch.tensor(lengths, dtype=dtype)[:, None]
            for asked in (queries, queries * scale):
                found = semantic_search(asked, scaled, k=6)
                expected = reference.gather(1, found.numbers)
                torch.testing.assert_close(found.scores.double(), expected, **close)
                assert found.scores.isfinite().all()
            pairs = closest_pairs(scaled, k=15)
            torch.testing.assert_close(pairs.scores.double(), both[tuple(pairs.numbers.T)], **close)


def test_a_vector_of_zeros_has_cosine_0_as_in_sentence_transformers_and_all_can_be_found():
    known = vectors(3)
    known[1] = 0
    found = semantic_search(known[:2], known, k=3)
    assert [set(row) for row in found.numbers.tolist()] == 2 * [{0, 1, 2}]
    assert found.scores[0, found.numbers[0] == 1] == util.cos_sim(known[:1], known)[0, 1] == 0
    assert found.scores[1].tolist() == closest_pairs(0 * known, k=3).scores.tolist() == [0, 0, 0]
    assert semantic_search(vectors(0), known, k=2).numbers.shape == (0, 2)


@pytest.mark.slow
@given(st.integers(2, 12), st.integers(1, 13), st.data())
def test_the_closest_pairs_equal_brute_force(n, rows, draw):
    n_pairs = n * (n - 1) // 2
    k = draw.draw(st.integers(1, n_pairs))
    given = vectors(n, seed=draw.draw(st.integers(0, 99)))
    before = given.clone()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "ROWS", rows)
        found = closest_pairs(given, k)
    pairs = list(combinations(range(n), 2))
    cosines = {(i, j): cosine_similarity(given[i], given[j], dim=0).item() for i, j in pairs}
    expected = sorted(pairs, key=cosines.__getitem__, reverse=True)[:k]
    assert list(map(tuple, found.numbers.tolist())) == expected
    assert found.scores.tolist() == pytest.approx([cosines[pair] for pair in expected], abs=1e-5)
    assert torch.equal(given, before)


@pytest.mark.parametrize(
    ("queries", "known", "k", "message"),
    [
        (vectors(1)[0], vectors(5), 1, r"query_vectors must be \[Q, D\]; got \[4\].*\[None\]"),
        (vectors(1), vectors(5)[None], 1, r"vectors must be \[N, D\]; got \[1, 5, 4\]"),
        (vectors(1, 3), vectors(5), 1, "size and dtype of vectors, 4 and torch.float32; got 3"),
        (vectors(1).double(), vectors(5), 1, "got 4 and torch.float64"),
        (vectors(1), vectors(5), 6, r"k must be from 1 to 5 \(there are 5 vectors\); got 6"),
        (vectors(1), vectors(5), 0, "got 0"),
        (vectors(1), vectors(5), 2.0, "k must be an integer; got 2.0"),
        (vectors(1), vectors(5), True, "k must be an integer; got True"),
        (vectors(1), vectors(5).numpy(), 1, "vectors must be a tensor; got a ndarray"),
        (vectors(1).tolist(), vectors(5), 1, "query_vectors must be a tensor; got a list"),
        (vectors(1).long(), vectors(5).long(), 1, "must be floating-point numbers"),
        (vectors(1), vectors(5)[:, :0], 1, r"vectors must be \[N, D\].*got \[5, 0\]"),
        (vectors(1), broken(NAN), 1, "vectors must be finite.* in 1 of 5 rows, first in row 3"),
        (vectors(1), broken(-INF), 1, "vectors must be finite.* in 1 of 5 rows, first in row 3"),
        (vectors(1) * NAN, vectors(5), 1, "query_vectors must be finite.* in 1 of 1 rows"),
        (vectors(5) * INF, vectors(5), 1, "query_vectors must be finite.* in 5 of 5 rows"),
        ((vectors(1) * 1e9).half(), vectors(5).half(), 1, "query_vectors must be finite"),
    ],
)
def test_what_cannot_be_searched_is_rejected(queries, known, k, message):
    rejected(message, semantic_search, queries, known, k, error=(TypeError, ValueError))


def test_pairs_are_only_of_finite_vectors_and_as_many_as_there_are():
    rejected(r"from 1 to 3 \(3 vectors have 3 pairs\); got 4", closest_pairs, vectors(3), 4)
    rejected("1 vectors have 0 pairs", closest_pairs, vectors(1), 1)
    for number in (NAN, INF, -INF):
        broken_row = "closest_pairs: vectors must be finite.*row 3; omit"
        rejected(broken_row, closest_pairs, broken(number), 2)
