"""Fine-tuning: it learns, it is the same every time, and it touches nothing else."""

import copy
import math
import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from bertlab.finetuning.heads import IGNORED, SequenceClassifier, SpanAnswerer, TokenTagger
from bertlab.finetuning.texts import (
    TuningData,
    batch_of,
    check_data,
    encode_texts,
    label_numbers,
    labelled_data,
)
from bertlab.finetuning.tuning import TuningConfig, fine_tune, predict, score
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece
from bertlab.training.steps import update
from tests.bertlab.refusals import rejected
from tests.bertlab.tokenizers.references import Column, pandas_column
from tests.small_models import assert_the_seed_decides, weights

WORDS = ["the", "film", "book", "was", "seen", "by", "some", "people", "long", "ago"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCAB = {token: id for id, token in enumerate([*SPECIALS, *WORDS, "good", "bad"])}
WORDPIECE = WordPiece(VOCAB, special_tokens=SPECIALS)
CONFIG = BertConfig(len(VOCAB), 32, 1, 2, 32, max_length=24)
QUICK = TuningConfig(epochs=2, batch_size=4, learning_rate=1e-3)
LEARN = TuningConfig(epochs=6, batch_size=16, learning_rate=5e-3)


def marked(n, seed=0):
    """Texts in which one word is "good" or "bad", and its position."""
    rng = random.Random(seed)
    texts, labels, places = [], [], []
    for _ in range(n):
        words = rng.choices(WORDS, k=rng.randint(2, 9))
        place, label = rng.randrange(len(words)), rng.choice(["good", "bad"])
        words[place] = label
        texts.append(" ".join(words))
        labels.append(label)
        places.append(place + 1)  # after [CLS]
    return texts, labels, places


def classes(n, seed=0):
    texts, labels, _ = marked(n, seed)
    return labelled_data(texts, labels, ["bad", "good"], WORDPIECE, CONFIG)


def tags(n, seed=0):
    """A tag for every word: is it "bad" (1), "good" (2), or neither (0)?"""
    encodings = classes(n, seed).encodings
    number = {VOCAB["bad"]: 1, VOCAB["good"]: 2, VOCAB["[CLS]"]: IGNORED, VOCAB["[SEP]"]: IGNORED}
    return TuningData(encodings, [[number.get(id, 0) for id in e.ids] for e in encodings])


def spans(n, seed=0):
    """Where is the marked word? Half of the texts have none, and the answer is [CLS]."""
    texts, _, places = marked(n, seed)
    plain = [text.replace("good", "some").replace("bad", "some") for text in texts]
    texts = [text if number % 2 else plain[number] for number, text in enumerate(texts)]
    targets = [(p, p) if number % 2 else (0, 0) for number, p in enumerate(places)]
    return TuningData(encode_texts(texts, WORDPIECE, max_length=24), targets)


def classifier(config=CONFIG, **options):
    return SequenceClassifier(Bert(config), 2, **options)


TASKS = {
    "classes": (classifier, classes),
    "tags": (lambda **options: TokenTagger(Bert(CONFIG), 3, **options), tags),
    "spans": (lambda **options: SpanAnswerer(Bert(CONFIG), **options), spans),
}


def tune(model, data, config, **options):
    return fine_tune(model, data, config, pad_id=0, progress=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_small_model_learns_what_is_easy(name):
    make, draw = TASKS[name]
    model, held_out = make(), draw(100, seed=1)
    before = score(model, held_out, pad_id=0)
    rows = tune(model, draw(400), LEARN, validation=held_out)
    after = score(model, held_out, pad_id=0)
    assert before.accuracy < 0.75
    assert after.accuracy > 0.97
    assert after.loss < before.loss / 4
    assert (rows[-1]["loss"], rows[-1]["accuracy"]) == after[:2]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_the_seed_decides_and_nothing_global_nor_validation_interferes(name):
    make, draw = TASKS[name]
    disturbances = iter([{}, {"watch": lambda _: torch.rand(3), "validation": draw(9, 1)}, {}])

    def trained(seed):
        model = make(dropout=0.1)
        tune(model, draw(20), replace(QUICK, seed=seed), **next(disturbances))
        return weights(model)

    before = np.random.get_state()[1].tolist(), random.getstate()
    assert_the_seed_decides(trained)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_a_frozen_encoder_is_the_same_afterwards_and_its_head_is_not():
    model = classifier(frozen=True)
    before = copy.deepcopy(model.state_dict())
    tune(model, classes(20), QUICK)
    after = model.state_dict()
    changed = {name for name in before if not torch.equal(after[name], before[name])}
    assert changed == {"output.weight", "output.bias"}


def test_rows_tell_every_step_and_every_epoch():
    seen, data = [], classes(10)
    config = TuningConfig(epochs=2, batch_size=4, learning_rate=0.01, warmup=0.34)
    model = classifier()
    rows = tune(model, data, config, validation=classes(5, seed=1), watch=seen.append)
    assert rows == seen
    assert not model.training
    kinds = ["train"] * 3 + ["held-out"] + ["train"] * 3 + ["held-out"]
    assert [row["kind"] for row in rows] == kinds
    assert [row["step"] for row in rows] == [1, 2, 3, 3, 4, 5, 6, 6]
    assert [row["epoch"] for row in rows] == [1] * 4 + [2] * 4
    rates = [row["learning_rate"] for row in rows if row["kind"] == "train"]
    # 34 % of 6 steps are 2 of warm-up; then down by quarters.
    assert rates == pytest.approx([0.005, 0.01, 0.01, 0.0075, 0.005, 0.0025])


@pytest.mark.parametrize("name", TASKS)
def test_training_is_adamw_on_whole_batches(name):
    make, draw = TASKS[name]
    data, model = draw(20), make(dropout=0)
    model.bert = Bert(replace(CONFIG, dropout=0))
    reference = copy.deepcopy(model).train()
    config = TuningConfig(3, 20, learning_rate=2e-3, warmup=0.34, weight_decay=10, clip=0.1)
    losses = [row["loss"] for row in tune(model, data, config)]

    def decayed(parameter):
        return {"params": [parameter], "weight_decay": 10 * (parameter.ndim > 1)}

    optimizer = torch.optim.AdamW([decayed(p) for p in reference.parameters()], eps=1e-6)
    inputs, targets = batch_of(reference, data, range(20), 0)
    for loss, rate in zip(losses, (2e-3, 2e-3, 1e-3), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        expected = reference.loss(reference(*inputs), targets)
        expected.backward()
        torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.1)
        optimizer.step()
        assert loss == pytest.approx(expected.item(), rel=1e-4)
    torch.testing.assert_close(weights(model), weights(reference), rtol=1e-3, atol=1e-4)


def test_a_step_has_its_rate_and_a_clipped_gradient():
    model = torch.nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=99.0)
    for factor, x, moved in ((100, [3.0, 4.0], [0.6, 0.8]), (-1, [0.1, 0.0], [-0.1, 0.0])):
        before = model.weight.detach().clone()
        loss = factor * model(torch.tensor(x)).sum()  # its gradient is factor * x
        update(model, optimizer, loss, 1, rate=0.1, clip=1.0)
        torch.testing.assert_close((before - model.weight.detach()) / 0.1, torch.tensor([moved]))


def test_a_loss_that_is_not_finite_stops_training_before_the_weights_are_lost():
    model = classifier()
    model.output.weight.data[0, 0] = torch.inf
    before = copy.deepcopy(model.state_dict())
    rejected("smaller learning rate", tune, model, classes(8), QUICK, error=FloatingPointError)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("name", TASKS)
def test_predictions_do_not_depend_on_batches_and_their_order(name):
    make, draw = TASKS[name]
    model, encodings = make(), draw(30).encodings
    alone = [model.eval()(torch.tensor([e.ids]))[0].detach() for e in encodings]
    for batch_size, order in ((1, range(30)), (7, range(30)), (64, range(29, -1, -1))):
        given = [encodings[number] for number in order]
        guesses = predict(model, given, pad_id=0, batch_size=batch_size)
        for number, logits in zip(order, guesses, strict=True):
            torch.testing.assert_close(logits, alone[number])
    assert predict(model, [], pad_id=0) == []


def test_predicting_and_scoring_restore_the_models_mode():
    model = TokenTagger(Bert(CONFIG), 3).train()
    model.bert.layers[0].eval()
    before = {part: part.training for part in model.modules()}
    logits = predict(model, tags(3).encodings, pad_id=0)
    score(model, tags(3), pad_id=0)
    assert {part: part.training for part in model.modules()} == before
    assert not any(row.requires_grad for row in logits)


def test_a_score_gives_every_target_the_same_weight():
    model, data = TokenTagger(Bert(CONFIG), 3), tags(40)
    whole = score(model, data, pad_id=0)
    logits = torch.cat(predict(model, data.encodings, pad_id=0))
    targets = torch.tensor([tag for tags in data.targets for tag in tags])
    asked = targets != IGNORED
    loss = torch.nn.functional.cross_entropy(logits[asked], targets[asked]).item()
    right = (logits.argmax(dim=-1) == targets)[asked].float().mean().item()
    assert whole.n_targets == asked.sum()
    assert whole[:2] == pytest.approx((loss, right), rel=1e-5)
    assert score(model, data, pad_id=0, batch_size=3)[:2] == pytest.approx((loss, right), rel=1e-5)


SILENT = TuningData(tags(2).encodings, [[IGNORED] * len(e) for e in tags(2).encodings])


def labelled(*texts, labels=("good",), config=CONFIG, **options):
    return labelled_data(texts, labels, ["bad", "good"], WORDPIECE, config, **options)


def test_labels_become_their_places_among_the_names_and_texts_are_paired_and_cut():
    assert label_numbers(["b", "a", "b"], ["a", "b"]) == [1, 0, 1]
    pair = labelled("the film", pairs=["a book"])
    assert pair.targets == [1]
    assert set(pair.encodings[0].segment_ids) == {0, 1}
    assert len(labelled("film " * 30, max_length=10, truncate=True).encodings[0]) == 10


def test_what_cannot_be_labelled_or_read_is_named():
    rejected(r"among \['a', 'b'\]; labels\[1\] is 'c'", label_numbers, ["a", "c"], ["a", "b"])
    rejected("names must differ", label_numbers, ["a"], ["a", "a"])
    rejected("do they belong together", labelled, "film", config=BertConfig.tiny())
    rejected(r"labels\[0\] is 'ugly'", labelled, "film", labels=["ugly"])
    rejected("one target for each encoding", labelled, "film", "book")
    rejected(r"texts\[0\] has 32; truncate=True", labelled, "film " * 30)
    rejected("max_length must be at most 24, .* got 25", labelled, "film", max_length=25)
    rejected("at least one; got 0 encodings and 0 targets", TuningData, [], [])
    rejected("all of them are IGNORED", score, TokenTagger(Bert(CONFIG), 3), SILENT, pad_id=0)
    model, texts, kind = classifier(), TuningData(["the film"], [0]), {"error": TypeError}
    rejected("fine_tune: encodings must be .* is a str", tune, model, texts, QUICK, **kind)
    rejected("predict: encodings must be .* is a list", predict, model, [[2]], pad_id=0, **kind)
    for change, message in (({"vocab_size": 8}, "model belong"), ({"max_length": 3}, "1 to 3")):
        model = classifier(replace(CONFIG, **change))
        rejected("fine_tune: .*" + message, tune, model, classes(3), QUICK)
        rejected("predict: .*" + message, predict, model, classes(3).encodings, pad_id=0)


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("classes", 2, "SequenceClassifier: .* a class from 0 to 1; got 2"),
        ("classes", -1, "SequenceClassifier: .* from 0 to 1; got -1"),
        ("classes", "good", "SequenceClassifier: 'str'"),
        ("classes", None, "SequenceClassifier: 'NoneType'"),
        ("classes", math.nan, "SequenceClassifier: 'float'"),
        ("classes", [1, 0], "SequenceClassifier: 'list'"),
        ("tags", 1, "TokenTagger"),
        ("tags", [0], r"TokenTagger: .* a tag for each of \d+ tokens; got 1"),
        ("spans", 1, "SpanAnswerer"),
        ("spans", None, "SpanAnswerer: .*start <= end; got None"),
        ("spans", (1, 2, 3), r"SpanAnswerer: .*got \(1, 2, 3\)"),
        ("spans", (2, 1), r"SpanAnswerer: .*start <= end; got \(2, 1\)"),
        ("spans", (0, 24), "SpanAnswerer: .* a token from 0 to .*; got 24"),
    ],
)
def test_targets_that_do_not_suit_the_head_are_named_before_training(name, target, message):
    make, draw = TASKS[name]
    model, data = make(), draw(3)
    wrong = TuningData(data.encodings, [data.targets[0], target, data.targets[2]])
    before, message = model.output.weight.clone(), r"targets\[1\] does not fit a " + message
    rejected("fine_tune: " + message, tune, model, wrong, QUICK)
    rejected("validation: " + message, tune, model, data, QUICK, validation=wrong)
    assert torch.equal(model.output.weight, before)


