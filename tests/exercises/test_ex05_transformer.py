"""Exercise 5: what its solution of rotary positions computes is what transformers computes."""

import pytest
import torch

from course.feedback.ex05_transformer import angle_table


@pytest.mark.parametrize("start", [0, 9])
def test_a_chunk_is_rotated_as_in_roformer(solution, start):
    roformer = pytest.importorskip("transformers.models.roformer.modeling_roformer")
    new, d_head = 7, 16
    query, key = torch.randn(2, 3, 2, new, d_head, generator=torch.Generator().manual_seed(start))
    positions = roformer.RoFormerSinusoidalPositionalEmbedding(32, d_head)
    positions.weight = torch.nn.Parameter(positions.create_weight(), requires_grad=False)
    sines = positions((3, new), past_key_values_length=start)[None, None]  # [1, 1, new, d_head]
    theirs = roformer.RoFormerSelfAttention.apply_rotary_position_embeddings(sines, query, key)
    for x, reference in zip((query, key), theirs, strict=True):
        ours = solution["rotate_chunk"](x, angle_table(32, d_head // 2), torch.full((3,), start))
        torch.testing.assert_close(ours, reference, atol=1e-5, rtol=0)
