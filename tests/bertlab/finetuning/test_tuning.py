"""Fine-tuning: it learns, it is the same every time, and it touches nothing else."""

import copy
import math
import random

import numpy as np
import pytest
import torch

from bertlab.finetuning.heads import IGNORED, SequenceClassifier, SpanAnswerer, TokenTagger
from bertlab.finetuning.targets import (
    TuningData,
    batch_of,
    check_data,
    label_numbers,
    labelled_data,
)
from bertlab.finetuning.texts import encode_texts
from bertlab.finetuning.tuning import TuningConfig, fine_tune, predict, score
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece
from bertlab.training.steps import update
from tests.bertlab.tokenizers.references import Column, pandas_column
from tests.small_models import weights

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


TASKS = {
    "classes": (lambda **o: SequenceClassifier(Bert(CONFIG), 2, **o), classes),
    "tags": (lambda **o: TokenTagger(Bert(CONFIG), 3, **o), tags),
    "spans": (lambda **o: SpanAnswerer(Bert(CONFIG), **o), spans),
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
def test_the_same_seed_gives_the_same_weights_bit_by_bit(name):
    make, draw = TASKS[name]
    made = []
    for seed, watch in ((0, None), (0, lambda row: torch.rand(3)), (1, None)):
        model = make(dropout=0.1)
        config = TuningConfig(epochs=2, batch_size=4, learning_rate=1e-3, seed=seed)
        tune(model, draw(20), config, watch=watch)
        made.append(weights(model))
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


def test_validation_and_global_randomness_do_not_interfere():
    weights = []
    for validation in (None, classes(10, seed=1)):
        torch.manual_seed(len(weights))
        before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
        model = SequenceClassifier(Bert(CONFIG), 2)
        tune(model, classes(20), QUICK, validation=validation)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert np.array_equal(np.random.get_state()[1], before[1])
        assert random.getstate() == before[2]
        weights.append(model.output.weight)
    assert torch.equal(*weights)


def test_a_frozen_encoder_is_the_same_afterwards_and_its_head_is_not():
    model = SequenceClassifier(Bert(CONFIG), 2, frozen=True)
    before = copy.deepcopy(model.state_dict())
    tune(model, classes(20), QUICK)
    after = model.state_dict()
    changed = {name for name in before if not torch.equal(after[name], before[name])}
    assert changed == {"output.weight", "output.bias"}


def test_rows_tell_every_step_and_every_epoch():
    seen, data = [], classes(10)
    config = TuningConfig(epochs=2, batch_size=4, learning_rate=0.01, warmup=0.34)
    model = SequenceClassifier(Bert(CONFIG), 2)
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


def test_the_first_loss_is_that_of_the_model_as_it_came():
    encoder = Bert(BertConfig(len(VOCAB), 32, 1, 2, 32, 24, dropout=0))
    model, data = SequenceClassifier(encoder, 2, dropout=0), classes(6)
    expected = score(model, data, pad_id=0)
    config = TuningConfig(epochs=1, batch_size=6)
    assert tune(model, data, config)[0]["loss"] == pytest.approx(expected.loss, rel=1e-5)


@pytest.mark.parametrize("name", TASKS)
def test_training_is_adamw_on_whole_batches(name):
    make, draw = TASKS[name]
    data, sizes = draw(20), BertConfig(len(VOCAB), 32, 1, 2, 32, max_length=24, dropout=0)
    model = make(dropout=0)
    model.bert = Bert(sizes)
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
    reference = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=99.0)
    loss = 100 * model(torch.tensor([3.0, 4.0])).sum()  # its gradient is (300, 400)
    update(model, optimizer, loss, 1, rate=0.1, clip=1.0)
    moved = (reference.weight - model.weight) / 0.1
    torch.testing.assert_close(moved, torch.tensor([[0.6, 0.8]]))
    before = model.weight.clone()
    update(model, optimizer, -model(torch.tensor([0.1, 0.0])).sum(), 1, rate=0.1, clip=1.0)
    torch.testing.assert_close((before - model.weight) / 0.1, torch.tensor([[-0.1, 0.0]]))


