"""Exercise 9: what its solutions compute is what the library computes."""

import random

import pytest
import torch
from torch.nn.utils import parametrize

from bertlab.finetuning import answers, heads, scores, tagging
from bertlab.finetuning.heads import IGNORED, TokenTagger
from bertlab.model import Bert, BertConfig
from bertlab.model.pretrained import BERTLAB_MINI
from bertlab.tokenizers import WordPiece
from course.feedback.ex09_finetuning import (
    LOGITS,
    OFFSETS,
    PASSAGE,
    SEGMENTS,
    long_text,
    many_pieces,
)
from tests.conftest import ROOT, read_page

NAMES = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
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
    for how in (*heads.MIXES, *range(7)):
        expected = heads.layer_features(states, how)
        assert torch.equal(solution["layer_features"](states, how), expected)


@pytest.mark.parametrize("text", TEXTS)
def test_the_solutions_pieces_are_the_librarys(solution, tokenizer, text):
    words = tagging.words_of(text, tokenizer)
    for add_special_tokens in (True, False):
        encoding = tokenizer.encode(text, add_special_tokens=add_special_tokens)
        first = solution["first_pieces"](words, encoding.offsets)
        assert first == tagging.first_pieces(words, encoding.offsets)


def test_the_given_rule_is_the_librarys(solution):
    draw = random.Random(1)
    for length in list(range(8)) * 20:
        tags = draw.choices(NAMES, k=length)
        assert solution["tag_runs"](tags) == scores.tag_runs(tags)


def test_the_solutions_loss_is_that_of_the_tagger(solution):
    tagger = TokenTagger(Bert(BertConfig.tiny(vocab_size=30)), 4)
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(3, 6, 4, generator=generator)
    targets = torch.randint(4, (3, 6), generator=generator).masked_fill(logits[..., 0] > 0, IGNORED)
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
    generator = torch.Generator().manual_seed(4)
    found = []
    for n, passage in enumerate(TEXTS * 20):
        encoding = tokenizer.encode("Who, and where?", passage)
        logits = torch.randn(len(encoding), 2, generator=generator)
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
    tags, runs = long_text()
    assert scores.tag_runs(tags) == runs
    words, offsets, numbers = many_pieces()
    assert tagging.first_pieces(words, offsets) == numbers


def test_the_solutions_adapter_is_the_lectures(solution):
    """A, B and alpha in the lecture's `LowRank`: the same output, gradients and merged weight."""
    (cell,) = (
        cell
        for cell in read_page(ROOT / "lectures" / "09_finetuning.ipynb").code
        if cell.id == "adapters-code"
    )
    page = {"torch": torch}
    exec(cell.source, page)
    layer, x = torch.nn.Linear(12, 20), torch.randn(5, 3, 12).requires_grad_()
    weight, bias = (parameter.detach().clone() for parameter in layer.parameters())
    layer.requires_grad_(False)
    lectures = page["LowRank"](layer.weight, r=3, alpha=8)
    parametrize.register_parametrization(layer, "weight", lectures)
    A, B = solution["start_adapter"](12, 20, 3 * 32, seed=1)
    assert (A.shape, B.shape) == (lectures.A.shape, lectures.B.shape)
    assert torch.equal(B, lectures.B), "both start as the frozen layer"
    with torch.no_grad():
        B.copy_(torch.randn(20, 3))
        lectures.A.copy_(A)
        lectures.B.copy_(B)
    output, merged = solution["adapted"](x, weight, bias, A, B, 8)
    torch.testing.assert_close(output, layer(x))
    torch.testing.assert_close(merged, layer.weight.detach())
    above = torch.randn(output.shape)
    ours = torch.autograd.grad(output, (A, B, x), above)
    theirs = torch.autograd.grad(layer(x), (lectures.A, lectures.B, x), above)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
def test_the_result_of_the_ablation_is_reproduced(cells, solution):
    """Ranges, since digits differ between processors. Learners: bag of words, embeddings."""
    scope = solution | {"display": repr}
    for name, end in (("messages", ""), ("encoders", ""), ("guesses", ""), ("contest", "results")):
        source = cells[name].source
        exec(compile(source.split(f"{end} =")[0] if end else source, name, "exec"), scope)
    if scope["spam"] is None:
        pytest.skip("needs `python -m bertlab.data fetch core`")
    scope["results"] = {"three learners": []}
    exec(compile(cells["falls"].source, "falls", "exec"), scope)
    falls = {part: rows.tolist() for part, rows in scope["falls"].items()}
    (counted, embeddings), (counted_control, embeddings_control) = falls["digits"]
    assert embeddings > embeddings_control + 0.06
    assert abs(counted - counted_control) < 0.05
    (counted, embeddings), (counted_control, embeddings_control) = falls["short"]
    assert counted_control > counted + 0.03
    assert embeddings < -0.02 < embeddings_control
    assert max(abs(fall) for row in falls["capitals"] for fall in row) < 0.06
