"""Check of exercise 11 about training: harder and fewer wrong answers."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from course.feedback.checks import Passed
from course.feedback.ex11_sentence_bert.batches import OWN_CODE
from course.feedback.progress import task
from course.feedback.tensors import TensorCheck, normal

INFINITE = float("inf")


class LossCheck(TensorCheck):
    """A check of a loss whose scale is given by name; the gradient must reach all vectors."""

    refused = OWN_CODE

    def scaled(self, *arguments: Any, scale: float, **more: Any) -> None:
        """An example with a scale."""
        function = self.function
        self.function = lambda u, v, hard, texts, scale: function(u, v, hard, texts, scale=scale)
        self.example(*arguments, scale, **more)
        self.function = function

    def shown(self, arguments: tuple) -> str:
        """The call as a student would write it."""
        if len(arguments) < 5:
            return super().shown(arguments)
        return f"{super().shown(arguments[:4])[:-1]}, scale={arguments[4]})"


@task("ex11_sentence_bert", 5)
def ranking_loss(function: Callable) -> Passed:
    """In-batch negatives with hard ones, and without right answers."""
    check = LossCheck(
        "ranking_loss",
        function,
        hints=(
            "torch.cat([v, hard]) has all candidates, so one matrix product gives [B, B + H]",
            "texts[:, None] == texts is a table [B, B] of equal texts; the diagonal must stay in",
            "a score of -inf has the share 0; F.cross_entropy with the true columns "
            "torch.arange(B) does the rest",
        ),
    )
    one = torch.eye(2)
    check.scaled(
        *(one, one, one[:1], torch.tensor([5, 6])),
        scale=1.0,
        gives=0.7067,
        because="the first row has the scores 1, 0 and 1, as the hard one is as near to u_0 as its "
        "own answer; the second row has 0, 1 and 0",
    )
    u = torch.tensor([[2.0, 0], [0, 1], [3, 4]])
    v = torch.tensor([[3.0, 4], [0, 5], [3, 4]])
    hard = torch.tensor([[4.0, 3]])
    texts = torch.tensor([7, 8, 7])
    check.scaled(
        *(u, v, hard, texts),
        scale=2.0,
        gives=1.0020,
        because="the cosines with v_0, v_1, v_2 and the hard one are 0.6, 0, 0.6, 0.8 for u_0; "
        "0.8, 1, 0.8, 0.6 for u_1; 1, 0.8, 1, 0.96 for u_2. v_0 and v_2 are the same text",
    )
    check.example(
        *(u, v, hard, texts),
        gives=1.4794,
        because="without a scale it is 20, as in the function's first line",
    )
    check.done("two and three pairs and a hard negative, by hand")
    _laws(check)
    _many_pairs(check)
    return check.passed()


def _laws(check: LossCheck) -> None:
    """The same answer for all, no hard negative, huge scales, other lengths."""
    one, none = torch.eye(2), torch.empty(0, 2)
    check.example(
        *(one, one[:1].expand(2, 2), none, torch.tensor([5, 5])),
        gives=0.0,
        because="both questions have the same answer: no wrong one is left, and the right p is 1",
    )
    check.scaled(
        *(one, one, none, torch.tensor([5, 6])),
        scale=1.0,
        gives=0.3133,
        because="no hard negative, all texts different: this is the lecture's loss",
    )
    check.scaled(
        *(one, one.flip(0), none, torch.tensor([5, 6])),
        scale=1000.0,
        gives=1000.0,
        because="exp(1000) is infinite: take the logarithm and the softmax in one step, with "
        "log_softmax, logsumexp or cross_entropy",
    )
    check.scaled(
        *(0.01 * one, 300 * one, 7 * one[:1], torch.tensor([5, 6])),
        scale=1.0,
        gives=0.7067,
        because="a longer vector points the same way: cosines do not depend on lengths",
    )
    check.done("no wrong answer; no hard one; a huge scale; other lengths")


def _many_pairs(check: LossCheck) -> None:
    """64 pairs: as the lecture's loss, and each pair as alone with all its wrong answers."""
    u, hard = normal(64, 16, seed=1, dtype=torch.float64), normal(9, 16, seed=2).double()
    texts = torch.arange(64) * 7 % 50
    v = (u + normal(64, 16, seed=3))[texts]
    check.gradients(u, v, hard, texts)
    scores = 20 * torch.stack([F.cosine_similarity(row[None], v) for row in u])
    check.example(
        *(u, v, hard[:0], torch.arange(64)),
        gives=F.cross_entropy(scores, torch.arange(64)),
        because="64 different texts, no hard negative: as PyTorch computes the lecture's loss",
    )
    alone = []
    for i, text in enumerate(texts):
        wrong = torch.cat([hard, v[texts != text]])
        alone.append(check.call(u[i : i + 1], v[i : i + 1], wrong, texts[i : i + 1]))
    check.equals(
        check.call(u, v, hard, texts),
        torch.stack(alone).mean(),
        "64 pairs of 50 texts, 9 hard negatives",
        because="the mean of each pair's loss alone, with all its wrong answers in `hard`",
    )
    check.done("gradients; 64 pairs, each as if it were alone")
