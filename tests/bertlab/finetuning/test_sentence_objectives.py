"""Three objectives against sentence-transformers; then training moves pairs as intended."""

import math
from dataclasses import replace
from functools import partial

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
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, normal, weights

ANIMALS = ["a cat sat", "the cat ran home", "one cat ate", "my cat is fat"]
SHIPS = ["a ship sank", "the ship sailed home", "one ship left", "my ship is old"]
U, V = normal(6, 5, seed=1), normal(6, 5, seed=2)
GIVEN = [{"vectors": U}, {"vectors": V}]  # as sentence-transformers' losses read them


class Vectors(torch.nn.Module):
    """Replaces the model in sentence-transformers' losses: the features are the vectors."""

    device = torch.device("cpu")

    def forward(self, features):
        return {"sentence_embedding": features["vectors"]}


def in_batch(scale):
    return lambda u, v, _: in_batch_negatives_loss(u, v, scale=scale)


RANKING = partial(losses.MultipleNegativesRankingLoss, Vectors())
SIMILARITIES = torch.linspace(-1, 1, 6)


@pytest.mark.parametrize(
    ("ours", "reference", "targets"),
    [
        (cosine_loss, losses.CosineSimilarityLoss(Vectors()), SIMILARITIES),
        (cosine_loss, losses.CosineSimilarityLoss(Vectors()), SIMILARITIES.double()),
        (in_batch(20.0), RANKING(scale=20.0), None),
        (in_batch(3.0), RANKING(scale=3.0), None),
    ],
)
def test_cosines_and_in_batch_negatives_equal_sentence_transformers(ours, reference, targets):
    expected = reference(GIVEN, SIMILARITIES)
    torch.testing.assert_close(ours(U, V, targets), expected)
    assert in_batch_negatives_loss(U[:1], V[:1]).item() == 0


def test_the_classifier_equals_sentence_transformers():
    targets = torch.tensor([0, 2, 1, 1, 0, 2])
    reference = losses.SoftmaxLoss(Vectors(), embedding_dimension=5, num_labels=3)
    ours = SiameseClassifier(5, 3)
    reference.classifier.weight.data = ours.output.weight.data
    reference.classifier.bias.data.zero_()  # the paper has none
    expected = reference(GIVEN, targets)
    assert expected.item() != pytest.approx(math.log(3), abs=1e-4)
    for dtype in (torch.int64, torch.uint8, torch.int8, torch.int32):
        torch.testing.assert_close(ours.loss(U, V, targets.to(dtype)), expected)
    two, targets = SiameseClassifier(5, 2), targets % 2
    assert torch.equal(two.loss(U, V, targets.bool()), two.loss(U, V, targets))


def test_what_an_objective_cannot_use_is_rejected():
    rejected(r"\[B, D\]; got \[6, 5\] and \[2, 5\]", cosine_loss, U, V[:2], torch.zeros(6))
    rejected("from -1 to 1; got 5 to 5", cosine_loss, U, V, torch.full((6,), 5.0))
    rejected("got nan", cosine_loss, U, V, torch.full((6,), torch.nan))
    rejected(r"\[B\] = \[6\]; got \[6, 1\]", cosine_loss, U, V, torch.zeros(6, 1))
    rejected("scale must be above 0; got 0", in_batch_negatives_loss, U, V, scale=0)
    rejected("scale .* above 0; got inf", in_batch_negatives_loss, U, V, scale=math.inf)
    rejected(r"at least one pair.*got \[0, 5\]", in_batch_negatives_loss, U[:0], V[:0])
    rejected("at least one pair", cosine_loss, U[:0], V[:0], torch.ones(0))
    rejected(r"got \[5\] and \[5\]", in_batch_negatives_loss, U[0], V[0])
    rejected("from 0 to 2; got 3", SiameseClassifier(5, 3).loss, U, V, torch.full((6,), 3))
    rejected("must be integers", SiameseClassifier(5, 3).loss, U, V, torch.zeros(6))
    rejected("n_classes must be at least 2; got 1", SiameseClassifier, 5, 1)


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
    """How much more similar sentences about one thing are than sentences about two."""
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
@pytest.mark.parametrize("kind", ["cosine", "contrast", "classes"])
def test_sentences_that_belong_together_come_together_or_their_classes_are_learned(encoder, kind):
    before = gap(encoder)
    rows, classifier = train(
        encoder, kind, config=replace(CONFIG, epochs=30 if kind == "classes" else 15)
    )
    losses = [row["loss"] for row in rows]
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    assert not encoder.training
    if classifier:
        assert not torch.equal(classifier.output.weight, SiameseClassifier(16, 2).output.weight)
        u, v = (encoder.encode(texts, progress=False) for texts in (FIRST, SECOND))
        assert classifier(u, v).argmax(dim=1).tolist() == SAME
    else:
        assert gap(encoder) > before + 0.2


def test_the_seed_decides_weights_and_losses_and_nothing_global_moves(tokenizer):
    def trained(seed):
        encoder = small_encoder(tokenizer)
        config = replace(CONFIG, epochs=2, batch_size=5, seed=seed)
        rows, _ = train(encoder, "cosine", config=config)
        return torch.cat([weights(encoder), torch.tensor([row["loss"] for row in rows])])

    assert_the_seed_decides(trained)


def test_metrics_are_asked_before_the_first_step_and_after_each_epoch(encoder):
    config = TuningConfig(epochs=2, batch_size=5, learning_rate=1e-3)
    seen = []
    options = {"evaluate": lambda: {"gap": gap(encoder)}, "watch": seen.append}
    rows, _ = train(encoder, "cosine", config=config, **options)
    assert rows == seen
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 3, 4, 5, 6, 6]
    assert [n for n, row in enumerate(rows) if "gap" in row] == [0, 4, 8]
    assert rows[-1]["gap"] != rows[0]["gap"]


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


def test_pairs_that_do_not_match_and_a_loss_that_is_not_finite_are_rejected(encoder):
    def refused(message, first, second, targets, loss=cosine_loss, error=ValueError):
        asked = (train_pairs, encoder, first, second, targets, loss, CONFIG)
        rejected(message, *asked, progress=False, error=error)

    for a, b, c in ((2, 1, 2), (2, 2, 1), (0, 0, 0)):
        message = f"one entry per pair; got {a} and {b} and {c}"
        refused(message, ["a cat"] * a, ["a cat"] * b, [0.0] * c)
    refused(r"first: .*texts\[0\].*truncate=True", ["cat " * 20], ["a cat"], [1.0])
    refused(r"second: .*texts\[0\].*truncate=True", ["a cat"], ["cat " * 20], [1.0])
    infinite, error = (lambda u, v: u.sum() * torch.nan), FloatingPointError
    refused("smaller learning rate", FIRST, SECOND, None, infinite, error)
