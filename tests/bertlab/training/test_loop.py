"""The loop: against a step written by hand, and other requirements of a run."""

import os
import random
import signal
import threading
from dataclasses import fields

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
from tests.bertlab.refusals import rejected
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


@pytest.fixture
def data(corpus):
    return corpus[0]


@pytest.fixture
def new_model(corpus):
    def new(dropout=0.1):
        sizes = {"d_model": 32, "n_layers": 1, "n_heads": 2, "d_ff": 64, "max_length": 32}
        return BertForPreTraining(BertConfig(corpus[2], dropout=dropout, **sizes))

    return new


@pytest.fixture
def run(corpus, new_model):
    """`run(steps, ...)`: train a new model, or a given one, quietly; its rows."""

    def trained(steps, model=None, *, held_out=False, **options):
        settings = {field.name for field in fields(TrainingConfig)} & options.keys()
        config = TrainingConfig(steps, **{name: options.pop(name) for name in settings})
        validation = corpus[1] if held_out else None
        options |= {"validation": validation, "progress": False}
        return pretrain(model or new_model(), corpus[0], config, **options)

    return trained


@pytest.mark.slow
def test_the_model_learns(run):
    rows = run(150, learning_rate=1e-2, evaluate_every=1000, held_out=True)
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


def test_bfloat16_computes_about_the_same_and_keeps_the_weights(new_model, run):
    losses = {}
    for precision in ("float32", "bfloat16"):
        model = new_model(dropout=0.0)
        losses[precision] = [row["loss"] for row in run(3, model, precision=precision)]
        assert all(weight.dtype == torch.float32 for weight in model.parameters())
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"] != losses["float32"]


def test_rows_tell_the_whole_story(run, tmp_path):
    seen = []
    settings = {"evaluate_every": 2, "learning_rate": 0.01, "warmup": 0.4}
    rows = run(5, held_out=True, watch=seen.append, folder=tmp_path, **settings)
    assert seen == rows == read_metrics(tmp_path / "metrics.jsonl")
    steps = {kind: [r["step"] for r in rows if r["kind"] == kind] for kind in ("train", "held-out")}
    assert steps == {"train": [1, 2, 3, 4, 5], "held-out": [0, 2, 4, 5]}
    for row in rows:
        assert row["loss"] if row["kind"] == "train" else row["perplexity"] > 0
        assert 0 <= row["nsp_accuracy"] <= 1
    rates = [row["learning_rate"] for row in rows if row["kind"] == "train"]
    assert rates == [0.01 * linear_schedule(step, 5, 2) for step in range(1, 6)]
    assert rates[1] == max(rates) == 0.01


def test_dropout_is_on_only_in_training(new_model, run):
    model, modes, plain = new_model().eval(), [], new_model(dropout=0.0)

    def note(row):
        modes.append((row["kind"], model.training))

    run(3, model, evaluate_every=1, held_out=True, watch=note)
    assert all(training for kind, training in modes if kind == "train")
    assert not model.training
    run(3, plain)
    assert not torch.equal(weights(model), weights(plain))


def test_the_seed_alone_decides_and_the_global_random_state_does_not_change(new_model, run):
    workers = iter([0, 1, 0])  # processes that prepare batches: any number gives the same

    def trained(seed):  # another seed: other dropout
        model = new_model()
        run(3, model, seed=seed, workers=next(workers))
        return weights(model)

    assert_the_seed_decides(trained)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_request_ends_the_step_and_the_run_resumes_later(new_model, run, tmp_path, number):
    whole, resumed = new_model(), new_model()
    run(6, whole)

    def stop(row):
        if row["step"] == 3:
            os.kill(os.getpid(), number)

    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    rows = run(6, folder=tmp_path, watch=stop)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert [row["step"] for row in rows] == [1, 2, 3]
    rows = run(6, resumed, folder=tmp_path)  # a new program would start from here
    assert [row["step"] for row in rows] == [4, 5, 6]
    assert torch.equal(weights(resumed), weights(whole))
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [1, 2, 3, 4, 5, 6]
    assert run(6, folder=tmp_path) == []


def test_a_second_ctrl_c_interrupts_at_once_and_a_second_kill_does_not(run):
    def stop_twice(number):
        return lambda row: [os.kill(os.getpid(), number) for _ in range(2)]

    with pytest.raises(KeyboardInterrupt):
        run(3, watch=stop_twice(signal.SIGINT))
    assert len(run(3, watch=stop_twice(signal.SIGTERM))) == 1


def test_outside_the_main_thread_training_does_not_touch_signals(run):
    rows = []
    thread = threading.Thread(target=lambda: rows.extend(run(2)))
    thread.start()
    thread.join()
    assert [row["step"] for row in rows] == [1, 2]


def test_a_run_that_died_before_a_checkpoint_starts_again(run, tmp_path):
    def die(row):
        if row["step"] == 2:
            raise RuntimeError("power cut")

    options = {"folder": tmp_path, "held_out": True}
    rejected("power cut", run, 3, watch=die, **options, error=RuntimeError)
    rows = run(3, **options)
    assert read_metrics(tmp_path / "metrics.jsonl") == rows


def test_other_settings_more_pieces_than_sequences_and_a_loss_that_is_nan_end_it(
    new_model, run, tmp_path
):
    run(2, folder=tmp_path / "one")
    other = r"\(steps 2, now 3; learning_rate 0.001, now 0.5\)"
    rejected(other, run, 3, learning_rate=0.5, folder=tmp_path / "one")
    rejected("16 sequences cannot be cut into 17 pieces", run, 1, accumulate=17)
    model, folder, error = new_model(), tmp_path / "two", FloatingPointError
    model.mlm_head.bias.data[0] = torch.nan
    message = "loss of step 1 is nan; start another training"
    rejected(message, run, 3, model, save_every=1, folder=folder, error=error)
    assert not (folder / "checkpoints").exists()
    assert [row["step"] for row in read_metrics(folder / "metrics.jsonl")] == [1]
