"""The toy world as batches for the training loop."""

import pytest
import torch

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain
from course.toyworld import TOYWORLD, limit
from course.toyworld.batches import ToyData
from tests.bertlab.pretraining.test_batches import same

PAD = TOYWORLD.tokenizer.vocab["[PAD]"]


def test_a_batch_depends_on_seed_epoch_and_number_alone_and_an_epoch_ends():
    data = ToyData(batch_size=8, n_batches=3)
    assert same(data.epoch(1)[2], ToyData(batch_size=8, n_batches=3).epoch(1)[2])
    others = [data.epoch(1)[1], data.epoch(0)[2], ToyData(batch_size=8, seed=1).epoch(1)[2]]
    assert not any(same(data.epoch(1)[2], other) for other in others)
    epoch = ToyData(batch_size=2, n_batches=3).epoch(0)
    assert len(list(epoch)) == len(epoch) == 3
    with pytest.raises(IndexError):
        epoch[3]


def test_a_batch_has_the_width_of_its_longest_pair_and_targets_fill_the_masks():
    data = ToyData(batch_size=5, n_batches=20)
    for batch in map(data.epoch(0).__getitem__, range(20)):
        assert batch.attention_mask.any(dim=0).all()
        assert torch.equal(batch.attention_mask, batch.ids != PAD)
        whole = batch.ids.clone()
        whole[batch.predict] = batch.words
        # A complete pair is possible in the toy world: Bayes' rule gives it a probability.
        reached = limit(whole, batch.predict, batch.words, batch.next_sentence)
        assert reached.mlm_loss < 5


@pytest.mark.slow
def test_the_loop_trains_on_it():
    data = ToyData(batch_size=16, n_batches=4)
    validation = ToyData(batch_size=64, n_batches=1, seed=1)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_length": 32}
    model = BertForPreTraining(BertConfig(len(TOYWORLD.tokenizer.vocab), **sizes))
    config = TrainingConfig(steps=40, learning_rate=1e-2, evaluate_every=40)
    rows = pretrain(model, data, config, validation=validation, progress=False)
    before, after = (row["mlm_loss"] for row in rows if row["kind"] == "held-out")
    assert after < before - 0.3


@pytest.mark.parametrize("name", ["batch_size", "n_batches"])
def test_numbers_out_of_range_are_rejected(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
        ToyData(**{name: 0})
