"""Sentence-BERT's training: one encoder for both sentences of a pair; a loss on their vectors.

Letters in shape comments: B pairs in a batch, D embedding size, C classes; u and v are the vectors
of the first and the second sentences.

Source: Reimers & Gurevych (2019), section 3; Henderson et al. (2017), section 4.4.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.finetuning.sentences import SentenceEncoder
from bertlab.finetuning.texts import batches_by_length, collate, encode_texts
from bertlab.finetuning.tuning import TuningConfig, tune
from bertlab.model.bert import drawn
from bertlab.model.checks import values_are_at_hand
from bertlab.tokenizers.checks import check_none_missing, entries, read_texts
from bertlab.tokenizers.tokenizer import Encoding
from bertlab.tokenizers.words import PAD
from bertlab.training.runs import Row

Evaluate = Callable[[], dict[str, float]]


class SiameseClassifier(nn.Module):
    """Classes for pairs: softmax(W (u, v, |u - v|)), such as entailment, contradiction, neutral.

    d_model: size of u and v; n_classes: C; seed: draws W. There is no bias, as in the paper. The
    paper's vectors keep the length that pooling gives them: `SentenceEncoder(normalize=False)`.

    Only for training: afterwards W is discarded, and the encoder's vectors are compared by their
    cosine. This loss does not ask for a large cosine: if u or v alone reveals the class, W uses
    that, and the vectors of a matching pair may even have a negative cosine.

    Source: Reimers & Gurevych (2019), section 3, "Classification Objective Function"; their table
    6 compares this input of W with others.

    >>> classifier = SiameseClassifier(d_model=4, n_classes=3)
    >>> classifier(torch.ones(2, 4), torch.ones(2, 4)).shape
    torch.Size([2, 3])
    """

    def __init__(self, d_model: int, n_classes: int, seed: int = 0) -> None:
        super().__init__()
        if n_classes < 2:
            raise ValueError(f"SiameseClassifier: n_classes must be at least 2; got {n_classes}")
        draw = torch.Generator().manual_seed(seed)
        self.output = drawn(lambda: nn.Linear(3 * d_model, n_classes, bias=False), draw)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """Scores of the classes, [B, C], of pairs of vectors, [B, D] each."""
        check_pairs("SiameseClassifier", u, v)
        return self.output(torch.cat([u, v, (u - v).abs()], dim=-1))

    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        """The mean of -log p(true class); targets: [B], numbers of classes."""
        check_targets("SiameseClassifier", targets, len(u), 0, self.output.out_features - 1)
        if targets.is_floating_point():
            raise ValueError(
                f"SiameseClassifier: targets must be integers, numbers of classes; "
                f"got {targets.dtype}"
            )
        return F.cross_entropy(self(u, v), targets.long())  # booleans and small integers too


def cosine_loss(u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
    """The mean squared difference between cosine(u, v) and the pair's target similarity.

    u, v: [B, D]; targets: [B], from -1 to 1.

    Source: Reimers & Gurevych (2019), section 3, "Regression Objective Function".

    >>> u, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    >>> cosine_loss(u, v, torch.tensor([1.0, 0.0]))  # cosines 0.6 and 0: (0.4 ** 2 + 0) / 2
    tensor(0.0800)
    """
    check_pairs("cosine_loss", u, v)
    check_targets("cosine_loss", targets, len(u), -1, 1)
    return F.mse_loss(F.cosine_similarity(u, v), targets.to(u.dtype))


def in_batch_negatives_loss(u: Tensor, v: Tensor, *, scale: float = 20.0) -> Tensor:
    """The mean of -log p(v belongs to u), where the other pairs' v are the wrong answers.

    u, v: [B, D], row i of v belongs to row i of u: a paraphrase, an answer, the sentence after.
    p is a softmax of scale * cosine(u_i, v_j) over the B columns j.

    So a batch of B pairs gives each u B - 1 wrong answers at no cost, and a larger batch is a
    harder task. Even if two pairs of a batch mean the same, the other's v counts as wrong. With one
    pair there is no wrong answer: the loss is 0.

    Source: Henderson et al. (2017), "Efficient Natural Language Response Suggestion", section 4.4,
    whose scores are dot products; cosines and the scale 20 are those of sentence-transformers.

    >>> u = torch.eye(2)
    >>> in_batch_negatives_loss(u, u, scale=1.0)  # log(e ** 1 + e ** 0) - 1
    tensor(0.3133)
    """
    check_pairs("in_batch_negatives_loss", u, v)
    if not 0 < scale < math.inf:
        raise ValueError(f"in_batch_negatives_loss: scale must be above 0; got {scale}")
    scores = scale * F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T  # [B, B]
    return F.cross_entropy(scores, torch.arange(len(u), device=u.device))


def train_pairs(
    encoder: SentenceEncoder,
    first: Iterable[str],
    second: Iterable[str],
    targets: Iterable[float] | None,
    objective: SiameseClassifier | Callable[..., Tensor],
    config: TuningConfig,
    *,
    truncate: bool = False,
    evaluate: Evaluate | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train an encoder on pairs of sentences; it is changed in place.

    first, second: the sentences; targets: one per pair, None if the objective needs none;
    objective: a `SiameseClassifier`, which is trained as well, `cosine_loss`,
    `in_batch_negatives_loss`, or your own function of u and v (and targets); truncate: cut
    sentences that are too long; evaluate: called before the first step and after every epoch, for
    metrics of your own; watch: called with every row as soon as it is available.

    Returns rows {"step", "epoch", "kind": "train", "loss", "learning_rate"} and, with `evaluate`,
    {"step", "epoch", "kind": "held-out", ...}. With the same seed on the same CPU the weights
    are identical, bit by bit; PyTorch's global random state does not change.

    Raises ValueError if the numbers of sentences and targets differ, if a target is missing, or if
    `encode_texts` rejects a sentence; TypeError if one is not a string; FloatingPointError if the
    loss is not finite.

    Source: Reimers & Gurevych (2019), section 3: "siamese", the same weights read both sentences.
    """
    first = list(read_texts("train_pairs", "first", first))
    second = list(read_texts("train_pairs", "second", second))
    if targets is not None:
        targets = list(entries("train_pairs", "targets", targets))
        check_none_missing("train_pairs", "targets", targets)
    check_lengths(first, second, targets)
    pairs = [
        encode_side(name, texts, encoder, truncate)
        for name, texts in (("first", first), ("second", second))
    ]
    answers = None if targets is None else torch.as_tensor(targets)
    device, pad_id = next(encoder.parameters()).device, encoder.tokenizer.vocab[PAD]
    model = nn.ModuleList([encoder])
    if isinstance(objective, nn.Module):
        model.append(objective.to(device))
    loss_of = objective.loss if isinstance(objective, SiameseClassifier) else objective

    def train(numbers: list[int]) -> Row:
        model.train()
        u, v = (
            encoder(*collate([side[number] for number in numbers], pad_id).to(device))
            for side in pairs
        )
        loss = loss_of(u, v, *([] if answers is None else [answers[numbers].to(device)]))
        loss.backward()
        return {"loss": loss.item()}

    lengths = [len(a) + len(b) for a, b in zip(*pairs, strict=True)]
    batches = partial(batches_by_length, lengths, config.batch_size)
    n_batches = math.ceil(len(first) / config.batch_size)
    shown = {"label": "training on pairs", "watch": watch, "progress": progress}
    measured = (lambda _epoch: [evaluate()]) if evaluate else (lambda _epoch: [])
    return tune(model, config, n_batches, batches, train, measured, **shown)


