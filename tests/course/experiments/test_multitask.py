"""Tasks tuned together: each at its layer, all on one encoder, reproducibly."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from bertlab.finetuning.heads import SequenceClassifier, TokenTagger
from bertlab.finetuning.tuning import TuningConfig, fine_tune, score
from bertlab.model import Bert
from course.experiments.multitask import MultiTask, mixed_batches, tune_together
from tests.bertlab.finetuning.test_tuning import CONFIG as ONE_LAYER
from tests.bertlab.finetuning.test_tuning import QUICK, classes, tags
from tests.small_models import weights

CONFIG = replace(ONE_LAYER, n_layers=2)
BOTH = {"marks": tags(3), "moods": classes(3)}


def model(layer=1, **options):
    encoder = Bert(CONFIG)
    tagger = TokenTagger(encoder, 3, features=layer, **options)
    return MultiTask({"marks": tagger, "moods": SequenceClassifier(encoder, 2, **options)})


def tune(together, data, config=QUICK, **options):
    return tune_together(together, data, config, pad_id=0, progress=False, **options)


def snapshot(module):
    return {name: tensor.detach().clone() for name, tensor in module.named_parameters()}


@pytest.mark.slow
def test_both_tasks_are_learned():
    together = model()
    config = TuningConfig(epochs=6, batch_size=16, learning_rate=5e-3)
    held_out = {"marks": tags(60, seed=1), "moods": classes(60, seed=1)}
    rows = tune(together, {"marks": tags(300), "moods": classes(300)}, config, validation=held_out)
    for name, data in held_out.items():
        after = score(together.heads[name], data, pad_id=0)
        assert after.accuracy > 0.97
        last = [row for row in rows if row["kind"] == "held-out" and row["task"] == name][-1]
        assert (last["loss"], last["accuracy"]) == after[:2]


def test_a_task_changes_layers_up_to_its_own_and_only_its_own_head():
    together = model(layer=1)
    states = [snapshot(together)]
    data = {"marks": tags(12), "moods": classes(12)}
    rows = tune(together, data, watch=lambda row: states.append(snapshot(together)))
    lower = ("embeddings.", "layers.0.")
    for row, before, after in zip(rows, states, states[1:], strict=False):
        changed = {name for name in before if not torch.equal(before[name], after[name])}
        parts = {name.split("bert.")[-1] for name in changed if "bert." in name}
        heads = {name for name in changed if "bert." not in name}
        assert any(part.startswith("layers.0.") for part in parts)
        assert heads == {f"heads.{row['task']}.output.{part}" for part in ("weight", "bias")}
        if row["task"] == "marks":
            assert all(part.startswith(lower) for part in parts)
        else:
            assert any(part.startswith("layers.1.") for part in parts)
            assert any(part.startswith("pooler") for part in parts)


def test_an_encoder_that_is_shared_is_counted_and_trained_once():
    together = model()
    names = [name for name, _ in together.named_parameters()]
    alone = sum(p.numel() for p in together.heads["moods"].bert.parameters())
    heads = 33 * (2 + 3)
    assert sum(p.numel() for p in together.parameters()) == alone + heads
    assert not [name for name in names if name.startswith("heads.moods.bert")]


def test_the_same_seed_gives_the_same_weights_and_global_randomness_is_untouched():
    made = []
    for seed in (0, 0, 1):
        together = model(dropout=0.1)
        torch.manual_seed(len(made))
        before = torch.get_rng_state(), np.random.get_state()[1].copy()
        config = TuningConfig(epochs=1, batch_size=4, learning_rate=1e-3, seed=seed)
        tune(together, {"marks": tags(9), "moods": classes(9)}, config)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert np.array_equal(np.random.get_state()[1], before[1])
        made.append(weights(together))
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


def test_a_task_without_trainable_layers_does_not_change_fine_tuning():
    plain = Bert(replace(CONFIG, dropout=0))
    frozen = TokenTagger(plain, 3, frozen=True, dropout=0)
    head = SequenceClassifier(plain, 2, dropout=0)
    together = MultiTask({"marks": frozen, "moods": head})
    first = copy.deepcopy(plain.state_dict())
    only = TuningConfig(epochs=1, batch_size=12, learning_rate=1e-2, warmup=0)
    rows = tune(together, {"marks": tags(12), "moods": classes(12)}, only)
    (step,) = [row for row in rows if row["task"] == "moods"]
    reference = Bert(plain.config)
    reference.load_state_dict(first)
    alone = SequenceClassifier(reference, 2, dropout=0)
    config = TuningConfig(epochs=1, batch_size=12, learning_rate=step["learning_rate"], warmup=0)
    (expected,) = fine_tune(alone, classes(12), config, pad_id=0, progress=False)
    assert step["loss"] == pytest.approx(expected["loss"], rel=1e-6)
    for mine, theirs in zip(head.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-4)  # a step is 1e-2 long


def test_rows_report_task_step_and_epoch():
    seen, data = [], {"marks": tags(10), "moods": classes(6)}
    together = model()
    rows = tune(together, data, validation={"moods": classes(5, seed=1)}, watch=seen.append)
    assert rows == seen
    assert not together.training
    trained = [row for row in rows if row["kind"] == "train"]
    assert [row["step"] for row in trained] == list(range(1, 11))
    for epoch in (1, 2):
        tasks = [row["task"] for row in trained if row["epoch"] == epoch]
        assert sorted(tasks) == ["marks"] * 3 + ["moods"] * 2
    held_out = [row for row in rows if row["kind"] == "held-out"]
    told = [(row["task"], row["step"], row["epoch"]) for row in held_out]
    assert told == [("moods", 5, 1), ("moods", 10, 2)]


def test_an_epoch_has_every_text_of_every_task_once_and_mixes_the_tasks():
    data = {"marks": tags(50), "moods": classes(30)}
    batches = mixed_batches(data, 4, np.random.default_rng(0))
    for name, part in data.items():
        numbers = [number for task, batch in batches for number in batch if task == name]
        assert sorted(numbers) == list(range(len(part)))
    order = [task for task, _ in batches]
    assert order != sorted(order)
    assert order != sorted(order, reverse=True)


def test_heads_of_several_encoders_are_rejected():
    one, other = SequenceClassifier(Bert(CONFIG), 2), SequenceClassifier(Bert(CONFIG), 2)
    with pytest.raises(ValueError, match="the same encoder"):
        MultiTask({"a": one, "b": other})
    with pytest.raises(ValueError, match=r"at least two; got \['a'\]"):
        MultiTask({"a": one})


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"marks": tags(3)}, {}, "for each of marks, moods; got marks"),
        ({"marks": tags(3), "mood": classes(3)}, {}, "'mood', for which there is no head"),
        ({"marks": classes(3), "moods": classes(3)}, {}, r"tune_together: marks: targets\[0\]"),
        (BOTH, {"validation": {"topic": classes(3)}}, "validation has 'topic'"),
    ],
)
def test_what_does_not_match_is_rejected(data, options, message):
    with pytest.raises(ValueError, match=message):
        tune(model(), data, **options)
