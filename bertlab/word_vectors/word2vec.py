"""word2vec: skip-gram and CBOW with negative sampling, a piece of text at a time.

The authors' program takes one pair of words after the other, in C. In PyTorch the same sums are
products of matrices: for a piece of T words, `centre @ context.T` holds the scores of all pairs
at once, and a mask picks those that stand near enough. Two things follow, and are all that
differs from the paper: the vectors stand still for the length of a piece (T words), and one set
of N noise words serves the whole piece, weighted by k / N so that it counts as k words a pair.

Sources: as in `negative_sampling.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from tqdm.auto import tqdm

from bertlab._checks import check_fields
from bertlab.word_vectors.negative_sampling import keep_probabilities, noise_distribution
from bertlab.word_vectors.vectors import WordVectors
from bertlab.word_vectors.vocabulary import Sentence, Vocabulary


@dataclass(frozen=True)
class Word2VecConfig:
    """The choices of a training; the names in brackets are gensim's.

    d_model: size of a vector (vector_size); window: how far a context word may stand; negatives:
    k, noise words a pair (negative); epochs; rate: the learning rate at the start (alpha), which
    falls to nothing along a straight line; subsample: t of `keep_probabilities` (sample);
    min_count: rarer words are left out; piece: T, words in one step; noise_words: N, drawn for
    one step.

    Raises ValueError if a value is of another kind than declared, or not above 0.
    """

    d_model: int = 100
    window: int = 5
    negatives: int = 5
    epochs: int = 5
    rate: float = 0.05
    subsample: float = 1e-3
    min_count: int = 5
    piece: int = 128
    noise_words: int = 64

    def __post_init__(self) -> None:
        check_fields(self)
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"Word2VecConfig: {name} must be above 0; got {value}")


SKIP_GRAM, CBOW = Word2VecConfig(), Word2VecConfig(rate=0.2)


class Tables(NamedTuple):
    """What is learned: row i belongs to word i."""

    centres: Tensor  # [V, D]: v, kept in the end
    contexts: Tensor  # [V, D]: u


Step = Callable[[Tables, Tensor, Tensor, Tensor, int, float], None]


def train_skip_gram(
    sentences: Sequence[Sentence],
    config: Word2VecConfig = SKIP_GRAM,
    *,
    seed: int = 0,
    progress: bool = True,
) -> WordVectors:
    """Learn a vector for each word, from which the words around it can be guessed.

    sentences: lists of words; seed: the same one gives the same vectors. Raises ValueError if no
    word occurs often enough. Source: Mikolov et al. (2013a), section 3.2; (2013b), eq. 1 and 4.
    """
    return _train(skip_gram_step, sentences, config, seed, progress)


def train_cbow(
    sentences: Sequence[Sentence],
    config: Word2VecConfig = CBOW,
    *,
    seed: int = 0,
    progress: bool = True,
) -> WordVectors:
    """Learn a vector for each word, from whose mean over a window the middle can be guessed.

    As `train_skip_gram`. The learning rate is higher because a mean of n vectors hands each of
    them an n-th of the gradient; the authors' program, and gensim, hand each the whole.
    Source: Mikolov et al. (2013a), section 3.1.
    """
    return _train(cbow_step, sentences, config, seed, progress)


def skip_gram_step(
    tables: Tables, words: Tensor, near: Tensor, noise: Tensor, negatives: int, rate: float
) -> None:
    """One step down the gradient for all pairs of a piece of text; the tables change in place.

    words: [T] ids; near: [T, T], 1 where the column is a context word of the row; noise: [N]
    ids, together as heavy as `negatives` words for each pair. The gradients are those of
    `pair_gradients`, summed over the pairs.
    """
    centre, context = tables.centres[words], tables.contexts[words]  # [T, D]
    drawn = tables.contexts[noise]  # [N, D]
    pairs = near.sum(dim=1, keepdim=True)  # [T, 1]
    true = (torch.sigmoid(centre @ context.T) - 1) * near  # [T, T]: how wrong each score is
    false = torch.sigmoid(centre @ drawn.T) * pairs * negatives / len(noise)  # [T, N]
    tables.centres.index_add_(0, words, true @ context + false @ drawn, alpha=-rate)
    tables.contexts.index_add_(0, words, true.T @ centre, alpha=-rate)
    tables.contexts.index_add_(0, noise, false.T @ centre, alpha=-rate)


def cbow_step(
    tables: Tables, words: Tensor, near: Tensor, noise: Tensor, negatives: int, rate: float
) -> None:
    """As `skip_gram_step`, but the mean of the words around guesses the one in the middle.

    Here the table `centres` belongs to the words that are read, and `contexts` to the word that
    is guessed.
    """
    target, drawn = tables.contexts[words], tables.contexts[noise]  # [T, D], [N, D]
    around = near.sum(dim=1, keepdim=True)  # [T, 1]
    shares = near / around.clamp(min=1)  # [T, T], rows sum to 1, or 0 for a word on its own
    mean = shares @ tables.centres[words]  # [T, D]
    alone = around == 0
    true = torch.sigmoid((mean * target).sum(dim=1, keepdim=True)) - 1  # [T, 1]
    true = true.masked_fill(alone, 0)
    false = torch.sigmoid(mean @ drawn.T).masked_fill(alone, 0) * negatives / len(noise)  # [T, N]
    by_mean = true * target + false @ drawn  # [T, D]
    tables.centres.index_add_(0, words, shares.T @ by_mean, alpha=-rate)
    tables.contexts.index_add_(0, words, true * mean, alpha=-rate)
    tables.contexts.index_add_(0, noise, false.T @ mean, alpha=-rate)


def near_words(sentence: Tensor, reach: Tensor) -> Tensor:
    """Who is a context word of whom, in a piece of text: [T, T], row = centre, 1 or 0.

    sentence: [T], the number of the sentence that each word stands in; reach: [T], how many
    places to the left and right each centre word looks. Never beyond the sentence.

    >>> near_words(torch.tensor([0, 0, 0, 1]), torch.tensor([1, 1, 2, 1]))
    tensor([[0., 1., 0., 0.],
            [1., 0., 1., 0.],
            [1., 1., 0., 0.],
            [0., 0., 0., 0.]])
    """
    place = torch.arange(len(sentence))
    distance = (place[:, None] - place).abs()  # [T, T]
    inside = (distance > 0) & (distance <= reach[:, None])
    return (inside & (sentence[:, None] == sentence)).float()


class _Text:
    """The corpus as ids, from which each epoch draws its pieces again."""

    def __init__(
        self, encoded: Sequence[list[int]], counts: Sequence[int], config: Word2VecConfig, seed: int
    ) -> None:
        self.config = config
        self.generator = torch.Generator().manual_seed(seed)
        self.ids = torch.tensor([id for sentence in encoded for id in sentence])
        lengths = torch.tensor([len(sentence) for sentence in encoded])
        self.sentence = torch.arange(len(encoded)).repeat_interleave(lengths)  # of each word
        self.keep = keep_probabilities(torch.tensor(counts), config.subsample)
        self.noise_shares = noise_distribution(torch.tensor(counts))

    def pieces(self) -> Iterator[tuple[float, Tensor, Tensor, Tensor]]:
        """One epoch: the share of it that is done, words, who is near whom, noise words."""
        config, generator = self.config, self.generator
        kept = torch.rand(len(self.ids), generator=generator) < self.keep[self.ids]
        words, sentence = self.ids[kept], self.sentence[kept]
        places = torch.randperm(int(self.sentence[-1]) + 1, generator=generator)[sentence]
        order = places.argsort(stable=True)  # sentences shuffled, their words in order
        words, sentence = words[order], sentence[order]
        # A window of random size: the nearer a word, the more often it counts.
        reach = torch.randint(1, config.window + 1, words.shape, generator=generator)
        starts = range(0, len(words), config.piece)
        noise = torch.multinomial(
            self.noise_shares,
            len(starts) * config.noise_words,
            replacement=True,
            generator=generator,
        ).view(len(starts), config.noise_words)
        for start, drawn in zip(starts, noise, strict=True):
            piece = slice(start, start + config.piece)
            near = near_words(sentence[piece], reach[piece])
            yield start / len(words), words[piece], near, drawn


def _train(
    step: Step, sentences: Sequence[Sentence], config: Word2VecConfig, seed: int, progress: bool
) -> WordVectors:
    vocabulary = Vocabulary.of(sentences, min_count=config.min_count)
    encoded = [vocabulary.encode(sentence) for sentence in sentences]
    text = _Text(encoded, vocabulary.counts, config, seed)
    # As in the authors' program: centres small and random, contexts zero.
    size = (len(vocabulary), config.d_model)
    centres = (torch.rand(size, generator=text.generator) - 0.5) / config.d_model
    tables = Tables(centres, torch.zeros(size))
    for epoch in tqdm(range(config.epochs), desc="epochs", disable=not progress):
        for share, words, near, noise in text.pieces():
            rate = config.rate * (1 - (epoch + share) / config.epochs)
            step(tables, words, near, noise, config.negatives, rate)
    if not tables.centres.isfinite().all():
        raise ValueError(
            "word2vec: the vectors grew without bound; take a learning rate lower than "
            f"{config.rate}, or fewer words in a piece than {config.piece}"
        )
    return WordVectors(vocabulary.words, tables.centres)
