"""Find the most similar vectors: for a query, and among all pairs.

Letters in shape comments: N vectors, Q queries, D embedding size, k results.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.checks import check_kind, check_tensor

ROWS = 1024  # rows of scores that are in memory at a time: 40 MB with 10,000 vectors


class Neighbours(NamedTuple):
    """What `semantic_search` found, the most similar first."""

    scores: Tensor  # [Q, k], cosines from -1 to 1
    numbers: Tensor  # [Q, k], which of the vectors


class Pairs(NamedTuple):
    """What `closest_pairs` found, the most similar first."""

    scores: Tensor  # [k], cosines from -1 to 1
    numbers: Tensor  # [k, 2], which two of the vectors, the smaller number first


def semantic_search(query_vectors: Tensor, vectors: Tensor, k: int) -> Neighbours:
    """The k vectors with the largest cosine to each query.

    query_vectors: [Q, D]; vectors: [N, D]; only their directions count, not their lengths.

    Every query is compared with every vector: exact, and fast enough for a million vectors.
    A vector of zeros has no direction: its cosines are 0. Raises ValueError if a shape does not
    fit, a number is not finite, or k is not from 1 to N.

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    >>> semantic_search(torch.tensor([[2.0, 0.0]]), vectors, k=2)
    Neighbours(scores=tensor([[1.0000, 0.6000]]), numbers=tensor([[0, 2]]))
    """
    check_vectors("semantic_search", "vectors", vectors, "[N, D]")
    check_vectors("semantic_search", "query_vectors", query_vectors, "[Q, D]")
    if query_vectors.shape[1] != vectors.shape[1] or query_vectors.dtype != vectors.dtype:
        raise ValueError(
            f"semantic_search: query_vectors must have the size and dtype of vectors, "
            f"{vectors.shape[1]} and {vectors.dtype}; got {query_vectors.shape[1]} and "
            f"{query_vectors.dtype}; did one encoder make both?"
        )
    check_k("semantic_search", k, len(vectors), f"there are {len(vectors)} vectors")
    unit, queries = directions(vectors), directions(query_vectors)
    found = [(rows @ unit.T).topk(k) for rows in queries.split(ROWS)]  # of [ROWS, N]
    return Neighbours(*(torch.cat(part) for part in zip(*found, strict=True)))


def closest_pairs(vectors: Tensor, k: int) -> Pairs:
    """The k pairs with the largest cosine, of all N (N - 1) / 2.

    vectors: [N, D]. Raises ValueError if the shape does not fit, a number is not finite, or k is
    not from 1 to the number of pairs.

    Source: Reimers & Gurevych (2019), section 1: with 10,000 sentences, BERT needs 65 hours.

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    >>> closest_pairs(vectors, k=1)
    Pairs(scores=tensor([0.8000]), numbers=tensor([[1, 2]]))
    """
    check_vectors("closest_pairs", "vectors", vectors, "[N, D]")
    n_pairs = len(vectors) * (len(vectors) - 1) // 2
    check_k("closest_pairs", k, n_pairs, f"{len(vectors)} vectors have {n_pairs:,} pairs")
    unit = directions(vectors)
    scores, numbers = [], []
    for start in range(0, len(unit), ROWS):
        rows, others = unit[start : start + ROWS], unit[start:]  # earlier rows are done
        cosines = rows @ others.T  # [ROWS, N - start]
        twice = torch.ones(len(rows), len(rows), dtype=torch.bool, device=unit.device).tril()
        cosines[:, : len(rows)].masked_fill_(twice, -torch.inf)  # and each vector with itself
        # Each of the k best pairs is in one of the k rows with the largest maxima.
        best_rows = cosines.amax(dim=1).topk(min(k, len(rows))).indices
        best = cosines[best_rows].flatten().topk(min(k, len(best_rows) * len(others)))
        first = best_rows[best.indices // len(others)]
        second = best.indices % len(others)
        scores.append(best.values)
        numbers.append(torch.stack([first, second], dim=-1) + start)
    best = torch.cat(scores).topk(k)
    return Pairs(best.values, torch.cat(numbers)[best.indices])


def directions(vectors: Tensor) -> Tensor:
    """Each row divided by its length, [N, D]; a row of zeros stays as it is.

    First divided by its largest number: the square of 1e30 is too large for a 32-bit float, and
    that of 1e-30 too small.
    """
    largest = vectors.abs().amax(dim=-1, keepdim=True)  # [N, 1]
    return F.normalize(vectors / largest.masked_fill(largest == 0, 1), dim=-1)


def check_vectors(where: str, name: str, vectors: Tensor, shape: str) -> None:
    """Raise ValueError unless these are rows of finite floating-point numbers."""
    check_tensor(where, name, vectors)
    if vectors.dim() != 2 or not vectors.shape[1]:
        raise ValueError(
            f"{where}: {name} must be {shape}; got {list(vectors.shape)}"
            + (f"; {name}[None] makes one row of it" if vectors.dim() == 1 else "")
        )
    if not vectors.is_floating_point():
        raise ValueError(f"{where}: {name} must be floating-point numbers; got {vectors.dtype}")
    broken = (~vectors.isfinite().all(dim=1)).nonzero().flatten().tolist()
    if broken:
        raise ValueError(
            f"{where}: {name} must be finite; got nan or infinity in {len(broken)} of "
            f"{len(vectors)} rows, first in row {broken[0]}; omit them, or check their texts"
        )


def check_k(where: str, k: int, most: int, because: str) -> None:
    """Raise ValueError unless this many results can be found."""
    check_kind(where, "k", k, int)
    if not 1 <= k <= most:
        raise ValueError(f"{where}: k must be from 1 to {most:,} ({because}); got {k}")
