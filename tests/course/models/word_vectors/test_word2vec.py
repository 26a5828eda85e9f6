"""word2vec: numbers by hand, gradients by autograd, batches against pairs, results by gensim."""

import math
import random
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bertlab import data
from bertlab.tokenizers.words import split_words
from course.experiments.labels import labelled
from course.models.word_vectors import Word2VecConfig, train_cbow, train_skip_gram, word2vec
from course.models.word_vectors import negative_sampling as sampling
from course.models.word_vectors.evaluation import score_similarity
from course.models.word_vectors.vectors import WordVectors
from course.models.word_vectors.word2vec import Tables, cbow_step, near_words, skip_gram_step
from tests.bertlab.refusals import rejected
from tests.small_models import assert_the_seed_decides, normal

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_the_gradients_of_a_pair_are_those_of_autograd(seed):
    v, u, *noise = normal(6, 6, seed=seed, dtype=torch.double)
    parts = [part.requires_grad_() for part in (v, u, torch.stack(noise))]
    expected = torch.autograd.grad(sampling.negative_sampling_loss(*parts), parts)
    torch.testing.assert_close(sampling.pair_gradients(*parts), expected)


def tables(seed, vocab_size=7, d_model=5):
    return Tables(*normal(2, vocab_size, d_model, seed=seed, dtype=torch.double))


WORDS = torch.tensor([3, 1, 4, 1, 5, 2, 6, 5])  # 1 and 5 occur twice
SENTENCE = torch.tensor([0, 0, 0, 0, 0, 1, 1, 2])  # the last word stands alone
REACH = torch.tensor([1, 2, 3, 1, 2, 1, 1, 3])
NOISE = torch.tensor([0, 1, 1])
NEGATIVES = 2


def pairs():
    """(centre, context) of every pair, by the definition."""
    for i in range(len(WORDS)):
        for j in range(len(WORDS)):
            if i != j and SENTENCE[i] == SENTENCE[j] and abs(i - j) <= REACH[i]:
                yield i, j


def skip_gram_loss(table):
    """Eq. 4, pair by pair, with k of N weights for the shared noise words."""
    loss = 0
    for i, j in pairs():
        v, u = table.centres[WORDS[i]], table.contexts[WORDS[j]]
        loss -= F.logsigmoid(u @ v)
        loss -= NEGATIVES / len(NOISE) * F.logsigmoid(-(table.contexts[NOISE] @ v)).sum()
    return loss


def cbow_loss(table):
    loss = 0
    for i in range(len(WORDS)):
        around = [WORDS[j] for centre, j in pairs() if centre == i]
        if around:
            v = table.centres[torch.stack(around)].mean(dim=0)
            loss -= F.logsigmoid(table.contexts[WORDS[i]] @ v)
            loss -= NEGATIVES / len(NOISE) * F.logsigmoid(-(table.contexts[NOISE] @ v)).sum()
    return loss


@pytest.mark.parametrize(
    ("step", "loss"), [(skip_gram_step, skip_gram_loss), (cbow_step, cbow_loss)]
)
def test_a_step_goes_down_autograds_gradient_of_the_pairwise_loss(step, loss):
    before = Tables(*(table.requires_grad_() for table in tables(seed=1)))
    gradients = torch.autograd.grad(loss(before), before)
    after = tables(seed=1)
    near = near_words(SENTENCE, REACH).double()
    step(after, WORDS, near, NOISE, NEGATIVES, 0.1)
    for table, start, gradient in zip(after, before, gradients, strict=True):
        torch.testing.assert_close(table, start.detach() - 0.1 * gradient)
        assert gradient.abs().sum() > 0


def test_frequent_words_are_thinned_out_by_equation_5():
    counts = torch.tensor([10_000, 100, 1])
    keep = sampling.keep_probabilities(counts, threshold=1e-3)
    for count, probability in zip(counts.tolist(), keep.tolist(), strict=True):
        dropped = max(0, 1 - math.sqrt(1e-3 / (count / 10_101)))  # eq. 5 of 2013b
        assert probability == pytest.approx(1 - dropped)


