"""Training: the loss against PyTorch's, the schedule against the paper, a task that is learned."""

import math
from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab.model.transformer import Transformer, TransformerConfig
from course.experiments.recurrent import Recurrent
from course.experiments.string_tasks import copy_at_distance
from course.models.seq2seq.training import exact_match, label_smoothed_loss, train, warmup_rate
from course.models.seq2seq.vocabulary import PAD_ID, Pair, Vocabulary
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, weights


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_the_loss_equals_pytorchs_and_so_does_its_gradient(seed, smoothing):
    generator = torch.Generator().manual_seed(seed)
    logits = (3 * torch.randn(4, 7, 11, generator=generator)).requires_grad_()
    targets = torch.randint(0, 11, (4, 7), generator=generator)
    targets[0, 0], targets[1, 3:] = 5, PAD_ID
    got = label_smoothed_loss(logits, targets, smoothing)
    options = {"ignore_index": PAD_ID, "label_smoothing": smoothing}
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), **options)
    torch.testing.assert_close(got, expected)
    (mine,), (theirs,) = (torch.autograd.grad(loss, logits) for loss in (got, expected))
    torch.testing.assert_close(mine, theirs)
    assert label_smoothed_loss(logits, torch.full_like(targets, PAD_ID), smoothing).item() == 0
    if smoothing == 0.1:
        assert label_smoothed_loss(logits, targets) == got, "as in the paper"


def test_the_schedule_is_equation_3():
    # 512^-0.5 = 0.0442; at the top, step = warmup = 4000: times 4000^-0.5 = 0.0158.
    assert warmup_rate(4000, 512, 4000) == pytest.approx(0.000699, abs=1e-6)
    assert warmup_rate(1, 512, 4000) == pytest.approx(0.000699 / 4000, rel=1e-3)
    assert warmup_rate(2000, 512, 4000) == pytest.approx(warmup_rate(4000, 512, 4000) / 2)
    assert warmup_rate(16_000, 512, 4000) == pytest.approx(warmup_rate(4000, 512, 4000) / 2)
    rates = [warmup_rate(step, 64, 10) for step in range(1, 40)]
    assert rates.index(max(rates)) + 1 == 10


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """On models as small as these, threads wait for each other more than they work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small(task, seed=0, **changes):
    sizes = {"d_model": 32, "n_layers": 1, "n_heads": 2, "d_ff": 64, "max_length": 30}
    config = TransformerConfig(vocab_size=len(task.vocabulary), **(sizes | changes))
    return Transformer(config, seed)


@pytest.fixture(scope="module")
def task():
    return copy_at_distance([3, 4, 5], 1500, 60, letters="abcdef")


def trained(task, steps=20, seed=0, **options):
    model = small(task)
    options |= {"rate": lambda step: warmup_rate(step, 32, 50), "batch_size": 32, "seed": seed}
    return model, train(model, task.train, task.vocabulary, steps=steps, progress=False, **options)


@pytest.mark.slow
def test_training_is_deterministic_and_does_not_change_the_global_state(task):
    def weights_and_losses(seed):
        model, history = trained(task, seed=seed)
        assert not model.training
        return torch.cat([weights(model), torch.tensor(history.losses)])

    assert_the_seed_decides(weights_and_losses)


@pytest.mark.slow
def test_a_transformer_learns_to_copy_strings_that_it_has_not_seen(task):
    model, history = trained(task, 250, held_out=task.held_out, test_every=200)
    assert history.tested_at == [200, 250]
    assert len(history.losses) == 250
    assert history.losses[-1] < history.losses[0] / 2
    assert history.accuracies[-1] == exact_match(model, task.held_out, task.vocabulary)
    assert history.accuracies[-1] >= 0.9


def test_exact_match_counts_whole_answers(task):
    model = small(task)
    ends_at_once = task.vocabulary  # an untrained model hardly ever gets four letters right
    assert exact_match(model, task.held_out, ends_at_once, batch_size=7) <= 0.1

    class Knows(torch.nn.Module):
        """Writes "ab" whatever is asked."""

        def encode(self, source_ids, source_mask):
            return source_ids

        def decode(self, target_ids, memory, source_mask):
            answer = torch.tensor([*task.vocabulary.encode("ab"), 2])
            logits = F.one_hot(answer[: target_ids.shape[1]], len(task.vocabulary)).float()
            return logits.expand(len(target_ids), -1, -1)

    pairs = [Pair("ba", "ab"), Pair("cb", "bc"), Pair("a", "a"), Pair("ba", "ab")]
    assert exact_match(Knows(), pairs, task.vocabulary) == 0.5


def test_the_first_step_is_adams(task):
    # Adam's first step moves every number by the learning rate, whatever the gradient's size.
    before = [p.detach().clone() for p in small(task).parameters()]
    model = small(task, dropout=0.0)
    train(model, task.train, task.vocabulary, steps=1, rate=lambda step: 0.01, progress=False)
    moved = [(a - b.data).abs() for a, b in zip(before, model.parameters(), strict=True)]
    assert max(m.max().item() for m in moved) == pytest.approx(0.01, rel=1e-2)


def test_each_pass_reads_every_pair_once_in_another_order(task):
    read = []

    class Listening(Vocabulary):
        def batch(self, pairs):
            read.append(list(pairs))
            return super().batch(pairs)

    pairs = list(dict.fromkeys(task.train))[:11]
    options = {"rate": lambda step: 0.01, "batch_size": 4, "progress": False}
    train(small(task), pairs, Listening.of(task.train), steps=6, **options)
    assert [len(batch) for batch in read] == [4, 4, 3, 4, 4, 3]
    first, second = chain(*read[:3]), chain(*read[3:])
    assert sorted(first) == sorted(second) == sorted(pairs)
    assert read[:3] != read[3:]


def test_numbers_out_of_range_no_pairs_and_other_shapes_are_rejected(task):
    model, options = Recurrent(40, 8), {"steps": 1, "rate": lambda step: 0.1}
    for name in ("steps", "batch_size", "test_every"):
        wrong, message = options | {name: 0}, f"train: {name} must be at least 1; got 0"
        rejected(message, train, model, task.train, task.vocabulary, **wrong)
    rejected("at least one pair; got none", train, model, [], task.vocabulary, **options)
    logits, targets = torch.zeros(2, 3, 5), torch.ones(2, 3).long()
    for wrong in (targets[:1], targets[:, :1], targets.flatten()):
        message = r"logits must be \[B, T, V\] and targets \[B, T\]"
        rejected(message, label_smoothed_loss, logits, wrong)
    for smoothing in (-0.1, 1.5, math.nan):
        message = f"smoothing must be from 0 to 1; got {smoothing}"
        rejected(message, label_smoothed_loss, logits, targets, smoothing)
