"""What an answer depends on, by its gradient: a second measure beside attention.

Attention shows where a head looked. Only the answer's derivative shows whether the answer would
change with what the head found there.

Source: Jain & Wallace (2019), "Attention is not Explanation"; Wiegreffe & Pinter (2019),
"Attention is not not Explanation".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from bertlab.interpretability.checks import check_one_text, encoder_of
from bertlab.model.bert import BertOutput, evaluation_mode
from bertlab.model.heads import PreTrainingOutput

Output = BertOutput | PreTrainingOutput
Target = Callable[[Output], Tensor]  # the model's output -> one number of it


def gradient_times_input(
    model: nn.Module, ids: Tensor, target: Target, segment_ids: Tensor | None = None
) -> Tensor:
    """How much each word's embedding raises or lowers one number of the answer.

    model: a `Bert` or `BertForPreTraining`, run without dropout; ids, segment_ids: [L], one
    text; target: takes the model's output (a batch of one) and returns one number of it,
    such as `lambda output: output.mlm_logits[0, 3, tokenizer.vocab["paris"]]`.

    Returns [L]: for each token the sum over D of gradient times word embedding, above 0 where the
    word raises the number. If the answer were linear in the word embeddings, this would be exactly
    what each word adds to it. A BERT is not linear, so it is a first-order estimate of what is lost
    when a word's embedding shrinks to 0. Position and segment embeddings are not included.

    Raises ValueError if the ids are not of one text, or if the target is not one number that
    depends on the words.

    Source: Simonyan et al. (2013), section 3, for pictures; times the input: Shrikumar et al.
    (2017), section 2.
    """
    where = "gradient_times_input"
    ids, segment_ids = _as_batch(where, model, ids, segment_ids)
    with evaluation_mode(model), torch.enable_grad(), _word_embeddings(where, model) as words:
        number = _one_number(where, target(model(ids, segment_ids)))
        embedding = words[0]  # [1, L, D]
        gradient = _gradients(where, number, [embedding])[0]
    return (gradient * embedding).detach().sum(dim=-1)[0].cpu()


def attention_gradients(
    model: nn.Module, ids: Tensor, target: Target, segment_ids: Tensor | None = None
) -> tuple[Tensor, ...]:
    """How one number of the answer would change with each attention probability.

    model, ids, target, segment_ids: as in `gradient_times_input`. Returns one [H, L, L] per layer:
    the derivative with respect to each probability while the others are constant (so the row would
    no longer sum to 1). Times the attention itself, it is each probability's contribution, to first
    order.

    Raises ValueError as `gradient_times_input` does.

    Source: Serrano & Smith (2019), "Is Attention Interpretable?"; Jain & Wallace (2019), section
    4.1, take gradients with respect to words.
    """
    where = "attention_gradients"
    ids, segment_ids = _as_batch(where, model, ids, segment_ids)
    with evaluation_mode(model), torch.enable_grad(), _word_embeddings(where, model):
        output = model(ids, segment_ids, output_attentions=True)
        number = _one_number(where, target(output))
        encoder = output if isinstance(output, BertOutput) else output.encoder
        assert encoder.attentions is not None  # requested above
        gradients = _gradients(where, number, encoder.attentions)
    return tuple(gradient[0].cpu() for gradient in gradients)


def rank_agreement(a: Tensor | Sequence[float], b: Tensor | Sequence[float]) -> float:
    """Kendall's tau: do two rankings of the same items agree?

    a, b: [N]. 1: the same order; -1: the reverse; 0: half of all pairs are in the same order. Ties
    count as in tau-b; nan if all values of one side are equal.

    Raises ValueError if they are not two lists of the same length, at least two numbers each.

    Source: Kendall (1938); Jain & Wallace (2019), section 4.1.

    >>> round(rank_agreement([1, 2, 3], [1, 3, 2]), 3)  # of three pairs two agree: (2 - 1) / 3
    0.333
    """
    a, b = (torch.as_tensor(values).detach().cpu().double() for values in (a, b))
    if a.dim() != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            "rank_agreement: a and b must have the same length, [N] with N at least 2; "
            f"got {list(a.shape)} and {list(b.shape)}; flatten() makes one row of a table"
        )
    from scipy.stats import kendalltau  # takes a second to import

    return float(kendalltau(a.numpy(), b.numpy()).statistic)


@contextmanager
def _word_embeddings(where: str, model: nn.Module) -> Iterator[list[Tensor]]:
    """Let gradients start at the looked-up word embeddings, which are added to the list.

    The unembedding, tied to the same table, is not included.
    """
    found: list[Tensor] = []

    def start_here(_: nn.Module, __: tuple[Tensor], embedding: Tensor) -> Tensor:
        found.append(embedding.detach().requires_grad_())
        return found[-1]

    table = encoder_of(where, model).embeddings.token
    hook = table.register_forward_hook(start_here)
    try:
        yield found
    finally:
        hook.remove()


def _as_batch(
    where: str, model: nn.Module, ids: Tensor, segment_ids: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """[L] -> [1, L], on the model's device."""
    device = encoder_of(where, model).embeddings.token.weight.device
    ids = check_one_text(where, "ids", ids).to(device)
    if segment_ids is not None:
        segment_ids = check_one_text(where, "segment_ids", segment_ids).to(device)
    return ids, segment_ids


def _one_number(where: str, number: Tensor) -> Tensor:
    if not isinstance(number, Tensor) or number.numel() != 1:
        got = list(number.shape) if isinstance(number, Tensor) else type(number).__name__
        raise ValueError(
            f"{where}: target must return one number of the output, a tensor; got {got}; "
            "choose one, for example output.nsp_logits[0, 0]"
        )
    return number.sum()  # [1] becomes []


def _gradients(where: str, number: Tensor, by: Sequence[Tensor]) -> Sequence[Tensor]:
    if not number.requires_grad:
        raise ValueError(
            f"{where}: target must keep the gradient; got a number without; do not use "
            "item(), detach() or no_grad()"
        )
    gradients = torch.autograd.grad(number, by, allow_unused=True)
    if all(gradient is None for gradient in gradients):
        raise ValueError(f"{where}: target must depend on the words of the text; it does not")
    return [
        torch.zeros_like(tensor) if gradient is None else gradient
        for gradient, tensor in zip(gradients, by, strict=True)
    ]
