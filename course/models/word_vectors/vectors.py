"""One vector per word: similarity, nearest neighbours and analogies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F


def cosine(x: Tensor, y: Tensor) -> Tensor:
    """The cosine of the angle between vectors: 1 same direction, 0 right angle, -1 opposite.

    x, y: [..., D], broadcast against each other; returns [...].

    >>> cosine(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))
    tensor(0.9600)
    """
    return (x * y).sum(dim=-1) / (x.norm(dim=-1) * y.norm(dim=-1))


def three_cos_add(units: Tensor, a: int, b: int, c: int) -> Tensor:
    """How well each word completes "a is to b as c is to ?": cosines with b - a + c, [V].

    units: [V, D], rows of length 1; a, b, c: row numbers. The three given words are excluded,
    -inf: otherwise the answer would mostly be c.

    Source: Mikolov, Yih & Zweig (2013), section 4; the name: Levy & Goldberg (2014a).
    """
    target = units[b] - units[a] + units[c]  # [D]
    scores = units @ target / target.norm()  # [V]
    scores[[a, b, c]] = -torch.inf
    return scores


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Static vectors: `vectors["city"]` is the same in every context.

    words: V words; matrix: [V, D]. Raises ValueError if the two do not fit each other, or a number
    is nan or infinite.

    >>> vectors = WordVectors(("up", "high", "down"), torch.tensor([[1., 1], [1, 2], [-1, -1]]))
    >>> vectors.nearest("up", n=1)
    [('high', 0.9486...)]
    """

    words: tuple[str, ...]
    matrix: Tensor

    def __post_init__(self) -> None:
        if self.matrix.dim() != 2 or len(self.matrix) != len(self.words):
            raise ValueError(
                f"WordVectors: matrix must be [{len(self.words)}, D], one row per word; "
                f"got {list(self.matrix.shape)}"
            )
        if not (finite := self.matrix.isfinite().all(dim=1)).all():
            word = self.words[int(finite.int().argmin())]
            raise ValueError(f"WordVectors: matrix must be finite; {word!r} has nan or infinity")

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> Tensor:
        return self.matrix[self.row(word)]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word -> row."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def units(self) -> Tensor:
        """The vectors scaled to length 1: dot products are cosines."""
        return F.normalize(self.matrix, dim=1)

    def row(self, word: str) -> int:
        """The row of a word. Raises KeyError if it has none."""
        if word not in self.ids:
            raise KeyError(
                f"WordVectors: {word!r} is not among the {len(self.words):,} words; "
                "they are written as in the corpus, most likely lower-cased"
            )
        return self.ids[word]

    def similarity(self, first: str, second: str) -> float:
        """The cosine of two words. Raises KeyError if one is unknown."""
        return cosine(self[first], self[second]).item()

    def nearest(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The n words with the highest cosine, and the cosine; not the word itself."""
        scores = self.units @ self.units[self.row(word)]
        scores[self.row(word)] = -torch.inf
        return self._best(scores, n, excluded=1)

    def analogy(self, a: str, b: str, c: str, n: int = 5) -> list[tuple[str, float]]:
        """Completes "a is to b as c is to ?": the n best words by `three_cos_add`, with cosines."""
        scores = three_cos_add(self.units, self.row(a), self.row(b), self.row(c))
        return self._best(scores, n, excluded=len({a, b, c}))

    def _best(self, scores: Tensor, n: int, excluded: int) -> list[tuple[str, float]]:
        best = scores.topk(min(n, len(self.words) - excluded))
        return [
            (self.words[row], score)
            for row, score in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    def among(self, words: Sequence[str]) -> list[str]:
        """Those of the words that have a vector."""
        return [word for word in words if word in self]
