"""Evaluation, against scikit-learn's metrics; and what it must not change."""

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, log_loss, top_k_accuracy_score

from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.pretraining.batches import Batch, PretrainingData
from bertlab.tokenizers import WordPiece
from bertlab.training.runs import Evaluation, evaluate
from tests.bertlab.refusals import rejected
from tests.small_models import random_weights

VOCAB = 40
SIZES = [(4, 12, 9), (2, 20, 1), (3, 8, 0), (1, 16, 6)]  # sequences, tokens, masked words


class Epochs:
    """Replaces `PretrainingData`: a list of batches as epoch 0, and no other epoch."""

    def __init__(self, batches):
        self.batches = batches

    def epoch(self, number):
        assert number == 0, "held-out text is always read with the holes of epoch 0"
        return self.batches


@pytest.fixture
def model():
    """A small model with large weights: often certain, of varying words."""
    config = BertConfig(VOCAB, 24, 2, 4, 40, max_length=32, dropout=0.5)
    return random_weights(BertForPreTraining(config), seed=1)


def logits(model, batch):
    """For every position, then the selected ones: a different way from `evaluate`."""
    with torch.no_grad():
        output = model.eval()(batch.ids, batch.segment_ids, batch.attention_mask)
    return output.mlm_logits[batch.predict], output.nsp_logits


@pytest.fixture
def data(model):
    """Batches of several sizes, in which the right word is one of the model's nine best."""
    generator = torch.Generator().manual_seed(2)
    batches = []
    for rows, length, n_words in SIZES:
        ids = torch.randint(5, VOCAB, (rows, length), generator=generator)
        predict = torch.zeros(rows * length, dtype=torch.bool)
        predict[torch.randperm(rows * length, generator=generator)[:n_words]] = True
        mask = torch.ones(rows, length, dtype=torch.bool)
        mask[0, -2:] = False
        batch = Batch(
            ids=ids,
            segment_ids=(torch.arange(length) >= 6).long().expand(rows, -1),
            attention_mask=mask,
            predict=predict.view(rows, length),
            words=torch.zeros(n_words, dtype=torch.long),
            next_sentence=torch.randint(2, (rows,), generator=generator),
        )
        ranked = logits(model, batch)[0].argsort(descending=True)  # [N, V]
        rank = torch.arange(n_words)[:, None] % 9
        batches.append(batch._replace(words=ranked.gather(1, rank)[:, 0]))
    return Epochs(batches)


def test_every_figure_equals_scikit_learns(model, data):
    found = evaluate(model, data)
    asked = [logits(model, batch) for batch in data.batches]
    word_logits, pair_logits = map(torch.cat, zip(*asked, strict=True))
    words = torch.cat([batch.words for batch in data.batches])
    pairs = torch.cat([batch.next_sentence for batch in data.batches])
    probabilities = word_logits.double().softmax(-1).numpy()
    labels = np.arange(VOCAB)
    expected = log_loss(words, probabilities, labels=labels)
    assert found.mlm_loss == pytest.approx(expected, rel=1e-6)
    assert found.perplexity == pytest.approx(np.exp(expected), rel=1e-5)
    top_1, top_5 = (top_k_accuracy_score(words, probabilities, k=k, labels=labels) for k in (1, 5))
    assert 0 < top_1 < top_5 < 1  # otherwise the comparison would mean little
    assert found.mlm_accuracy == pytest.approx(top_1)
    assert found.mlm_top5 == pytest.approx(top_5)
    of_pairs = pair_logits.double().softmax(-1).numpy()
    assert found.nsp_loss == pytest.approx(log_loss(pairs, of_pairs, labels=[0, 1]), rel=1e-6)
    assert found.nsp_accuracy == accuracy_score(pairs, of_pairs.argmax(1))
    assert (found.n_words, found.n_pairs) == (16, 10)


def test_of_real_data_every_pair_is_asked_and_always_the_same_words(tmp_path):
    documents = [[f"{name} has {n} cats and no dog" for n in range(9)] for name in "abcdefg"]
    tokenizer = WordPiece.train((line for lines in documents for line in lines), 60)
    store = write_tokens(documents, tokenizer, tmp_path / "tokens")
    data = PretrainingData(store, tokenizer, max_length=32, batch_size=6, drop_last=False)
    config = BertConfig(len(tokenizer.vocab), 24, 1, 2, 40, max_length=32)
    found = evaluate(BertForPreTraining(config), data)
    batches = [data.epoch(0)[number] for number in range(len(data.epoch(0)))]
    assert found.n_pairs == sum(len(batch.ids) for batch in batches)
    assert found.n_pairs % 6 > 0  # the last pairs fill no batch
    assert found.n_words == sum(int(batch.predict.sum()) for batch in batches) > 0
    assert found == evaluate(BertForPreTraining(config), data)
    assert abs(found.mlm_loss - math.log(len(tokenizer.vocab))) < 0.2  # it has learned nothing


def test_words_have_equal_weight_in_any_batches(model, data):
    first = data.batches[0]
    parts = Epochs([first.rows(0, 1), first.rows(1, 4)])
    whole, parts = evaluate(model, Epochs([first])), evaluate(model, parts)
    assert parts.as_dict() == pytest.approx(whole.as_dict(), rel=1e-5)


def test_only_the_requested_number_of_batches_is_read(model, data):
    assert evaluate(model, data, batches=2) == evaluate(model, Epochs(data.batches[:2]))
    assert evaluate(model, data, batches=99) == evaluate(model, data)
    rejected("batches must be at least 1.*got 0", evaluate, model, data, batches=0)


def test_the_models_mode_random_numbers_and_gradients_are_left_alone(model, data):
    expected, tracked = evaluate(model.eval(), data), []
    model.train()
    model.bert.embeddings.eval()  # a part that is frozen on purpose
    model.nsp_head.register_forward_hook(lambda *parts: tracked.append(parts[2].requires_grad))
    before = {name: module.training for name, module in model.named_modules()}
    state, of_numpy = torch.get_rng_state(), np.random.get_state()[1].tolist()
    assert evaluate(model, data) == expected  # without dropout
    rejected("there are none in its 1 batches", evaluate, model, Epochs(data.batches[2:3]))
    assert {name: module.training for name, module in model.named_modules()} == before
    assert np.random.get_state()[1].tolist() == of_numpy
    assert torch.equal(torch.get_rng_state(), state)
    assert tracked == [False] * (len(SIZES) + 1)
    assert torch.is_grad_enabled()


def test_one_line_has_all_figures_and_a_diverged_loss_is_infinite():
    found = Evaluation(math.log(20), 0.25, 0.5, 0.1, 0.975, 1234, 40)
    assert str(found) == (
        "masked words: 2.996 nats, perplexity 20.0, 25.0% right, 50.0% among the best 5 "
        "(1,234 words); next sentences: 0.100 nats, 97.5% right (40 pairs)"
    )
    assert set(found.as_dict()) == {
        *("mlm_loss", "perplexity", "mlm_accuracy", "mlm_top5"),
        *("nsp_loss", "nsp_accuracy", "n_words", "n_pairs"),
    }
    assert Evaluation(1000.0, 0, 0, 0, 0, 1, 1).perplexity == math.inf
    assert math.isnan(Evaluation(math.nan, 0, 0, 0, 0, 1, 1).perplexity)
