"""The relatives' loop: against plain PyTorch, deterministic, with clear errors."""

import math
from dataclasses import replace

import pytest
import torch

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.pretraining.losses import mlm_loss
from bertlab.training.loop import TrainingConfig
from course.models.relatives.training import train, without_masks
from course.toyworld.batches import ToyData
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, weights

SIZES = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_length": 32}
CONFIG = TrainingConfig(steps=4, learning_rate=1e-2, warmup=0.5, evaluate_every=3)
DATA = ToyData(batch_size=8, n_batches=3)


def new_model(dropout=0.1):
    return BertForPreTraining(BertConfig(68, dropout=dropout, **SIZES))


def losses_of(model):
    def losses(batch):
        output = model(batch.ids, batch.segment_ids, batch.attention_mask, batch.predict)
        words = mlm_loss(output.mlm_logits, batch.words)
        return {"loss": 2 * words, "words": words}

    return losses


def test_two_steps_are_those_of_plain_pytorch():
    model, reference = new_model(dropout=0), new_model(dropout=0)
    config = replace(CONFIG, steps=2, warmup=0.5, clip=0.3)
    rows = train(model, losses_of(model), DATA, config, progress=False)
    matrices = [p for p in reference.parameters() if p.dim() > 1]
    vectors = [p for p in reference.parameters() if p.dim() == 1]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, weight_decay=0.01, eps=1e-6)
    for step in range(2):  # one step up, then the top
        batch = DATA.epoch(0)[step]
        loss = losses_of(reference)(batch)["loss"]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.3)
        optimizer.step()
        assert rows[step]["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert [row["learning_rate"] for row in rows] == [1e-2, 1e-2]
    torch.testing.assert_close(weights(model), weights(reference), rtol=1e-4, atol=1e-6)


def test_the_same_seed_gives_the_same_weights_and_no_global_state_changes():
    def trained(seed):
        model = new_model()
        train(model, losses_of(model), DATA, replace(CONFIG, seed=seed), progress=False)
        assert not model.training
        return weights(model)

    assert_the_seed_decides(trained)


def test_every_step_draws_other_random_numbers_which_depend_on_its_own_number_alone():
    model, drawn = new_model(), []

    def losses(batch):
        drawn.append(torch.rand(()).item())
        return losses_of(model)(batch)

    for _ in range(2):
        train(model, losses, DATA, CONFIG, progress=False)
    assert drawn[:4] == drawn[4:]
    assert len(set(drawn)) == 4


def test_rows_tell_of_every_step_and_evaluation_comes_before_between_and_after():
    model, seen, asked = new_model(), [], []

    def evaluate():
        asked.append(model.training)
        return {"loss": 7.0}

    options = {"evaluate": evaluate, "watch": seen.append, "progress": False}
    rows = train(model, losses_of(model), DATA, CONFIG, **options)
    assert seen == rows
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 3, 4, 4]
    assert [n for n, row in enumerate(rows) if row["kind"] == "held-out"] == [0, 4, 6]
    of_training = [row for row in rows if row["kind"] == "train"]
    assert [row["learning_rate"] for row in of_training] == [0.005, 0.01, 0.01, 0.005]
    assert all(row["loss"] == pytest.approx(2 * row["words"]) for row in of_training)


def test_a_loss_that_is_not_finite_stops_training_and_unsupported_settings_are_rejected():
    model = new_model()

    def infinite(batch):
        return {"loss": model.nsp_head.weight.sum() * math.nan}

    asked, error = (train, model, infinite, DATA), FloatingPointError
    rejected("the loss of step 1 is nan", *asked, CONFIG, progress=False, error=error)
    for name, value in {"accumulate": 2, "precision": "bfloat16", "compile": True}.items():
        config = replace(CONFIG, **{name: value})
        rejected(f"config.{name} must be", *asked, config, progress=False)


def test_masked_words_are_replaced_by_the_true_ones():
    batch = DATA.epoch(0)[0]
    whole = without_masks(batch)
    assert torch.equal(whole[batch.predict], batch.words)
    assert torch.equal(whole[~batch.predict], batch.ids[~batch.predict])
    assert not torch.equal(whole, batch.ids)
    assert (whole != DATA.masking.mask_id).all()
