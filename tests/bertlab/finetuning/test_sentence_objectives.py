"""Three objectives against sentence-transformers; then pairs move where they are told to."""

import math
from dataclasses import replace

import pytest
import torch
from sentence_transformers.sentence_transformer import losses

from bertlab.finetuning.sentence_objectives import (
    SiameseClassifier,
    cosine_loss,
    in_batch_negatives_loss,
    train_pairs,
)
from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.tuning import TuningConfig
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece

ANIMALS = ["a cat sat", "the cat ran home", "one cat ate", "my cat is fat"]
SHIPS = ["a ship sank", "the ship sailed home", "one ship left", "my ship is old"]


class Vectors(torch.nn.Module):
    """Stands where sentence-transformers' losses expect a model: the features are the vectors."""

    device = torch.device("cpu")

    def forward(self, features):
        return {"sentence_embedding": features["vectors"]}


def vectors(seed, rows=6, size=5):
    return torch.randn(rows, size, generator=torch.Generator().manual_seed(seed))


def reference_loss(kind, u, v, targets, **options):
    loss = kind(Vectors(), **options)
    return loss, loss([{"vectors": u}, {"vectors": v}], targets)


def test_the_classifier_equals_sentence_transformers():
    u, v, targets = vectors(1), vectors(2), torch.tensor([0, 2, 1, 1, 0, 2])
    options = {"embedding_dimension": 5, "num_labels": 3}
    reference, _ = reference_loss(losses.SoftmaxLoss, u, v, targets, **options)
    ours = SiameseClassifier(5, 3)
    with torch.no_grad():
        reference.classifier.weight.copy_(ours.output.weight)
        reference.classifier.bias.zero_()  # the paper has none
    expected = reference([{"vectors": u}, {"vectors": v}], targets)
    torch.testing.assert_close(ours.loss(u, v, targets), expected)
    assert expected.item() != pytest.approx(math.log(3), abs=1e-4)


def test_cosine_regression_equals_sentence_transformers():
    u, v, targets = vectors(1), vectors(2), torch.linspace(-1, 1, 6)
    _, expected = reference_loss(losses.CosineSimilarityLoss, u, v, targets)
    torch.testing.assert_close(cosine_loss(u, v, targets), expected)
    torch.testing.assert_close(cosine_loss(u, v, targets.double()), expected)


@pytest.mark.parametrize("scale", [20.0, 3.0])
def test_in_batch_negatives_equal_sentence_transformers(scale):
    u, v = vectors(1), vectors(2)
    kind = losses.MultipleNegativesRankingLoss
    _, expected = reference_loss(kind, u, v, None, scale=scale)
    torch.testing.assert_close(in_batch_negatives_loss(u, v, scale=scale), expected)
    assert in_batch_negatives_loss(u[:1], v[:1]).item() == 0


def test_the_classifier_does_not_care_who_is_first_unless_u_and_v_say_so():
    ours = SiameseClassifier(5, 3)
    with torch.no_grad():
        ours.output.weight[:, :10] = 0  # only |u - v| is left
    u, v = vectors(1), vectors(2)
    torch.testing.assert_close(ours(u, v), ours(v, u))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda u, v: cosine_loss(u, v[:2], torch.zeros(6)),
            r"\[B, D\]; got \[6, 5\] and \[2, 5\]",
        ),
        (lambda u, v: cosine_loss(u, v, torch.full((6,), 5.0)), "from -1 to 1; got 5 to 5"),
        (lambda u, v: cosine_loss(u, v, torch.full((6,), torch.nan)), "got nan"),
        (lambda u, v: cosine_loss(u, v, torch.zeros(6, 1)), r"\[B\] = \[6\]; got \[6, 1\]"),
        (lambda u, v: in_batch_negatives_loss(u, v, scale=0), "scale must be above 0; got 0"),
        (lambda u, v: in_batch_negatives_loss(u, v, scale=math.inf), "scale .* above 0; got inf"),
        (lambda u, v: in_batch_negatives_loss(u[:0], v[:0]), r"at least one pair.*got \[0, 5\]"),
        (lambda u, v: cosine_loss(u[:0], v[:0], torch.ones(0)), "at least one pair"),
        (lambda u, v: in_batch_negatives_loss(u[0], v[0]), r"got \[5\] and \[5\]"),
        (
            lambda u, v: SiameseClassifier(5, 3).loss(u, v, torch.full((6,), 3)),
            "from 0 to 2; got 3",
        ),
        (lambda u, v: SiameseClassifier(5, 3).loss(u, v, torch.zeros(6)), "must be integers"),
        (lambda u, v: SiameseClassifier(5, 1), "n_classes must be at least 2; got 1"),
    ],
)
def test_what_an_objective_cannot_use_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(vectors(1), vectors(2))


# Training


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train([*ANIMALS, *SHIPS], 120)


def small_encoder(tokenizer, **changes):
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_length": 16}
    config = BertConfig(vocab_size=len(tokenizer.vocab), **sizes, **changes)
    return SentenceEncoder(Bert(config), tokenizer, normalize=False)


@pytest.fixture
def encoder(tokenizer):
    return small_encoder(tokenizer)