def encode_side(
    name: str, texts: Sequence[str], encoder: SentenceEncoder, truncate: bool
) -> list[Encoding]:
    """The encodings of one side of all pairs; an error names the side."""
    length = encoder.max_length
    try:
        return encode_texts(texts, encoder.tokenizer, max_length=length, truncate=truncate)
    except ValueError as error:
        raise ValueError(f"train_pairs: {name}: {error}") from error


def check_pairs(where: str, u: Tensor, v: Tensor) -> None:
    """Raise ValueError unless there is one v for each u, and at least one pair."""
    if u.dim() != 2 or u.shape != v.shape or not len(u):
        raise ValueError(
            f"{where}: u and v, of at least one pair, must both be [B, D]; "
            f"got {list(u.shape)} and {list(v.shape)}"
        )


def check_targets(where: str, targets: Tensor, n_pairs: int, low: int, high: int) -> None:
    """Raise ValueError unless there is a target for each pair, from `low` to `high`."""
    if targets.shape != (n_pairs,):
        raise ValueError(f"{where}: targets must be [B] = [{n_pairs}]; got {list(targets.shape)}")
    if (
        values_are_at_hand(targets)
        and n_pairs
        and not low <= targets.min() <= targets.max() <= high
    ):
        raise ValueError(
            f"{where}: targets must be from {low} to {high}; got {targets.min().item():g} to "
            f"{targets.max().item():g}; rescale them first"
        )


def check_lengths(
    first: Sequence[str], second: Sequence[str], targets: Sequence[float] | None
) -> None:
    """Raise ValueError unless there are pairs, and a target for each if there are targets."""
    sizes = [len(first), len(second), *([] if targets is None else [len(targets)])]
    if not sizes[0] or len(set(sizes)) > 1:
        raise ValueError(
            f"train_pairs: first, second and targets must hold one entry per pair; got "
            f"{' and '.join(map(str, sizes))}"
        )
