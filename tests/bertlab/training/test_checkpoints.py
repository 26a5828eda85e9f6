"""Checkpoints: everything is restored bit by bit, and nothing saved gets lost."""

import errno
import os
import shutil
import warnings
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import nn

from bertlab.model import BertConfig, BertForPreTraining
from bertlab.model.heads import PreTrainingOutput
from bertlab.training import checkpoints
from bertlab.training.steps import adamw
from tests.bertlab.refusals import rejected

STATE = {"position": [3, 14], "config": {"learning_rate": 0.1 + 0.2, "seed": 7}}


def small_bert(seed=0):
    """A model with dropout, and its optimizer."""
    sizes = {"d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 8}
    model = BertForPreTraining(BertConfig(20, dropout=0.3, **sizes), seed).train()
    return model, adamw(model, 0.01)


def tiny(step=None):
    """A model of a few numbers, and its optimizer; all of them encode the step, if any."""
    model = nn.Linear(2, 3)
    optimizer = torch.optim.AdamW(model.parameters())
    if step is not None:
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        for tensor in all_tensors(model, optimizer):
            tensor.fill_(step)
    return model, optimizer


def all_tensors(model, optimizer):
    """Weights and the optimizer's memory, in a fixed order."""
    memory = [optimizer.state.get(p, {}) for p in model.parameters()]
    return [*model.state_dict().values(), *(part[key] for part in memory for key in sorted(part))]


def copies(model, optimizer):
    return [tensor.clone() for tensor in all_tensors(model, optimizer)]


def assert_same(tensors, others):
    torch.testing.assert_close(tensors, others, rtol=0, atol=0)


def train(model, optimizer, steps):
    """Steps on made-up text; as in the loop, a step's random numbers depend on its number."""
    for step in steps:
        torch.manual_seed(step)
        output = model(torch.randint(20, (4, 8)))
        loss = (output.mlm_logits**2).mean() + (output.nsp_logits**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def keep(folder, step, model, optimizer, state=None, most=2):
    """Save a checkpoint."""
    what = {"model": model, "optimizer": optimizer, "state": state or {}}
    return checkpoints.save_checkpoint(folder, step=step, **what, keep=most)


def save(folder, step, most=2):
    """A checkpoint that encodes its step everywhere."""
    return keep(folder, step, *tiny(step), {"step": step}, most)


def load(folder):
    """The step of the loaded checkpoint, after checking every number."""
    model, optimizer = tiny()
    kept = checkpoints.load_checkpoint(folder, model, optimizer)
    assert kept.state == {"step": kept.step}
    tensors = all_tensors(model, optimizer)
    assert len(tensors) == 2 + 2 * 3
    assert all((tensor == kept.step).all() for tensor in tensors)
    return kept.step


def load_without_warnings(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load(folder)


def steps_in(folder):
    """Steps of the folder's checkpoints; it must contain nothing else."""
    names = [checkpoints.NAME.fullmatch(path.name) for path in folder.iterdir()]
    return sorted(int(name[1]) for name in names)


def file_of(folder, step):
    """The checkpoint of a step."""
    (path,) = folder.glob(f"step-{step:08}-*")
    return path


def flip(path):
    """Change a bit of its last byte."""
    path.write_bytes((content := path.read_bytes())[:-1] + bytes([content[-1] ^ 1]))


# What is restored


class Tied(nn.Module):
    """Two names for one matrix, a norm with buffers, and a buffer that is not to be kept."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8, bias=False)
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("scratch", torch.ones(3), persistent=False)

    def forward(self, ids):
        x = self.second(self.norm(self.first(ids.float())))
        return PreTrainingOutput(x, x, None)


def tied(seed=0):
    torch.manual_seed(seed)
    model = Tied()
    return model, torch.optim.AdamW(model.parameters())


@pytest.mark.parametrize(("make", "steps"), [(small_bert, 3), (small_bert, 0), (tied, 2)])
def test_everything_is_restored_bit_by_bit(tmp_path, make, steps):
    model, optimizer = make()
    train(model, optimizer, range(steps))
    path = keep(tmp_path, steps, model, optimizer, STATE)
    assert path == file_of(tmp_path, steps)
    other, other_optimizer = make(seed=1)
    train(other, other_optimizer, range(5, 6))
    addresses = [p.data_ptr() for p in other.parameters()]
    found = checkpoints.load_checkpoint(tmp_path, other, other_optimizer)
    assert found == (steps, STATE, path)
    assert_same(copies(other, other_optimizer), copies(model, optimizer))
    assert [p.data_ptr() for p in other.parameters()] == addresses  # the optimizer's are the same
    memory = other_optimizer.state_dict()["state"].values()
    assert all(part["step"] == steps for part in memory)
    assert bool(memory) == (steps > 0)  # before the first step there are no moments


def test_other_programs_can_read_the_weights_by_our_names_and_tied_ones_once(tmp_path):
    model, optimizer = small_bert()
    train(model, optimizer, range(2))
    path = keep(tmp_path, 2, model, optimizer)
    kept, weights = load_file(path), model.state_dict()
    assert_same({name: kept.pop(f"model.{name}") for name in weights}, weights)
    for name, parameter in model.named_parameters():
        for part in ("exp_avg", "exp_avg_sq", "step"):
            assert_same(kept.pop(f"optimizer.{name}.{part}"), optimizer.state[parameter][part])
    assert kept == {}
    names = load_file(keep(tmp_path, 3, *tied())).keys()
    assert names == {f"model.{name}" for name in Tied().state_dict()} - {"model.second.weight"}
    assert len(names) == 2 + 5  # the norm has five


def test_the_learning_rate_is_that_of_the_optimizer_given(tmp_path):
    save(tmp_path, 1)
    model, _ = tiny()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5, fused=True)
    checkpoints.load_checkpoint(tmp_path, model, optimizer)
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert optimizer.param_groups[0]["fused"]


# What does not fit


def assert_misfit(folder, model, optimizer, message, error=ValueError):
    """The checkpoint is rejected, and model and optimizer do not change."""
    before = copies(model, optimizer)
    rejected(message, checkpoints.load_checkpoint, folder, model, optimizer, error=error)
    assert_same(copies(model, optimizer), before)


def test_another_model_is_rejected_with_all_differences_and_nothing_changes(tmp_path):
    first = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2), "c": nn.Linear(2, 2)})
    other = nn.ModuleDict({"b": nn.Linear(2, 3), "c": nn.Linear(2, 2).half(), "d": nn.Linear(1, 1)})
    keep(tmp_path, 1, first, torch.optim.AdamW(first.parameters()))
    differences = (
        r"step-00000001-\S+ does not fit: missing: d.weight; missing: d.bias; "
        "unexpected: a.(weight; unexpected: a.bias|bias; unexpected: a.weight); "
        r"b.weight is float32 \[2, 2\] there, float32 \[3, 2\] here; .*"
        r"c.bias is float32 \[2\] there, float16 \[2\] here"
    )
    assert_misfit(tmp_path, other, torch.optim.AdamW(other.parameters()), differences)


def test_another_grouping_of_the_parameters_is_rejected_by_name(tmp_path):
    model, optimizer = small_bert()
    train(model, optimizer, range(1))
    keep(tmp_path, 1, model, optimizer)
    other, _ = small_bert(seed=1)
    for parameters, message in (
        (other.parameters(), "bert.pooler.bias is in .* group 1 there, 0"),
        (other.bert.parameters(), "nsp_head.bias is in .* group 1 there, None"),
        (nn.Linear(1, 1).parameters(), "optimizer has a parameter that the model has not"),
    ):
        assert_misfit(tmp_path, other, torch.optim.AdamW(parameters), message)


def test_an_optimizer_without_enough_memory_leaves_the_model_alone(tmp_path):
    class Cramped(torch.optim.AdamW):
        def load_state_dict(self, state_dict):
            raise torch.OutOfMemoryError

    save(tmp_path, 1)
    model, _ = tiny()
    assert_misfit(tmp_path, model, Cramped(model.parameters()), None, torch.OutOfMemoryError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"state": {"model": nn.Linear(1, 1)}}, "state must be fit for JSON"),
        ({"state": {"bytes": b"0"}}, "state must be fit for JSON"),
        ({"step": -1}, "got step -1, keep 2"),
        ({"most": 0}, "got step 1, keep 0"),
    ],
)
def test_what_cannot_be_saved_is_rejected_before_anything_is_written(tmp_path, arguments, message):
    model, optimizer = tiny()
    with pytest.raises(ValueError, match=message):
        keep(tmp_path, **{"step": 1, "model": model, "optimizer": optimizer} | arguments)
    assert steps_in(tmp_path) == []


# Which ones are kept


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_newest_are_kept(tmp_path, most):
    folder = tmp_path / "runs" / "mini"  # created if necessary
    assert not checkpoints.has_checkpoint(folder)
    for step in range(1, 100_000_003, 20_000_000):  # more digits than the names foresee
        save(folder, step, most)
        assert checkpoints.has_checkpoint(folder)
        assert load_without_warnings(folder) == step
    assert steps_in(folder) == sorted([100_000_001, 80_000_001, 60_000_001][:most])


def test_leftovers_of_a_killed_training_are_not_a_checkpoint_and_are_removed(tmp_path):
    path = save(tmp_path, 1)
    path.rename(tmp_path / f".{path.name}.x1y2z3")
    assert not checkpoints.has_checkpoint(tmp_path)
    rejected("it holds none at all", load, tmp_path, error=checkpoints.CheckpointError)
    save(tmp_path, 2)
    assert steps_in(tmp_path) == [2]


def test_other_files_are_not_touched(tmp_path):
    other = shutil.copy(save(tmp_path, 1), tmp_path / "step-00000009 copy")
    path = save(tmp_path, 2, most=1)
    assert load_without_warnings(tmp_path) == 2
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_two_trainings_do_not_mix_in_a_folder(tmp_path):
    save(tmp_path, 10)
    for step in (10, 5):
        message = rf"step must be after step-00000010-\S+, which .* got {step};"
        rejected(message, save, tmp_path, step)
    assert load(tmp_path) == 10
    assert steps_in(tmp_path) == [10]


def test_a_training_resumed_before_a_damaged_one_replaces_it(tmp_path):
    save(tmp_path, 10), save(tmp_path, 20)
    flip(file_of(tmp_path, 20))
    for step in (13, 16):
        save(tmp_path, step)
    assert steps_in(tmp_path) == [13, 16, 20]  # the damaged one does not count
    with pytest.warns(UserWarning, match=r"resuming from step-00000016-\S+ instead"):
        assert load(tmp_path) == 16
    save(tmp_path, 20)
    assert steps_in(tmp_path) == [16, 20]
    assert load_without_warnings(tmp_path) == 20


def test_an_old_one_that_cannot_be_removed_does_not_end_the_training(tmp_path, monkeypatch):
    save(tmp_path, 1, most=1)
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", Mock(side_effect=refused))
        with pytest.warns(UserWarning, match="step-00000001-.* cannot be removed .*Permission"):
            save(tmp_path, 2, most=1)
    assert load_without_warnings(tmp_path) == 2
    save(tmp_path, 3, most=1)
    assert steps_in(tmp_path) == [3]


# Damage


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A folder with checkpoints 1 and 2."""
    folder = tmp_path_factory.mktemp("two")
    save(folder, 1), save(folder, 2)
    return folder


def assert_refused_by_name(folder, fault):
    """The newest one is skipped, with a warning that says why."""
    with pytest.warns(UserWarning, match="damaged in") as caught:
        assert load(folder) == 1
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"{file_of(folder, 2).name} {fault}" in text
    assert f"resuming from {file_of(folder, 1).name} instead" in text


@pytest.mark.slow
@given(data=st.data())
def test_another_byte_anywhere_or_a_file_that_is_cut_or_grown_is_noticed(two, data):
    path = file_of(two, 2)
    content = path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1), "place")
    other = bytes([content[place] ^ data.draw(st.integers(1, 255), "bits")])
    more = data.draw(st.binary(min_size=1, max_size=3), "more")
    changed = content[:place] + other + content[place + 1 :]
    try:
        for damage in (changed, content[:place], content + more):
            path.write_bytes(damage)
            assert_refused_by_name(two, "is not what was written: its SHA-256 differs")
    finally:
        path.write_bytes(content)


def test_a_file_that_the_disk_no_longer_reads_is_noticed(two, monkeypatch):
    lost = file_of(two, 2)

    def fail(path, *mode):
        if path == lost:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return open(path, *mode)

    monkeypatch.setattr(checkpoints, "open", fail, raising=False)
    assert_refused_by_name(two, "cannot be read (Input/output error)")


def test_if_none_is_intact_each_is_listed_and_nothing_changes(tmp_path):
    for step in (1, 2):
        flip(save(tmp_path, step))
    fault = r"\S+ is not what was written.*"
    each = f"no whole checkpoint: step-00000002-{fault}; step-00000001-{fault}"
    assert_misfit(tmp_path, *tiny(step=5), each, checkpoints.CheckpointError)
    assert checkpoints.has_checkpoint(tmp_path)
