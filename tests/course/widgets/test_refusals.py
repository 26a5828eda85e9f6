"""What each widget refuses, and the words it refuses with."""

import math

import pytest
import torch

from bertlab.model import BertForPreTraining
from bertlab.pretraining.masking import Masked
from bertlab.tokenizers import WordPiece
from course.models.seq2seq.decoding import Beam
from course.widgets import (
    before_you_start,
    blank,
    drawn_bert,
    emblem,
    fill_mask_explorer,
    flipbook,
    flipbook_grid,
    follow_token,
    head_explorer,
    head_gallery,
    merge_race,
    merge_stepper,
    position_explorer,
    sliders,
    softmax_scaling,
    softmax_temperature,
    text_box,
    tokenizer_playground,
)
from course.widgets.decodings import beam_flipbook
from course.widgets.training_curves import training_curves
from tests.course.widgets.test_decodings import CROSS, NEXT, decoded
from tests.course.widgets.test_head_galleries import ATTENTIONS, TOKENS
from tests.course.widgets.test_masking import ASKED, NOTHING, TEXT, shown
from tests.course.widgets.test_playgrounds import Letters
from tests.course.widgets.test_token_paths import model_for
from tests.course.widgets.test_training_curves import ROWS
from tests.course.widgets.test_turns import squares

TOKENIZER = WordPiece.train(["the cats saw the other cat and the other dog"] * 3, vocab_size=60)
OTHER = WordPiece.train(["quite another text"], vocab_size=30)
MODEL, GUESSING = model_for(TOKENIZER), model_for(TOKENIZER, BertForPreTraining)
BOOK, WORDS = {"title": "T", "alt": "A"}, {"cost": 2, "best": 2}
GRID = {"row_name": "Layer", "column_name": "Head", **BOOK}
MOVED = Masked(TEXT + (torch.arange(6) == 4), NOTHING.predict)


def path(token=1, text="the cat saw the other cat", tokenizer=TOKENIZER, model=MODEL):
    return lambda: follow_token(model, tokenizer, text, token)


