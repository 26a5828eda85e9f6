"""The models' benchmark gives all contestants the same batch and counts its arithmetic."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.bench_model import SIZES, make_batch, step_flops
from bertlab.model import BertConfig, BertForPreTraining


def test_the_flops_of_a_step_are_those_that_pytorch_counts():
    config = BertConfig(50, 12, 3, n_heads=2, d_ff=20, max_length=16, dropout=0.0)
    model = BertForPreTraining(config)
    batch = make_batch(4, 10, vocab_size=50)
    # PyTorch's counter does not support the fused CPU kernel.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        output = model(batch.ids, batch.segment_ids, predict=batch.predict)
        loss = cross_entropy(output.mlm_logits, batch.words[batch.predict])
        (loss + cross_entropy(output.nsp_logits, batch.next_sentence)).backward()
    predicted = int(batch.predict.sum())
    assert counter.get_total_flops() == step_flops(config, 4, 10, predicted)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_batch_has_15_percent_masked_and_a_quarter_padded(size):
    batch = make_batch(size.sequences, 128)
    assert batch.predict.float().mean().item() == pytest.approx(0.15, abs=0.002)
    assert batch.mask.float().mean().item() == pytest.approx(0.75, abs=0.01)
    assert batch.mask[:, 0].all()
    again = make_batch(size.sequences, 128)
    assert all(map(torch.equal, batch, again))
