"""Three heads for four tasks: one text, two texts, every token, a span of the second text.

Each adds only dropout and one matrix to a pre-trained encoder, of which it reads features: the
vectors of one layer, or of a mix of layers.

Source: Devlin et al. (2019), section 4, figure 4, section 5.3 (frozen features) and table 7.
"""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.bert import Bert, BertOutput, drawn
from bertlab.model.config import BertConfig

FOUR = 4  # last layers that are mixed
MIXES = ("last", "sum last four", "concat last four", "mean of all")

Features = str | int  # the name of a mix, or the number of a layer


def layer_features(hidden_states: Sequence[Tensor], how: Features = "last") -> Tensor:
    """For every token the vector that a head reads: [B, L, D], or [B, L, 4 D] if concatenated.

    hidden_states: embeddings, then every layer's output, [B, L, D] each, as `Bert` gives them
    with output_hidden_states=True; how: "last" (layer), "sum last four", "concat last four",
    "mean of all" (layers, without the embeddings), or a number: 0 for the embeddings, 1 for the
    first layer, and so on.

    Raises ValueError if there is no such mix or layer, if a mix needs more layers than there are,
    or if the model was not asked for its hidden states.

    Source: Devlin et al. (2019), table 7, which calls its sums weighted and does not say how;
    here all layers have equal weight.

    >>> states = [torch.full((1, 1, 1), float(layer)) for layer in range(6)]
    >>> [layer_features(states, how).item() for how in ("last", "sum last four", "mean of all", 0)]
    [5.0, 14.0, 3.0, 0.0]
    """
    check_states(hidden_states, how)
    if how == "last":
        return hidden_states[-1]
    if how == "sum last four":
        return torch.stack(tuple(hidden_states[-FOUR:])).sum(dim=0)
    if how == "concat last four":
        return torch.cat(tuple(hidden_states[-FOUR:]), dim=-1)
    if how == "mean of all":
        return torch.stack(tuple(hidden_states[1:])).mean(dim=0)
    return hidden_states[how]  # type: ignore[index]  # a number: other names were rejected


def feature_size(config: BertConfig, how: Features = "last") -> int:
    """How many numbers `layer_features` gives for a token.

    Raises ValueError as `layer_features` does.

    >>> feature_size(BertConfig.base(), "concat last four")
    3072
    """
    check_features(how, config.n_layers)
    return config.d_model * (FOUR if how == "concat last four" else 1)


def check_states(hidden_states: Sequence[Tensor], how: Features) -> None:
    """Raise ValueError unless these are a model's hidden states, and have these features."""
    listed = isinstance(hidden_states, Sequence) and len(hidden_states) > 0
    if not listed or not all(isinstance(state, Tensor) for state in hidden_states):
        raise ValueError(
            "layer_features: hidden_states must be a list of tensors, the embeddings and every "
            f"layer's output; got {type(hidden_states).__name__}; did the model run with "
            "output_hidden_states=True, and is it output.hidden_states?"
        )
    check_features(how, n_layers=len(hidden_states) - 1)


def check_features(how: Features, n_layers: int) -> None:
    """Raise ValueError unless a model of this many layers has these features."""
    if isinstance(how, str):
        if how not in MIXES:
            raise ValueError(
                f"features must be one of {', '.join(map(repr, MIXES))}, or the number of a "
                f"layer; got {how!r}"
            )
        if "four" in how and n_layers < FOUR:
            raise ValueError(
                f"features {how!r} need a model of at least four layers; got {n_layers}; take "
                "'mean of all' or the number of a layer"
            )
    elif not 0 <= how <= n_layers:
        raise ValueError(
            f"features must be a layer from 0, the embeddings, to {n_layers}, the last one; "
            f"got {how}"
        )


IGNORED = -100  # a token without a tag, as in PyTorch and Hugging Face
POOLED = "pooled"


