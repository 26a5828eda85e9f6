"""The encoder-decoder Transformer against torch.nn.Transformer, and its laws."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bertlab.model.transformer import Transformer, TransformerConfig
from tests.small_models import assert_the_seed_decides, generator, normal, weights

SMALL = {"vocab_size": 40, "d_model": 24, "n_layers": 3, "n_heads": 4, "d_ff": 36, "max_length": 60}


def model_of(**changes):
    """A small model in which every weight, also biases and norms, has an effect."""
    model = Transformer(TransformerConfig(**(SMALL | {"dropout": 0.0} | changes)))
    for number, parameter in enumerate(model.parameters()):
        parameter.data += 0.1 * normal(*parameter.shape, seed=number)
    return model


def copy_attention(ours, theirs):
    theirs.in_proj_weight.data = ours.query_key_value.weight.data.clone()
    theirs.in_proj_bias.data = ours.query_key_value.bias.data.clone()
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_norm(ours, theirs):
    theirs.load_state_dict({"weight": ours.gamma.data, "bias": ours.beta.data})


def copy_feed_forward(ours, theirs):
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())


def reference_of(model):
    """torch.nn.Transformer with the same weights; the paper's has no norm after the last layer."""
    config = model.config
    sizes = config.d_model, config.n_heads, config.n_layers, config.n_layers, config.d_ff
    options = {"dropout": 0.0, "batch_first": True, "norm_first": config.pre_norm}
    reference = nn.Transformer(*sizes, **options)
    for ours, theirs in zip(model.encoder, reference.encoder.layers, strict=True):
        copy_attention(ours.attention, theirs.self_attn)
        copy_norm(ours.attention_norm, theirs.norm1)
        copy_norm(ours.feed_forward_norm, theirs.norm2)
        copy_feed_forward(ours, theirs)
    for ours, theirs in zip(model.decoder, reference.decoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        copy_norm(ours.self_attention_norm, theirs.norm1)
        copy_norm(ours.cross_attention_norm, theirs.norm2)
        copy_norm(ours.feed_forward_norm, theirs.norm3)
        copy_feed_forward(ours, theirs)
    if config.pre_norm:
        copy_norm(model.encoder_norm, reference.encoder.norm)
        copy_norm(model.decoder_norm, reference.decoder.norm)
    else:
        reference.encoder.norm = reference.decoder.norm = None
    return reference


def batch(source_length=17, target_length=13):
    """Three pairs; all but the first are padded, in the source and in the target."""
    source_ids = torch.randint(0, 40, (3, source_length), generator=generator(1))
    target_ids = torch.randint(0, 40, (3, target_length), generator=generator(2))
    source_mask = torch.arange(source_length) < torch.tensor([[source_length], [5], [1]])
    target_mask = torch.arange(target_length) < torch.tensor([[target_length], [1], [7]])
    return source_ids, target_ids, source_mask, target_mask


def reference_logits(model, reference, source_ids, target_ids, source_mask, target_mask):
    later = torch.ones(target_ids.shape[1], target_ids.shape[1]).triu(1).bool()
    masks = {"tgt_mask": later, "tgt_key_padding_mask": ~target_mask}
    masks |= dict.fromkeys(["src_key_padding_mask", "memory_key_padding_mask"], ~source_mask)
    states = reference(model.embed(source_ids), model.embed(target_ids), **masks)
    return states @ model.token.weight.T


@pytest.mark.parametrize("pre_norm", [False, True])
def test_logits_and_gradients_equal_torchs_with_padding_and_causal_masks(pre_norm):
    model = model_of(pre_norm=pre_norm)
    reference = reference_of(model)
    pairs = batch()
    got = model(*pairs).logits
    expected = reference_logits(model, reference, *pairs)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)

    got.square().mean().backward()
    mine = model.token.weight.grad.clone()
    model.zero_grad()
    expected.square().mean().backward()
    torch.testing.assert_close(mine, model.token.weight.grad, rtol=1e-4, atol=1e-5)
    for ours, theirs in (
        (model.encoder[0].attention, reference.encoder.layers[0].self_attn),
        (model.decoder[1].self_attention, reference.decoder.layers[1].self_attn),
        (model.decoder[2].cross_attention, reference.decoder.layers[2].multihead_attn),
    ):
        model.zero_grad()
        model(*pairs).logits.square().mean().backward()
        gradients = ours.query_key_value.weight.grad, theirs.in_proj_weight.grad
        torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)


def test_attentions_come_on_request_and_change_no_logits():
    model, pairs = model_of(), batch()
    plain, asked = model(*pairs), model(*pairs, output_attentions=True)
    assert plain.cross_attentions is None
    torch.testing.assert_close(asked.logits, plain.logits, rtol=1e-5, atol=1e-5)
    assert [a.shape for a in asked.encoder_attentions] == [(3, 4, 17, 17)] * 3
    assert [a.shape for a in asked.decoder_attentions] == [(3, 4, 13, 13)] * 3
    assert [a.shape for a in asked.cross_attentions] == [(3, 4, 13, 17)] * 3
    for cross in asked.cross_attentions:
        torch.testing.assert_close(cross.sum(dim=-1), torch.ones(3, 4, 13))
        assert cross[1, :, :, 5:].abs().max() == 0  # padding of the second source
    for own in asked.decoder_attentions:
        assert own.triu(1).abs().max() == 0