def two_topics(n=400):
    """Sentences of small letters or of capitals: words of one topic meet, others don't."""
    rng = random.Random(0)
    return [rng.sample(rng.choice(("abcdefghijkl", "ABCDEFGHIJKL")), 5) for _ in range(n)]


SMALL = {"d_model": 12, "min_count": 1, "subsample": 1.0, "epochs": 20, "piece": 32}


@pytest.mark.parametrize(("train", "rate"), [(train_skip_gram, 0.1), (train_cbow, 0.05)])
def test_words_of_a_topic_come_to_lie_together(train, rate):
    vectors = train(two_topics(), Word2VecConfig(rate=rate, **SMALL), progress=False)
    for word in vectors.words:
        neighbours = [other for other, _ in vectors.nearest(word, n=5)]
        assert all(other.islower() == word.islower() for other in neighbours)


def test_windows_of_every_size_are_equally_frequent(monkeypatch):
    note = Mock(wraps=near_words)
    monkeypatch.setattr(word2vec, "near_words", note)
    config = Word2VecConfig(window=3, **(SMALL | {"epochs": 2}))
    train_skip_gram(two_topics(), config, progress=False)
    reaches = [reach for (_, reach), _ in note.call_args_list]
    shares = torch.cat(reaches).bincount() / 4000  # 400 sentences of 5 words, twice
    assert shares.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.03)


@pytest.mark.parametrize("train", [train_skip_gram, train_cbow])
def test_the_seed_determines_all_and_the_global_random_state_is_untouched(train):
    texts, config = two_topics(), Word2VecConfig(**(SMALL | {"epochs": 2}))
    assert_the_seed_decides(lambda seed: train(texts, config, seed=seed, progress=False).matrix)


def test_settings_corpora_and_rates_that_cannot_work_are_rejected():
    rejected("Word2VecConfig: window must be above 0; got 0", Word2VecConfig, window=0)
    rejected(r"epochs must be an integer; got 1\.5", Word2VecConfig, epochs=1.5)
    rejected("at least 5 times", train_skip_gram, [["too", "little"]], progress=False)
    steep = Word2VecConfig(rate=50, **SMALL)
    message = "vectors grew without bound; .* lower than 50"
    rejected(message, train_skip_gram, two_topics(), steep, progress=False)
    for threshold in (0, math.nan):
        message = f"threshold must be above 0; got {threshold}"
        rejected(message, sampling.keep_probabilities, torch.tensor([1]), threshold)


@pytest.mark.corpora
def test_on_wikipedia_the_scores_are_in_the_range_of_gensims():
    gensim = pytest.importorskip("gensim.models")
    sentences = [
        [word for word in split_words(sentence.lower()) if word.isalpha()]
        for article in data.documents("wikipedia")
        for sentence in article
    ]
    ours = train_skip_gram(sentences, Word2VecConfig(rate=0.075), progress=False)
    settings = {"vector_size": 100, "window": 5, "negative": 5, "min_count": 5, "sample": 1e-3}
    model = gensim.Word2Vec(sentences, sg=1, epochs=5, alpha=0.075, workers=1, seed=1, **settings)
    theirs = WordVectors(tuple(model.wv.index_to_key), torch.tensor(model.wv.vectors))
    assert set(ours.words) == set(theirs.words)
    # Lecture 03 quotes gensim's two numbers.
    for name, quoted in (("wordsim353", 0.34), ("simlex999", 0.22)):
        pairs = [(example.text, example.pair, example.label) for example in labelled(name)]
        our_score, their_score = (score_similarity(vectors, pairs) for vectors in (ours, theirs))
        assert our_score.covered == their_score.covered
        assert their_score.rho == pytest.approx(quoted, abs=0.04)
        assert our_score.rho > 0.15
        assert abs(our_score.rho - their_score.rho) < 0.12
    shared = [
        len({word for word, _ in ours.nearest(word)} & {w for w, _ in theirs.nearest(word)})
        for word in ("city", "music", "emperor", "river", "language")
    ]
    assert sum(shared) >= 10  # of 50; two runs of gensim with other seeds agree on about half
