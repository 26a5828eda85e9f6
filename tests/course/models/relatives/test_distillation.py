"""DistilBERT's losses against PyTorch's; a student that equals its teacher has nothing to learn."""

import math
import re
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.pretraining.losses import mlm_loss
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import evaluate
from course.models.relatives.distillation import (
    PUBLISHED,
    Weights,
    cosine_loss,
    distil,
    distilbert_losses,
    soft_target_loss,
    spread_layers,
    student_of,
)
from course.toyworld.batches import ToyData
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, generator, strong, weights

SIZES = {"d_model": 16, "n_heads": 2, "d_ff": 32, "max_length": 32}
DATA = ToyData(batch_size=8, n_batches=4)
BATCH = DATA.epoch(0)[0]


def model(n_layers=4, seed=0, **changes):
    return strong(BertForPreTraining(BertConfig(68, **(SIZES | changes), n_layers=n_layers), seed))


@given(st.floats(0.5, 20), st.integers(0, 1000))
def test_the_soft_loss_and_its_gradient_equal_pytorchs(temperature, seed):
    student, teacher = 3 * torch.randn(2, 5, 9, generator=generator(seed))
    student.requires_grad_()
    got = soft_target_loss(student, teacher, temperature)
    logs = [(logits / temperature).log_softmax(-1) for logits in (student, teacher)]
    expected = temperature**2 * F.kl_div(*logs, reduction="batchmean", log_target=True)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    (mine,), (theirs,) = (torch.autograd.grad(loss, student) for loss in (got, expected))
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    assert soft_target_loss(student[:0], teacher[:0]).item() == 0


def test_t_squared_keeps_the_gradient_at_its_size():
    # Hinton et al., section 2: at a high temperature the gradient comes to (z - v) / V, for logits
    # whose mean is 0, whatever T is.
    student, teacher = torch.randn(2, 1, 7, generator=generator(2))
    student, teacher = student - student.mean(), teacher - teacher.mean()
    student.requires_grad_()
    for temperature in (100.0, 300.0):
        loss = soft_target_loss(student, teacher, temperature)
        (gradient,) = torch.autograd.grad(loss, student)
        expected = (student - teacher).detach() / 7
        torch.testing.assert_close(gradient, expected, rtol=0.2, atol=5e-3)


def test_the_cosine_loss_equals_pytorchs():
    student, teacher = torch.randn(2, 5, 8, generator=generator())
    expected = F.cosine_embedding_loss(student, teacher, torch.ones(5))
    torch.testing.assert_close(cosine_loss(student, teacher), expected)
    square = torch.tensor([[1.0, 0.0], [1.0, 1.0], [-2.0, 0.0]])
    along = torch.tensor([[3.0, 0.0], [5.0, 0.0], [1.0, 0.0]])
    by_hand = (0 + (1 - 1 / math.sqrt(2)) + 2) / 3  # same way, 45 degrees, opposite
    assert cosine_loss(square, along).item() == pytest.approx(by_hand, rel=1e-5)


@given(st.integers(1, 30), st.data())
def test_spread_layers_go_up_and_come_once(n_teacher, data):
    n_student = data.draw(st.integers(1, n_teacher))
    layers = spread_layers(n_student, n_teacher)
    assert layers == sorted(set(layers))
    assert len(layers) == n_student
    assert layers[0] == 0
    assert n_student == 1 or layers[-1] == n_teacher - 1


def test_a_student_is_an_exact_copy_with_fewer_layers_or_with_all():
    teacher = model(6)
    before = weights(teacher)
    student = student_of(teacher)
    assert student.config.n_layers == student.bert.config.n_layers == 3
    assert len(student.bert.layers) == 3
    theirs = teacher.state_dict()
    kept = {"0": "0", "1": "2", "2": "5"}  # ours -> theirs
    for name, tensor in student.state_dict().items():
        there = re.sub(r"(?<=^bert\.layers\.)\d", lambda mine: kept[mine[0]], name)
        assert torch.equal(tensor, theirs[there])
    for parameter in student.parameters():
        parameter.data += 1
    assert torch.equal(weights(teacher), before)  # nothing is shared
    unembedding = student.bert.embeddings.token.weight
    logits = student(BATCH.ids[:1]).mlm_logits.sum()
    assert torch.autograd.grad(logits, unembedding)[0].abs().sum() > 0
    teacher = model(3).eval()
    student = student_of(teacher, 3)
    assert torch.equal(student(BATCH.ids).mlm_logits, teacher(BATCH.ids).mlm_logits)


