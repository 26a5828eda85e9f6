"""A model's words for a gap, against the pipeline of `transformers`."""

import logging

import pytest
import torch
from transformers import pipeline

from bertlab.model import BertConfig, BertForPreTraining, save_pretrained
from bertlab.model.heads import fill_mask
from bertlab.tokenizers import WordPiece
from tests.small_models import random_weights

CORPUS = ["the cats sat on the mat", "my two dogs sat with the cat and paid <5 or $6"]
TWO_GAPS = "The [MASK] sat on the [MASK]."


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(CORPUS, vocab_size=70)


@pytest.fixture
def model(tokenizer):
    """A small model, never trained, that prefers some words by far; it is in training mode."""
    config = BertConfig(len(tokenizer.vocab), 24, 2, 4, 40, max_length=16)
    return random_weights(BertForPreTraining(config), seed=3, scale=1 / 4)


@pytest.fixture
def reference(model, tokenizer, tmp_path, caplog):
    caplog.set_level(logging.ERROR, logger="transformers")
    folder = str(save_pretrained(model, tmp_path, tokenizer))
    return pipeline("fill-mask", model=folder, tokenizer=folder, device="cpu")


@pytest.mark.parametrize("text", ["The cat sat on the [MASK].", TWO_GAPS, "[MASK]"])
def test_the_guesses_equal_those_of_transformers(model, tokenizer, reference, text):
    expected = reference(text, top_k=7)
    expected = expected if isinstance(expected[0], list) else [expected]  # one gap: no outer list
    got = fill_mask(model, tokenizer, text, top=7)
    assert len(got) == len(expected) == text.count("[MASK]")
    for ours, theirs in zip(got, expected, strict=True):
        assert [tokenizer.vocab[word] for word, _ in ours] == [guess["token"] for guess in theirs]
        scores = [guess["score"] for guess in theirs]
        assert [share for _, share in ours] == pytest.approx(scores, rel=1e-4)


def test_all_words_together_are_certain(model, tokenizer):
    size = len(tokenizer.vocab)
    (guesses,) = fill_mask(model, tokenizer, "the [MASK]", top=size)
    assert {word for word, _ in guesses} == set(tokenizer.vocab)
    assert sum(share for _, share in guesses) == pytest.approx(1, abs=1e-5)


def test_dropout_is_off_and_the_mode_of_the_model_is_restored(model, tokenizer):
    state = torch.get_rng_state()
    assert model.training
    assert fill_mask(model, tokenizer, TWO_GAPS) == fill_mask(model, tokenizer, TWO_GAPS)
    assert all(module.training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), state)
