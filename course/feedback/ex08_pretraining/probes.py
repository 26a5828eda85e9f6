"""Small models for the checks of exercise 8, which log their calls."""

from collections.abc import Iterator, Sequence
from math import log
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.pretraining.batches import Batch
from course.feedback.tensors import normal

# With these weights "word 0" has the probability 0.4, and IsNext 0.75.
WORD, NEXT = log(4 / 3), log(3)
LOSS = 2.1522


class Scores(NamedTuple):
    """A model's output, with the names of BERT's output."""

    mlm_logits: Tensor  # [N, V]
    nsp_logits: Tensor  # [B, 2]


class Call(NamedTuple):
    """How a model was called."""

    training: bool
    with_gradients: bool
    gradient_before: bool  # whether there was already a gradient


class NotCopied:
    """An object that a check passes without a copy: the student's function must change it."""

    def __deepcopy__(self, memo: dict) -> "NotCopied":
        return self


class Once(NotCopied):
    """Batches that can be read once, from first to last."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = iter(batches)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches


class Probe(NotCopied, nn.Module):
    """A model that logs its calls, and rejects arguments that do not belong to one batch."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__()
        self.pieces = pieces
        self.calls: list[Any] = []

    def forward(
        self, ids: Tensor, segment_ids: Tensor, attention_mask: Tensor, predict: Tensor
    ) -> Scores:
        """Scores at the N masked positions, and of the B pairs."""
        piece = next((p for p in self.pieces if torch.equal(p.ids, ids)), None)
        if piece is None:
            raise ValueError("the first argument must be the ids of a piece")
        for name, got in zip(
            Batch._fields[1:4], (segment_ids, attention_mask, predict), strict=True
        ):
            if not torch.equal(got, getattr(piece, name)):
                raise ValueError(
                    f"model(ids, segment_ids, attention_mask, predict): {name} differs"
                )
        before = any(p.grad is not None and p.grad.any() for p in self.parameters())
        self.calls.append(Call(self.training, torch.is_grad_enabled(), before))
        return self.scores(piece)

    def scores(self, piece: Batch) -> Scores:
        """Its scores for a piece."""
        raise NotImplementedError


class TwoWeights(Probe):
    """One weight for words, one for pairs; its scores do not depend on the input."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__(pieces)
        self.word = nn.Parameter(torch.tensor(WORD, dtype=torch.float64))
        self.next = nn.Parameter(torch.tensor(NEXT, dtype=torch.float64))

    def scores(self, piece: Batch) -> Scores:
        """Logits [word, 0, 0] and [next, 0]."""
        word, nothing = self.word, torch.zeros((), dtype=torch.float64)
        words = torch.stack([word, nothing, nothing]).expand(len(piece.words), 3)
        return Scores(words, torch.stack([self.next, nothing]).expand(len(piece.ids), 2))

    def moved(self) -> Tensor:
        """The decrease of the two weights: [2]."""
        return torch.tensor([WORD, NEXT]) - torch.stack([self.word, self.next]).detach().float()

    def slope(self) -> Tensor:
        """The two gradients, 0 if there is none: [2]."""
        grads = (self.word.grad, self.next.grad)
        return torch.stack([torch.zeros(()) if g is None else g.float() for g in grads])


class Table(Probe):
    """A row of logits for each token that is read, and one for each segment's length."""

    def __init__(self, pieces: Sequence[Batch]) -> None:
        super().__init__(pieces)
        self.word = nn.Parameter(normal(60, 60, seed=1, dtype=torch.float64))
        self.pair = nn.Parameter(normal(60, 2, seed=2, dtype=torch.float64))

    def scores(self, piece: Batch) -> Scores:
        """Rows of both tables."""
        return Scores(self.word[piece.ids[piece.predict]], self.pair[piece.ids[:, -1]])


def piece(words: Sequence[int], next_sentence: Sequence[int], seed: int = 0) -> Batch:
    """A batch with these true words and relations; the rest of its rows does not matter."""
    rows, columns = len(next_sentence), 3 + len(words)
    ids = 5 + normal(rows, columns, seed=seed + len(words)).mul(1000).long() % 50
    column = torch.arange(columns)
    predict = torch.zeros(rows, columns, dtype=torch.bool)
    predict[-1, 1 : 1 + len(words)] = True
    mask = (column < columns - 1).expand(rows, -1)
    true = torch.tensor(words, dtype=torch.long)
    return Batch(
        ids, (column > 1).long().expand(rows, -1), mask, predict, true, torch.tensor(next_sentence)
    )


def two_pieces() -> list[Batch]:
    """One word in two pairs, then three words in one pair."""
    return [piece([0], [1, 1]), piece([1, 2, 1], [0])]


def many_pieces() -> list[Batch]:
    """Five pieces of different sizes, the third without a word."""
    sizes = ((3, 4), (17, 1), (0, 2), (1, 9), (8, 3))
    return [
        piece([n * 7 % 60 for n in range(words)], [(n + words) % 3 % 2 for n in range(rows)], words)
        for words, rows in sizes
    ]


def whole(model: Probe, pieces: Sequence[Batch]) -> Tensor:
    """PyTorch's loss of all pieces as one batch."""
    scores = [model.scores(piece) for piece in pieces]
    words = F.cross_entropy(
        torch.cat([s.mlm_logits for s in scores]), torch.cat([p.words for p in pieces])
    )
    pairs = F.cross_entropy(
        torch.cat([s.nsp_logits for s in scores]), torch.cat([p.next_sentence for p in pieces])
    )
    return words + pairs


class CountedSGD(NotCopied, torch.optim.SGD):
    """Plain gradient descent that counts its steps."""

    def __init__(self, model: TwoWeights) -> None:
        groups = [{"params": [model.word]}, {"params": [model.next]}]
        super().__init__(groups, lr=5.0)
        self.taken = 0

    def step(self, closure: Any = None) -> Any:
        """As usual, and counted."""
        self.taken += 1
        return super().step(closure)


# At the creation of the first optimizer, PyTorch imports many modules, which takes a second. Here
# that happens before the first check, and before a grader begins with the first student.
torch.optim.SGD([torch.zeros(1)])
