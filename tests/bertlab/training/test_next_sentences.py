"""The rows about next sentences, with readers whose answers are known."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from bertlab.data.token_store import write_corpora
from bertlab.pretraining.batches import PretrainingData
from bertlab.pretraining.masking import Masking
from bertlab.pretraining.pairs import SAME_CORPUS, SAME_DOCUMENT
from bertlab.training.runs import next_sentence_rows, read_rows, save_rows, with_negatives
from tests.bertlab.pretraining.numbered_stores import (
    N_SPECIAL,
    document_of,
    numbered_documents,
    word_tokenizer,
)

LENGTHS = np.random.default_rng(0).integers(2, 9, size=(60, 25)).tolist()
SIZES = {"tales": 25, "news": 34, "letter": 1}


class Reader(nn.Module):
    """Answers from the positions of A and B in the store, given by a numbered store's ids."""

    def __init__(self, is_next):
        super().__init__()
        self.weight, self.is_next = nn.Parameter(torch.zeros(1)), is_next

    def forward(self, ids, segment_ids, attention_mask, predict):
        places = []
        for segment in (0, 1):
            inside = attention_mask & (segment_ids == segment) & (ids >= N_SPECIAL)
            of_rows = [row[kept].median() for row, kept in zip(ids, inside, strict=True)]
            places.append(np.array(of_rows) - N_SPECIAL)
        told = torch.from_numpy(self.is_next(*places))
        return SimpleNamespace(nsp_logits=nn.functional.one_hot((~told).long(), 2).float())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    documents = iter(numbered_documents(LENGTHS))
    corpora = {name: [next(documents) for _ in range(size)] for name, size in SIZES.items()}
    tokenizer = word_tokenizer(int(np.sum(LENGTHS)))
    store = write_corpora(corpora, tokenizer, tmp_path_factory.mktemp("store"))
    sizes = {"max_length": 40, "batch_size": 16, "drop_last": False}
    return PretrainingData(store, tokenizer, masking=Masking.of(tokenizer), **sizes)


def corpus_of(store, places):
    return np.repeat(range(3), list(SIZES.values()))[document_of(store, places)]


def rows_of(data, is_next):
    return {row.negatives: row for row in next_sentence_rows(Reader(is_next), data)}


def test_a_reader_of_corpora_scores_as_its_row_says_and_no_better_within_one(data):
    rows = rows_of(data, lambda a, b: corpus_of(data.store, a) == corpus_of(data.store, b))
    easy, alone = rows["any document"], rows["any document, answered by the corpora alone"]
    assert easy[1:] == alone[1:]
    pairs = data.epoch(0).pairs
    of_a, of_b = (corpus_of(data.store, starts) for starts in (pairs.a_start, pairs.b_start))
    expected = np.mean((of_a != of_b) == pairs.not_next)
    assert easy.accuracy == pytest.approx(expected)
    assert easy.accuracy > 0.7
    for name in ("same corpus", "same corpus: tales", "same corpus: news", "same document"):
        assert abs(rows[name].accuracy - 0.5) < 0.1
    pairs = with_negatives(data, SAME_CORPUS).epoch(0).pairs
    of_a = corpus_of(data.store, pairs.a_start)
    for number, name in enumerate(("tales", "news")):
        row = rows[f"same corpus: {name}"]
        assert row.n_pairs == (of_a == number).sum()
        assert row.accuracy == pytest.approx(1 - pairs.not_next[of_a == number].mean())
    assert "same corpus: letter" not in rows  # it has no other document
    assert rows["same corpus"].n_pairs == (of_a < 2).sum()


def test_a_reader_of_documents_is_always_right_until_they_are_the_same(data):
    rows = rows_of(data, lambda a, b: document_of(data.store, a) == document_of(data.store, b))
    for name in ("any document", "same corpus", "same corpus: tales", "same corpus: news"):
        assert rows[name].accuracy == 1
    assert rows["any document, answered by the corpora alone"].accuracy < 0.9
    pairs = with_negatives(data, SAME_DOCUMENT).epoch(0).pairs
    assert rows["same document"].n_pairs == len(pairs)  # long documents: each has other places
    assert rows["same document"].accuracy == pytest.approx(1 - pairs.not_next.mean())


def test_a_reader_of_the_order_is_right_in_the_same_document_too(data):
    rows = rows_of(data, lambda a, b: (b > a) & (b - a < 40))
    assert rows["any document"].accuracy > 0.98
    assert rows["same document"].accuracy > 0.85  # a place just after is mistaken for the next


def test_pairs_without_another_place_are_not_counted(tmp_path):
    tokenizer = word_tokenizer(1000)
    corpora = {"short": numbered_documents([[3, 3]] * 40)}
    store = write_corpora(corpora, tokenizer, tmp_path)
    data = PretrainingData(store, tokenizer, max_length=16, batch_size=8, drop_last=False)
    assert list(rows_of(data, lambda a, b: a == a)) == ["any document"]


def test_rows_are_kept_in_a_file(data, tmp_path):
    rows = list(rows_of(data, lambda a, b: b > a).values())
    save_rows(rows, tmp_path / "rows.json")
    assert read_rows(tmp_path / "rows.json") == rows
