"""What a model's heads attend to during training: the same numbers for every snapshot.

A pattern at the end may have been there at the start. So measure the start as well, and a model
with other random numbers.
"""

from collections.abc import Sequence
from typing import Any

import torch

from bertlab.data.corpora import Documents
from bertlab.interpretability.patterns import head_patterns, offset_shares
from bertlab.interpretability.traces import trace
from bertlab.model.bert import Bert
from bertlab.model.heads import BertForPreTraining
from bertlab.tokenizers.tokenizer import Tokenizer
from bertlab.tokenizers.words import split_words

REACH = 4  # tokens on either side
DISTANCES = (1, 2, 3, 4, 8, 16, 32, 64)  # between positions, in tokens
PER_HEAD = ("cls", "separator", "entropy")  # of `head_patterns`
DIGITS = 4


def some_sentences(
    documents: Documents, number: int = 120, shortest: int = 10, longest: int = 24
) -> list[str]:
    """Sentences of `shortest` to `longest` words, spread evenly over the documents.

    Always the same ones. Raises ValueError if there are fewer than `number`.
    """
    fitting = [
        sentence
        for document in documents
        for sentence in document
        if shortest <= len(split_words(sentence)) <= longest
    ]
    if len(fitting) < number:
        raise ValueError(
            f"some_sentences: documents must hold {number} sentences of {shortest} to {longest} "
            f"words; they hold {len(fitting)}"
        )
    return fitting[:: len(fitting) // number][:number]


def head_numbers(
    model: BertForPreTraining, tokenizer: Tokenizer, texts: Sequence[str]
) -> dict[str, Any]:
    """What each head attends to on average, as plain lists for JSON.

    "offsets": [n_layers][H][2 REACH + 1], the shares of the tokens from -REACH to REACH, itself
    in the middle; "cls", "separator": shares; "entropy": nats, [n_layers][H] each.

    Raises ValueError as `trace` and `head_patterns` do.
    """
    traces = [trace(model, tokenizer, text) for text in texts]
    patterns = head_patterns(traces)
    numbers = {"offsets": offset_shares(traces, REACH)} | {
        name: patterns[name] for name in PER_HEAD
    }
    return {name: _rounded(values.tolist()) for name, values in numbers.items()}


def clear_heads(offsets: Sequence[Sequence[Sequence[float]]], least: float = 0.5) -> dict[str, int]:
    """The heads with at least this share of attention at one offset: "layer.head" -> offset.

    offsets: as in `head_numbers`, of one model. A head in the result *looks* there. Whether it has
    *learned* to do so needs the same measurement at the start.

    >>> clear_heads([[[0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]])
    {'0.0': 0}
    """
    return {
        f"{layer}.{head}": max(range(len(shares)), key=shares.__getitem__) - len(shares) // 2
        for layer, heads in enumerate(offsets)
        for head, shares in enumerate(heads)
        if max(shares) >= least
    }


def position_similarity(bert: Bert, positions: int) -> list[float]:
    """How similar position vectors are, by their distance: one number for each of DISTANCES.

    bert: its first `positions` positions are compared, those that its training has used. Returns
    mean cosines, from -1 to 1; random vectors have about 0.

    Raises ValueError if `positions` does not exceed the largest of DISTANCES, or exceeds the
    model's number of positions.
    """
    most = bert.config.max_length
    if not max(DISTANCES) < positions <= most:
        raise ValueError(
            f"position_similarity: positions must be from {max(DISTANCES) + 1} to {most}; "
            f"got {positions}"
        )
    with torch.no_grad():
        vectors = bert.embeddings.position.weight[:positions].float().cpu()  # [P, D]
        vectors = torch.nn.functional.normalize(vectors, dim=-1)
        cosines = vectors @ vectors.T  # [P, P]
        return _rounded([cosines.diagonal(far).mean().item() for far in DISTANCES])


def _rounded(values: Any) -> Any:
    """Every number of nested lists with a few digits."""
    return [_rounded(v) for v in values] if isinstance(values, list) else round(values, DIGITS)