def test_a_loss_that_is_not_finite_stops_training_before_the_weights_are_lost():
    model = SequenceClassifier(Bert(CONFIG), 2)
    model.output.weight.data[0, 0] = torch.inf
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        tune(model, classes(8), QUICK)
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


def test_labels_become_their_places_among_the_names():
    assert label_numbers(["b", "a", "b"], ["a", "b"]) == [1, 0, 1]
    with pytest.raises(ValueError, match=r"among \['a', 'b'\]; labels\[1\] is 'c'"):
        label_numbers(["a", "c"], ["a", "b"])
    with pytest.raises(ValueError, match="names must differ"):
        label_numbers(["a"], ["a", "a"])


def test_labelled_data_rejects_what_does_not_match():
    names = ["bad", "good"]
    pair = labelled_data(["the film"], ["good"], names, WORDPIECE, CONFIG, pairs=["a book"])
    assert pair.targets == [1]
    assert set(pair.encodings[0].segment_ids) == {0, 1}
    with pytest.raises(ValueError, match="do they belong together"):
        labelled_data(["film"], ["good"], names, WORDPIECE, BertConfig.tiny())
    with pytest.raises(ValueError, match=r"labels\[0\] is 'ugly'"):
        labelled_data(["film"], ["ugly"], names, WORDPIECE, CONFIG)
    with pytest.raises(ValueError, match=r"texts\[0\] has no tokens"):
        labelled_data([" "], ["good"], names, WORDPIECE, CONFIG)
    with pytest.raises(ValueError, match="one target for each encoding"):
        labelled_data(["film", "book"], ["good"], names, WORDPIECE, CONFIG)
    with pytest.raises(ValueError, match=r"texts\[0\] has 32; truncate=True"):
        labelled_data(["film " * 30], ["good"], names, WORDPIECE, CONFIG)
    short = {"max_length": 10, "truncate": True}
    cut = labelled_data(["film " * 30], ["good"], names, WORDPIECE, CONFIG, **short)
    assert len(cut.encodings[0]) == 10
    with pytest.raises(ValueError, match=r"max_length must be at most 24, .* got 25"):
        labelled_data(["film"], ["good"], names, WORDPIECE, CONFIG, max_length=25)


def test_empty_data_and_data_without_targets_are_rejected():
    with pytest.raises(ValueError, match="at least one; got 0 encodings and 0 targets"):
        TuningData([], [])
    data = tags(2)
    silent = TuningData(data.encodings, [[IGNORED] * len(e) for e in data.encodings])
    with pytest.raises(ValueError, match="all of them are IGNORED"):
        score(TokenTagger(Bert(CONFIG), 3), silent, pad_id=0)


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("classes", 2, r"targets\[1\] does not fit a SequenceClassifier: .* from 0 to 1; got 2"),
        ("classes", "good", r"targets\[1\] does not fit a SequenceClassifier: 'str'"),
        ("tags", 1, r"targets\[1\] does not fit a TokenTagger"),
        ("tags", [0], r"targets\[1\] does not fit a TokenTagger: .* each of \d+ tokens; got 1"),
        ("spans", 1, r"targets\[1\] does not fit a SpanAnswerer"),
        ("classes", None, r"targets\[1\] does not fit a SequenceClassifier: 'NoneType'"),
        ("classes", math.nan, r"targets\[1\] does not fit a SequenceClassifier: 'float'"),
        ("classes", [1, 0], r"targets\[1\] does not fit a SequenceClassifier: 'list'"),
        ("spans", None, r"targets\[1\] does not fit a SpanAnswerer: .*start <= end; got None"),
        ("spans", (1, 2, 3), r"targets\[1\] does not fit a SpanAnswerer: .*got \(1, 2, 3\)"),
        ("spans", (0, 24), r"targets\[1\] does not fit a SpanAnswerer: .*; got 24"),
    ],
)
def test_targets_that_do_not_suit_the_head_are_named_before_training(name, target, message):
    make, draw = TASKS[name]
    model, data = make(), draw(3)
    wrong = TuningData(data.encodings, [data.targets[0], target, data.targets[2]])
    before = model.output.weight.clone()
    with pytest.raises(ValueError, match=message):
        tune(model, wrong, QUICK)
    with pytest.raises(ValueError, match="validation: " + message):
        tune(model, data, QUICK, validation=wrong)
    assert torch.equal(model.output.weight, before)
    check_data("f", model, data)


