"""A small ELMo: one LSTM reads from the left, one from the right, each predicts the next word.

The forward LSTM predicts each word from those before it, the backward LSTM from those after it;
they share the word vectors and the output layer. Afterwards the states of both, concatenated, are
the vector of a word *in its sentence*.

Source: Peters et al. (2018), "Deep contextualized word representations" (ELMo), section 3.
Omitted: words from characters, projections, and a billion words of text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from bertlab.tokenizers.checks import entries
from bertlab.training.steps import update
from course.models.word_vectors.vocabulary import Sentence, Vocabulary, replace_rare

UNKNOWN, EDGE = "<unk>", "<edge>"


class Reading(NamedTuple):
    """The output of a bidirectional language model for a text of L words."""

    layers: Tensor  # [n_layers + 1, B, L, 2 D]: forward state, then backward; 0 is the word vector
    from_left: Tensor  # [B, L, V]: logits for each word, from the words before it
    from_right: Tensor  # [B, L, V]: logits for each word, from the words after it


class BidirectionalLanguageModel(nn.Module):
    """A forward and a backward language model with shared word vectors and a shared softmax.

    vocabulary: must hold <unk> and <edge>, as from `train_language_model`; d_model: size of
    word vectors and states; seed: of the random weights.
    """

    def __init__(
        self, vocabulary: Vocabulary, d_model: int = 64, n_layers: int = 2, *, seed: int = 0
    ) -> None:
        super().__init__()
        for word in (UNKNOWN, EDGE):
            if word not in vocabulary:
                raise ValueError(f"BidirectionalLanguageModel: vocabulary must hold {word}")
        self.vocabulary = vocabulary
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.token = nn.Embedding(len(vocabulary), d_model)
            self.forwards = nn.ModuleList(_lstm(d_model) for _ in range(n_layers))
            self.backwards = nn.ModuleList(_lstm(d_model) for _ in range(n_layers))
            self.output = nn.Linear(d_model, len(vocabulary))

    def encode(self, words: Sentence) -> Tensor:
        """The ids of a text, with an edge at both ends: [1, L + 2]; rare words become <unk>."""
        (known,) = replace_rare([words], self.vocabulary, UNKNOWN)
        return torch.tensor([self.vocabulary.encode([EDGE, *known, EDGE])])

    def forward(self, ids: Tensor) -> Reading:
        """ids: [B, L + 2], with a word or an edge at both ends, which is read but not predicted."""
        x = self.token(ids)
        left, right = [x], [x]
        for forward, backward in zip(self.forwards, self.backwards, strict=True):
            # Residual connections: each layer adds to the one below, and training is faster.
            left.append(left[-1] + forward(left[-1])[0])
            right.append(right[-1] + backward(right[-1].flip(1))[0].flip(1))
        layers = [torch.cat(pair, dim=-1)[:, 1:-1] for pair in zip(left, right, strict=True)]
        # The state after word t - 1 predicts word t; backward, the state after word t + 1.
        return Reading(
            torch.stack(layers), self.output(left[-1][:, :-2]), self.output(right[-1][:, 2:])
        )


def mix_layers(layers: Tensor, weights: Tensor, gamma: float = 1.0) -> Tensor:
    """ELMo's vector of each word: gamma times the weighted mean of its layers.

    layers: [n, ..., D]; weights: [n], any numbers: their softmax gives the shares s_j. A task
    learns weights and gamma. Returns [..., D]. Source: Peters et al. (2018), eq. 1.

    >>> mix_layers(torch.tensor([[1.0, 0], [0, 1], [0, 0]]), torch.zeros(3))
    tensor([0.3333, 0.3333])
    """
    shares = weights.softmax(dim=0)  # [n], they sum to 1
    return gamma * torch.tensordot(shares, layers, dims=1)


def combine_sides(from_left: Tensor, from_right: Tensor, word_shares: Tensor) -> Tensor:
    """Combine two predictions of one word: logits [..., V].

    from_left, from_right: [..., V] logits; word_shares: [V], each word's frequency. If the
    two sides were independent given the word, by Bayes' rule p(w | left, right) would be
    proportional to p(w | left) p(w | right) / p(w): the frequency of w must not count twice.
    """
    return from_left.log_softmax(-1) + from_right.log_softmax(-1) - word_shares.log()


def train_language_model(
    sentences: Sequence[Sentence],
    *,
    vocab_size: int = 1_500,
    d_model: int = 64,
    n_layers: int = 2,
    epochs: int = 1,
    length: int = 32,
    batch_size: int = 16,
    rate: float = 0.01,
    seed: int = 0,
    progress: bool = True,
) -> BidirectionalLanguageModel:
    """Train the forward and the backward model together, on the sum of both losses.

    sentences: lists of words; vocab_size: the most frequent words, with <unk> for the others and
    <edge> between sentences; length: words in one piece of text; rate: Adam's highest
    learning rate, reached after 20 steps, from which it falls to 0.

    The same seed on the same machine gives the same model; the global random state does not
    change. Raises ValueError if there is not enough text for one batch.
    """
    sentences = list(entries("train_language_model", "sentences", sentences))
    frequent = Vocabulary.of(sentences, max_size=vocab_size - 2)
    ends = [[EDGE, *sentence] for sentence in replace_rare(sentences, frequent, UNKNOWN)]
    vocabulary = Vocabulary.of([*ends, [UNKNOWN]])  # so that it always has <unk>
    stream = torch.tensor([id for sentence in ends for id in vocabulary.encode(sentence)])
    pieces = stream[: len(stream) // length * length].view(-1, length)
    if len(pieces) < batch_size:
        raise ValueError(
            f"train_language_model: sentences must fill a batch of {batch_size} pieces of {length} "
            f"words; got {len(stream)} words with the edges"
        )
    model = BidirectionalLanguageModel(vocabulary, d_model, n_layers, seed=seed)
    optimizer = torch.optim.Adam(model.parameters())
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * (len(pieces) // batch_size)
    for step in tqdm(range(steps), desc="training", disable=not progress):
        if step % (len(pieces) // batch_size) == 0:
            batches = torch.randperm(len(pieces), generator=generator).split(batch_size)
        ids = pieces[batches[step % len(batches)]]  # [B, L + 2]
        loss = both_losses(model(ids), ids[:, 1:-1])
        now = rate * min((step + 1) / 20, 1 - step / steps)
        update(model, optimizer, loss, step + 1, rate=now, clip=1.0)
    return model.eval()


def both_losses(reading: Reading, targets: Tensor) -> Tensor:
    """The cross-entropy of the predictions from left plus that from right, a mean over words.

    targets: [B, L], the words themselves. Source: Peters et al. (2018), section 3.1.
    """
    words = targets.flatten()
    return F.cross_entropy(reading.from_left.flatten(0, 1), words) + F.cross_entropy(
        reading.from_right.flatten(0, 1), words
    )


def _lstm(d_model: int) -> nn.LSTM:
    return nn.LSTM(d_model, d_model, batch_first=True)
