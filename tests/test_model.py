"""The encoder against Hugging Face's BertModel, with the same weights."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import BertConfig as ReferenceConfig
from transformers import BertModel

from bertlab.model import Bert, BertConfig, EncoderLayer, FeedForward, LayerNorm, load_pretrained
from bertlab.model.layers import layer_norm

SMALL = {"vocab_size": 50, "d_model": 24, "n_layers": 3, "n_heads": 4, "d_ff": 40}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def reference():
    """A tiny BERT of Hugging Face with weights large enough to tell differences apart."""
    config = ReferenceConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
        max_position_embeddings=64,
        attn_implementation="eager",
    )
    model = BertModel(config).eval()
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator(parameter.numel())) / 3
    return model


@pytest.fixture
def folder(reference, tmp_path):
    reference.save_pretrained(tmp_path)
    return tmp_path


def batch(length=50):
    ids = torch.randint(0, 50, (4, length), generator=generator())
    segment_ids = (torch.arange(length) >= length // 2).long().expand(4, -1)
    attention_mask = (torch.arange(length) < torch.tensor([[length], [17], [9], [1]])).long()
    return ids, segment_ids, attention_mask


@pytest.mark.parametrize("length", [1, 9, 10, 50])
def test_every_output_equals_hugging_face(reference, folder, length):
    ids, segment_ids, mask = batch(length)
    with torch.no_grad():
        expected = reference(
            ids, mask, segment_ids, output_attentions=True, output_hidden_states=True
        )
        got = load_pretrained(folder)(
            ids, segment_ids, mask, output_attentions=True, output_hidden_states=True
        )
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
    ours(ids, segment_ids, mask).last_hidden_state.square().mean().backward()
    reference(ids, mask, segment_ids).last_hidden_state.square().mean().backward()
    layer, theirs = ours.layers[0].attention, reference.encoder.layer[0].attention
    torch.testing.assert_close(
        layer.query.weight.grad, theirs.self.query.weight.grad, rtol=1e-3, atol=1e-6
    )
    torch.testing.assert_close(
        ours.embeddings.token.weight.grad[1:],  # theirs keeps the vector of [PAD], id 0, fixed
        reference.embeddings.word_embeddings.weight.grad[1:],
        rtol=1e-3,
        atol=1e-6,
    )


@pytest.mark.parametrize("size", ["tiny", "mini", "small", "medium", "base", "large"])
def test_presets_have_the_published_sizes(size):
    published = {  # L, H, A
        "tiny": (2, 128, 2),
        "mini": (4, 256, 4),
        "small": (4, 512, 8),
        "medium": (8, 512, 8),
        "base": (12, 768, 12),
        "large": (24, 1024, 16),
    }
    config = getattr(BertConfig, size)()
    assert (config.n_layers, config.d_model, config.n_heads) == published[size]
    assert config.d_ff == 4 * config.d_model
    assert config.d_head == 64


def test_base_has_as_many_parameters_as_hugging_faces():
    with torch.device("meta"):
        reference = BertModel(ReferenceConfig())
    expected = sum(parameter.numel() for parameter in reference.parameters())
    ours = sum(parameter.numel() for parameter in Bert(BertConfig.base()).parameters())
    assert ours == expected == 109_482_240


def test_layer_norm_equals_torch_and_the_formula():
    x = torch.randn(5, 24, generator=generator()) * 7 + 3
    gamma, beta = torch.randn(2, 24, generator=generator(1))
    module = LayerNorm(24)
    module.gamma.data, module.beta.data = gamma, beta
    torch.testing.assert_close(layer_norm(x, gamma, beta), module(x))
    normed = layer_norm(x, torch.ones(24), torch.zeros(24))
    torch.testing.assert_close(normed.mean(dim=-1), torch.zeros(5), rtol=0, atol=1e-5)
    torch.testing.assert_close(normed.var(dim=-1, correction=0), torch.ones(5))


def test_layer_norm_by_hand():
    # Row 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 4 = 3.5
    row = torch.tensor([1.0, 2.0, 3.0, 6.0])
    expected = torch.tensor([-2.0, -1.0, 0.0, 3.0]) / 3.5**0.5
    torch.testing.assert_close(layer_norm(row, torch.ones(4), torch.zeros(4)), expected)


def test_a_constant_row_is_normed_to_the_offset_and_not_to_nan():
    beta = torch.tensor([1.0, 2.0])
    assert torch.equal(layer_norm(torch.full((2,), 7.0), torch.ones(2), beta), beta)


def test_the_encoder_layer_equals_torchs_post_norm_layer():
    config = BertConfig(**SMALL, dropout=0.0, layer_norm_eps=1e-5)
    ours = EncoderLayer(config).eval()
    theirs = torch.nn.TransformerEncoderLayer(
        24, 4, 40, dropout=0.0, activation="gelu", batch_first=True
    ).eval()
    attention = ours.attention
    parts = (attention.query, attention.key, attention.value)
    theirs.self_attn.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
    theirs.self_attn.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
    theirs.self_attn.out_proj.load_state_dict(attention.output.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    x = torch.randn(2, 30, 24, generator=generator())
    torch.testing.assert_close(ours(x)[0], theirs(x), rtol=1e-5, atol=1e-5)


def test_feed_forward_treats_every_token_by_itself():
    network, x = FeedForward(8, 16), torch.randn(1, 5, 8, generator=generator())
    torch.testing.assert_close(network(x)[:, 2], network(x[:, 2]))


def test_the_seed_decides_the_weights_and_nothing_global_moves():
    torch.manual_seed(7)
    state = torch.get_rng_state()
    first, second, other = (Bert(BertConfig(**SMALL), seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first.pooler.weight, second.pooler.weight)
    assert not torch.equal(first.pooler.weight, other.pooler.weight)
    weights = first.embeddings.token.weight
    assert weights.std().item() == pytest.approx(0.02, rel=0.1)


@given(st.integers(1, 20), st.integers(0, 10))
def test_padding_does_not_change_the_vectors_of_the_tokens(length, padding):
    model = Bert(BertConfig(**SMALL)).eval()
    ids = torch.randint(0, 50, (1, length + padding), generator=generator(length))
    mask = (torch.arange(length + padding) < length)[None]
    with torch.no_grad():
        padded = model(ids, attention_mask=mask).last_hidden_state[:, :length]
        plain = model(ids[:, :length]).last_hidden_state
    torch.testing.assert_close(padded, plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bad", [50, -1])
def test_a_token_id_out_of_range_is_refused(bad):
    with pytest.raises(ValueError, match=f"ids must be from 0 to 49; got {bad}"):
        Bert(BertConfig(**SMALL))(torch.tensor([[1, bad]]))


def test_a_segment_out_of_range_is_refused():
    ids = torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match="segment_ids must be from 0 to 1; got 2"):
        Bert(BertConfig(**SMALL))(ids, ids)
    with pytest.raises(ValueError, match="segment_ids must have the shape of ids"):
        Bert(BertConfig(**SMALL))(ids, ids[:, :1])


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="at most max_length=8 tokens a sequence; got 9"):
        Bert(BertConfig(**SMALL, max_length=8))(torch.ones(1, 9, dtype=torch.long))


@pytest.mark.parametrize("shape", [(5,), (0, 5), (2, 0)])
def test_ids_must_be_a_batch_that_is_not_empty(shape):
    with pytest.raises(ValueError, match=r"ids must be \[B, L\] and not empty"):
        Bert(BertConfig(**SMALL))(torch.zeros(shape, dtype=torch.long))


def test_a_mask_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"got \[1, 3\] for 1 sequences of 2 tokens"):
        Bert(BertConfig(**SMALL))(torch.tensor([[1, 2]]), attention_mask=torch.ones(1, 3))


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="d_model must be divisible by n_heads"):
        BertConfig(d_model=770)
    with pytest.raises(ValueError, match="n_layers must be at least 1; got 0"):
        BertConfig(n_layers=0)
    with pytest.raises(ValueError, match=r"dropout must be in \[0, 1\); got 1"):
        BertConfig(dropout=1.0)


def test_missing_and_unexpected_tensors_are_listed(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["pooler.dense.bias"]
    tensors["cls.predictions.bias"] = torch.zeros(50)
    tensors["pooler.dense.weight"] = torch.zeros(24, 23)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ValueError) as error:
        load_pretrained(folder)
    assert "missing: pooler.dense.bias" in str(error.value)
    assert "unexpected: cls.predictions.bias" in str(error.value)
    assert "shape of pooler.dense.weight: expected [24, 24], got [24, 23]" in str(error.value)


def test_a_model_of_another_kind_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "roberta"}))
    with pytest.raises(ValueError, match="model_type must be 'bert'"):
        load_pretrained(folder)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json"):
        load_pretrained(tmp_path)


@pytest.mark.corpora
def test_real_published_weights_equal_hugging_face():
    from bertlab.data import weights

    folder = weights("minilm")
    reference = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.randint(1000, 30_000, (2, 200), generator=generator())
    mask = torch.ones(2, 200, dtype=torch.long)
    mask[1, 60:] = 0
    with torch.no_grad():
        expected = reference(ids, mask, output_attentions=True)
        got = load_pretrained(folder)(ids, attention_mask=mask, output_attentions=True)
    torch.testing.assert_close(
        got.last_hidden_state, expected.last_hidden_state, rtol=1e-4, atol=1e-4
    )
    torch.testing.assert_close(got.attentions, expected.attentions, rtol=1e-4, atol=1e-5)
