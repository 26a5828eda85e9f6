"""The encoder against Hugging Face's BertModel, with the same weights."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig as ReferenceConfig
from transformers import BertModel

from bertlab.model import Bert, BertConfig, load_pretrained
from bertlab.model.pretrained import tensor_names
from tests import small_models

PUBLISHED = {  # L, H, A
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}
SMALL = {"vocab_size": 50, "d_model": 24, "n_layers": 3, "n_heads": 4, "d_ff": 40}


@pytest.fixture(scope="module")
def reference():
    return small_models.reference_model(BertModel)


@pytest.fixture
def folder(reference, tmp_path):
    reference.save_pretrained(tmp_path)
    return tmp_path


def batch(length=50):
    ids = torch.randint(0, 50, (4, length), generator=small_models.generator())
    segment_ids = (torch.arange(length) >= length // 2).long().expand(4, -1)
    attention_mask = (torch.arange(length) < torch.tensor([[length], [17], [9], [1]])).long()
    return ids, segment_ids, attention_mask


@pytest.mark.parametrize("length", [1, 9, 10, 50])
def test_every_output_equals_hugging_face(reference, folder, length):
    ids, segment_ids, mask = batch(length)
    everything = {"output_attentions": True, "output_hidden_states": True}
    expected = reference(ids, mask, segment_ids, **everything)
    got = load_pretrained(folder)(ids, segment_ids, mask, **everything)
    fused = load_pretrained(folder)(ids, segment_ids, mask)
    close = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(got.pooler_output, expected.pooler_output, **close)
    torch.testing.assert_close(got.attentions, expected.attentions, **close)
    torch.testing.assert_close(got.hidden_states, expected.hidden_states, **close)
    torch.testing.assert_close(fused.last_hidden_state, expected.last_hidden_state, **close)
    assert fused.attentions is None
    assert fused.hidden_states is None


def test_training_gives_the_gradients_of_hugging_face(reference, folder):
    ids, segment_ids, mask = batch()
    ours = load_pretrained(folder)
    reference.zero_grad()
    for output in (ours(ids, segment_ids, mask), reference(ids, mask, segment_ids)):
        (output.last_hidden_state.square().mean() + output.pooler_output.sum()).backward()
    # Theirs keeps the vector of [PAD], id 0, as it is; ours learns it like any other.
    ours.embeddings.token.weight.grad[0] = 0
    small_models.assert_same_gradients(ours, reference, tensor_names(3), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("size", PUBLISHED)
def test_random_weights_of_every_size_give_what_hugging_face_gives(size):
    config = getattr(BertConfig, size)(vocab_size=50)
    ours = Bert(config, seed=3).eval()
    for parameter in ours.parameters():
        if parameter.dim() == 2:
            parameter.data *= 3  # sharper attention, in which a mistake would show
    n_layers, d_model, n_heads = PUBLISHED[size]
    assert config.d_head == 64
    sizes = {"hidden_size": d_model, "num_hidden_layers": n_layers, "num_attention_heads": n_heads}
    sizes |= {"vocab_size": 50, "intermediate_size": 4 * d_model}
    with torch.device("meta"):
        reference = BertModel(ReferenceConfig(**sizes, attn_implementation="eager")).eval()
    stacked = {
        name: part
        for mine, theirs in tensor_names(n_layers).items()
        for name, part in zip(theirs, ours.get_parameter(mine).chunk(len(theirs)), strict=True)
    }
    reference.load_state_dict(stacked, strict=True, assign=True)
    reference.embeddings.position_ids = torch.arange(512)[None]
    reference.embeddings.token_type_ids = torch.zeros(1, 512, dtype=torch.long)
    ids, segment_ids, mask = batch(20)
    expected = reference(ids, mask, segment_ids, output_attentions=True)
    got = ours(ids, segment_ids, mask, output_attentions=True)
    close = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(got.last_hidden_state, expected.last_hidden_state, **close)
    torch.testing.assert_close(got.attentions, expected.attentions, rtol=1e-3, atol=1e-5)


def test_a_causal_bert_is_hugging_faces_decoder():
    reference = small_models.reference_model(BertModel, is_decoder=True)
    ours = Bert(BertConfig(**SMALL, max_length=64, causal=True)).eval()
    theirs = reference.state_dict()
    names = tensor_names(3).items()
    ours.load_state_dict({n: torch.cat([theirs[part] for part in parts]) for n, parts in names})
    ids, segment_ids, mask = batch(20)
    for padding in (mask, None):
        expected = reference(ids, padding, segment_ids, output_attentions=True)
        got = ours(ids, segment_ids, padding, output_attentions=True)
        fused = ours(ids, segment_ids, padding)
        torch.testing.assert_close(got.attentions, expected.attentions, rtol=1e-4, atol=1e-5)
        for states in (got.last_hidden_state, fused.last_hidden_state):
            torch.testing.assert_close(states, expected.last_hidden_state, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@given(st.integers(2, 20), st.data())
def test_a_causal_bert_never_looks_ahead_and_bert_does(length, data):
    later = data.draw(st.integers(1, length - 1))
    ids = torch.randint(0, 50, (1, length), generator=small_models.generator(length))
    changed = ids.clone()
    changed[:, later:] = (changed[:, later:] + 1) % 50
    for causal in (True, False):
        model = Bert(BertConfig(**SMALL, causal=causal)).eval()
        before, after = (model(i).last_hidden_state[:, :later] for i in (ids, changed))
        assert torch.equal(before, after) is causal


def test_the_seed_determines_the_weights_and_no_global_state_changes():
    small_models.assert_the_seed_decides(lambda seed: Bert(BertConfig(**SMALL), seed).pooler.weight)
    words = Bert(BertConfig(**SMALL)).embeddings.token.weight
    assert words.std().item() == pytest.approx(0.02, rel=0.1)


@pytest.mark.slow
@given(st.integers(1, 20), st.integers(0, 10))
def test_padding_does_not_change_the_vectors_of_the_tokens(length, padding):
    model = Bert(BertConfig(**SMALL)).eval()
    ids = torch.randint(0, 50, (1, length + padding), generator=small_models.generator(length))
    mask = (torch.arange(length + padding) < length)[None]
    padded = model(ids, attention_mask=mask).last_hidden_state[:, :length]
    plain = model(ids[:, :length]).last_hidden_state
    torch.testing.assert_close(padded, plain, rtol=1e-4, atol=1e-5)


def test_numbers_of_numpy_are_sizes_too():
    config = BertConfig(np.int64(30), d_model=np.int32(8), n_heads=2, dropout=np.float32(0.5))
    assert Bert(config).embeddings.token.weight.shape == (30, 8)