CONFIG = TuningConfig(epochs=15, batch_size=8, learning_rate=3e-3)
ALIKE = list(zip(ANIMALS, reversed(ANIMALS), strict=True))
ALIKE += list(zip(SHIPS, reversed(SHIPS), strict=True))
UNLIKE = list(zip(ANIMALS, SHIPS, strict=True))
PAIRS = [*ALIKE, *UNLIKE]
FIRST, SECOND = zip(*PAIRS, strict=True)
SAME = [1] * len(ALIKE) + [0] * len(UNLIKE)


def gap(encoder):
    """How much more alike sentences about one thing are than sentences about two."""
    u, v = (encoder.encode(texts, progress=False) for texts in (FIRST, SECOND))
    cosines = torch.cosine_similarity(u, v)
    return (cosines[: len(ALIKE)].mean() - cosines[len(ALIKE) :].mean()).item()


def train(encoder, kind, **options):
    """Train with one of the objectives."""
    options = {"config": CONFIG, "progress": False, **options}
    if kind == "classes":
        objective = SiameseClassifier(16, 2)
        return train_pairs(encoder, FIRST, SECOND, SAME, objective, **options), objective
    if kind == "cosine":
        return train_pairs(encoder, FIRST, SECOND, SAME, cosine_loss, **options), None
    first, second = zip(*ALIKE, strict=True)
    return train_pairs(encoder, first, second, None, in_batch_negatives_loss, **options), None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cosine", "contrast"])
def test_sentences_that_belong_together_come_together(encoder, kind):
    before = gap(encoder)
    rows, _ = train(encoder, kind)
    losses = [row["loss"] for row in rows]
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    assert gap(encoder) > before + 0.2
    assert not encoder.training


@pytest.mark.slow
def test_classes_of_pairs_are_learned(encoder):
    _, classifier = train(encoder, "classes", config=replace(CONFIG, epochs=30))
    assert not torch.equal(classifier.output.weight, SiameseClassifier(16, 2).output.weight)
    u, v = (encoder.encode(texts, progress=False) for texts in (FIRST, SECOND))
    assert classifier(u, v).argmax(dim=1).tolist() == SAME


def test_the_same_seed_gives_the_same_weights_and_leaves_the_random_state(tokenizer, encoder):
    config = TuningConfig(epochs=2, batch_size=5, learning_rate=1e-3, seed=3)
    state = torch.get_rng_state()
    first = train(encoder, "cosine", config=config)[0]
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(7)  # somebody else draws in between
    again = SentenceEncoder(Bert(encoder.bert.config), tokenizer, normalize=False)
    assert train(again, "cosine", config=config)[0] == first
    for name, weight in encoder.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight)


def test_rows_say_what_happened_and_when(encoder):
    config = TuningConfig(epochs=2, batch_size=5, learning_rate=1e-3)
    seen = []
    options = {"evaluate": lambda: {"gap": gap(encoder)}, "watch": seen.append}
    rows, _ = train(encoder, "cosine", config=config, **options)
    assert rows == seen
    kinds = [row["kind"] for row in rows]
    assert kinds == ["held-out", *["train"] * 3, "held-out", *["train"] * 3, "held-out"]
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 3, 4, 5, 6, 6]
    assert rows[-1]["gap"] != rows[0]["gap"]
    assert rows[1]["learning_rate"] == config.rate(1, 6)


def test_a_pair_stays_a_pair_and_keeps_its_target(tokenizer):
    encoder = small_encoder(tokenizer, dropout=0.0)
    texts = [*ANIMALS, *SHIPS]
    known = encoder.encode(texts, progress=False)
    found, sizes = [], []

    def objective(u, v, targets):
        assert encoder.training
        sides = [[texts[n] for n in torch.cdist(x, known).argmin(dim=1)] for x in (u, v)]
        found.extend(zip(*sides, targets.tolist(), strict=True))
        sizes.append(len(u))
        return cosine_loss(u, v, targets)

    config = TuningConfig(epochs=1, batch_size=5, learning_rate=1e-9)
    train_pairs(encoder, FIRST, SECOND, SAME, objective, config, progress=False)
    assert sorted(found) == sorted(zip(FIRST, SECOND, SAME, strict=True))
    assert found != list(zip(FIRST, SECOND, SAME, strict=True))
    assert sorted(sizes) == [2, 5, 5]


def test_pairs_that_do_not_fit_and_a_loss_that_is_no_number_are_refused(encoder):
    for sizes in ((2, 1, 2), (2, 2, 1), (0, 0, 0)):
        first, second, targets = (["a cat"] * sizes[0], ["a cat"] * sizes[1], [0.0] * sizes[2])
        got = " and ".join(map(str, sizes))
        with pytest.raises(ValueError, match=f"one entry a pair; got {got}"):
            train_pairs(encoder, first, second, targets, cosine_loss, CONFIG)
    for sides, name in ((("cat " * 20, "a cat"), "first"), (("a cat", "cat " * 20), "second")):
        with pytest.raises(ValueError, match=rf"{name}: .*texts\[0\].*truncate=True"):
            train_pairs(encoder, *([side] for side in sides), [1.0], cosine_loss, CONFIG)
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        train_pairs(encoder, FIRST, SECOND, None, lambda u, v: u.sum() * torch.nan, CONFIG)