SAME_TARGETS = {
    "classes": {
        "booleans": lambda classes: [bool(number) for number in classes],
        "mixed": lambda classes: [bool(classes[0]), *classes[1:]],
        "NumPy booleans": lambda classes: np.array(classes, bool),
        "int8": lambda classes: np.array(classes, np.int8),
        "uint8 tensor": lambda classes: torch.tensor(classes, dtype=torch.uint8),
        "boolean tensor": lambda classes: torch.tensor(classes).bool(),
        "tensors": lambda classes: [torch.tensor(number) for number in classes],
        "column": Column,
        "pandas column": pandas_column,
        "generator": lambda classes: (number for number in classes),
    },
    "tags": {
        "tensors": lambda tags: [torch.tensor(row, dtype=torch.int16) for row in tags],
        "arrays": lambda tags: [np.array(row, np.int8) for row in tags],
        "tuples": lambda tags: tuple(map(tuple, tags)),
        "column": Column,
    },
    "spans": {
        "tensor": torch.tensor,
        "int16": lambda spans: np.array(spans, np.int16),
        "tensors": lambda spans: [torch.tensor(span) for span in spans],
        "lists": lambda spans: [list(span) for span in spans],
        "column": Column,
    },
}


@pytest.mark.parametrize(("name", "kind"), [(n, kind) for n in TASKS for kind in SAME_TARGETS[n]])
def test_targets_of_every_kind_become_those_of_a_list_of_numbers(name, kind):
    make, draw = TASKS[name]
    model, data = make(), draw(8)
    given = TuningData(data.encodings, SAME_TARGETS[name][kind](data.targets))
    check_data("f", model, given)
    (inputs, targets), (_, expected) = (batch_of(model, d, range(8), 0) for d in (given, data))
    assert targets.dtype == expected.dtype == torch.int64
    assert torch.equal(targets, expected)
    assert model.loss(model.eval()(*inputs), targets).isfinite()


def test_what_are_not_encodings_are_named():
    texts = TuningData(["the film", "a book"], [0, 1])
    with pytest.raises(TypeError, match=r"fine_tune: encodings must be .*encodings\[0\] is a str"):
        tune(SequenceClassifier(Bert(CONFIG), 2), texts, QUICK)
    with pytest.raises(TypeError, match=r"predict: encodings must be .*encodings\[0\] is a list"):
        predict(SequenceClassifier(Bert(CONFIG), 2), [[2, 3]], pad_id=0)


def test_texts_of_another_tokenizer_or_too_long_for_the_model_are_named():
    data = classes(3)
    few_words = SequenceClassifier(Bert(BertConfig(8, 32, 1, 2, 32)), 2)
    short = SequenceClassifier(Bert(BertConfig(17, 32, 1, 2, 32, max_length=3)), 2)
    for model, message in ((few_words, "do tokenizer and model belong"), (short, "1 to 3 tokens")):
        with pytest.raises(ValueError, match="fine_tune: .*" + message):
            tune(model, data, QUICK)
        with pytest.raises(ValueError, match="predict: .*" + message):
            predict(model, data.encodings, pad_id=0)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("epochs", (0, 1.5)),
        ("batch_size", (0, True)),
        ("learning_rate", (0.0, float("nan"), float("inf"))),
        ("warmup", (1.0, -0.1)),
        ("weight_decay", (-1.0, float("nan"))),
        ("clip", (0.0,)),
        ("seed", (-1,)),
    ],
)
def test_numbers_out_of_range_are_rejected(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"TuningConfig: {name} must be .*; got {value}"):
            TuningConfig(**{name: value})
