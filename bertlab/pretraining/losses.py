"""What pre-training minimises: the losses of masked words and of next sentences.

All losses are in nats: a guess among k equally likely answers costs log k. Arguments that do not
fit raise ValueError; on a GPU only shapes and dtypes are checked. Training uses `mlm_loss`,
`nsp_loss` and PyTorch's gradients; the others are derivations, and tests compare them.

Source: Devlin et al. (2019), section 3.1 and appendix A.2.
"""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.model.checks import check_logits, check_relations, check_words
from bertlab.parts import part


@part("07", exercise="07", check=partial(check_words, "mlm_loss"))
def mlm_loss(logits: Tensor, words: Tensor) -> Tensor:
    """The mean of -log p(true word) over the masked positions; 0 if nothing is masked.

    logits: [N, V], one row per masked position; words: [N], the true ids. There are no other
    rows, so the label -100, which elsewhere marks positions to ignore, is an error.

    Source: Phuong & Hutter (2022), Algorithm 12, line 9, which has the sum.
    """
    return F.cross_entropy(logits, words, reduction="sum") / max(1, len(words))


@part("07", check=check_relations)
def nsp_loss(logits: Tensor, next_sentence: Tensor) -> Tensor:
    """The mean of -log p(true relation), as published: a softmax over two classes.

    logits: [B, 2]; next_sentence: [B], 0 where B follows A (IsNext), 1 where it does not.
    """
    return F.cross_entropy(logits, next_sentence)


@part("07", derivation=True, check=partial(check_logits, "nsp_sigmoid_loss"))
def nsp_sigmoid_loss(logit: Tensor, is_next: Tensor) -> Tensor:
    """The same with one output neuron, p = sigmoid(logit): binary cross-entropy.

    logit: [B]; is_next: [B], 1.0 where B follows A. With logit = logits[:, 0] - logits[:, 1] it
    equals `nsp_loss`.
    """
    log_p, log_not_p = F.logsigmoid(logit), F.logsigmoid(-logit)  # 1 - sigmoid(z) = sigmoid(-z)
    return -(is_next * log_p + (1 - is_next) * log_not_p).mean()


@part("07", derivation=True)
def pretraining_loss(
    mlm_logits: Tensor, words: Tensor, nsp_logits: Tensor, next_sentence: Tensor
) -> Tensor:
    """Both tasks at once: `mlm_loss` + `nsp_loss`. Shapes as there."""
    return mlm_loss(mlm_logits, words) + nsp_loss(nsp_logits, next_sentence)


@part("07", derivation=True, check=partial(check_words, "mlm_gradient"))
def mlm_gradient(logits: Tensor, words: Tensor) -> Tensor:
    """The gradient of `mlm_loss` with respect to logits [N, V]: (softmax - y) / N, y one-hot."""
    gradient = logits.softmax(dim=-1)
    gradient[torch.arange(len(words)), words] -= 1
    return gradient / len(words)


@part("07", derivation=True, check=partial(check_logits, "nsp_sigmoid_gradient"))
def nsp_sigmoid_gradient(logit: Tensor, is_next: Tensor) -> Tensor:
    """The gradient of `nsp_sigmoid_loss` with respect to the logits [B]: (sigmoid - y) / B."""
    return (torch.sigmoid(logit) - is_next) / len(is_next)
