"""Exercise 11, Sentence-BERT: what its solutions compute is what the library computes."""

import pytest
import torch

from bertlab.finetuning.search import semantic_search
from bertlab.finetuning.sentence_objectives import (
    SiameseClassifier,
    cosine_loss,
    in_batch_negatives_loss,
)
from bertlab.finetuning.sentences import SentenceEncoder, batches_of_one_length, pool
from bertlab.finetuning.texts import collate, encode_texts
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


def test_the_solutions_losses_are_the_librarys(solution):
    u, v, targets = normal(20, 6), normal(20, 6, seed=1), torch.linspace(-1, 1, 20)
    expected = cosine_loss(u, v, targets)
    torch.testing.assert_close(solution["cosine_loss"](u, v, targets), expected)
    for more in ({}, {"scale": 3.0}):
        ours = solution["in_batch_negatives_loss"](u, v, **more)
        torch.testing.assert_close(ours, in_batch_negatives_loss(u, v, **more))


def test_the_solutions_classes_are_the_librarys(solution):
    classifier, u, v = SiameseClassifier(6, 3), normal(20, 6), normal(20, 6, seed=1)
    ours = solution["siamese_scores"](u, v, classifier.output.weight)
    torch.testing.assert_close(ours, classifier(u, v))


def test_the_solutions_search_is_the_librarys(solution):
    queries, vectors = normal(5, 8), normal(300, 8, seed=1)
    for k in (1, 7, 300):
        scores, numbers = solution["semantic_search"](queries, vectors, k)
        theirs = semantic_search(queries, vectors, k)
        torch.testing.assert_close(scores, theirs.scores)
        assert numbers.tolist() == theirs.numbers.tolist()


def test_the_live_parts_encode_gives_the_librarys_vectors_in_the_texts_order(solution, cells):
    """As in the notebook, with a small BERT in place of MiniLM's 90 MB."""
    texts = ["the dog ran", "a man", "the cat ran far away and back", "a dog bit a man"] * 9
    tokenizer = WordPiece.train(texts, 60)
    config = BertConfig(len(tokenizer.vocab), d_model=384, n_layers=1, n_heads=2, d_ff=16)
    encoder = SentenceEncoder(Bert(config, seed=1), tokenizer).eval()
    scope = solution | {"minilm": encoder, "pad_id": tokenizer.vocab["[PAD]"]}
    scope |= {"encode_texts": encode_texts, "collate": collate}
    exec(compile(cells["encode"].source.split("vectors = None")[0], "encode", "exec"), scope)
    vectors, padding = scope["encode"](texts)
    torch.testing.assert_close(vectors, encoder.encode(texts, progress=False), atol=1e-5, rtol=0)
    assert 0 <= padding < 0.5


@pytest.mark.parametrize(
    ("task", "function"),
    [
        ("pool", pool),
        ("batches_of_one_length", batches_of_one_length),
        ("cosine_loss", cosine_loss),
        ("cosine_loss", lambda u, v, targets: cosine_loss(u, v, targets)),
        ("siamese_scores", lambda u, v, W: SiameseClassifier(2, 3)(u, v)),
        ("in_batch_negatives_loss", in_batch_negatives_loss),
        ("semantic_search", semantic_search),
        ("semantic_search", lambda *arguments: tuple(semantic_search(*arguments))),
    ],
)
def test_the_library_is_refused_as_the_answer(task, function):
    with pytest.raises(CheckFailed, match=r"cannot be the answer|cosine_similarity\. What that"):
        getattr(check, task)(function)


def test_sentence_transformers_is_refused_too():
    assert is_an_answer("sentence_transformers.util")
    assert not is_an_answer("sentence")
