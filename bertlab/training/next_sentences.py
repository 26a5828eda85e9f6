"""What "84 % of the next sentences" means: the same question, from easy to hard.

The share of correct answers depends on the source of the other sentences. If they are from another
document of any corpus, it is often enough to distinguish a tale from a speech. So the question is
asked three times: with sentences from anywhere, from the same corpus, and from the same document. A
baseline that knows only each sentence's corpus shows how much of the first share is easy.
"""

import copy
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from bertlab._files import write_atomically
from bertlab.model.heads import BertForPreTraining
from bertlab.model.modes import evaluation_mode
from bertlab.pretraining.batches import Epoch, PretrainingData
from bertlab.pretraining.negatives import (
    ANYWHERE,
    SAME_CORPUS,
    SAME_DOCUMENT,
    Negatives,
    corpora_of,
    documents_of,
)
from bertlab.pretraining.pairs import Pairs
from bertlab.pretraining.token_store import TokenStore
from bertlab.training.steps import forward


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
