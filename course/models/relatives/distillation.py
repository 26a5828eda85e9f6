"""Distillation: a small student learns a large teacher's probabilities, not only the true words.

That "cat" is the true word says little. That the teacher finds "dog" almost as likely, and "the"
not at all, says more. DistilBERT learns from the teacher's last layer.

Source: Hinton et al. (2015), "Distilling the Knowledge in a Neural Network"; Sanh et al. (2019),
"DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter".
"""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bertlab.model.bert import evaluation_mode
from bertlab.model.heads import BertForPreTraining
from bertlab.pretraining.batches import Batch, Batches
from bertlab.pretraining.losses import mlm_loss
from bertlab.training.loop import TrainingConfig
from bertlab.training.runs import Row, evaluate
from course.models.relatives.training import Losses, train


def student_of(teacher: BertForPreTraining, n_layers: int | None = None) -> BertForPreTraining:
    """A copy of the teacher with some of its layers, half of them if `n_layers` is not given.

    Embeddings and heads are copied too. DistilBERT has no segment embeddings and no pooler; ours
    keeps them, so that the whole library can use it as a BERT.

    Raises ValueError if n_layers is not from 1 to the teacher's.
    Source: Sanh et al. (2019), section 3, "Student initialization".
    """
    if n_layers is None:
        n_layers = max(1, teacher.config.n_layers // 2)
    student = copy.deepcopy(teacher)
    kept = spread_layers(n_layers, teacher.config.n_layers)
    student.bert.layers = nn.ModuleList(student.bert.layers[layer] for layer in kept)
    student.config = student.bert.config = replace(teacher.config, n_layers=n_layers)
    return student


def spread_layers(n_student: int, n_teacher: int) -> list[int]:
    """Layer numbers from the first to the last, spread as evenly as possible.

    The paper says "one layer out of two"; for 6 of 12, its code has the list below, and so have we.

    >>> spread_layers(6, 12)
    [0, 2, 4, 7, 9, 11]
    """
    if not 1 <= n_student <= n_teacher:
        raise ValueError(
            f"student_of: n_layers must be from 1 to {n_teacher}, the teacher's; got {n_student}"
        )
    return [round(i * (n_teacher - 1) / max(1, n_student - 1)) for i in range(n_student)]


def soft_target_loss(student: Tensor, teacher: Tensor, temperature: float = 2.0) -> Tensor:
    """How far the student's probabilities are from the teacher's: T² KL(teacher || student).

    student, teacher: logits [N, V]; temperature: T divides both, so that unlikely words count more.
    That scales the gradient by 1/T²; the factor T² compensates. Mean over N, in nats; 0 if N is 0.

    The paper has the cross-entropy, -Σ t log s; its code has KL, which differs by the teacher's
    entropy: the gradient is the same, and KL is 0 if both agree.

    Source: Hinton et al. (2015), section 2; Sanh et al. (2019), section 2.
    """
    check_shapes("soft_target_loss", student, teacher, "[N, V]")
    if not 0 < temperature < math.inf:
        raise ValueError(f"soft_target_loss: temperature must be above 0; got {temperature}")
    log_s = (student / temperature).log_softmax(dim=-1)
    log_t = (teacher / temperature).log_softmax(dim=-1)
    divergence = (log_t.exp() * (log_t - log_s)).sum()
    return temperature**2 * divergence / max(1, len(student))


def cosine_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """One minus the cosine of the angle between their vectors, a mean over tokens.

    student, teacher: [N, D], of the same size, at least one token. Source: Sanh et al. (2019),
    section 2.
    """
    check_shapes("cosine_loss", student, teacher, "[N, D]")
    check_not_empty("cosine_loss", student)
    return 1 - F.cosine_similarity(student, teacher, dim=-1).mean()


class Weights(NamedTuple):
    """The weights of DistilBERT's losses."""

    soft: float
    mlm: float
    cosine: float


PUBLISHED = Weights(soft=5.0, mlm=2.0, cosine=1.0)  # of the command in the authors' repository


def distilbert_losses(
    student: BertForPreTraining,
    teacher: BertForPreTraining,
    batch: Batch,
    *,
    temperature: float = 2.0,
    weights: Weights = PUBLISHED,
) -> Losses:
    """DistilBERT's three: soft targets, masked words, and the directions of the last layer.

    weights: with cosine=0 the student may be narrower than its teacher. Returns "loss", the
    weighted sum, and its unweighted parts. Next sentences are omitted, as in the paper. Soft
    targets are those of the masked words; by default, its code uses all tokens.

    Source: Sanh et al. (2019), sections 2 and 3.
    """
    reads = batch.ids, batch.segment_ids, batch.attention_mask, batch.predict
    with evaluation_mode(teacher), torch.no_grad():
        wanted = teacher(*reads)
    got = student(*reads)
    parts = {
        "soft_loss": soft_target_loss(got.mlm_logits, wanted.mlm_logits, temperature),
        "mlm_loss": mlm_loss(got.mlm_logits, batch.words),
    }
    if weights.cosine:
        tokens = batch.attention_mask
        mine, theirs = (out.encoder.last_hidden_state[tokens] for out in (got, wanted))  # [N, D]
        parts["cosine_loss"] = cosine_loss(mine, theirs)
    total: Any = sum(weight * part for weight, part in zip(weights, parts.values(), strict=False))
    return {"loss": total} | parts


def distil(
    teacher: BertForPreTraining,
    student: BertForPreTraining,
    data: Batches,
    config: TrainingConfig,
    *,
    losses: Callable[[BertForPreTraining, BertForPreTraining, Batch], Losses] = distilbert_losses,
    validation: Batches | None = None,
    watch: Callable[[Row], None] | None = None,
    progress: bool = True,
) -> list[Row]:
    """Train a student to imitate its teacher; only the student is changed.

    losses: `distilbert_losses`, also with other weights;
    validation: held-out text for the *student*, as in `pretrain`; the rest: as in `train`.

    Raises ValueError if student and teacher have different vocabularies.
    """
    if student.config.vocab_size != teacher.config.vocab_size:
        raise ValueError(
            f"distil: student must have the teacher's {teacher.config.vocab_size:,} words; "
            f"got {student.config.vocab_size:,}"
        )
    held_out = None if validation is None else (lambda: evaluate(student, validation).as_dict())
    return train(
        student,
        lambda batch: losses(student, teacher, batch),
        data,
        config,
        evaluate=held_out,
        watch=watch,
        progress=progress,
    )


def check_shapes(where: str, student: Tensor, teacher: Tensor, shape: str) -> None:
    """Raise ValueError unless student and teacher have the same shape, such as "[N, D]"."""
    if student.shape != teacher.shape:
        raise ValueError(
            f"{where}: student must have the teacher's shape, {list(teacher.shape)}; "
            f"got {list(student.shape)}"
        )
    if student.dim() != shape.count(",") + 1:
        raise ValueError(f"{where}: student and teacher must be {shape}; got {list(student.shape)}")


def check_not_empty(where: str, student: Tensor) -> None:
    """Raise ValueError if there is nothing to compare: a mean over nothing is nan."""
    if not student.numel():
        raise ValueError(
            f"{where}: student must hold at least one token; got {list(student.shape)}"
        )