SAME_TARGETS = {
    "classes": [
        *[
            Column,
            pandas_column,
            iter,
            partial(np.array, dtype=bool),
            partial(np.array, dtype=np.int8),
        ],
        *[partial(torch.tensor, dtype=dtype) for dtype in (torch.uint8, torch.bool)],
        *[lambda classes, kind=kind: list(map(kind, classes)) for kind in (bool, torch.tensor)],
        lambda classes: [bool(classes[0]), *classes[1:]],
    ],
    "tags": [
        *[Column, lambda tags: tuple(map(tuple, tags))],
        lambda tags: [torch.tensor(row, dtype=torch.int16) for row in tags],
        lambda tags: [np.array(row, np.int8) for row in tags],
    ],
    "spans": [
        *[Column, torch.tensor, partial(np.array, dtype=np.int16)],
        *[lambda spans, kind=kind: list(map(kind, spans)) for kind in (torch.tensor, list)],
    ],
}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in TASKS for kind in SAME_TARGETS[name]]
)
def test_targets_of_every_kind_become_those_of_a_list_of_numbers(name, kind):
    make, draw = TASKS[name]
    model, data = make(), draw(8)
    given = TuningData(data.encodings, kind(data.targets))
    check_data("f", model, given)
    (inputs, targets), (_, expected) = (batch_of(model, d, range(8), 0) for d in (given, data))
    assert targets.dtype == expected.dtype == torch.int64
    assert torch.equal(targets, expected)
    assert model.loss(model.eval()(*inputs), targets).isfinite()


@pytest.mark.parametrize(
    "wrong",
    [
        *[{"epochs": 0}, {"epochs": 1.5}, {"batch_size": 0}, {"batch_size": True}, {"clip": 0.0}],
        *[{"learning_rate": number} for number in (0.0, math.nan, math.inf)],
        *[{"warmup": 1.0}, {"warmup": -0.1}, {"weight_decay": -1.0}, {"weight_decay": math.nan}],
        {"seed": -1},
    ],
    ids=str,
)
def test_numbers_out_of_range_are_rejected(wrong):
    ((name, value),) = wrong.items()
    rejected(f"TuningConfig: {name} must be .*; got {value}", TuningConfig, **wrong)
