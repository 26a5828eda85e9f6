"""The loop: against a step written by hand, and other requirements of a run."""

import os
import random
import signal
import threading

import pytest
import torch
from torch.nn import functional as F

from bertlab.data.token_store import write_tokens
from bertlab.model import BertConfig, BertForPreTraining
from bertlab.pretraining.batches import PretrainingData
from bertlab.tokenizers import WordPiece
from bertlab.training.fast import wide_step
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import pretrain, read_metrics
from bertlab.training.steps import adamw, linear_schedule, training_step
from tests.small_models import assert_the_seed_decides, weights


def stories(number, seed):
    """Documents of four sentences about one person in one place."""
    choose = random.Random(seed).choice
    for _ in range(number):
        name, place = choose(["anna", "ben", "carla", "dirk"]), choose(["market", "forest", "sea"])
        yield [
            f"{name} went to the {place} in the morning.",
            f"in the {place} {name} saw a {choose(['dog', 'fox', 'bird'])}.",
            f"{name} was {choose(['happy', 'sad'])} about it.",
            f"in the evening {name} left the {place}.",
        ]


def prepare(folder, numbers, vocab_size, **sizes):
    """Training stories, test stories, and the number of their words."""
    sentences = [sentence for story in stories(50, 0) for sentence in story]
    tokenizer = WordPiece.train(sentences, vocab_size)
    sides = [write_tokens(stories(n, n), tokenizer, folder / f"{n}") for n in numbers]
    data = PretrainingData(sides[0], tokenizer, **sizes)
    held_out = PretrainingData(sides[1], tokenizer, drop_last=False, **sizes)
    return data, held_out, len(tokenizer.vocab)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return prepare(folder, (200, 30), vocab_size=200, max_length=32, batch_size=16)


@pytest.fixture(scope="module")
def data(corpus):
    return corpus[0]


@pytest.fixture(scope="module")
def held_out(corpus):
    return corpus[1]


@pytest.fixture
def new_model(corpus):
    def new(dropout=0.1):
        sizes = {"d_model": 32, "n_layers": 1, "n_heads": 2, "d_ff": 64, "max_length": 32}
        return BertForPreTraining(BertConfig(corpus[2], dropout=dropout, **sizes))

    return new


@pytest.mark.slow
def test_the_model_learns(new_model, data, held_out):
    config = TrainingConfig(steps=150, learning_rate=1e-2, evaluate_every=1000)
    rows = pretrain(new_model(), data, config, validation=held_out, progress=False)
    before, after = (row for row in rows if row["kind"] == "held-out")
    assert after["mlm_loss"] < 0.5 * before["mlm_loss"]
    assert after["mlm_accuracy"] > before["mlm_accuracy"] + 0.3
    losses = [row["loss"] for row in rows if row["kind"] == "train"]
    assert sum(losses[-20:]) < 0.6 * sum(losses[:20])


def test_a_step_is_what_one_would_write_in_plain_pytorch(new_model, data):
    ours, reference = new_model(dropout=0.0).train(), new_model(dropout=0.0).train()
    decay = [p for p in reference.parameters() if p.ndim > 1]
    free = [p for p in reference.parameters() if p.ndim == 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": free, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, eps=1e-6, fused=False, foreach=False)
    our_optimizer = adamw(ours, 1e-2)
    for number in range(3):
        batch = data.epoch(0)[number]
        result = training_step(ours, our_optimizer, batch, clip=0.5)

        labels = torch.full_like(batch.ids, -100)
        labels[batch.predict] = batch.words
        output = reference(batch.ids, batch.segment_ids, batch.attention_mask)  # all positions
        mlm = F.cross_entropy(output.mlm_logits.flatten(0, 1), labels.flatten())
        nsp = F.cross_entropy(output.nsp_logits, batch.next_sentence)
        reference.zero_grad()
        (mlm + nsp).backward()
        norm = torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.5)
        optimizer.step()

        assert norm > 0.5  # so that the clipping was seen
        assert result.mlm_loss == pytest.approx(mlm.item(), rel=1e-4)
        assert result.nsp_loss == pytest.approx(nsp.item(), rel=1e-4)
        guesses = output.mlm_logits.argmax(-1)[batch.predict]
        assert result.mlm_correct == (guesses == batch.words).sum()
        assert result.n_words == len(batch.words)
        assert result.nsp_correct == (output.nsp_logits.argmax(-1) == batch.next_sentence).sum()
    torch.testing.assert_close(weights(ours), weights(reference), rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("pieces", [2, 3, 16])
def test_pieces_have_the_gradients_of_the_whole_batch(new_model, data, pieces):
    gradients = []
    for accumulate in (1, pieces):
        model = new_model(dropout=0.0).train()
        idle = torch.optim.SGD(model.parameters(), lr=0.0)
        batch = data.epoch(0)[0]
        result = wide_step(model, idle, batch, clip=1e9, accumulate=accumulate)
        gradients.append((result.loss, {n: p.grad for n, p in model.named_parameters()}))
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-4, atol=1e-6)


def test_bfloat16_computes_about_the_same_and_keeps_the_weights(new_model, data):
    losses = {}
    for precision in ("float32", "bfloat16"):
        model = new_model(dropout=0.0)
        config = TrainingConfig(steps=3, precision=precision)
        rows = pretrain(model, data, config, progress=False)
        losses[precision] = [row["loss"] for row in rows]
        assert all(weight.dtype == torch.float32 for weight in model.parameters())
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"] != losses["float32"]


