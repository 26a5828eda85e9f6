"""What a head attends to, as numbers: the neighbour, the separator, the same word, or everything.

The first functions take the attention of one text: [..., L, L], such as one head's [L, L] or one
layer's [H, L, L]; row = query, column = key, every row sums to 1. `head_patterns` computes
them for every head of a model over many texts, and `uniform_patterns` for a head with uniform
attention. Compare each number with the latter: if every tenth token is a comma, even uniform
attention gives a tenth to commas.

Source: Clark et al. (2019), "What Does BERT Look At?", section 3; Vig & Belinkov (2019), "Analyzing
the Structure of Attention in a Transformer Language Model".
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.interpretability.checks import check_attentions
from bertlab.interpretability.traces import Trace
from bertlab.tokenizers.words import CLS, SEP


def attention_entropy(attention: Tensor) -> Tensor:
    """How spread out each row is, in nats: 0 on one key, log L if uniform.

    attention: [..., L, L]. Returns [..., L].

    Source: Clark et al. (2019), section 3.3.

    >>> attention_entropy(torch.tensor([[0.5, 0.5], [0.0, 1.0]])).abs()
    tensor([0.6931, 0.0000])
    """
    return -torch.xlogy(attention, attention).sum(dim=-1)  # 0 log 0 = 0


def mean_distance(attention: Tensor) -> Tensor:
    """The distance in tokens from each query to its keys, weighted by attention.

    attention: [..., L, L]. Returns [..., L].

    Source: Vig & Belinkov (2019), who then take the mean over queries and texts.

    >>> mean_distance(torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]))
    tensor([0.0000, 0.5000, 1.5000])
    """
    position = torch.arange(attention.shape[-1], device=attention.device)
    distance = (position[:, None] - position).abs()  # [L, L]
    return (attention * distance).sum(dim=-1)


def attention_to_offset(attention: Tensor, offset: int) -> Tensor:
    """The mean probability that queries give to the key `offset` tokens later.

    attention: [..., L, L]; offset: -1 for the previous token, 1 for the next, 0 for the query
    itself; queries without such a key do not count. Returns [...]. Raises ValueError if no query
    has one.

    Source: Clark et al. (2019), section 3.1.

    >>> attention_to_offset(torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.2, 0.3], [0.0, 0.9, 0.1]]), -1)
    tensor(0.7000)
    """
    length = attention.shape[-1]
    if abs(offset) >= length:
        raise ValueError(
            f"attention_to_offset: offset must be from {1 - length} to {length - 1} in a text of "
            f"{length} tokens; got {offset}"
        )
    return attention.diagonal(offset, dim1=-2, dim2=-1).mean(dim=-1)


def attention_to_tokens(attention: Tensor, is_target: Tensor) -> Tensor:
    """The mean share of attention that goes to some of the keys, such as the separators.

    attention: [..., L, L]; is_target: boolean [L]. Returns [...]: the mean over all queries of
    the probability on those keys. Raises ValueError if `is_target` is not one for each key.

    Source: Clark et al. (2019), section 3.2.

    >>> attention_to_tokens(torch.tensor([[0.8, 0.2], [0.4, 0.6]]), torch.tensor([True, False]))
    tensor(0.6000)
    """
    if is_target.dtype != torch.bool or is_target.shape != attention.shape[-1:]:
        raise ValueError(
            "attention_to_tokens: is_target must be boolean, one for each of the "
            f"{attention.shape[-1]} keys; got {is_target.dtype} {list(is_target.shape)}"
        )
    return attention[..., is_target].sum(dim=-1).mean(dim=-1)


def attention_to_same_word(attention: Tensor, ids: Tensor) -> Tensor:
    """The mean share of attention that goes to the same word elsewhere in the text.

    attention: [..., L, L]; ids: [L]. Returns [...]: over the queries whose id occurs more
    than once, the mean probability on the others with that id; nan if every id occurs once.
    Raises ValueError if `ids` is not one for each key.

    >>> uniform = torch.full((4, 4), 0.25)
    >>> attention_to_same_word(uniform, torch.tensor([7, 8, 7, 7]))  # three times 2 of 4 keys
    tensor(0.5000)
    """
    if ids.shape != attention.shape[-1:]:
        raise ValueError(
            f"attention_to_same_word: ids must be one for each of the {attention.shape[-1]} keys; "
            f"got {list(ids.shape)}"
        )
    same = ids[:, None] == ids  # [L, L]
    same = same & ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)  # not itself
    mass = (attention * same).sum(dim=-1)  # [..., L]
    return mass[..., same.any(dim=-1)].mean(dim=-1)


def head_patterns(traces: Sequence[Trace]) -> dict[str, Tensor]:
    """Every pattern of every head, each a mean over texts: name -> [n_layers, H].

    "previous", "next", "itself": `attention_to_offset`; "separator", "cls": `attention_to_tokens`;
    "same word": `attention_to_same_word` over the texts in which a word occurs twice ([CLS] and
    [SEP] are not words), nan if there are none; "entropy", "distance": means over queries.
    All texts have equal weight, whatever their length.

    Raises ValueError if there is no trace, if one is of a single token, or if the traces are not
    of one model.

    >>> from bertlab.model.pretrained import BERTLAB_MINI, load_pretrained
    >>> from bertlab.tokenizers.files import load_tokenizer
    >>> from bertlab.interpretability.traces import trace
    >>> model, tokenizer = load_pretrained(BERTLAB_MINI), load_tokenizer(BERTLAB_MINI)
    >>> head_patterns([trace(model, tokenizer, "She saw him.")])["entropy"].shape
    torch.Size([4, 4])
    """
    return _mean_over_texts(traces, _of_one_model("head_patterns", traces))


def offset_shares(traces: Sequence[Trace], reach: int = 4) -> Tensor:
    """`attention_to_offset` from -reach to reach, of every head: [n_layers, H, 2 reach + 1].

    A mean over texts. Raises ValueError as `head_patterns` does, or if a text is not longer than
    `reach`.
    """
    attentions = _of_one_model("offset_shares", traces)
    offsets = range(-reach, reach + 1)
    each = [torch.stack([attention_to_offset(a, n) for n in offsets], dim=-1) for a in attentions]
    return torch.stack(each).mean(dim=0)


def uniform_patterns(traces: Sequence[Trace]) -> dict[str, float]:
    """The same numbers for a head with uniform attention: the chance level.

    Raises ValueError as `head_patterns` does.
    """
    lengths = [attention.shape[-1] for attention in _of_one_model("uniform_patterns", traces)]
    attentions = [torch.full((length, length), 1 / length) for length in lengths]
    means = _mean_over_texts(traces, attentions)
    return {name: value.item() for name, value in means.items()}


def _of_one_model(where: str, traces: Sequence[Trace]) -> list[Tensor]:
    """One [n_layers, H, L, L] per text, whose L may differ."""
    if not traces:
        raise ValueError(f"{where}: traces must hold at least one; got none")
    attentions = [torch.stack(check_attentions(where, trace.attentions)) for trace in traces]
    if len(shapes := {tuple(attention.shape[:-2]) for attention in attentions}) > 1:
        raise ValueError(
            f"{where}: traces must be of one model, with the same layers and heads; "
            f"got {sorted(shapes)}"
        )
    if any(attention.shape[-1] < 2 for attention in attentions):
        raise ValueError(f"{where}: every text must have at least two tokens; one has only one")
    return attentions


def _mean_over_texts(traces: Sequence[Trace], attentions: Sequence[Tensor]) -> dict[str, Tensor]:
    """attentions: one [..., L, L] per text, whose L may differ. Returns name -> [...]."""
    texts = [_patterns(trace, values) for trace, values in zip(traces, attentions, strict=True)]
    return {name: torch.stack([text[name] for text in texts]).nanmean(dim=0) for name in texts[0]}


def _patterns(trace: Trace, attention: Tensor) -> dict[str, Tensor]:
    """attention: [..., L, L] of one text. Returns name -> [...]."""
    separator = torch.tensor([token == SEP for token in trace.tokens])  # [L]
    cls = torch.tensor([token == CLS for token in trace.tokens])
    nobody = -1 - torch.arange(len(trace.ids))  # ids that no other token has
    words = torch.where(separator | cls, nobody, trace.ids)
    return {
        "previous": attention_to_offset(attention, -1),
        "next": attention_to_offset(attention, 1),
        "itself": attention_to_offset(attention, 0),
        "separator": attention_to_tokens(attention, separator),
        "cls": attention_to_tokens(attention, cls),
        "same word": attention_to_same_word(attention, words),
        "entropy": attention_entropy(attention).mean(dim=-1),
        "distance": mean_distance(attention).mean(dim=-1),
    }
