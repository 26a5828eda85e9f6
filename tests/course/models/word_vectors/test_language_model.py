"""ELMo in small: what each direction may see, the mixture of layers, and that it learns."""

import random

import pytest
import torch
from torch.nn import functional as F

from course.models.word_vectors import BidirectionalLanguageModel, Vocabulary, mix_layers
from course.models.word_vectors.language_model import (
    both_losses,
    combine_sides,
    train_language_model,
)
from tests.small_models import normal

VOCABULARY = Vocabulary.of([["<unk>", "<edge>", "a", "b", "c", "d", "e"]])


@pytest.fixture(scope="module")
def model():
    return BidirectionalLanguageModel(VOCABULARY, d_model=6, seed=1).eval()


def test_each_guess_sees_its_own_side_and_never_the_word_itself(model):
    words = list("abcde")
    reading = model(model.encode(words))
    for changed in range(5):
        other = model(model.encode([*words[:changed], "<unk>", *words[changed + 1 :]]))
        left = (other.from_left != reading.from_left).any(dim=-1)[0].tolist()
        right = (other.from_right != reading.from_right).any(dim=-1)[0].tolist()
        assert left == [place > changed for place in range(5)]
        assert right == [place < changed for place in range(5)]


def test_the_layer_of_the_word_alone_and_those_in_context(model):
    reading = model(model.encode(["a", "b", "a"]))
    assert reading.layers.shape == (3, 1, 3, 12)
    assert reading.from_left.shape == reading.from_right.shape == (1, 3, 7)
    alone, first, second = reading.layers[:, 0]
    assert torch.equal(alone[0], alone[2])  # the same word, the same vector
    assert torch.equal(alone[0, :6], alone[0, 6:])  # once for each direction
    assert not torch.allclose(first[0], first[2])  # not so in context
    assert not torch.allclose(second[0], second[2])
    # The guesses are made from the states of the last layer, beside the word.
    torch.testing.assert_close(reading.from_left[0, 1:], model.output(second[:-1, :6]))
    torch.testing.assert_close(reading.from_right[0, :-1], model.output(second[1:, 6:]))


def test_unknown_words_are_read_as_such_edges_added_and_too_little_text_rejected(model):
    ids = VOCABULARY.ids
    expected = [ids[word] for word in ("<edge>", "a", "<unk>", "<edge>")]
    assert model.encode(["a", "okapi"]).tolist() == [expected]
    with pytest.raises(ValueError, match="vocabulary must hold <edge>"):
        BidirectionalLanguageModel(Vocabulary(("<unk>", "a"), (1, 1)))
    with pytest.raises(ValueError, match="must fill a batch of 16 pieces of 32 words; got 12"):
        train_language_model([["a", "b"]] * 4, progress=False)


def test_layers_are_mixed_by_equation_1():
    layers = normal(3, 2, 4)
    weights = torch.tensor([0.0, 1.0, -2.0])
    shares = weights.exp() / weights.exp().sum()
    expected = 2.5 * sum(share * layer for share, layer in zip(shares, layers, strict=True))
    torch.testing.assert_close(mix_layers(layers, weights, gamma=2.5), expected)


def test_two_independent_sides_are_put_together_by_bayes_rule():
    """A joint distribution in which left and right depend on the word alone, by enumeration."""
    prior = torch.tensor([0.5, 0.3, 0.2])  # p(w)
    left_given_word = torch.tensor([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    right_given_word = torch.tensor([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]])
    for left in range(2):
        for right in range(2):
            by_left = prior * left_given_word[:, left]
            by_right = prior * right_given_word[:, right]
            both = prior * left_given_word[:, left] * right_given_word[:, right]
            logits = combine_sides(by_left.log(), by_right.log() + 3, prior)
            torch.testing.assert_close(logits.softmax(-1), both / both.sum())


def sentences(n=300):
    """x, a word, y, and the same word again: to guess either, one has to look at the other."""
    rng = random.Random(0)
    return [["x", word, "y", word, "z"] for word in rng.choices("abcdefgh", k=n)]


@pytest.mark.slow
def test_training_learns_to_guess_and_the_seed_decides():
    options = {"d_model": 32, "length": 18, "batch_size": 8, "epochs": 12, "progress": False}
    state = torch.get_rng_state()
    model = train_language_model(sentences(), vocab_size=20, **options)
    assert torch.equal(torch.get_rng_state(), state)
    again = train_language_model(sentences(), vocab_size=20, **options)
    assert torch.equal(model.output.weight, again.output.weight)
    ids = model.encode(["x", "c", "y", "c", "z"])
    reading = model(ids)
    words = model.vocabulary.words
    assert words[reading.from_left[0, 3].argmax()] == "c"  # has seen the first c
    assert words[reading.from_right[0, 1].argmax()] == "c"  # has seen the second
    assert reading.from_left[0, 1].softmax(-1)[model.vocabulary.ids["c"]] < 0.5  # has not
    chance = 2 * F.cross_entropy(torch.zeros(1, len(words)), torch.tensor([0]))
    assert both_losses(reading, ids[:, 1:-1]) < chance / 2
