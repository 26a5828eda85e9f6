"""How good a model is at both tasks, on held-out text.

Source: Devlin et al. (2019), section 3.1 (the two tasks) and table 6 (perplexity of masked words
on held-out text).
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bertlab.model.heads import BertForPreTraining
from bertlab.model.modes import evaluation_mode
from bertlab.pretraining.batches import Batch, Batches
from bertlab.pretraining.losses import mlm_loss, nsp_loss
from bertlab.training.steps import correct, forward

FEW = 5  # predictions that `mlm_top5` counts


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `str` gives one line.

    mlm_loss: nats per masked word; mlm_accuracy: share of masked words that are the best
    prediction; mlm_top5: share among the five best; nsp_loss: nats per pair; nsp_accuracy: share
    of pairs predicted correctly; n_words, n_pairs: the numbers of both.
    """

    mlm_loss: float
    mlm_accuracy: float
    mlm_top5: float
    nsp_loss: float
    nsp_accuracy: float
    n_words: int
    n_pairs: int

    @property
    def perplexity(self) -> float:
        """exp(mlm_loss): as uncertain as a guess among this many equally likely words.

        The model has read both sides of the word, so it cannot be compared with the perplexity
        of a language model that reads from left to right.

        >>> round(Evaluation(math.log(8), 0, 0, 0, 0, 1, 1).perplexity, 6)
        8.0
        """
        try:
            return math.exp(self.mlm_loss)
        except OverflowError:  # training has diverged; `math.exp` overflows above 709
            return math.inf

    def as_dict(self) -> dict[str, float]:
        """For the metrics log, with the perplexity."""
        return {**asdict(self), "perplexity": self.perplexity}

    def __str__(self) -> str:
        return (
            f"masked words: {self.mlm_loss:.3f} nats, perplexity {self.perplexity:,.1f}, "
            f"{self.mlm_accuracy:.1%} right, {self.mlm_top5:.1%} among the best {FEW} "
            f"({self.n_words:,} words); next sentences: {self.nsp_loss:.3f} nats, "
            f"{self.nsp_accuracy:.1%} right ({self.n_pairs:,} pairs)"
        )


def evaluate(model: BertForPreTraining, data: Batches, batches: int | None = None) -> Evaluation:
    """Both losses and how often the model is right, without dropout and without gradients.

    data: made with `drop_last=False`, so that no pair is omitted; batches: only this number of
    them, for a quick estimate. It is always epoch 0, the same pairs with the same masked words, so
    two evaluations differ only by the model. Every word and every pair has the same weight, in any
    batch.

    The model's mode is restored, and PyTorch's global random state does not change.

    Raises ValueError if `batches` is below 1, or if nothing is masked in what is read.
    """
    if batches is not None and batches < 1:
        raise ValueError(
            f"evaluate: batches must be at least 1, or None for all of them; got {batches}"
        )
    epoch: Any = data.epoch(0)  # has a length, which a Dataset need not have
    n_batches = len(epoch) if batches is None else min(batches, len(epoch))
    device = next(model.parameters()).device
    sums, n_words, n_pairs = [], 0, 0
    with evaluation_mode(model), torch.no_grad():
        for number in range(n_batches):
            batch = epoch[number].to(device)
            sums.append(batch_sums(model, batch))
            n_words += len(batch.words)
            n_pairs += len(batch.next_sentence)
    if not n_words:
        raise ValueError(
            f"evaluate: data must hold masked words; there are none in its {n_batches} batches; "
            "keep more text for evaluation"
        )
    # Summed in float64, which is exact enough for a million nats; waits for a GPU only here.
    mlm, mlm_correct, mlm_top, nsp, nsp_correct = torch.stack(sums).cpu().double().sum(0).tolist()
    return Evaluation(
        mlm_loss=mlm / n_words,
        mlm_accuracy=mlm_correct / n_words,
        mlm_top5=mlm_top / n_words,
        nsp_loss=nsp / n_pairs,
        nsp_accuracy=nsp_correct / n_pairs,
        n_words=n_words,
        n_pairs=n_pairs,
    )


def batch_sums(model: nn.Module, batch: Batch) -> Tensor:
    """One batch's sums, [5]: nats of words, correct, in the best five; nats of pairs, correct."""
    output = forward(model, batch)
    words_right, pairs_right = correct(output, batch)
    best = output.mlm_logits.topk(min(FEW, output.mlm_logits.shape[-1])).indices  # [N, 5]
    return torch.stack(
        [
            mlm_loss(output.mlm_logits, batch.words) * len(batch.words),
            words_right,
            (best == batch.words[:, None]).sum(),
            nsp_loss(output.nsp_logits, batch.next_sentence) * len(batch.next_sentence),
            pairs_right,
        ]
    )