def test_rows_tell_the_whole_story(new_model, data, held_out, tmp_path):
    seen = []
    config = TrainingConfig(steps=5, evaluate_every=2, learning_rate=0.01, warmup=0.4)
    options = {"validation": held_out, "watch": seen.append, "progress": False}
    rows = pretrain(new_model(), data, config, folder=tmp_path, **options)
    assert seen == rows == read_metrics(tmp_path / "metrics.jsonl")
    steps = {kind: [r["step"] for r in rows if r["kind"] == kind] for kind in ("train", "held-out")}
    assert steps == {"train": [1, 2, 3, 4, 5], "held-out": [0, 2, 4, 5]}
    for row in rows:
        assert row["loss"] if row["kind"] == "train" else row["perplexity"] > 0
        assert 0 <= row["nsp_accuracy"] <= 1
    rates = [row["learning_rate"] for row in rows if row["kind"] == "train"]
    assert rates == [0.01 * linear_schedule(step, 5, 2) for step in range(1, 6)]
    assert rates[1] == max(rates) == 0.01


def test_dropout_is_on_only_in_training(new_model, data, held_out):
    model, modes = new_model().eval(), []
    config = TrainingConfig(steps=3, evaluate_every=1)

    def note(row):
        modes.append((row["kind"], model.training))

    pretrain(model, data, config, validation=held_out, watch=note, progress=False)
    assert all(training for kind, training in modes if kind == "train")
    assert not model.training
    again = new_model(dropout=0.0)
    pretrain(again, data, TrainingConfig(steps=3), progress=False)
    assert any((a != b).any() for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_the_seed_decides_and_the_global_random_state_is_neither_used_nor_changed(new_model, data):
    def trained(seed):  # another seed: other dropout
        model = new_model()
        pretrain(model, data, TrainingConfig(steps=3, seed=seed), progress=False)
        return weights(model)

    assert_the_seed_decides(trained)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_request_ends_the_step_and_the_run_resumes_later(new_model, data, tmp_path, number):
    config = TrainingConfig(steps=6)
    whole, model = new_model(), new_model()
    pretrain(whole, data, config, progress=False)

    def stop(row):
        if row["step"] == 3:
            os.kill(os.getpid(), number)

    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    rows = pretrain(model, data, config, folder=tmp_path, watch=stop, progress=False)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert [row["step"] for row in rows] == [1, 2, 3]

    other = new_model()  # a new program would start from here
    rows = pretrain(other, data, config, folder=tmp_path, progress=False)
    assert [row["step"] for row in rows] == [4, 5, 6]
    assert torch.equal(weights(other), weights(whole))
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2, 3, 4, 5, 6]
    assert pretrain(new_model(), data, config, folder=tmp_path, progress=False) == []


def test_a_second_ctrl_c_interrupts_at_once_and_a_second_kill_does_not(new_model, data):
    def stop_twice(number):
        def watch(row):
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)

        return watch

    config = TrainingConfig(steps=3)
    options = {"progress": False, "watch": stop_twice(signal.SIGINT)}
    with pytest.raises(KeyboardInterrupt):
        pretrain(new_model(), data, config, **options)
    options["watch"] = stop_twice(signal.SIGTERM)
    assert len(pretrain(new_model(), data, config, **options)) == 1


def test_outside_the_main_thread_training_does_not_touch_signals(new_model, data):
    rows = []

    def work():
        rows.extend(pretrain(new_model(), data, TrainingConfig(steps=2), progress=False))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [row["step"] for row in rows] == [1, 2]


def test_a_run_that_died_before_a_checkpoint_starts_again(new_model, data, held_out, tmp_path):
    def die(row):
        if row["step"] == 2:
            raise RuntimeError("power cut")

    config, options = TrainingConfig(steps=3), {"folder": tmp_path, "progress": False}
    with pytest.raises(RuntimeError, match="power cut"):
        pretrain(new_model(), data, config, validation=held_out, watch=die, **options)
    rows = pretrain(new_model(), data, config, validation=held_out, **options)
    assert read_metrics(tmp_path / "metrics.jsonl") == rows


def test_other_settings_and_more_pieces_than_sequences_are_rejected(new_model, data, tmp_path):
    pretrain(new_model(), data, TrainingConfig(steps=2), folder=tmp_path, progress=False)
    other = TrainingConfig(steps=3, learning_rate=0.5)
    with pytest.raises(ValueError, match=r"\(steps 2, now 3; learning_rate 0.001, now 0.5\)"):
        pretrain(new_model(), data, other, folder=tmp_path, progress=False)
    config = TrainingConfig(steps=1, accumulate=17)
    with pytest.raises(ValueError, match="16 sequences cannot be cut into 17 pieces"):
        pretrain(new_model(), data, config, progress=False)


def test_workers_that_prepare_batches_change_nothing(new_model, data):
    models = [new_model(), new_model()]
    for workers, model in enumerate(models):
        pretrain(model, data, TrainingConfig(steps=3), workers=workers, progress=False)
    assert torch.equal(*map(weights, models))


def test_a_loss_that_is_not_finite_ends_training_and_saves_nothing(tmp_path, new_model, data):
    model = new_model()
    model.mlm_head.bias.data[0] = torch.nan
    config = TrainingConfig(steps=3, save_every=1)
    with pytest.raises(FloatingPointError, match="loss of step 1 is nan; start another training"):
        pretrain(model, data, config, folder=tmp_path, progress=False)
    assert not (tmp_path / "checkpoints").exists()
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [1]
