"""Stacks with other norms against PyTorch's, and replaced positions."""

import pytest
import torch

from bertlab.model.bert import sinusoidal_positions
from bertlab.model.transformer import Transformer, TransformerConfig
from course.experiments.variants import Stack, with_positions
from tests.bertlab.model.test_transformer import copy_attention, copy_feed_forward
from tests.small_models import generator

IDS = torch.randint(8, (3, 7), generator=generator())


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
def test_a_stack_equals_torchs_and_all_start_from_the_same_weights(norm):
    ours = Stack(norm, vocab_size=8, n_layers=3, d_model=16, seed=0).eval()
    x = ours.token(IDS) * 4 + sinusoidal_positions(7, 16)
    for layer in Stack("pre", vocab_size=8, n_layers=3, d_model=16, seed=0).layers:
        theirs = torch.nn.TransformerEncoderLayer(
            16, 2, 32, dropout=0.0, norm_first=norm != "post", batch_first=True
        )
        copy_attention(layer.attention, theirs.self_attn)
        copy_feed_forward(layer, theirs)
        if norm == "none":
            theirs.norm1 = theirs.norm2 = torch.nn.Identity()
        x = theirs(x)
    if norm == "pre":
        x = torch.nn.functional.layer_norm(x, (16,))
    torch.testing.assert_close(ours(IDS), x @ ours.token.weight.T, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="norm must be one of post, pre, none; got 'batch'"):
        Stack("batch", 8, 2, 16, seed=0)


def test_only_positions_are_replaced_and_without_them_order_has_no_effect():
    config = TransformerConfig(8, d_model=16, n_layers=1, n_heads=2, d_ff=32, dropout=0.0)
    models = {kind: with_positions(Transformer(config), kind) for kind in ("learned", "none")}
    length = dict(models["learned"].named_parameters())["positions"].norm(dim=1).square().mean()
    assert abs(length - 8) < 0.5  # as sines and cosines: D / 2
    memory = models["none"].encode(IDS)
    torch.testing.assert_close(models["none"].encode(IDS.flip(1)), memory.flip(1))
    assert not torch.allclose(models["learned"].encode(IDS.flip(1)), memory.flip(1), atol=0.1)
