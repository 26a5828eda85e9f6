"""word2vec: skip-gram and CBOW with negative sampling, one piece of text at a time.

The authors' program processes one pair of words after the other, in C. In PyTorch the same sums are
matrix products: for a piece of T words, `centre @ context.T` has the scores of all pairs, and a
mask selects those that are near enough. Two things therefore differ from the paper: the vectors are
constant within a piece (T words), and one set of N noise words is used for the whole piece,
weighted by k / N so that it counts as k words per pair.

Sources: as in `negative_sampling.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from tqdm.auto import tqdm

from bertlab.model.checks import check_fields
from bertlab.tokenizers.checks import entries
from course.models.word_vectors.negative_sampling import keep_probabilities, noise_distribution
from course.models.word_vectors.vectors import WordVectors
from course.models.word_vectors.vocabulary import Sentence, Vocabulary


@dataclass(frozen=True)
class Word2VecConfig:
    """The settings of a training; the names in brackets are gensim's.

    d_model: size of a vector (vector_size); window: the largest distance of a context word;
    negatives: k, noise words per pair (negative); epochs; rate: the initial learning rate (alpha),
    which falls linearly to 0; subsample: t of `keep_probabilities` (sample); min_count: rarer
    words are omitted; piece: T, words per step; noise_words: N, drawn per step.

    Raises ValueError if a value has the wrong type or is not above 0.
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
    """The learned vectors: row i belongs to word i."""

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
    """Learn a vector for each word that predicts the words around it.

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
    """Learn a vector for each word; their mean over a window predicts the word in its middle.

    As `train_skip_gram`. The learning rate is higher because in a mean of n vectors each gets
    1 / n of the gradient; in the authors' program, and in gensim, each gets all of it.
    Source: Mikolov et al. (2013a), section 3.1.
    """
    return _train(cbow_step, sentences, config, seed, progress)


def skip_gram_step(
    tables: Tables, words: Tensor, near: Tensor, noise: Tensor, negatives: int, rate: float
) -> None:
    """One gradient step for all pairs of a piece of text; the tables change in place.

    words: [T] ids; near: [T, T], 1 where the column is a context word of the row; noise: [N]
    ids, together with the weight of `negatives` words per pair. The gradients are those of
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
    """As `skip_gram_step`, but the mean of the surrounding words predicts the word in the middle.

    Here the table `centres` belongs to the words that are read, and `contexts` to the predicted
    word.
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
    """The context words of each word in a piece of text: [T, T], row = centre, 1 or 0.

    sentence: [T], the number of each word's sentence; reach: [T], the window of each centre word
    to the left and right. Never beyond the sentence.

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
        """One epoch: the share of it that is done, words, `near_words`, noise words."""
        config, generator = self.config, self.generator
        kept = torch.rand(len(self.ids), generator=generator) < self.keep[self.ids]
        words, sentence = self.ids[kept], self.sentence[kept]
        places = torch.randperm(int(self.sentence[-1]) + 1, generator=generator)[sentence]
        order = places.argsort(stable=True)  # sentences shuffled, their words in order
        words, sentence = words[order], sentence[order]
        # A window of random size: nearer words count more often.
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
    sentences = list(entries("word2vec", "sentences", sentences))
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
            "word2vec: the vectors grew without bound; use a learning rate lower than "
            f"{config.rate}, or fewer words in a piece than {config.piece}"
        )
    return WordVectors(vocabulary.words, tables.centres)
