"""The pre-training heads and their gradients against `transformers`."""

import pytest
import torch
from transformers import BertForPreTraining as ReferenceForPreTraining

from bertlab.model import Bert, BertConfig, BertForPreTraining, load_pretrained
from bertlab.model.pretrained import tensor_names
from bertlab.pretraining.losses import pretraining_loss
from tests.small_models import assert_same_gradients, generator, reference_model

CONFIG = BertConfig(50, 24, 2, 4, 40, max_length=64)


@pytest.fixture
def both(tmp_path):
    reference = reference_model(ReferenceForPreTraining, num_hidden_layers=2)
    reference.save_pretrained(tmp_path)
    return load_pretrained(tmp_path, BertForPreTraining), reference


def batch():
    ids = torch.randint(1, 50, (4, 30), generator=generator())
    mask = (torch.arange(30) < torch.tensor([[30], [17], [9], [3]])).long()
    segment_ids = (torch.arange(30) >= 12).long().expand(4, -1)
    predict = torch.rand(4, 30, generator=generator()) < 0.3
    return ids, segment_ids, mask, predict & mask.bool()


def test_logits_equal_hugging_faces_everywhere_and_at_chosen_positions(both):
    ours, reference = both
    ids, segment_ids, mask, predict = batch()
    expected = reference(ids, mask, segment_ids)
    everywhere = ours(ids, segment_ids, mask)
    chosen = ours(ids, segment_ids, mask, predict)
    close = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(everywhere.mlm_logits, expected.prediction_logits, **close)
    torch.testing.assert_close(chosen.mlm_logits, expected.prediction_logits[predict], **close)
    for output in (everywhere, chosen):
        torch.testing.assert_close(output.nsp_logits, expected.seq_relationship_logits, **close)


def test_the_loss_of_pre_training_has_hugging_faces_gradients(both):
    ours, reference = both
    ids, segment_ids, mask, predict = batch()
    words = torch.randint(50, ids.shape, generator=generator(1))
    follows = torch.tensor([0, 1, 1, 0])
    output = ours(ids, segment_ids, mask, predict)
    loss = pretraining_loss(output.mlm_logits, words[predict], output.nsp_logits, follows)
    labels = words.masked_fill(~predict, -100)
    expected = reference(ids, mask, segment_ids, labels=labels, next_sentence_label=follows).loss
    torch.testing.assert_close(loss, expected)
    loss.backward()
    expected.backward()
    names = tensor_names(2, BertForPreTraining)
    assert set(names) == set(dict(ours.named_parameters()))
    assert_same_gradients(ours, reference, names, atol=1e-5)


def test_nothing_to_predict_gives_no_logits_and_attentions_come_on_request():
    model, ids = BertForPreTraining(CONFIG).eval(), torch.ones(2, 5, dtype=torch.long)
    output = model(ids, predict=torch.zeros(2, 5, dtype=torch.bool))
    assert output.mlm_logits.shape == (0, 50)
    assert output.nsp_logits.shape == (2, 2)
    assert output.encoder.hidden_states is None
    asked = model(ids, output_attentions=True, output_hidden_states=True).encoder
    assert [a.shape for a in asked.attentions] == [(2, 4, 5, 5)] * 2
    assert [h.shape for h in asked.hidden_states] == [(2, 5, 24)] * 3


def test_the_encoder_of_a_seed_is_the_same_with_and_without_heads():
    with_heads, bare = BertForPreTraining(CONFIG, 5).bert.state_dict(), Bert(CONFIG, 5).state_dict()
    torch.testing.assert_close(with_heads, bare, rtol=0, atol=0)
