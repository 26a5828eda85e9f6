"""TinyBERT's losses: the scores that attention uses, means by hand, layers as published."""

import pytest
import torch
from torch.nn import functional as F

from bertlab.model import BertConfig, BertForPreTraining, EncoderLayer
from course.experiments import layer_matching
from course.experiments.layer_matching import LayerMatching, attention_loss, attention_scores
from course.models.relatives.distillation import cosine_loss, student_of
from course.toyworld.batches import ToyData
from tests.small_models import generator, strong

SIZES = {"n_heads": 2, "d_ff": 32, "max_length": 32}
BATCH = ToyData(batch_size=8).epoch(0)[0]


def model(n_layers, d_model=16, seed=0):
    config = BertConfig(68, d_model=d_model, n_layers=n_layers, **SIZES)
    return strong(BertForPreTraining(config, seed).eval())


def test_the_softmax_of_the_scores_is_what_attention_uses():
    layer = EncoderLayer(24, 4, 40).eval()
    x = torch.randn(2, 5, 24, generator=generator())
    _, probabilities = layer(x, output_attentions=True)
    scores = attention_scores(layer.attention, x)
    torch.testing.assert_close(scores.softmax(dim=-1), probabilities)
    heads = layer.attention.head_weights()
    for head, (W_q, b_q, W_k, b_k, *_) in enumerate(heads):  # not up to a constant: themselves
        by_hand = (x @ W_q + b_q) @ (x @ W_k + b_k).mT / 6**0.5
        torch.testing.assert_close(scores[:, head], by_hand)


def test_the_attention_loss_is_a_mean_over_heads_and_pairs_of_tokens():
    student, teacher = torch.randn(2, 2, 3, 4, 4, generator=generator())
    everything = torch.ones(2, 4, dtype=torch.bool)
    expected = F.mse_loss(student, teacher)
    torch.testing.assert_close(attention_loss(student, teacher, everything), expected)
    mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    kept = [(student - teacher)[0, :, :2, :2], (student - teacher)[1]]  # 4 and 16 pairs, 3 heads
    by_hand = sum(part.square().sum() for part in kept) / (3 * 20)
    torch.testing.assert_close(attention_loss(student, teacher, mask), by_hand)


def test_layers_are_matched_as_published_and_the_hidden_loss_projects_the_student():
    student = torch.tensor([[1.0, 2.0]])
    teacher = torch.tensor([[1.0, 0.0, 4.0]])
    projection = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # [1, 2] becomes [1, 2, 3]
    loss = layer_matching.hidden_loss(student, teacher, projection)
    assert loss.item() == pytest.approx((0 + 4 + 1) / 3)
    assert layer_matching.matched_layers(6, 12) == [0, 2, 4, 6, 8, 10, 12]
    assert layer_matching.matched_layers(3, 3) == [0, 1, 2, 3]


def test_a_student_that_equals_its_teacher_has_nothing_to_learn():
    teacher = model(2).train()
    student = student_of(teacher, 2).eval()
    parts = LayerMatching(student.config, teacher.config)(student, teacher, BATCH)
    assert all(part.item() == pytest.approx(0, abs=1e-6) for part in parts.values())
    assert teacher.training  # its mode is restored, although it ran without dropout


def test_every_part_of_the_loss_is_what_its_name_says():
    teacher, student = model(4), model(2, d_model=8, seed=3)
    matching = LayerMatching(student.config, teacher.config)
    with torch.no_grad():
        for parameter in matching.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator(parameter.numel())))
    parts = matching(student, teacher, BATCH)
    reads, tokens = (BATCH.ids, BATCH.segment_ids, BATCH.attention_mask), BATCH.attention_mask
    mine = student.bert(*reads, output_hidden_states=True, output_attentions=True)
    theirs = teacher.bert(*reads, output_hidden_states=True, output_attentions=True)

    def distance(m, n, W):
        return F.mse_loss(mine.hidden_states[m][tokens] @ W.T, theirs.hidden_states[n][tokens])

    hidden = distance(1, 2, matching.hidden) + distance(2, 4, matching.hidden)
    torch.testing.assert_close(parts["embedding_loss"], distance(0, 0, matching.embeddings))
    torch.testing.assert_close(parts["hidden_loss"], hidden)
    attention = 0
    for m, n in ((1, 2), (2, 4)):
        own = attention_scores(student.bert.layers[m - 1].attention, mine.hidden_states[m - 1])
        other = attention_scores(teacher.bert.layers[n - 1].attention, theirs.hidden_states[n - 1])
        keys = tokens[:, None, None, :]
        for scores, weights in ((own, mine.attentions[m - 1]), (other, theirs.attentions[n - 1])):
            used = scores.masked_fill(~keys, -torch.inf).softmax(dim=-1)
            torch.testing.assert_close(used, weights)  # these are the scores of that layer
        attention = attention + attention_loss(own, other, tokens)
    torch.testing.assert_close(parts["attention_loss"], attention)
    total = parts["embedding_loss"] + parts["hidden_loss"] + parts["attention_loss"]
    torch.testing.assert_close(parts["loss"], total)


def test_gradients_reach_the_student_and_the_projections_and_not_the_teacher():
    teacher, student = model(2), model(1, d_model=8)
    matching = LayerMatching(student.config, teacher.config)
    matching(student, teacher, BATCH)["loss"].backward()
    assert matching.embeddings.grad.abs().sum() > 0
    assert matching.hidden.grad.abs().sum() > 0
    assert student.bert.layers[0].attention.query_key_value.weight.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in teacher.parameters())


def test_students_that_do_not_match_are_rejected():
    with pytest.raises(ValueError, match="must divide the teacher's; got 3 of 4"):
        LayerMatching(model(3).config, model(4).config)
    with pytest.raises(ValueError, match=r"as many heads as the teacher.*, 2; got 4"):
        LayerMatching(BertConfig(68, d_model=16, n_layers=1, n_heads=4), model(4).config)
    with pytest.raises(ValueError, match="attention_loss: student must have the teacher's shape"):
        attention_loss(torch.zeros(1, 2, 3, 3), torch.zeros(1, 4, 3, 3), torch.ones(1, 3).bool())


def test_losses_of_nothing_or_of_a_broadcast_are_rejected():
    scores, tokens = torch.zeros(2, 2, 3, 3), torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"attention_mask must be \[B, L\] = \[2, 3\].*\[1, 3\]"):
        attention_loss(scores, scores, tokens[:1])
    identity = torch.eye(4)
    with pytest.raises(ValueError, match=r"hidden_loss: .*\[1, 4\]; got \[3, 4\]"):
        layer_matching.hidden_loss(torch.zeros(3, 4), torch.ones(1, 4), identity)
    for loss in (lambda x: layer_matching.hidden_loss(x, x, identity), lambda x: cosine_loss(x, x)):
        with pytest.raises(ValueError, match="at least one token"):
            loss(torch.zeros(0, 4))
