"""Any head for a typed text: the boxes, and the model's attention."""

import pytest
import torch

from bertlab.interpretability.traces import trace
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece
from bertlab.viz import head_maps
from course.widgets import head_explorer
from tests.bertlab.viz.test_head_choosers import TOKENS, facts_of, random_attentions, unpacked
from tests.small_models import random_weights

CORPUS = ["the cats sat on the mat", "my two dogs sat with the cat"]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(CORPUS, vocab_size=60)


@pytest.fixture(scope="module")
def model(tokenizer):
    """A small model, never trained, with heads that differ."""
    config = BertConfig(len(tokenizer.vocab), 24, 2, 3, 40, max_length=100)
    return random_weights(Bert(config), seed=3, scale=1 / 2)


def test_typing_runs_the_model_again(page, model, tokenizer):
    head_explorer(model, tokenizer, "The cat", layer=1, head=2)._ipython_display_()
    _, (first, _), (no_kernel, _) = page.shown
    assert facts_of(first)["tokens"] == ["[CLS]", "the", "cat", "[SEP]"]
    assert 'value="The cat"' in no_kernel.html
    (box,) = page.boxes
    assert (box.value, box.description, box.continuous_update) == ("The cat", "Type here", True)
    box.value = "The cat sat"
    (second,) = page.updates
    expected = trace(model, tokenizer, "The cat sat")
    assert facts_of(second)["tokens"] == expected.tokens
    torch.testing.assert_close(
        unpacked(facts_of(second)), torch.stack(expected.attentions).double(), rtol=2e-3, atol=2e-5
    )
    assert (facts_of(second)["layer"], facts_of(second)["head"]) == (1, 2)


def test_frames_of_one_box_share_what_is_chosen_and_no_other(model, tokenizer):
    one, two = (head_explorer(model, tokenizer, "The cat") for _ in range(2))
    assert facts_of(one.show("the"))["key"] == facts_of(one.show("cat"))["key"] != ""
    assert facts_of(one.show("the"))["key"] != facts_of(two.show("the"))["key"]
    assert facts_of(head_maps(random_attentions(1, 1, 4), TOKENS))["key"] == ""


def test_a_pair_has_two_boxes(page, model, tokenizer):
    explorer = head_explorer(model, tokenizer, "The cat", "my dogs")
    explorer._ipython_display_()
    boxes = [(box.description, box.value) for box in page.boxes]
    assert boxes == [("First text", "The cat"), ("Second text", "my dogs")]
    page.boxes[1].value = "two mats"
    page.boxes[0].value = "The dog"
    expected = trace(model, tokenizer, "The dog", "two mats").tokens
    assert facts_of(page.updates[-1])["tokens"] == expected
    assert sum("Run this cell" in str(thing) for thing, _ in page.shown) == 1


def test_an_invalid_text_is_explained_and_the_box_still_works(page, model, tokenizer):
    head_explorer(model, tokenizer, "The cat")._ipython_display_()
    (box,) = page.boxes
    for text, words in (
        (" ", "text must hold at least one word"),
        ("cat " * 200, "text must be 1 to 100 tokens long"),
        ("cat " * 79, "tokens must be at most 80"),
    ):
        box.value = text
        told = page.updates[-1]
        assert f"<strong>No map.</strong> {told.text.split(':')[0]}" in told.html
        assert words in repr(told)
    box.value = "the mat"
    assert facts_of(page.updates[-1])["tokens"][1:3] == ["the", "mat"]
