"""What a head contributes: remove it, and measure how the loss changes.

A head gives each token d_head numbers, which attention's output matrix adds to the token's vector.
To remove a head is to set those numbers to 0. Each head has a gate: 1 keeps the head, 0 removes it,
and the loss's gradient with respect to the gate estimates the effect without removing the head.

Source: Michel et al. (2019), "Are Sixteen Heads Really Better than One?"; Voita et al. (2019),
"Analyzing Multi-Head Self-Attention".
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn

from bertlab.interpretability.checks import encoder_of, heads_by_layer, same_number_of_heads
from bertlab.model.attention import MultiHeadAttention
from bertlab.model.bert import evaluation_mode

Head = tuple[int, int]  # (layer, head), both counted from 0
Batch = TypeVar("Batch")  # any type that `loss` accepts
Model = TypeVar("Model", bound=nn.Module)


@contextmanager
def gated_heads(model: nn.Module, gates: Sequence[Tensor] | Tensor) -> Iterator[None]:
    """Inside, every head's vector is multiplied by its gate; afterwards the model is as before.

    model: a `Bert`, or one with a `Bert` named `bert`; gates: one [H] per layer, or all of them as
    [n_layers, H].

    Raises ValueError if there is not one gate for each head.

    Source: Michel et al. (2019), section 2.3, where the gates are called mask variables, ξ_h.
    """
    layers = encoder_of("gated_heads", model).layers
    shapes = [(layer.attention.n_heads,) for layer in layers]
    if [tuple(gate.shape) for gate in gates] != shapes:
        raise ValueError(
            f"gated_heads: gates must be one for each head, {[list(shape) for shape in shapes]}; "
            f"got {[list(gate.shape) for gate in gates]}"
        )

    def hook(gate: Tensor) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
        def multiply(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            merged = inputs[0]  # [B, L, H * d_head], concatenated heads
            d_head = merged.shape[-1] // len(gate)
            return (merged * gate.to(merged).repeat_interleave(d_head),)

        return multiply

    hooks = [
        layer.attention.output.register_forward_pre_hook(hook(gate))
        for layer, gate in zip(layers, gates, strict=True)
    ]
    try:
        yield
    finally:
        for registered in hooks:
            registered.remove()


@contextmanager
def without_heads(model: nn.Module, heads: Iterable[Head]) -> Iterator[None]:
    """Inside, the vectors of those heads are 0; afterwards the model is as before.

    model: as in `gated_heads`; heads: pairs (layer, head), counted from 0.

    Raises ValueError if the model has no such head.

    Source: Michel et al. (2019), section 2.3.

    >>> from bertlab.model import Bert, BertConfig
    >>> bert, ids = Bert(BertConfig.tiny(vocab_size=100)).eval(), torch.tensor([[2, 17, 3]])
    >>> before = bert(ids).last_hidden_state
    >>> with without_heads(bert, [(0, 1)]):
    ...     bool((bert(ids).last_hidden_state == before).all())
    False
    >>> bool((bert(ids).last_hidden_state == before).all())
    True
    """
    encoder = encoder_of("without_heads", model)
    gates = [torch.ones(layer.attention.n_heads) for layer in encoder.layers]
    for gate, silent in zip(gates, heads_by_layer("without_heads", encoder, heads), strict=True):
        gate[list(silent)] = 0
    with gated_heads(encoder, gates):
        yield


def ablate_each_head(
    model: nn.Module, loss: Callable[[Batch], Tensor | float], batches: Iterable[Batch]
) -> Tensor:
    """How much the mean loss rises without each head, one head at a time: [n_layers, H].

    model: as in `gated_heads`, run without dropout and without gradients; loss: of one batch, from
    this same model; batches: of any type that `loss` accepts. Below 0: the model is better without
    that head. Costs one run over the batches per head.

    Raises ValueError if there is no batch, or if layers differ in their number of heads.

    Source: Michel et al. (2019), section 3.2.
    """
    n_layers, n_heads = same_number_of_heads(
        "ablate_each_head", encoder_of("ablate_each_head", model)
    )
    batches = _not_empty("ablate_each_head", batches)

    def mean_loss() -> float:
        return sum(float(loss(batch)) for batch in batches) / len(batches)

    change = torch.zeros(n_layers, n_heads)
    with evaluation_mode(model), torch.no_grad():
        before = mean_loss()
        for layer in range(n_layers):
            for head in range(n_heads):
                with without_heads(model, [(layer, head)]):
                    change[layer, head] = mean_loss() - before
    return change


def head_importance(
    model: nn.Module, loss: Callable[[Batch], Tensor], batches: Iterable[Batch]
) -> Tensor:
    """How strongly the loss depends on each head's gate: the mean of |dL/d gate|.

    model: as in `gated_heads`, run without dropout; loss: of one batch, from this same model, a
    single number with its gradient; batches: of any type that `loss` accepts. The paper's mean is
    over texts, so put one text in each batch: within a batch, gradients of opposite sign cancel.
    Returns [n_layers, H]. Costs one forward and backward pass for all heads together; the model's
    own gradients do not change.

    Raises ValueError if there is no batch, if a loss has no gradient with respect to the gates, or
    if layers differ in their number of heads.

    Source: Michel et al. (2019), section 4.1, eq. 2. They then divide each layer's numbers by
    their norm.
    """
    encoder = encoder_of("head_importance", model)
    gates = torch.ones(
        same_number_of_heads("head_importance", encoder),
        device=encoder.embeddings.token.weight.device,
        requires_grad=True,
    )
    batches = _not_empty("head_importance", batches)
    importance = torch.zeros_like(gates, requires_grad=False)
    with evaluation_mode(model), torch.enable_grad(), gated_heads(encoder, gates):
        for batch in batches:
            value = loss(batch)
            if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
                raise ValueError(
                    "head_importance: loss must give one number with its gradient, a tensor; got "
                    f"{_shown(value)}; compute it from this model, without no_grad and item()"
                )
            (gradient,) = torch.autograd.grad(value.sum(), gates, allow_unused=True)
            if gradient is None:
                raise ValueError(
                    "head_importance: loss must depend on the heads of this same model; it does "
                    "not; does it use another one?"
                )
            importance += gradient.abs()
    return importance.cpu() / len(batches)


def prune_heads(model: Model, heads: Iterable[Head]) -> Model:
    """A smaller copy of the model, without those heads' weights.

    model: as in `gated_heads`; heads: pairs (layer, head); every layer keeps at least one. The copy
    computes what `without_heads` computes, with 4 * D * d_head + 3 * d_head fewer parameters per
    head. Its layers may differ in `n_heads`, which `config` cannot express: `save_pretrained`
    rejects it; save the whole model, and prune after loading. Heads are renumbered without gaps.

    Raises ValueError if the model has no such head, or if a layer would lose all of its heads.

    Source: Michel et al. (2019), section 4. Hugging Face's `prune_heads` did the same up to
    transformers 4.
    """
    pruned = copy.deepcopy(model)
    encoder = encoder_of("prune_heads", pruned)
    for number, gone in enumerate(heads_by_layer("prune_heads", encoder, heads)):
        attention = encoder.layers[number].attention
        kept = [head for head in range(attention.n_heads) if head not in gone]
        if not kept:
            raise ValueError(
                f"prune_heads: every layer must keep at least one head; heads names all "
                f"{attention.n_heads} of layer {number}; without_heads can zero them all"
            )
        if gone:
            _keep_heads(attention, kept)
    return pruned


def _keep_heads(attention: MultiHeadAttention, kept: Sequence[int]) -> None:
    """Cut the rows that make those heads' queries, keys and values, and the columns that use them.

    For self-attention only: cross-attention splits its fused matrix by D and needs all heads.
    """
    joint, output = attention.query_key_value, attention.output
    parts = (3, attention.n_heads, -1)
    weight = joint.weight.detach().unflatten(0, parts)[:, kept]  # [3, k, d_head, D]
    bias = joint.bias.detach().unflatten(0, parts)[:, kept]  # [3, k, d_head]
    columns = output.weight.detach().unflatten(1, parts[1:])[:, kept]  # [D, k, d_head]
    joint.weight, joint.bias = nn.Parameter(weight.flatten(0, 2)), nn.Parameter(bias.flatten())
    output.weight = nn.Parameter(columns.flatten(1))
    joint.out_features, output.in_features = len(joint.weight), output.weight.shape[1]
    attention.n_heads = len(kept)


def _not_empty(where: str, batches: Iterable[Batch]) -> list[Batch]:
    """Batches as a list, which can be read more than once."""
    if not (batches := list(batches)):
        raise ValueError(f"{where}: batches must hold at least one; got none")
    return batches


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        gradient = "with" if value.requires_grad else "without"
        return f"a tensor {list(value.shape)} {gradient} gradient"
    return f"{type(value).__name__} {value!r}"