def race(**arguments):
    return lambda: merge_race(**{"word_counts": WORDS, **arguments})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decoded(chances=NEXT[:1]), r"must be \[T, V\] = \[2, 6\].* \[1, 6\]"),
        (lambda: decoded(cross=CROSS[:, :2]), "decoding_flipbook: attention must"),
        (lambda: beam_flipbook(Beam([], []), str), "at least one step"),
        (lambda: drawn_bert("atten"), r"lit must be None or one of embeddings, layer.*'atten'"),
        (lambda: emblem("head"), r"lit must be one of tokens, vectors.*'head'"),
        (lambda: emblem("tokens", ["a"]), "tokens must be 2 to 7 strings; got 1"),
        (lambda: emblem("tokens", ["a", "b"], [1.0]), "values must be 2, one per token; got 1"),
        (lambda: before_you_start("04"), "such as '04_attention'"),
        (lambda: before_you_start("01_words_to_subwords"), "fewer"),
        (lambda: fill_mask_explorer(GUESSING, TOKENIZER, "[MASK]", top=0), "top must be from 1 to"),
        (lambda: fill_mask_explorer(GUESSING, TOKENIZER, "no gap"), r"text must hold \[MASK\]"),
        (lambda: fill_mask_explorer(GUESSING, TOKENIZER, 3), "text must be a string"),
        (lambda: flipbook([], [], **BOOK), "at least one page; got none"),
        (lambda: flipbook(["a", "b"], ["1"], **BOOK), "one for each of the 2 pages; got 1"),
        (lambda: flipbook([3], ["1"], **BOOK), "got int"),
        (lambda: flipbook(["a"], ["A"], **BOOK, start=1), "number of a page, 0 to 0; got 1"),
        (
            lambda: flipbook_grid([["a", "b", "c"], ["d", "e"]], ["0", "1"], "xyz", **GRID),
            r"2 rows of 3 pages.*rows of \[3, 2\]",
        ),
        (lambda: head_explorer(MODEL, TOKENIZER, 3), "text must be a string; got int"),
        (lambda: head_explorer(MODEL, TOKENIZER, "a", 3), "pair must be a string; got int"),
        (lambda: head_explorer(MODEL, TOKENIZER, "the", layer=3), "layer must be from 0 to 2; got"),
        (lambda: head_explorer(MODEL, TOKENIZER, ""), "at least one word"),
        (lambda: head_gallery(ATTENTIONS, TOKENS, by="size"), r"by must be one of layer.*'size'"),
        (lambda: head_gallery([torch.ones(1, 1, 1)], ["a"]), "tokens must be at least 2"),
        (lambda: head_gallery(ATTENTIONS, ["a", "b"]), r"must end in \[2, 2\]"),
        (lambda: head_gallery(ATTENTIONS, "abcde", by="separator"), r"must hold \[SEP\] to sort"),
        (lambda: shown({}), "masking_rolls: rolls must hold"),
        (lambda: shown({"a": []}), "masking_rolls: rolls must hold"),
        (lambda: shown({"a": [NOTHING], "b": [NOTHING] * 2}), "masking_rolls: rolls must hold"),
        (lambda: shown({"a": [Masked(TEXT[:5], ASKED)]}), "6 tokens.* 'a', roll 0 ids has 5"),
        (lambda: shown({"a": [NOTHING, MOVED]}), "'a', roll 1 the token at position 4 differs"),
        (race(word_counts={}), "merge_race: word_counts must hold at least one word; got none"),
        (race(word_counts={"a": 0}), "merge_race: .*whole numbers of at least 1; got 'a': 0"),
        (race(word_counts={"": 1}), "merge_race: .*whole numbers of at least 1; got '': 1"),
        (race(steps=0), "merge_race: steps must be at least 1; got 0"),
        (race(criteria=["chance"]), r"criteria must be .*ratio, gain; got \['cha"),
        (race(criteria=["gain", "gain"]), r"different names .*got \['gain', 'gain'\]"),
        (race(criteria=[]), r"criteria must be a list .*; got \[\]"),
        (race(criteria="gain"), "criteria must be a list .*; got 'gain'"),
        (lambda: merge_stepper({}, []), "at least one word"),
        (
            lambda: merge_stepper({"cost": 1}, [("s", "t"), ("s", "t")]),
            r"merges\[1\] is \('s', 't'\).*does not occur",
        ),
        (lambda: tokenizer_playground({}, "a"), "tokenizers must hold at least one"),
        (lambda: tokenizer_playground({"x": Letters}, "a"), r"\['x'\] must be a trained tokenizer"),
        (lambda: tokenizer_playground({"x": 3}, "a"), "tokenizer with a method `encode`; got 3"),
        (lambda: tokenizer_playground({"x": Letters()}, b"a"), "text must be a string; got bytes"),
        (lambda: position_explorer(7, 8), "d_model"),
        (lambda: position_explorer(8, 1), "max_length must be 2 to 256.*got 1"),
        (lambda: position_explorer(8, 257), "max_length must be 2 to 256.*got 257"),
        (lambda: softmax_scaling([1.0]), "at least two finite numbers"),
        (lambda: softmax_scaling([1.0, math.inf]), "at least two finite numbers"),
        (lambda: softmax_scaling(labels=["a"]), "one for each of the 2 scores; got 1"),
        (lambda: softmax_scaling(d_attn=0), "d_attn must be at least 1"),
        (lambda: softmax_temperature([1.0]), "softmax_temperature: .* at least two finite"),
        (lambda: softmax_temperature([1.0, math.nan]), "at least two finite numbers"),
        (lambda: softmax_temperature(labels=["a"]), "one for each of the 3 scores; got 1"),
        (lambda: text_box(3, "a"), "show must be a function of a text; got 3"),
        (lambda: text_box(print, 3), "text must be a string; got int"),
        (path("bird"), r"text's tokens.*got 'bird'; the tokens are: 0 \[CLS\], 1 the, 2 cat"),
        (path("cat"), "'cat' occurs at the positions 2, 6; say which one: token=2"),
        (path(8), r"position from 0 to 7; got 8; the tokens are: 0 \[CLS\]"),
        (path(-1), "position from 0 to 7; got -1"),
        (path(tokenizer=OTHER), r"tokenizer must have as many words.*got \d+; do they"),
        (path(model=torch.nn.Linear(2, 2)), "model must be a Bert.*got Linear"),
        (path(text="the " * 40), "at most max_length=16 tokens"),
        (lambda: training_curves([]), "must hold rows of metrics"),
        (lambda: training_curves({}), "must hold rows of metrics"),
        (lambda: training_curves({"mini": ROWS, "tiny": []}), "must hold rows of metrics"),
        (lambda: blank("x", None), "answer must be a text or a finite number; got None"),
        (lambda: blank("x", math.nan), "finite number; got nan"),
        (lambda: blank("x", 3, within=-1), "within must be at least 0; got -1"),
        (lambda: sliders(squares), "at least one range"),
        (lambda: sliders(squares, n=(3, 1, 2)), "n must be .*; got"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("count", [0, -1, "2", "two", 2.0, 0.5, None, [2]])
def test_a_stepper_refuses_counts_that_are_not_whole_numbers_of_at_least_1(count):
    with pytest.raises(ValueError, match=r"whole numbers of at least 1; got 'a': ") as refused:
        merge_stepper({"a": count}, [])
    assert str(refused.value).endswith(repr(count))
