"""Exercise 9: what its solutions compute is what the library computes."""

import random

import pytest
import torch

from bertlab.finetuning import answers, features, heads, scores, tagging
from bertlab.finetuning.heads import IGNORED, TokenTagger
from bertlab.model import Bert, BertConfig
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.tokenizers import WordPiece
from course.feedback.ex09_finetuning.spans import LOGITS, OFFSETS, PASSAGE, SEGMENTS
from course.feedback.ex09_finetuning.tags import NAMES, long_text, many_pieces

TEXTS = (
    "Mia runs to the lake with her kite.",
    "Zo\u00eb's caf\u00e9 (in S\u00e3o Paulo) is un-be-liev-able: 3.50 a cup!",
    "Antidisestablishmentarianism,  \tsaid e\u0301tude No. 9 \u2014 twice",
)


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.from_vocab(BERTLAB_MINI / "vocab.txt")


def test_the_solutions_features_are_the_librarys(solution):
    states = torch.randn(7, 2, 5, 3, generator=torch.Generator().manual_seed(1)).unbind()
    for how in (*features.MIXES, *range(7)):
        expected = features.layer_features(states, how)
        assert torch.equal(solution["layer_features"](states, how), expected)


@pytest.mark.parametrize("text", TEXTS)
def test_the_solutions_tags_and_pieces_are_the_librarys(solution, tokenizer, text):
    words = tagging.words_of(text, tokenizer)
    draw = random.Random(len(text))
    starts = draw.sample(range(len(words) - 1), 3)
    spans = [(words[n][0], words[n][1], draw.choice(["LOC", "PER"])) for n in starts]
    tags = solution["tags_of_words"](words, spans)
    assert tags == tagging.tags_of_words(words, spans)
    runs = solution["tag_runs"](tags)
    assert runs == scores.tag_runs(tags)
    assert [(words[a][0], words[b - 1][1], label) for a, b, label in runs] == sorted(spans)
    for add_special_tokens in (True, False):
        encoding = tokenizer.encode(text, add_special_tokens=add_special_tokens)
        first = solution["first_pieces"](words, encoding.offsets)
        assert first == tagging.first_pieces(words, encoding.offsets)
        targets = solution["piece_targets"](tags, first, NAMES)
        assert targets == tagging.tag_targets(text, spans, encoding, tokenizer, NAMES)


def test_the_solutions_loss_is_that_of_the_tagger(solution):
    tagger = TokenTagger(Bert(BertConfig.tiny(vocab_size=30)), 4)
    dice = torch.Generator().manual_seed(2)
    logits = torch.randn(3, 6, 4, generator=dice)
    targets = torch.randint(4, (3, 6), generator=dice).masked_fill(logits[..., 0] > 0, IGNORED)
    assert torch.equal(solution["tagger_loss"](logits, targets), tagger.loss(logits, targets))
    nothing = torch.full_like(targets, IGNORED)
    assert solution["tagger_loss"](logits, nothing) == tagger.loss(logits, nothing) == 0
    assert solution["IGNORED"] == heads.IGNORED
    assert solution["OUTSIDE"] == scores.OUTSIDE


def test_the_solutions_scores_are_the_librarys(solution):
    draw = random.Random(3)
    for _ in range(100):
        true, guessed = ([draw.choices(NAMES, k=k) for k in (0, 1, 9, 4)] for _ in range(2))
        expected = scores.entity_f1(true, guessed)
        assert solution["entity_f1"](true, guessed) == pytest.approx(expected)


def test_the_solutions_answer_is_the_librarys(solution, tokenizer):
    dice = torch.Generator().manual_seed(4)
    found = []
    for n, passage in enumerate(TEXTS * 20):
        encoding = tokenizer.encode("Who, and where?", passage)
        logits = torch.randn(len(encoding), 2, generator=dice)
        logits[0] += n % 4
        most, threshold = (1, 3, 30)[n % 3], (0.0, 1.0)[n % 2]
        limits = {"max_tokens": most, "threshold": threshold}
        expected = answers.best_span(logits, encoding, passage, **limits)
        given = logits, encoding.offsets, encoding.segment_ids, most, threshold
        assert solution["best_span"](*given) == expected
        found.append(expected)
    assert 5 < found.count(None) < 55


def test_the_worked_example_of_the_answers_is_a_real_encoding(tokenizer):
    encoding = tokenizer.encode("Where is Jim?", PASSAGE)
    assert list(encoding.offsets) == OFFSETS
    assert list(encoding.segment_ids) == SEGMENTS
    assert answers.best_span(LOGITS, encoding, PASSAGE) == (12, 20)


def test_the_long_texts_of_the_checks_are_right():
    words, tags, spans, runs = long_text()
    assert tagging.tags_of_words(words, spans) == tags
    assert scores.tag_runs(tags) == runs
    assert spans[0][0] > spans[-1][0], "they come in another order than the words"
    words, offsets, numbers = many_pieces()
    assert tagging.first_pieces(words, offsets) == numbers
