"""The values that a model computes for one text: attentions, hidden states, queries and keys.

A trace is of one text. Everything in it is on the CPU, without gradients and without a batch
axis; letters in shapes are those of `bertlab.model.attention`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bertlab.interpretability.checks import check_one_text
from bertlab.model.attention import MultiHeadAttention, split_heads
from bertlab.model.bert import Bert, evaluation_mode
from bertlab.model.checks import check_fits
from bertlab.model.heads import BertForPreTraining
from bertlab.model.transformer import Transformer
from bertlab.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Trace:
    """One text in an encoder, or in a decoder-only model; made by `trace`.

    softmax(queries @ keys.mT / sqrt(d_head)) gives the attentions, in a model without masks.
    """

    tokens: list[str]  # L of them, spelled as in the vocabulary
    ids: Tensor  # [L]
    sentence_b_start: int | None  # where the second text begins; None if there is one text
    attentions: tuple[Tensor, ...]  # one per layer: [H, L, L], row = query, column = key
    hidden_states: tuple[Tensor, ...]  # [L, D] each: the embeddings, then every layer
    queries: tuple[Tensor, ...]  # one per layer: [H, L, d_head]
    keys: tuple[Tensor, ...]  # one per layer: [H, L, d_head]


def trace(
    model: Bert | BertForPreTraining, tokenizer: Tokenizer, text: str, pair: str | None = None
) -> Trace:
    """Run the model on one text, or one pair, and keep what it computed.

    model: also any other with an encoder named `bert`, such as a fine-tuned classifier. It is run
    without dropout and without gradients; its mode is restored.

    Raises ValueError if `model` has no such encoder, if model and tokenizer do not belong
    together, or if the text is empty or longer than the model reads.
    """
    bert = model if isinstance(model, Bert) else getattr(model, "bert", None)
    if not isinstance(bert, Bert):
        raise ValueError(
            "trace: model must be a Bert, or have one named `bert`; "
            f"got {type(model).__name__}; for a Transformer, use trace_translation"
        )
    check_fits("trace", tokenizer, bert.config)
    encoding = tokenizer.encode(text, pair)
    if not 0 < len(encoding.ids) <= bert.config.max_length:
        raise ValueError(
            f"trace: text must be 1 to {bert.config.max_length} tokens long, the most that the "
            f"model reads; got {len(encoding.ids)}"
        )
    device = bert.embeddings.token.weight.device
    ids = torch.tensor([encoding.ids], device=device)  # [1, L]
    segments = encoding.segment_ids  # 0 for the first text, 1 for the second
    attentions = [layer.attention for layer in bert.layers]
    with evaluation_mode(bert), torch.no_grad(), _queries_and_keys(attentions) as (queries, keys):
        segment_ids = torch.tensor([segments], device=device)
        output = bert(ids, segment_ids, output_attentions=True, output_hidden_states=True)
    return Trace(
        tokens=list(encoding.tokens),
        ids=ids[0].cpu(),
        sentence_b_start=segments.index(1) if 1 in segments else None,
        attentions=_of_one_text(output.attentions),
        hidden_states=_of_one_text(output.hidden_states),
        queries=_of_one_text(queries),
        keys=_of_one_text(keys),
    )


@dataclass(frozen=True, eq=False)
class TranslationTrace:
    """One source and one target in an encoder-decoder; made by `trace_translation`."""

    encoder: tuple[Tensor, ...]  # one per layer: [H, L, L], the source attends to itself
    decoder: tuple[Tensor, ...]  # one per layer: [H, T, T], the target to its earlier tokens
    cross: tuple[Tensor, ...]  # one per layer: [H, T, L], the target to the source
    # For "encoder", "decoder" and "cross", one [H, L, d_head] per layer (T for the target).
    queries: Mapping[str, tuple[Tensor, ...]] = field(default_factory=dict)
    keys: Mapping[str, tuple[Tensor, ...]] = field(default_factory=dict)


def trace_translation(
    model: Transformer, source_ids: Tensor | Sequence[int], target_ids: Tensor | Sequence[int]
) -> TranslationTrace:
    """Run an encoder-decoder on one source and its target so far, and keep the attentions.

    source_ids: [L]; target_ids: [T], beginning with the start token. Row t of the decoder's
    attentions shows where the model looked after it had read the target up to token t.
    The model is run without dropout; its mode is restored.

    Raises ValueError if `model` is not a Transformer, or if the ids are a batch, empty, too many or
    out of range.
    """
    if not isinstance(model, Transformer):
        raise ValueError(
            f"trace_translation: model must be a Transformer; got {type(model).__name__}; "
            "for a Bert, use trace"
        )
    device = model.token.weight.device
    source = check_one_text("trace_translation", "source_ids", source_ids).to(device)  # [1, L]
    target = check_one_text("trace_translation", "target_ids", target_ids).to(device)  # [1, T]
    kinds = {
        "encoder": [layer.attention for layer in model.encoder],
        "decoder": [layer.self_attention for layer in model.decoder],
        "cross": [layer.cross_attention for layer in model.decoder],
    }
    with evaluation_mode(model), torch.no_grad(), ExitStack() as listeners:
        seen = {
            kind: listeners.enter_context(_queries_and_keys(attentions))
            for kind, attentions in kinds.items()
        }
        output = model(source, target, output_attentions=True)
    return TranslationTrace(
        encoder=_of_one_text(output.encoder_attentions),
        decoder=_of_one_text(output.decoder_attentions),
        cross=_of_one_text(output.cross_attentions),
        queries={kind: _of_one_text(queries) for kind, (queries, _) in seen.items()},
        keys={kind: _of_one_text(keys) for kind, (_, keys) in seen.items()},
    )


@contextmanager
def _queries_and_keys(
    attentions: Iterable[MultiHeadAttention],
) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Collect each layer's queries and keys in two lists, one [1, H, L, d_head] per layer.

    The hook computes them again, because cross-attention does not keep them separately.
    """
    queries, keys = [], []

    def keep(module: MultiHeadAttention, given: tuple, options: dict[str, Any]) -> None:
        x, D = given[0], module.d_model
        context = options.get("context")
        weight, bias = module.query_key_value.weight, module.query_key_value.bias
        query = F.linear(x, weight[:D], bias[:D])
        key = F.linear(x if context is None else context, weight[D : 2 * D], bias[D : 2 * D])
        queries.append(split_heads(query, module.n_heads))
        keys.append(split_heads(key, module.n_heads))

    hooks = [module.register_forward_pre_hook(keep, with_kwargs=True) for module in attentions]
    try:
        yield queries, keys
    finally:
        for hook in hooks:
            hook.remove()


def _of_one_text(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """[1, ...] -> [...] on the CPU."""
    return tuple(tensor[0].cpu() for tensor in tensors)
