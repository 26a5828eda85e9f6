"""The models' benchmark counts, compares and writes as documented."""

import sys

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import turns
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


def test_models_that_compute_something_else_stop_the_benchmark():
    ours, peer = [{"numbers": [1.0, 2.0]}], [{"numbers": [1.0, 2.00005]}]
    assert turns.difference(ours, ours) == "equal"
    assert turns.difference(ours, peer) == "equal within 5e-05"
    with pytest.raises(RuntimeError, match=r"0\.5 apart"):
        turns.difference(ours, [{"numbers": [1.0, 2.5]}])


def test_a_table_replaces_only_its_own_section(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/there/b.py", "--only", "z"])
    page = tmp_path / "README.md"
    text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\n<!-- y: begin -->\nb\n"
    page.write_text(text)
    turns.write("new", "x", page)
    assert page.read_text() == text.replace("old", "\nnew\n")
    again = turns.measured_again("x", page)
    assert again.startswith("new\n\n")
    assert "a part again: `python -m benchmarks.b --only z`. " in again
    with pytest.raises(ValueError, match="y: end"):
        turns.write("new", "y", page)