class Head(nn.Module):
    """What the heads share: an encoder, the features they read, dropout and one matrix.

    bert: it is not copied, and fine-tuning changes it (`copy.deepcopy` keeps the original);
    features: as in `layer_features`; frozen: the encoder does not change: it gets no gradients and
    has no dropout, not even while the head is trained; dropout: of the features; seed: draws the
    new matrix, normal with standard deviation 0.02.
    """

    reads_pooled = False  # one vector for the whole text
    loss: Callable[[Tensor, Tensor], Tensor]  # logits and targets, described in each head
    correct: Callable[[Tensor, Tensor], Tensor]  # which predictions are right
    check_target: Callable[[Any, int], None]

    def __init__(
        self,
        bert: Bert,
        n_outputs: int,
        features: Features,
        frozen: bool,
        dropout: float,
        seed: int,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(bert, Bert):
            raise TypeError(
                f"{name}: bert must be a Bert; got {type(bert).__name__}"
                + ("; give its .bert" if isinstance(getattr(bert, "bert", None), Bert) else "")
            )
        if n_outputs < 2:
            raise ValueError(f"{name}: there must be at least two classes; got {n_outputs}")
        self.bert, self.features, self.frozen = bert, features, frozen
        pooled = self.reads_pooled and features == POOLED
        size = bert.config.d_model if pooled else feature_size(bert.config, features)
        self.dropout = nn.Dropout(dropout)
        self.output = drawn(
            lambda: nn.Linear(size, n_outputs), torch.Generator().manual_seed(seed)
        ).to(next(bert.parameters()).device)
        self.train(bert.training)

    def train(self, mode: bool = True) -> "Head":
        """As in every module, but a frozen encoder stays in evaluation mode."""
        super().train(mode)
        if self.frozen:
            self.bert.eval()
        return self

    def encode(
        self, ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> BertOutput:
        """The encoder's output for a batch; shapes as in `Bert`."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            return self.bert(
                ids,
                segment_ids,
                attention_mask,
                output_hidden_states=self.features not in (POOLED, "last"),
            )

    def token_features(self, encoded: BertOutput) -> Tensor:
        """The features of every token, [B, L, D] or [B, L, 4 D]."""
        if encoded.hidden_states is None:
            return encoded.last_hidden_state
        return layer_features(encoded.hidden_states, self.features)

    def collate_targets(self, targets: Sequence[Any], length: int) -> Tensor:  # noqa: ARG002
        """The targets of a batch of texts, padded to `length` if there is one per token."""
        return torch.tensor(targets, dtype=torch.long)

    def n_asked(self, targets: Tensor) -> int:
        """How many predictions the loss of a batch is a mean of."""
        return len(targets)


class SequenceClassifier(Head):
    """A class for a text, or for a pair of texts, from [CLS].

    features: "pooled" is BERT's choice, tanh(W x + b) of the last layer's [CLS], whose W comes from
    next-sentence prediction; with any of `layer_features`, [CLS] is taken from those instead.

    Targets: [B], the numbers of the classes.

    Source: Devlin et al. (2019), section 4.1, figure 4 (a) and (b).

    >>> from bertlab.model import BertConfig
    >>> classifier = SequenceClassifier(Bert(BertConfig.tiny(vocab_size=100)), n_classes=3)
    >>> classifier(torch.tensor([[2, 17, 3], [2, 9, 3]])).shape
    torch.Size([2, 3])
    """

    reads_pooled = True

    def __init__(
        self,
        bert: Bert,
        n_classes: int,
        *,
        features: Features = POOLED,
        frozen: bool = False,
        dropout: float = 0.1,
        seed: int = 0,
    ) -> None:
        super().__init__(bert, n_classes, features, frozen, dropout, seed)

    def forward(
        self, ids: Tensor, segment_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Scores of the classes, [B, C]; arguments as in `Bert`."""
        encoded = self.encode(ids, segment_ids, attention_mask)
        pooled = self.features == POOLED
        features = encoded.pooler_output if pooled else self.token_features(encoded)[:, 0]
        return self.output(self.dropout(features))

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The mean of -log p(true class). logits: [B, C]; targets: [B]."""
        return F.cross_entropy(logits, targets)

    def correct(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Whether the true class has the highest score, boolean [B]."""
        return logits.argmax(dim=-1) == targets

    def check_target(self, target: Any, n_tokens: int) -> None:  # noqa: ARG002 - taggers do
        """Raise ValueError unless it is the number of a class."""
        check_numbers("a class", [target], self.output.out_features)


class TokenTagger(Head):
    """A tag for every token.

    Targets: [B, L], the numbers of the tags, `IGNORED` at special tokens, padding, and the later
    pieces of a word. Of one text: a list as long as its encoding.

    Source: Devlin et al. (2019), section 5.3, figure 4 (d).
    """

    def __init__(
        self,
        bert: Bert,
        n_tags: int,
        *,
        features: Features = "last",
        frozen: bool = False,
        dropout: float = 0.1,
        seed: int = 0,
    ) -> None:
        super().__init__(bert, n_tags, features, frozen, dropout, seed)

    def forward(
        self, ids: Tensor, segment_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Scores of the tags, [B, L, C]; arguments as in `Bert`."""
        features = self.token_features(self.encode(ids, segment_ids, attention_mask))
        return self.output(self.dropout(features))

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The mean of -log p(true tag) over all tokens that have a tag; 0 if none has."""
        asked = targets != IGNORED
        losses = F.cross_entropy(logits[asked], targets[asked], reduction="sum")
        return losses / asked.sum().clamp(min=1)

    def correct(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Whether the true tag has the highest score, boolean [N], one per token that has a tag."""
        asked = targets != IGNORED
        return logits[asked].argmax(dim=-1) == targets[asked]

    def n_asked(self, targets: Tensor) -> int:
        """How many tokens of a batch have a tag."""
        return int((targets != IGNORED).sum())

    def check_target(self, target: Any, n_tokens: int) -> None:
        """Raise ValueError unless every token has the number of a tag, or IGNORED."""
        if len(target) != n_tokens:
            raise ValueError(f"it must hold a tag for each of {n_tokens} tokens; got {len(target)}")
        tags = [tag for tag in target if tag != IGNORED]
        check_numbers("a tag", tags, self.output.out_features)

    def collate_targets(self, targets: Sequence[Sequence[int]], length: int) -> Tensor:
        """The targets of a batch, [B, length], padded with IGNORED."""
        return torch.tensor([[*t, *[IGNORED] * (length - len(t))] for t in targets]).long()


class SpanAnswerer(Head):
    """Predicts where an answer starts and ends; the question comes first, then the passage.

    Targets: [B, 2], the numbers of the answer's first and last token; (0, 0), which is [CLS], if
    the passage has no answer. dropout: BERT has none here.

    Source: Devlin et al. (2019), sections 4.2 and 4.3, figure 4 (c).
    """

    def __init__(
        self,
        bert: Bert,
        *,
        features: Features = "last",
        frozen: bool = False,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(bert, 2, features, frozen, dropout, seed)

    def forward(
        self, ids: Tensor, segment_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Scores of every token as start and as end, [B, L, 2]; padding has -inf.

        attention_mask: [B, L]; the other arguments as in `Bert`.
        """
        features = self.token_features(self.encode(ids, segment_ids, attention_mask))
        scores = self.output(self.dropout(features))  # [B, L, 2]
        if attention_mask is None:
            return scores
        return scores.masked_fill(~attention_mask.bool()[..., None], -torch.inf)

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The mean of -log p(start) and -log p(end). logits: [B, L, 2]; targets: [B, 2]."""
        starts, ends = F.cross_entropy(logits, targets, reduction="none").mean(dim=0)  # [B, 2]
        return (starts + ends) / 2

    def correct(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Whether start and end both have the highest scores, boolean [B]."""
        return (logits.argmax(dim=1) == targets).all(dim=1)

    def check_target(self, target: Any, n_tokens: int) -> None:
        """Raise ValueError unless it is (start, end), both within the text."""
        if not isinstance(target, Sequence) or len(target) != 2 or target[0] > target[1]:
            raise ValueError(f"it must be (start, end) with start <= end; got {target!r}")
        check_numbers("a token", target, n_tokens)


def check_numbers(what: str, numbers: Sequence[int], count: int) -> None:
    """Raise ValueError unless all are from 0 to count - 1, TypeError if one is not an integer."""
    for number in map(index, numbers):
        if not 0 <= number < count:
            raise ValueError(f"it must be {what} from 0 to {count - 1}; got {number}")
