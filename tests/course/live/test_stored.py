"""The sentences of the first page do what their captions say; `tests/browser` compares drawings."""

import re

import pytest
import torch

from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from course.live.stored import read
from course.publishing.front_page import EXAMPLES

# What the model says, and for those where it is wrong, what is right.
SAID = {
    "a plural": ("were", ""),
    "its singular": ("was", ""),
    "a verb": ("fell", ""),
    "a name": ("lincoln", ""),
    "a river bank": ("water", ""),
    "a money bank": ("treasury", ""),
    "a noun between": ("is", "are"),
    "a fact": ("america", "italy"),
    "wrong and sure": ("years", "months"),
}


@pytest.fixture(scope="module")
def model():
    return load_pretrained(BERTLAB_MINI, BertForPreTraining), load_tokenizer(BERTLAB_MINI)


@pytest.fixture(scope="module")
def answers():
    return {answer.example.label: answer for answer in read(EXAMPLES, BERTLAB_MINI)}


def said(model, text):
    """The first prediction and its probability."""
    return fill_mask(*model, text)[0][0]


def test_each_sentence_is_answered_as_its_caption_says(model, answers):
    assert list(answers) == list(SAID)
    for label, (word, right) in SAID.items():
        answer = answers[label]
        found, share = said(model, answer.example.text)
        assert found == answer.guesses[0]["best"][0][0] == word
        assert f"<em>{word}</em>, {100 * share:.0f} %" in answer.note
        assert answer.example.wrong == bool(right)
        assert not re.search(r"\d %", answer.example.note)  # no share is typed by hand


def test_the_plural_depends_on_one_piece_from_which_head_0_of_layer_1_collects(answers):
    plural, singular = answers["a plural"], answers["its singular"]
    without = [token for token in plural.tokens if token != "##s"]
    assert without == singular.tokens
    shares = plural.shares[1, 0, plural.tokens.index("[MASK]")]
    assert plural.tokens[shares.argmax()] == "##s"
    assert shares.max() > 90


def test_what_decides_the_verb_stands_after_the_mask(model):
    assert said(model, "The wolf lay down and [MASK].")[0] != "fell"


def test_the_name_is_known_as_three_pieces(model, answers):
    tokens = answers["a name"].tokens
    assert tokens[1 : tokens.index("[MASK]")] == ["ab", "##ra", "##ham"]


def test_the_two_banks_differ_in_one_word(answers):
    river, money = (answers[f"a {kind} bank"].tokens for kind in ("river", "money"))
    assert [pair for pair in zip(river, money, strict=True) if pair[0] != pair[1]] == [
        ("fish", "money")
    ]


def test_the_noun_between_misleads_the_model(model):
    near = said(model, "The children of the kings [MASK] happy.")
    assert near[0] in ("are", "were")


def test_the_wrong_answer_is_surer_than_the_right_ones_but_one(answers):
    shares = {label: answer.guesses[0]["best"][0][1] for label, answer in answers.items()}
    assert sorted(shares, key=shares.get)[-2:] == ["wrong and sure", "a verb"]


def test_an_answer_is_the_models_in_whole_percent_and_tenths(model, answers):
    answer = answers["a plural"]
    with torch.no_grad():
        output = model[0].bert(
            torch.tensor([answer.ids]), output_hidden_states=True, output_attentions=True
        )
    shares, states = torch.cat(output.attentions), torch.cat(output.hidden_states)
    assert (shares - answer.shares / 100).abs().max() <= 0.00501
    assert (states - answer.states / 10).abs().max() <= 0.0501
