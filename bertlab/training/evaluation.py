"""How good a model is at both tasks, on held-out text.

What does "84 % of the next sentences" mean? The share of correct answers depends on the source of
the other sentences. If they are from another document of any corpus, it is often enough to
distinguish a tale from a speech. So `next_sentence_rows` asks the same question three times: with
sentences from anywhere, from the same corpus, and from the same document. A baseline that knows
only each sentence's corpus shows how much of the first share is easy.

Source: Devlin et al. (2019), section 3.1 (the two tasks) and table 6 (perplexity of masked words
on held-out text).
"""

import copy
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bertlab._files import write_atomically
from bertlab.data.token_store import TokenStore
from bertlab.model.bert import evaluation_mode
from bertlab.model.heads import BertForPreTraining
from bertlab.pretraining.batches import Batch, Batches, Epoch, PretrainingData
from bertlab.pretraining.losses import mlm_loss, nsp_loss
from bertlab.pretraining.pairs import (
    ANYWHERE,
    SAME_CORPUS,
    SAME_DOCUMENT,
    Negatives,
    Pairs,
    corpora_of,
    documents_of,
)
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


class NextSentenceRow(NamedTuple):
    """How often the relation of two sentences was predicted correctly, for one kind of question."""

    negatives: str  # the source of the sentences that are not the next ones
    accuracy: float
    n_pairs: int

    def __str__(self) -> str:
        return f"{self.accuracy:6.1%} of {self.n_pairs:6,} pairs  {self.negatives}"


def next_sentence_rows(model: BertForPreTraining, data: PretrainingData) -> list[NextSentenceRow]:
    """One row per kind of question, from easy to hard; about half of all answers are IsNext.

    data: held-out text, made with `drop_last=False`; its own negatives do not matter. It is
    epoch 0, as in `evaluate`. The rows: any document; the same question answered by the corpora
    alone (whether A and B are from one corpus); another document of the same corpus; that for each
    corpus; the same document. Omitted are rows about corpora if there is only one, and pairs
    without a possible B: A's corpus has no other document, or A's document no other sentences.
    """
    store, names = data.store, list(data.store.corpora)
    pairs, right = answers(model, with_negatives(data, ANYWHERE).epoch(0))
    rows = [_row("any document", right)]
    if len(names) > 1:
        of_a, of_b = corpora_of_pairs(store, pairs)
        guess = (of_a != of_b) == pairs.not_next
        rows.append(_row("any document, answered by the corpora alone", guess))
        pairs, right = answers(model, with_negatives(data, SAME_CORPUS).epoch(0))
        of_a, of_b = corpora_of_pairs(store, pairs)
        asked = np.array(list(store.corpora.values()))[of_a] > 1
        rows.append(_row("same corpus", right[asked]))
        for number, name in enumerate(names):
            rows.append(_row(f"same corpus: {name}", right[asked & (of_a == number)]))
    pairs, right = answers(model, with_negatives(data, SAME_DOCUMENT).epoch(0))
    rows.append(_row("same document", right[has_other_places(store, pairs)]))
    return [row for row in rows if row.n_pairs]


def with_negatives(data: PretrainingData, negatives: Negatives) -> PretrainingData:
    """The same data with another source of sentences that are not the next ones."""
    other = copy.copy(data)
    other.negatives = negatives
    return other


def answers(model: BertForPreTraining, epoch: Epoch) -> tuple[Pairs, np.ndarray]:
    """All pairs of an epoch, and whether the model is right about each: boolean [N]."""
    device = next(model.parameters()).device
    right = np.zeros(len(epoch.pairs), dtype=bool)
    with evaluation_mode(model), torch.no_grad():
        for number, start in enumerate(epoch.starts):
            batch = epoch[number].to(device)
            told = forward(model, batch).nsp_logits.argmax(dim=-1) == batch.next_sentence
            right[start : start + len(told)] = told.cpu().numpy()
    return epoch.pairs, right


def corpora_of_pairs(store: TokenStore, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """The number of the corpus of each A and of each B: [N] each."""
    starts = (pairs.a_start, pairs.b_start)
    of_a, of_b = (corpora_of(store, documents_of(store, start)) for start in starts)
    return of_a, of_b


def has_other_places(store: TokenStore, pairs: Pairs) -> np.ndarray:
    """Whether A's document has a sentence outside the pair: boolean [N].

    In a NotNext pair, B itself must come from A's document.
    """
    documents = documents_of(store, pairs.a_start)
    first, last = store.document_starts[documents], store.document_starts[documents + 1]
    before = store.sentence_starts[first + 1] <= pairs.a_start
    behind = store.sentence_starts[last - 1] >= pairs.b_end
    from_here = documents_of(store, pairs.b_start) == documents
    return np.where(pairs.not_next, from_here, before | behind)


def save_rows(rows: list[NextSentenceRow], path: Path) -> None:
    """Write rows as JSON, so that changes are readable."""
    write_atomically(path, json.dumps([row._asdict() for row in rows], indent=2) + "\n")


def read_rows(path: Path) -> list[NextSentenceRow]:
    """Read the output of `save_rows`."""
    return [NextSentenceRow(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def _row(negatives: str, right: np.ndarray) -> NextSentenceRow:
    return NextSentenceRow(negatives, float(right.mean()) if len(right) else 0.0, len(right))
