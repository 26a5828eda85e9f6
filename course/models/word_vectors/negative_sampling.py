"""word2vec's objective: similar vectors for neighbouring words, not for random ones. One pair.

Each word has two vectors: v as the centre, u as context. Only v is kept.

Source: Mikolov, Chen, Corrado & Dean (2013a), "Efficient Estimation of Word Representations in
Vector Space" (arXiv 1301.3781): CBOW and skip-gram; Mikolov, Sutskever, Chen, Corrado & Dean
(2013b), "Distributed Representations of Words and Phrases and their Compositionality" (arXiv
1310.4546): eq. 4, negative sampling; eq. 5, subsampling; the noise distribution of section 2.2.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def negative_sampling_loss(v: Tensor, u: Tensor, noise: Tensor) -> Tensor:
    """Minus eq. 4 of 2013b: small if v fits u, and fits none of the noise words.

    v: [D], the centre word; u: [D], a word near it; noise: [k, D], words drawn at random. Returns
    a number. `word2vec.py` computes many pairs at once; a test compares both.

    >>> v, u, noise = torch.tensor([1.0, 1]), torch.tensor([1.0, -1]), torch.tensor([[1.0, 1]])
    >>> negative_sampling_loss(v, u, noise)  # scores 0 and 2: ln 2 + ln(1 + e ** 2)
    tensor(2.8201)
    """
    return -F.logsigmoid(u @ v) - F.logsigmoid(-(noise @ v)).sum()


def pair_gradients(v: Tensor, u: Tensor, noise: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `negative_sampling_loss` with respect to v, u and noise, by hand.

    The error of a score is sigmoid(score) minus its target, 1 for u and 0 for noise; each vector
    moves along the other one, in proportion to the error of their score.
    """
    near = torch.sigmoid(u @ v) - 1  # between -1 and 0
    far = torch.sigmoid(noise @ v)  # [k], between 0 and 1
    return near * u + far @ noise, near * v, far[:, None] * v


def keep_probabilities(counts: Tensor, threshold: float = 1e-3) -> Tensor:
    """The probability that an occurrence of each word is kept: min(1, sqrt(t / f)).

    counts: [V]; threshold: t, the share of the corpus above which a word is subsampled. Eq. 5 of
    2013b; the authors' program, and gensim, keep slightly more: sqrt(t / f) + t / f.

    >>> keep_probabilities(torch.tensor([900, 99, 1]), threshold=0.009)
    tensor([0.1000, 0.3015, 1.0000])
    """
    if not threshold > 0:
        raise ValueError(f"keep_probabilities: threshold must be above 0; got {threshold}")
    frequency = counts / counts.sum()
    return (threshold / frequency).sqrt().clamp(max=1)


def noise_distribution(counts: Tensor, power: float = 0.75) -> Tensor:
    """The probability that each word is drawn as noise: its count to the power 3/4, normalised.

    counts: [V]. Section 2.2 of 2013b: rare words are drawn more often than they occur.

    >>> noise_distribution(torch.tensor([81, 16, 1]))
    tensor([0.7500, 0.2222, 0.0278])
    """
    weights = counts.float() ** power
    return weights / weights.sum()
