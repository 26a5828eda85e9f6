"""TinyBERT: a student that imitates its teacher layer by layer, and may also be narrower.

Source: Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language Understanding".
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.attention import MultiHeadAttention, split_heads
from bertlab.model.bert import evaluation_mode
from bertlab.model.checks import check_tokens_mask
from bertlab.model.config import BertConfig
from bertlab.model.heads import BertForPreTraining
from bertlab.pretraining.batches import Batch
from course.models.relatives.distillation import check_not_empty, check_shapes
from course.models.relatives.training import Losses


class LayerMatching(nn.Module):
    """TinyBERT's losses: each layer of the student imitates one of the teacher's.

    `matching(student, teacher, batch)` returns "loss" and its parts: embeddings and hidden states
    through a learned projection (the student may be narrower), and attention scores head by head.
    There is no loss on words: TinyBERT's first stage only matches layers.

    student, teacher: their configurations. Raises ValueError unless both have the same number of
    heads and the student's layers divide the teacher's.

    In the paper's code the same projection, with a bias, is used for embeddings and layers.
    Source: Jiao et al. (2020), section 3.1.
    """

    def __init__(self, student: BertConfig, teacher: BertConfig) -> None:
        super().__init__()
        if student.n_heads != teacher.n_heads:
            raise ValueError(
                "LayerMatching: student must have as many heads as the teacher, whose attention "
                f"it imitates head by head, {teacher.n_heads}; got {student.n_heads}"
            )
        self.matched = matched_layers(student.n_layers, teacher.n_layers)
        # Both start as the identity, truncated if the student is narrower.
        self.embeddings = nn.Parameter(torch.eye(teacher.d_model, student.d_model))  # W_e
        self.hidden = nn.Parameter(torch.eye(teacher.d_model, student.d_model))  # W_h

    def forward(
        self, student: BertForPreTraining, teacher: BertForPreTraining, batch: Batch
    ) -> Losses:
        """The losses of one batch, each a sum over layers of means over tokens."""
        reads, tokens = (batch.ids, batch.segment_ids, batch.attention_mask), batch.attention_mask
        with evaluation_mode(teacher), torch.no_grad():
            wanted = teacher.bert(*reads, output_hidden_states=True).hidden_states
        got = student.bert(*reads, output_hidden_states=True).hidden_states
        embedding = hidden_loss(got[0][tokens], wanted[0][tokens], self.embeddings)
        hidden, attention = torch.zeros(2, device=tokens.device)
        for m, n in enumerate(self.matched[1:], start=1):
            hidden = hidden + hidden_loss(got[m][tokens], wanted[n][tokens], self.hidden)
            own = attention_scores(student.bert.layers[m - 1].attention, got[m - 1])
            with torch.no_grad():
                others = attention_scores(teacher.bert.layers[n - 1].attention, wanted[n - 1])
            attention = attention + attention_loss(own, others, tokens)
        return {
            "loss": embedding + hidden + attention,
            "embedding_loss": embedding,
            "hidden_loss": hidden,
            "attention_loss": attention,
        }


def matched_layers(n_student: int, n_teacher: int) -> list[int]:
    """g(0), g(1), ..., g(M): layer m of the student imitates layer g(m); 0 are the embeddings.

    Source: Jiao et al. (2020), section 4: uniform, for 4 of 12 layers g(m) = 3m.

    >>> matched_layers(4, 12)
    [0, 3, 6, 9, 12]
    """
    if n_teacher % n_student:
        raise ValueError(
            "LayerMatching: the student's number of layers must divide the teacher's; "
            f"got {n_student} of {n_teacher}"
        )
    return list(range(0, n_teacher + 1, n_teacher // n_student))


def attention_scores(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    """The scores before attention's softmax, Q K^T / sqrt(d_head): [B, L, D] -> [B, H, L, L]."""
    query, key, _ = attention.query_key_value(x).chunk(3, dim=-1)
    query, key = split_heads(query, attention.n_heads), split_heads(key, attention.n_heads)
    return query @ key.mT / math.sqrt(query.shape[-1])


def attention_loss(student: Tensor, teacher: Tensor, attention_mask: Tensor) -> Tensor:
    """The mean squared difference of attention scores, over heads and pairs of tokens.

    student, teacher: [B, H, L, L], scores *before* the softmax, with which the paper found
    training faster and better; attention_mask: [B, L]. Pairs with padding do not count (in the
    paper's code they count as 0).

    Source: Jiao et al. (2020), section 3.1.
    """
    check_shapes("attention_loss", student, teacher, "[B, H, L, L]")
    check_tokens_mask(
        "attention_loss", "attention_mask", attention_mask, (len(student), student.shape[-1])
    )
    pairs = attention_mask[:, None, :, None] & attention_mask[:, None, None, :]  # [B, 1, L, L]
    squares = (student - teacher).square() * pairs
    return squares.sum() / (pairs.sum() * student.shape[1])


def hidden_loss(student: Tensor, teacher: Tensor, projection: Tensor) -> Tensor:
    """The mean squared difference of projected hidden states.

    student: [N, D']; teacher: [N, D]; projection: [D, D'], learned, as a linear layer's weight.
    Source: Jiao et al. (2020), section 3.1.
    """
    projected = F.linear(student, projection)  # [N, D]
    check_shapes("hidden_loss", projected, teacher, "[N, D]")
    check_not_empty("hidden_loss", projected)
    return F.mse_loss(projected, teacher)
