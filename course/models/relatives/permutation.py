"""XLNet's objective: predict words one after the other, in a random order.

BERT predicts all hidden words at once and independently: "New" and "York" do not depend on each
other. GPT predicts one after the other, but only from left to right. XLNet draws an order: each
word is predicted from those before it *in the order*, which may be on either side of it. The words
keep their positions; only the attention masks change. Here it is built from BERT's parts.

Source: Yang et al. (2019), "XLNet: Generalized Autoregressive Pretraining for Language
Understanding", sections 2.2 and 2.3. Omitted: Transformer-XL (memory, relative positions).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.bert import Bert, drawn
from bertlab.model.checks import check_guesses, check_tensor
from bertlab.model.config import BertConfig
from bertlab.model.heads import MaskedLanguageModelHead
from bertlab.model.layers import EncoderLayer


class Masks(NamedTuple):
    """The attention masks of the two streams; row = query, column = key."""

    content: Tensor  # boolean [B, L, L]: itself, and tokens before it in the order
    query: Tensor  # boolean [B, L, L]: tokens before it in the order


def permutation_masks(order: Tensor) -> Masks:
    """The attention masks for an order of reading.

    order: [B, L], when each position is read: 0 is the first. Positions with the same number see
    each other. In XLNet's code, so do all words that are not targets; the paper orders them.

    Source: Yang et al. (2019), section 2.3 and figure 1.

    >>> masks = permutation_masks(torch.tensor([[2, 0, 1]]))  # the middle, the right, the left
    >>> masks.content[0].int()
    tensor([[1, 1, 1],
            [0, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    if order.dim() != 2:
        raise ValueError(f"permutation_masks: order must be [B, L]; got {list(order.shape)}")
    own, other = order[:, :, None], order[:, None, :]
    return Masks(content=other <= own, query=other < own)


class Reading(NamedTuple):
    """An order of reading, and the positions whose words are predicted: the last ones in it."""

    order: Tensor  # [B, L], when each position is read
    targets: Tensor  # [B, K], positions, in the order in which they are predicted


def draw_reading(attention_mask: Tensor, n_targets: int, generator: torch.Generator) -> Reading:
    """A random order for each row: the first token first, padding last and never a target.

    attention_mask: [B, L], True for tokens; n_targets: K. Words late in the order are predicted
    from much context, early ones from little or none: XLNet predicts only the last sixth.

    Raises ValueError if a row has fewer than n_targets tokens after its first.
    Source: Yang et al. (2019), section 2.3, "Partial Prediction".
    """
    tokens = attention_mask.cpu().bool()
    lengths = tokens.sum(dim=1, keepdim=True)  # [B, 1]
    if not 1 <= n_targets < lengths.min():
        raise ValueError(
            "draw_reading: n_targets must be at least 1 and leave each row its first token; "
            f"got {n_targets} for rows of {lengths.min()} tokens and more"
        )
    lots = torch.rand(tokens.shape, generator=generator).masked_fill(~tokens, 2.0)
    lots[:, 0] = -1.0  # [CLS] is read by all
    readers = lots.argsort(dim=1)  # [B, L], the position that is read first, second, ...
    last = lengths - n_targets + torch.arange(n_targets)  # [B, K]
    return Reading(
        readers.argsort(dim=1).to(attention_mask.device),
        readers.gather(1, last).to(attention_mask.device),
    )


def two_streams(
    layer: EncoderLayer, content: Tensor, query: Tensor, masks: Masks
) -> tuple[Tensor, Tensor]:
    """One encoder layer for both streams, with the same weights.

    content: [B, L, D], one vector per token, which sees itself; query: [B, K, D], one per target,
    which has its position but not its word, and attends to the content stream of the tokens
    before it. masks: content [B, L, L], query [B, K, L]. Returns both, updated.

    Source: Yang et al. (2019), section 2.3, "Two-Stream Self-Attention".
    """
    attended, _ = layer.attention(query, masks.query[:, None], context=content)
    query = layer.attention_norm(query + layer.dropout(attended))
    query = layer.feed_forward_norm(query + layer.dropout(layer.feed_forward(query)))
    content, _ = layer(content, masks.content[:, None])
    return content, query


class PermutationOutput(NamedTuple):
    """The output of `PermutationLanguageModel`."""

    logits: Tensor  # [B, K, V], for the words at the targets
    content: Tensor  # [B, L, D], the content stream after the last layer


class PermutationLanguageModel(nn.Module):
    """A `Bert` read in any order, a learned vector for "which word is here?", and a head.

    After training `.bert` is an ordinary encoder: without an order it has only the content stream.
    The vector, the paper's w, plays the role of [MASK]; but no token attends to it.

    config: as of `Bert`, not causal; seed: draws all initial weights.
    Source: Yang et al. (2019), section 2.3. There g starts as w alone: positions are relative.

    >>> model = PermutationLanguageModel(BertConfig.tiny(vocab_size=100)).eval()
    >>> ids = torch.tensor([[2, 17, 40, 3]])
    >>> reading = draw_reading(ids > 0, 2, torch.Generator().manual_seed(0))
    >>> model(ids, *reading).logits.shape
    torch.Size([1, 2, 100])
    """

    def __init__(self, config: BertConfig, seed: int = 0) -> None:
        super().__init__()
        if config.causal:
            raise ValueError(
                "PermutationLanguageModel: config must have causal=False; the order of reading "
                "sets the attention masks, and 0, 1, 2, ... is that of a causal model"
            )
        self.config = config
        self.bert = Bert(config, seed)
        generator = torch.Generator().manual_seed(seed)
        self.head = drawn(lambda: MaskedLanguageModelHead(config), generator)
        self.asked = nn.Parameter(0.02 * torch.randn(config.d_model, generator=generator))  # w

    def forward(
        self, ids: Tensor, order: Tensor, targets: Tensor, segment_ids: Tensor | None = None
    ) -> PermutationOutput:
        """Predict the words at the targets, each from the words before it in the order.

        ids, order, segment_ids: [B, L]; targets: [B, K], positions. Raises ValueError if one is
        first in the order, since it could be predicted from nothing.
        """
        self._check(ids, order, targets)
        content, query = self.bert.embeddings(ids, segment_ids), self.ask(targets, segment_ids)
        masks = permutation_masks(order)
        rows = torch.arange(len(ids), device=ids.device)[:, None]
        masks = masks._replace(query=masks.query[rows, targets])  # [B, K, L]
        for layer in self.bert.layers:
            content, query = two_streams(layer, content, query, masks)
        return PermutationOutput(self.head(query, self.bert.embeddings.token.weight), content)

    def ask(self, targets: Tensor, segment_ids: Tensor | None = None) -> Tensor:
        """The initial query stream: w, with position and segment of each target: [B, K, D]."""
        embeddings = self.bert.embeddings
        segments = torch.zeros_like(targets)
        if segment_ids is not None:
            segments = segment_ids.gather(1, targets)
        places = embeddings.position(targets) + embeddings.segment(segments)  # [B, K, D]
        return embeddings.dropout(embeddings.norm(self.asked + places))

    def _check(self, ids: Tensor, order: Tensor, targets: Tensor) -> None:
        for name, given in (("ids", ids), ("order", order), ("targets", targets)):
            check_tensor("PermutationLanguageModel", name, given)
        if order.shape != ids.shape:
            raise ValueError(
                f"PermutationLanguageModel: order must have the shape of ids, {list(ids.shape)}; "
                f"got {list(order.shape)}"
            )
        if targets.dim() != 2 or len(targets) != len(ids):
            raise ValueError(
                f"PermutationLanguageModel: targets must be [B, K] with B = {len(ids)}; "
                f"got {list(targets.shape)}"
            )
        if (order.gather(1, targets) <= order.amin(dim=1, keepdim=True)).any():
            raise ValueError(
                "PermutationLanguageModel: targets must not be read first, since there is nothing "
                "to predict them from; let the order begin with [CLS], as draw_reading does"
            )


def permutation_loss(logits: Tensor, ids: Tensor, targets: Tensor) -> Tensor:
    """The mean of -log p(word | words before it in the order) over the targets, in nats.

    logits: [B, K, V]; ids: [B, L], the text; targets: [B, K]. By the chain rule, the sum over a
    row's targets is -log p of all of them together; BERT's sum is not, because its predictions
    are independent.

    Raises ValueError if there is no target, or if shapes, dtypes or ids do not fit.
    Source: Yang et al. (2019), eq. 5.
    """
    if logits.shape[:-1] != targets.shape or len(ids) != len(targets) or not targets.numel():
        raise ValueError(
            "permutation_loss: logits must be [B, K, V], ids [B, L] and targets [B, K], at least "
            f"one; got {list(logits.shape)}, {list(ids.shape)} and {list(targets.shape)}"
        )
    guesses, words = logits.flatten(0, 1), ids.gather(1, targets).flatten()  # [B * K, V], [B * K]
    check_guesses("permutation_loss", guesses, "words", words)
    return F.cross_entropy(guesses, words)