def test_a_student_that_equals_its_teacher_has_only_the_words_to_learn():
    teacher = model(2).train()
    student = student_of(teacher, 2).eval()
    parts = distilbert_losses(student, teacher, BATCH)
    assert teacher.training  # as it was, though it answered without dropout
    assert parts["soft_loss"].item() == pytest.approx(0, abs=1e-5)
    assert parts["cosine_loss"].item() == pytest.approx(0, abs=1e-5)
    asked = BATCH.ids, BATCH.segment_ids, BATCH.attention_mask, BATCH.predict
    expected = mlm_loss(student(*asked).mlm_logits, BATCH.words)
    torch.testing.assert_close(parts["mlm_loss"], expected)
    torch.testing.assert_close(parts["loss"], 2 * expected, rtol=1e-4, atol=1e-4)


def test_the_sum_is_weighted_and_counts_only_tokens():
    teacher, student = model(2).eval(), model(1, seed=3).eval()
    chosen = Weights(soft=0.5, mlm=3.0, cosine=7.0)
    parts = distilbert_losses(student, teacher, BATCH, temperature=3.0, weights=chosen)
    reads = BATCH.ids, BATCH.segment_ids, BATCH.attention_mask
    mine, theirs = student(*reads), teacher(*reads)
    soft = soft_target_loss(mine.mlm_logits[BATCH.predict], theirs.mlm_logits[BATCH.predict], 3.0)
    words = F.cross_entropy(mine.mlm_logits[BATCH.predict], BATCH.words)
    vectors = [output.encoder.last_hidden_state for output in (mine, theirs)]
    cosines = F.cosine_similarity(*vectors, dim=-1)  # [B, L]
    tokens = BATCH.attention_mask
    assert not tokens.all()
    cosine = 1 - (cosines * tokens).sum() / tokens.sum()
    for name, expected in {"soft": soft, "mlm": words, "cosine": cosine}.items():
        torch.testing.assert_close(parts[f"{name}_loss"], expected, rtol=1e-4, atol=1e-5)
    total = 0.5 * soft + 3 * words + 7 * cosine
    torch.testing.assert_close(parts["loss"], total, rtol=1e-4, atol=1e-4)
    assert PUBLISHED == (5, 2, 1)


def test_a_narrower_student_may_do_without_directions():
    teacher, narrow = model(2).eval(), model(1, d_model=8, d_ff=16)
    parts = distilbert_losses(narrow, teacher, BATCH, weights=Weights(1, 0, 0))
    assert list(parts) == ["loss", "soft_loss", "mlm_loss"]
    with pytest.raises(ValueError, match="cosine_loss: student must have the teacher's shape"):
        distilbert_losses(narrow, teacher, BATCH)


def test_what_cannot_be_compared_is_rejected():
    two = torch.zeros(2, 3)
    shape = r"the teacher's shape, \[2, 4\]; got \[2, 3\]"
    rejected(shape, soft_target_loss, two, torch.zeros(2, 4))
    rejected("temperature must be above 0; got 0", soft_target_loss, two, two, 0)
    rejected("temperature must be above 0; got inf", soft_target_loss, two, two, math.inf)
    rejected(r"must be \[N, V\]; got \[1, 2, 3\]", soft_target_loss, two[None], two[None])
    other, config = BertForPreTraining(BertConfig(70, **SIZES, n_layers=1)), TrainingConfig(2)
    words = "student must have the teacher's 68 words; got 70"
    rejected(words, distil, model(2), other, DATA, config, progress=False)
    for n_layers in (0, 5, -1):
        outside = f"n_layers must be from 1 to 4.*; got {n_layers}"
        rejected(outside, student_of, model(4), n_layers)


@pytest.mark.slow
def test_distillation_changes_only_the_student_and_brings_it_nearer():
    torch.set_num_threads(1)
    teacher, student = model(2).train(), model(1, seed=5, dropout=0)
    losses = partial(distilbert_losses, weights=Weights(5, 0, 1))
    before = weights(teacher), weights(student)
    config = TrainingConfig(60, learning_rate=1e-2, evaluate_every=1000)
    rows = distil(teacher, student, DATA, config, losses=losses, validation=DATA, progress=False)
    assert torch.equal(weights(teacher), before[0])
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert not torch.equal(weights(student), before[1])
    found = [row["loss"] for row in rows if row["kind"] == "train"]
    assert sum(found[-8:]) < 0.5 * sum(found[:8])
    last = rows[-1]
    assert last["kind"] == "held-out"
    assert last["mlm_loss"] == pytest.approx(evaluate(student, DATA).mlm_loss)


def test_the_seed_determines_the_student_and_no_global_state_changes():
    def distilled(seed):
        teacher = model(2)
        student = student_of(teacher, 1)
        losses, config = partial(distilbert_losses, temperature=3.0), TrainingConfig(3, seed=seed)
        distil(teacher, student, DATA, config, losses=losses, progress=False)
        return weights(student)

    assert_the_seed_decides(distilled)
