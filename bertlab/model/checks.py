"""Early checks, with clear messages, of errors that PyTorch reports late or not at all.

Types of values, ids, shapes and masks; used by all rooms that have tensors.
"""

from collections.abc import Collection
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

from bertlab.tokenizers.words import MASK

# A field's declared type -> the types it accepts (NumPy's numbers too), and the message's words.
KINDS = {int: (Integral, "an integer"), float: (Real, "a number"), bool: (bool, "True or False")}


def check_fields(config: Any) -> None:
    """Raise ValueError if a dataclass field declared int, float or bool has another type.

    Python would store `n_layers=1.5` or `causal="no"` and fail much later, or treat it as True.
    """
    for field in fields(config):
        if field.type in KINDS:
            value = getattr(config, field.name)
            check_kind(type(config).__name__, field.name, value, field.type)


def check_kind(where: str, name: str, value: Any, kind: type) -> None:
    """Raise ValueError unless the value is of the kind: int, float (or an integer) or bool."""
    allowed, words = KINDS[kind]
    # In Python, True is also the integer 1.
    if not isinstance(value, allowed) or isinstance(value, bool) != (kind is bool):
        raise ValueError(f"{where}: {name} must be {words}; got {value!r}")


def require(config: Any, name: str, holds: bool, words: str) -> None:
    """Raise ValueError with the field's name and `words`, such as "must be above 0", if false."""
    if not holds:
        raise ValueError(f"{type(config).__name__}: {name} {words}; got {getattr(config, name)}")


def check_choice(config: Any, name: str, choices: Collection[str]) -> None:
    """Raise ValueError unless the field's value is one of the choices."""
    where, value = type(config).__name__, getattr(config, name)
    if value not in choices:
        raise ValueError(f"{where}: {name} must be one of {', '.join(choices)}; got {value!r}")


def check_heads(where: str, d_model: int, n_heads: int) -> None:
    """Raise ValueError unless vectors can be split evenly among the heads."""
    if d_model % n_heads:
        raise ValueError(
            f"{where}: d_model must be divisible by n_heads, so that every head gets "
            f"d_model / n_heads dimensions; got d_model={d_model}, n_heads={n_heads}"
        )


def check_tensor(where: str, name: str, value: Any) -> None:
    """Raise TypeError unless the value is a tensor; a list has neither shape nor dtype."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{where}: {name} must be a tensor; got a {type(value).__name__}; torch.tensor({name}) "
            "makes one of a list of numbers"
        )


def check_ids(
    where: str, name: str, ids: Tensor, vocab_size: int, max_length: int | None = None
) -> None:
    """Ids must be integers [B, L], 0 to vocab_size - 1, at most max_length tokens per sequence."""
    check_tensor(where, name, ids)
    if ids.dim() != 2 or not ids.numel():
        raise ValueError(f"{where}: {name} must be [B, L] and not empty; got {list(ids.shape)}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{where}: {name} must be integers, torch.long; got {ids.dtype}")
    if max_length is not None and ids.shape[1] > max_length:
        raise ValueError(
            f"{where}: {name} must hold at most max_length={max_length} tokens per sequence; "
            f"got {ids.shape[1]}"
        )
    if values_are_at_hand(ids):
        low, high = ids.min().item(), ids.max().item()
        if low < 0 or high >= vocab_size:
            raise ValueError(
                f"{where}: {name} must be from 0 to {vocab_size - 1}; "
                f"got {low if low < 0 else high}; do vocabulary and model belong together?"
            )


def values_are_at_hand(tensor: Tensor) -> bool:
    """Whether the tensor's numbers can be read at no cost.

    On another device, reading makes the program wait; inside `torch.compile` it splits the graph.
    There, only shapes and dtypes are checked.
    """
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def check_vectors(where: str, name: str, x: Tensor, shape: str, weight: Tensor, size: int) -> None:
    """Raise ValueError unless `x` are vectors of `size` numbers, of the weights' dtype.

    shape: the expected one, such as "[B, L, D]"; the number of letters is the number of
    dimensions, or at least one if it starts with "...".
    """
    dimensions = None if "..." in shape else shape.count(",") + 1
    if (dimensions not in (None, x.dim())) or not x.dim() or x.shape[-1] != size:
        raise ValueError(f"{where}: {name} must be {shape} with D = {size}; got {list(x.shape)}")
    same = x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type)
    if not x.is_floating_point() or not same:
        raise ValueError(
            f"{where}: {name} must be of the weights' dtype, {weight.dtype}; got {x.dtype}"
            + ("" if x.is_floating_point() else "; ids become vectors in Embeddings")
        )


def check_self_attention(x: Tensor, weights: Any, *_others: Any, **_options: Any) -> None:
    """Raise ValueError unless `x` are vectors of a head's input size."""
    check_vectors("self_attention", "x", x, "[..., L, D]", weights.W_q, len(weights.W_q))