@pytest.mark.slow
@given(st.integers(1, 11), st.integers(0, 10_000), st.booleans())
def test_a_later_target_token_never_changes_earlier_logits(place, seed, pre_norm):
    model = model_of(pre_norm=pre_norm, n_layers=2).eval()
    source_ids = torch.randint(0, 40, (2, 9), generator=generator(seed))
    target_ids = torch.randint(0, 40, (2, 12), generator=generator(seed + 1))
    other = target_ids.clone()
    other[:, place:] = torch.randint(0, 40, (2, 12 - place), generator=generator(seed + 2))
    other[:, place] = (target_ids[:, place] + 1) % 40
    before, after = model(source_ids, target_ids).logits, model(source_ids, other).logits
    torch.testing.assert_close(before[:, :place], after[:, :place], rtol=1e-5, atol=1e-5)
    assert (before[:, place] - after[:, place]).abs().max() > 1e-4


@pytest.mark.slow
@given(st.integers(1, 8), st.integers(1, 8))
def test_padding_of_the_source_changes_nothing(length, padding):
    model = model_of(n_layers=2).eval()
    source_ids = torch.randint(0, 40, (1, length + padding), generator=generator(length))
    target_ids = torch.randint(0, 40, (1, 6), generator=generator(padding))
    mask = (torch.arange(length + padding) < length)[None]
    padded = model(source_ids, target_ids, mask).logits
    plain = model(source_ids[:, :length], target_ids).logits
    torch.testing.assert_close(padded, plain, rtol=1e-5, atol=1e-5)


def test_encode_and_decode_are_the_two_halves_of_forward():
    model = model_of()
    source_ids, target_ids, source_mask, _ = batch()
    memory = model.encode(source_ids, source_mask)
    assert memory.shape == (3, 17, 24)
    logits = model.decode(target_ids, memory, source_mask)
    torch.testing.assert_close(logits, model(source_ids, target_ids, source_mask).logits)


def test_the_input_is_the_token_times_the_root_of_d_plus_a_wave():
    model = model_of()
    ids = torch.tensor([[7, 7, 3]])
    for place, id in enumerate([7, 7, 3]):
        angles = [place / 10_000 ** (2 * i / 24) for i in range(12)]
        waves = torch.tensor([f(a) for a in angles for f in (math.sin, math.cos)])
        expected = model.token.weight[id] * 24**0.5 + waves
        torch.testing.assert_close(model.embed(ids)[0, place], expected, rtol=1e-5, atol=1e-5)


def test_the_base_model_has_the_papers_sizes_and_65_million_parameters():
    # Table 3: 65 x 10^6. By hand: 37,000 x 512 shared; an attention has 4 (512^2 + 512), a
    # feed-forward 2 x 512 x 2048 + 2048 + 512, a norm 2 x 512; 6 x (1, 1, 2) and 6 x (2, 1, 3).
    attention, feed_forward, norm = 4 * (512**2 + 512), 2 * 512 * 2048 + 2560, 1024
    by_hand = 37_000 * 512 + 6 * (3 * attention + 2 * feed_forward + 5 * norm)
    with torch.device("meta"):
        model = Transformer(TransformerConfig())
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert counted == by_hand == 63_082_496
    assert abs(counted / 65e6 - 1) < 0.03
    config = TransformerConfig()
    assert (config.d_model, config.n_layers, config.n_heads, config.d_ff) == (512, 6, 8, 2048)
    assert (config.d_head, config.dropout, config.pre_norm) == (64, 0.1, False)


def test_pre_norm_ends_with_a_norm_and_post_norm_does_not():
    names = {name for name, _ in model_of(pre_norm=True).named_parameters()}
    post = {name for name, _ in model_of().named_parameters()}
    assert names - post == {
        f"{stack}_norm.{part}" for stack in ("encoder", "decoder") for part in ("gamma", "beta")
    }


def test_the_seed_determines_the_weights_and_no_global_state_changes():
    config = TransformerConfig(**SMALL)
    assert_the_seed_decides(lambda seed: weights(Transformer(config, seed)))
    assert Transformer(config).token.weight.std().item() == pytest.approx(24**-0.5, rel=0.1)


def test_dropout_acts_in_training_only():
    model, pairs = model_of(dropout=0.5), batch()
    model.eval()
    torch.testing.assert_close(model(*pairs).logits, model(*pairs).logits)
    model.train()
    assert not torch.allclose(model(*pairs).logits, model(*pairs).logits)
