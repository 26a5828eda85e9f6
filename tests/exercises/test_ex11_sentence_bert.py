"""Exercise 11, Sentence-BERT: what its solutions compute, and what its page measures."""

import pytest
import torch

from bertlab.finetuning.sentence_objectives import in_batch_negatives_loss
from bertlab.finetuning.sentences import SentenceEncoder, batches_of_one_length, pool
from bertlab.model import Bert, BertConfig
from bertlab.tokenizers import WordPiece
from course.feedback import ex11_sentence_bert as check
from course.feedback.checks import CheckFailed
from course.feedback.tensors import normal
from course.feedback.watch import is_an_answer


@pytest.mark.parametrize("how", ["mean", "cls", "max"])
def test_the_solutions_pooling_is_the_librarys(solution, how):
    hidden, mask = normal(9, 12, 4), torch.arange(12) < torch.arange(1, 10)[:, None]
    for given in (mask, mask.long(), None):
        torch.testing.assert_close(solution["pool"](hidden, given, how), pool(hidden, given, how))


@pytest.mark.parametrize("most", [1, 16, 100, 1024])
def test_the_solutions_batches_are_the_librarys(solution, most):
    for seed in range(20):
        draw = torch.Generator().manual_seed(seed)
        lengths = torch.randint(1, 60, (seed * 7,), generator=draw).tolist()
        ours = solution["batches_of_one_length"](lengths, most)
        assert ours == batches_of_one_length(lengths, most)


def test_the_solutions_loss_is_the_librarys_where_both_have_one_rule(solution):
    u, v = normal(20, 6), normal(20, 6, seed=1)
    for more in ({}, {"scale": 3.0}):
        ours = solution["ranking_loss"](u, v, u[:0], torch.arange(20), **more)
        torch.testing.assert_close(ours, in_batch_negatives_loss(u, v, **more))


def test_collect_gives_the_librarys_vectors_in_the_texts_order(solution, cells):
    """As in the notebook, with a small BERT in place of MiniLM (90 MB)."""
    texts = ("the dog ran", "a man", "the cat ran far away and back", "a dog bit a man") * 9
    tokenizer = WordPiece.train(texts, 60)
    config = BertConfig(len(tokenizer.vocab), d_model=24, n_layers=1, n_heads=2, d_ff=16)
    encoder = SentenceEncoder(Bert(config, seed=1), tokenizer).eval()
    scope = dict(solution)
    exec(compile(cells["encode"].source, "encode", "exec"), scope)
    vectors = scope["collect"](scope["batches_of"](encoder, texts))
    torch.testing.assert_close(vectors, encoder.encode(texts, progress=False), atol=1e-5, rtol=0)


@pytest.mark.slow
def test_the_page_measures_the_numbers_given_to_the_grader(solution, cells):
    """Ranges, since other processors may find one answer more or less."""
    scope = solution | {"display": lambda shown: None}
    for name in ("encode", "measure"):
        exec(compile(cells[name].source, name, "exec"), scope)
    (of_mini, near_mini), (of_minilm, near_minilm) = (
        scope["measured"](scope[name]) for name in ("mini", "minilm")
    )
    told = {
        "as it is": (15, 53),
        "words in random order": (10, 44),
        "without the mean and 0 directions": (18, 53),
        "without the mean and 20 directions": (2, 33),
        "without the mean and 40 directions": (0, 4),
        "control: without the mean and 20 random directions": (18, 55),
        "a vector for each token": (21, 46),
    }
    said = cells["explain"].source + cells["task-8"].source
    for name, numbers in told.items():
        for results, number in zip((of_mini, of_minilm), numbers, strict=True):
            assert abs(results[name] - number) <= 3, name
            assert str(number) in said, name
    assert near_mini == pytest.approx([0.72, -0.01], abs=0.02)
    assert near_minilm == pytest.approx([0.07, -0.01], abs=0.02)


@pytest.mark.parametrize(
    ("task", "function"),
    [
        ("pool", pool),
        ("batches_of_one_length", batches_of_one_length),
        ("ranking_loss", lambda u, v, hard, texts, scale=20.0: in_batch_negatives_loss(u, v)),
    ],
)
def test_the_library_is_rejected_as_the_answer(task, function):
    with pytest.raises(CheckFailed, match="cannot be the answer"):
        getattr(check, task)(function)


def test_sentence_transformers_is_also_rejected():
    assert is_an_answer("sentence_transformers.util")
    assert not is_an_answer("sentence")