def check_layer_norm(x: Tensor, gamma: Tensor, *_others: Any, **_options: Any) -> None:
    """Raise ValueError unless `x` are vectors of the norm's size."""
    check_vectors("layer_norm", "x", x, "[..., D]", gamma, len(gamma))


def check_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> None:
    """Raise ValueError if queries, keys, values and mask do not fit, or a query sees no key."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_tensor("attention", name, x)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"attention: query and key must have the same last size, d_head; "
            f"got query {list(query.shape)} and key {list(key.shape)}"
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"attention: there must be one value for each key; "
            f"got key {list(key.shape)} and value {list(value.shape)}"
        )
    if not query.dtype == key.dtype == value.dtype or not query.is_floating_point():
        raise ValueError(
            "attention: query, key and value must be floating-point numbers of one dtype; "
            f"got {query.dtype}, {key.dtype} and {value.dtype}"
        )
    if mask is None:
        return
    check_tensor("attention", "mask", mask)
    if mask.dtype != torch.bool:
        raise ValueError(
            f"attention: mask must be boolean, True = may be attended to; got {mask.dtype}"
        )
    scores = (*query.shape[:-1], key.shape[-2])
    if mask.dim() > len(scores) or any(
        size not in (1, full)
        for size, full in zip(reversed(mask.shape), reversed(scores), strict=False)
    ):
        raise ValueError(
            f"attention: mask must broadcast to the scores, {list(scores)}; got {list(mask.shape)}"
        )
    check_visible(mask)


def check_visible(mask: Tensor | None) -> None:
    """Raise ValueError if a query may not attend to any key: its softmax would be 0 / 0."""
    if mask is not None and values_are_at_hand(mask) and not mask.any(dim=-1).all():
        raise ValueError(
            "attention: mask leaves a query nothing to attend to; True (or 1) marks tokens that "
            "may be attended to, False (or 0) padding, which a causal model wants on the right"
        )


def check_guesses(where: str, logits: Tensor, name: str, true: Tensor) -> None:
    """Raise ValueError unless there is one true class for each row of scores.

    logits: [N, C]; true: [N], integers from 0 to C - 1; name: of `true`, for the message. PyTorch's
    cross-entropy skips -100 silently, and a mean over N rows would then divide by too large an N.
    """
    if logits.dim() != 2 or true.shape != logits.shape[:1]:
        raise ValueError(
            f"{where}: logits must be [N, C] and {name} [N], one for each row; "
            f"got {list(logits.shape)} and {list(true.shape)}"
        )
    if not logits.is_floating_point() or true.dtype != torch.int64:
        raise ValueError(
            f"{where}: logits must be floating-point numbers and {name} integers, torch.long; "
            f"got {logits.dtype} and {true.dtype}"
        )
    if values_are_at_hand(true) and len(true):
        low, high = true.min().item(), true.max().item()
        if low < 0 or high >= logits.shape[1]:
            raise ValueError(
                f"{where}: {name} must be from 0 to {logits.shape[1] - 1}; "
                f"got {low if low < 0 else high}; omit rows without a target"
            )


def check_tokens_mask(where: str, name: str, mask: Tensor | None, shape: tuple[int, ...]) -> None:
    """A token mask must be boolean (or 0 and 1), [B, L], True at each sequence's first token."""
    if mask is None:
        return
    check_tensor(where, name, mask)
    if mask.shape != shape:
        raise ValueError(
            f"{where}: {name} must be [B, L] = {list(shape)}, as the ids are; "
            f"got {list(mask.shape)}"
        )
    if mask.is_floating_point():
        raise ValueError(
            f"{where}: {name} must be boolean, True for tokens and False for padding; "
            f"got {mask.dtype}"
        )
    if values_are_at_hand(mask) and not mask[:, 0].bool().all():
        raise ValueError(
            f"{where}: {name} must be True at the first token of each sequence; got False; "
            "padding belongs at the end"
        )


def check_memory(where: str, memory: Tensor, batch: int, d_model: int) -> None:
    """The memory must be the output of `encode`, [B, L, D], with one sequence per target."""
    if memory.dim() != 3 or memory.shape[0] != batch or memory.shape[2] != d_model:
        raise ValueError(
            f"{where}: memory must be [B, L, D] with B = {batch}, one for each target, and "
            f"D = {d_model}; got {list(memory.shape)}"
        )


def check_fits(where: str, tokenizer: Any, config: Any) -> None:
    """Raise ValueError if tokenizer and model have vocabularies of different sizes."""
    size = len(tokenizer.vocab)
    if size != config.vocab_size:
        raise ValueError(
            f"{where}: tokenizer must have vocab_size={config.vocab_size} tokens as the model; "
            f"got {size}; do they belong together?"
        )


def check_relations(logits: Tensor, next_sentence: Tensor) -> None:
    """Raise ValueError unless there are two scores and one relation, 0 or 1, for each pair."""
    check_guesses("nsp_loss", logits, "next_sentence", next_sentence)
    if not len(logits) or logits.shape[1] != 2:
        raise ValueError(
            "nsp_loss: logits must be [B, 2] with at least one pair, IsNext and NotNext; "
            f"got {list(logits.shape)}"
        )


def check_words(where: str, logits: Tensor, words: Tensor) -> None:
    """Raise ValueError unless there is a row of scores and a word of the vocabulary each."""
    check_guesses(where, logits, "words", words)


def check_logits(where: str, logit: Tensor, is_next: Tensor) -> None:
    """Raise ValueError unless each pair has one score and one true value from 0 to 1."""
    if logit.dim() != 1 or not len(logit) or is_next.shape != logit.shape:
        raise ValueError(
            f"{where}: logit and is_next must both be [B], with at least one pair; "
            f"got {list(logit.shape)} and {list(is_next.shape)}"
        )
    if values_are_at_hand(is_next) and not 0 <= is_next.min() <= is_next.max() <= 1:
        raise ValueError(
            f"{where}: is_next must be 1 where B follows A and 0 elsewhere; got "
            f"{is_next.min().item():g} to {is_next.max().item():g}"
        )


def check_masked(ids: Tensor, masking: Any, *_: Any) -> None:
    """Raise ValueError unless ids are [B, L], of the masking's vocabulary."""
    check_ids("mask_tokens", "ids", ids, masking.vocab_size)


def check_predict(ids: Tensor, predict: Tensor | None) -> None:
    """Raise ValueError unless the positions to predict are marked as True and False, [B, L]."""
    if predict is not None and (predict.dtype != torch.bool or predict.shape != ids.shape):
        raise ValueError(
            f"BertForPreTraining: predict must be boolean and have the shape of ids, "
            f"{list(ids.shape)}; got {predict.dtype} {list(predict.shape)}"
        )


def check_filling(model: Any, tokenizer: Any, top: int) -> None:
    """Raise ValueError unless the model can guess the words that the tokenizer's [MASK] hides."""
    if not hasattr(model, "mlm_head"):
        raise ValueError(
            "fill_mask: model must be a BertForPreTraining, whose head guesses words; got "
            f"{type(model).__name__}; load_pretrained(folder, BertForPreTraining) reads the head"
        )
    check_fits("fill_mask", tokenizer, model.config)
    size = model.config.vocab_size
    if not 1 <= top <= size:
        raise ValueError(f"fill_mask: top must be from 1 to {size}, the vocabulary; got {top}")
    check_mask_token("fill_mask", tokenizer)


def check_mask_token(where: str, tokenizer: Any) -> None:
    """Raise ValueError unless a tokenizer keeps [MASK] whole."""
    if MASK not in tokenizer.special_tokens:
        raise ValueError(
            f"{where}: tokenizer must have {MASK} among its special_tokens, or it is cut into "
            f"pieces; got {list(tokenizer.special_tokens)}; train it with that, or use WordPiece, "
            "which has it"
        )


def check_embedded(table: Any, ids: Tensor, segment_ids: Tensor | None = None) -> None:
    """Raise ValueError unless there are vectors for all ids, segments and positions."""
    check_ids("Bert", "ids", ids, table.token.num_embeddings, table.position.num_embeddings)
    if segment_ids is None:
        return
    check_ids("Bert", "segment_ids", segment_ids, table.segment.num_embeddings)
    if segment_ids.shape != ids.shape:
        raise ValueError(
            f"Bert: segment_ids must have the shape of ids, {list(ids.shape)}; "
            f"got {list(segment_ids.shape)}"
        )


def check_mask(mask: Tensor, batch: int, queries: int, keys: int) -> None:
    """Raise ValueError unless a mask is [B, L'] or [B, 1, L, L'], of True and False or 1 and 0."""
    check_tensor("attention", "mask", mask)
    fits = mask.dim() == 4 and all(
        size in (1, full) for size, full in zip(mask.shape, (batch, 1, queries, keys), strict=True)
    )
    if mask.shape != (batch, keys) and not fits:
        raise ValueError(
            f"attention: mask must be [B, L] or [B, 1, L, L]; got {list(mask.shape)} "
            f"for {batch} sequences of {keys} tokens"
            + (f" and {queries} queries" if queries != keys else "")
        )
    if mask.is_floating_point():
        raise ValueError(
            "attention: mask must be boolean, or integers 1 (may be attended to) and 0 (hidden); "
            f"got {mask.dtype}; numbers to add to the scores, such as -inf, are not masks here"
        )
    if (
        values_are_at_hand(mask)
        and mask.dtype != torch.bool
        and not 0 <= mask.min() <= mask.max() <= 1
    ):
        raise ValueError(
            f"attention: mask must hold only 0 and 1; got {mask.min()} to {mask.max()}; "
            "are these token ids?"
        )
